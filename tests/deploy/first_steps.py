"""What somebody meets who starts tensord for the first time: the help, a port that is taken, a first
request to try that works as it is printed, a configuration that is checked."""
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

from instance import TENSORD, Instance, skip


def run(*arguments, **environment):
    """(status, what was printed)"""
    done = subprocess.run([TENSORD, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, **environment}, timeout=60)
    return done.returncode, done.stdout


def help_is_there():
    assert run("-h") == run("--help")
    assert run("-h")[0] == 0 and "--listen=127.0.0.1:8080" in run("-h")[1]


def a_busy_port_is_told_once():
    first = Instance()
    status, printed = run(f"--listen={first.address}")
    first.drain()
    assert status == 1
    assert printed.count("another process listens there") == 1, printed
    assert printed.count(first.address) == 1, printed
    assert "make run LISTEN=127.0.0.1:9090" in printed, printed


def all_faults_are_told():
    status, printed = run("--max_bdy=1G", "--workers=0", TENSORD_SPEED="11", TENSORD_CANARY_PORT="tcp://10.0.0.1:80")
    assert status == 1 and len(printed.splitlines()) == 3, printed
    assert "did you mean max_body?" in printed, printed


def a_check_says_what_it_read():
    status, printed = run("--check-config", "--workers=3", TENSORD_QUEUE_JOBS="7")
    assert (status, printed) == (0, "ok, from the environment and the command line:\nworkers = 3\nqueue_jobs = 7\n")


class Terminal:
    """tensord at a terminal."""

    def __init__(self, *arguments):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execv(TENSORD, [TENSORD, *arguments])

    def read_until(self, pattern, seconds=30):
        text, end = "", time.monotonic() + seconds
        while not re.search(pattern, text):
            assert time.monotonic() < end and select.select([self.fd], [], [], seconds)[0], text
            text += os.read(self.fd, 4096).decode()
        return text

    def end(self):
        os.kill(self.pid, signal.SIGTERM)
        while True:
            try:
                if not os.read(self.fd, 4096):
                    break
            except OSError:
                break
        return os.waitpid(self.pid, 0)[1]


def the_request_to_try_works():
    for listen in ("0", "0.0.0.0:0", f"unix:/tmp/tensord-first.{os.getpid()}"):
        terminal = Terminal(f"--listen={listen}")
        text = terminal.read_until(r"try:  curl .*\n")
        command = re.search(r"try:  (curl [^\r\n]*)", text)[1]
        answer = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60).stdout
        assert '"data":[1.0,12.0,3.0,24.0]' in answer, (command, answer)
        assert terminal.end() == 0


def nothing_is_tried_where_nothing_serves():
    first = Instance()
    terminal = Terminal(f"--listen={first.address}")
    text = terminal.read_until("another process listens there[^\\n]*\n")
    assert "try:" not in text, text
    terminal.end()
    first.drain()


def main():
    if not os.path.exists(TENSORD):
        skip(f"there is no {TENSORD}")
    for check in (help_is_there, a_busy_port_is_told_once, all_faults_are_told, a_check_says_what_it_read,
                  the_request_to_try_works, nothing_is_tried_where_nothing_serves):
        check()
        print(f"ok {check.__name__}")


if __name__ == "__main__":
    sys.exit(main())
