"""A Debian 12 with git and make and nothing else, and a clone of the project in it."""
import os
import shutil
import subprocess

from debian_root import copy, need, run

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
# /proc, /sys and the devices of a machine, and all of it gone with the last process.
MACHINE = """
mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" && mount --rbind /dev "$0/dev" &&
exec chroot "$0" "$@"
"""
AUTHORITIES = "/usr/local/share/ca-certificates"


class Bare:
    def __init__(self, name):
        need("debootstrap", "git", "unshare")
        self.path = copy(name)
        # Debian's installer writes it, debootstrap does not.
        with open(f"{self.path}/etc/hosts", "w") as hosts:
            hosts.write("127.0.0.1 localhost\n::1 localhost\n")
        # What a network's administrator makes its machines trust, a proxy's for one.
        if os.path.isdir(AUTHORITIES):
            shutil.copytree(AUTHORITIES, self.path + AUTHORITIES, dirs_exist_ok=True)
        run("chroot", self.path, "apt-get", "update", "-qq")
        run("chroot", self.path, "apt-get", "install", "-y", "-qq", "--no-install-recommends",
            "git", "make")
        run("git", "clone", "-q", f"file://{ROOT}", f"{self.path}/tensord")
        self.before = self.packages()

    def make(self, *arguments, log):
        """A started `make`, in the environment of a first login; of ours, how to reach the net."""
        environment = {"HOME": "/root", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        environment |= {k: v for k, v in os.environ.items() if k.lower().endswith("_proxy")}
        return subprocess.Popen(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", MACHINE,
             self.path, "make", "-C", "/tensord", *arguments],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)

    def packages(self):
        """Installed KiB by name."""
        lines = run("chroot", self.path, "dpkg-query", "-W", "-f", "${Package} ${Installed-Size}\n")
        return {name: int(kib) for name, kib in map(str.split, lines.splitlines())}

    def installed(self, log):
        """What `make`, whose output is in `log`, asked Debian for, and what came."""
        kib = [size for name, size in self.packages().items() if name not in self.before]
        log.seek(0)
        asked = next(line for line in log if line.startswith("installing"))
        return f"{asked.strip()} ({len(kib)} packages, {sum(kib) / 1024:.0f} MB)"

    def remove(self):
        shutil.rmtree(self.path)
