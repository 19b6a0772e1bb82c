"""A tensord process for the tests of this folder."""
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

SKIPPED = 77
TENSORD = os.path.abspath(os.environ.get("TENSORD", "build/tensord"))


def skip(reason):
    print(reason)
    sys.exit(SKIPPED)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Instance:
    """tensord on `address` (port 0: a free one); `address` is then where it listens."""

    def __init__(self, address="127.0.0.1:0", *settings, command=(TENSORD,), **popen):
        self.log_path = f"/tmp/tensord-deploy.{os.getpid()}.{id(self)}.log"
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen([*command, f"--listen={address}", *settings],
                                            stdout=log, stderr=log, **popen)
        self.address = self.wait_for(self.listening, "listening")
        self.wait_for(self.ready, "ready")

    def log(self):
        with open(self.log_path, errors="replace") as log:
            return log.read()

    def listening(self):
        for line in self.log().splitlines():
            if '"listening"' in line and line.endswith("}"):
                return json.loads(line)["address"]

    def ready(self):
        try:
            return urllib.request.urlopen(f"http://{self.address}/v2/health/ready").status == 200
        except (urllib.error.URLError, ConnectionError):
            return False

    def wait_for(self, condition, what, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            result = condition()
            if result:
                return result
            time.sleep(0.01)
        self.process.kill()
        raise RuntimeError(f"tensord is not {what}:\n{self.log()}")

    def drain(self):
        """SIGTERM; returns the exit status."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        os.unlink(self.log_path)
        return status

    def kill(self):
        self.process.kill()
        self.process.wait()
        os.unlink(self.log_path)
