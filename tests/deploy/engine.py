"""A Docker engine of its own, in a throw-away machine: namespaces of processes, mounts and network. It
meets no other engine, port or firewall of this machine, and with its first process all of it is gone.
"""
import os
import shutil
import subprocess
import sys
import time

from debian_root import FOLDER, need, run
from instance import skip

# The address of such a machine, and of its name server.
ADDRESS, DNS = "10.0.2.100", "10.0.2.3"
# slirp4netns carries its packets, from out here, and ends with it.
OUTSIDE = """
nsenter --net="/proc/$PPID/ns/net" setpriv --pdeathsig KILL \
    slirp4netns --configure --mtu=65520 $$ tap0 >/dev/null 2>&1 &
exec unshare --pid --fork --kill-child --mount-proc sh -c "$INSIDE" "$@"
"""
# Sockets of other engines are in /run. The shell stays, to reap what containers leave to process 1.
INSIDE = 'mount -t tmpfs tmpfs /run && "$0" "$@"; exit'
DATA = f"{FOLDER}/docker"


def enter():
    """The rest of this program runs in such a machine."""
    if "INSIDE" in os.environ:
        return
    need("unshare", "nsenter", "setpriv", "slirp4netns", "dockerd", "docker", "iptables")
    if not os.path.exists("/dev/net/tun"):
        skip("there is no /dev/net/tun")
    if subprocess.run(["unshare", "--net", "--pid", "--fork", "--mount-proc", "true"]).returncode:
        skip("no namespaces can be made here")
    os.execvpe("unshare", ["unshare", "--net", "sh", "-c", OUTSIDE, "sh", sys.executable, *sys.argv],
               {**os.environ, "INSIDE": INSIDE, "DOCKER_HOST": "unix:///run/docker.sock"})


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def connected():
    with open("/proc/net/route") as routes:
        return "tap0" in routes.read()


def answers():
    return subprocess.run(["docker", "version"], capture_output=True).returncode == 0


class Engine:
    """Within enter()ed machines; its data is in DATA while it runs."""

    def __enter__(self):
        if not wait_for(connected):
            skip("slirp4netns does not work here")
        shutil.rmtree(DATA, ignore_errors=True)
        os.makedirs(DATA)
        self.log = open("/run/dockerd.log", "w+")
        self.process = subprocess.Popen(["dockerd", f"--data-root={DATA}", f"--dns={DNS}"],
                                        stdout=self.log, stderr=self.log)
        if not wait_for(lambda: answers() or self.process.poll() is not None) or not answers():
            self.log.seek(0)
            last = (self.log.read().splitlines() or ["it says nothing"])[-1]
            self.__exit__()
            skip(f"no Docker engine starts here: {last}")
        return self

    def __exit__(self, *_):
        """Containers that still run end with it."""
        containers = subprocess.run(["docker", "ps", "-aq"], capture_output=True, text=True).stdout.split()
        if containers:
            subprocess.run(["docker", "rm", "-f", *containers], capture_output=True)
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(DATA, ignore_errors=True)


def import_image(root, name):
    run("sh", "-c", 'tar -C "$0" -c . | docker import - "$1"', root, name)


def build_image(dockerfile, name):
    """From a text, without a context."""
    run("sh", "-c", 'printf %s "$0" | docker build -q -t "$1" -', dockerfile, name)
