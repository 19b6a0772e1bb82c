"""The Debian package (`make deb`): without a complaint of lintian, it installs in a bare Debian 12,
its program starts as the unit says, an upgrade keeps a changed configuration, a purge leaves nothing
but the system user. The units are hardened as they claim."""
import glob
import os
import re
import shutil
import subprocess
import sys

from debian_root import copy, need, run
from instance import TENSORD, Instance, skip

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
CONFIG = "/etc/tensord/tensord.conf"
# systemd's exposure level times ten.
EXPOSURE_MAX = "20"


def package():
    found = sorted(glob.glob(os.path.dirname(TENSORD) + "/deb/tensord_*.deb"))
    if not found:
        skip("there is no package (make deb makes it)")
    return found[-1]


def next_version(deb, folder):
    """The same package with a higher version."""
    tree, path = f"{folder}/tree", f"{folder}/next.deb"
    run("dpkg-deb", "-R", deb, tree)
    control = f"{tree}/DEBIAN/control"
    with open(control) as file:
        text = re.sub(r"^Version: (.*)$", r"Version: \1+1", file.read(), flags=re.M)
    with open(control, "w") as file:
        file.write(text)
    with open(f"{tree}{CONFIG}", "a") as file:
        file.write("# A comment of the next version.\n")
    run("dpkg-deb", "-b", tree, path)
    shutil.rmtree(tree)
    return path


class Machine:
    """A bare Debian in a folder."""

    def __init__(self):
        self.root = copy("package")
        # Nothing may start a service here.
        with open(self.path("/usr/sbin/policy-rc.d"), "w") as file:
            file.write("#!/bin/sh\nexit 101\n")
        os.chmod(self.path("/usr/sbin/policy-rc.d"), 0o755)
        self("apt-get", "update", "-qq")

    def path(self, name):
        return self.root + name

    def __call__(self, *command):
        return run("chroot", self.root, "env", "DEBIAN_FRONTEND=noninteractive", *command)

    def install(self, deb):
        shutil.copy(deb, self.path("/tmp/it.deb"))
        self("apt-get", "install", "-y", "-qq", "--no-install-recommends",
             "-o", "Dpkg::Options::=--force-confold", "/tmp/it.deb")


def check_started(machine):
    """The unit's command, as its user, becomes ready and ends well."""
    with open(machine.path("/lib/systemd/system/tensord.service")) as file:
        unit = dict(line.split("=", 1) for line in file.read().splitlines() if re.match(r"\w+=", line))
    command = ["chroot", f"--userspec={unit['User']}:{unit['Group']}", machine.root,
               *unit["ExecStart"].split()]
    assert Instance(command=command).drain() == 0


def check_user(machine):
    """Whoever logs in may ask for the version, check a file, ask for the health."""
    run("chroot", "--userspec=nobody:nogroup", machine.root, "env", "-i", "PATH=/usr/local/bin:/usr/bin:/bin",
        "sh", "-c", f"tensord --version && tensord --config={CONFIG} --check-config")


def check_documents(machine):
    """What the documents name is there, but for what is said of the source tree."""
    folder = machine.path("/usr/share/doc/tensord")
    named = []
    for name in ("OPERATING.md", "haproxy.cfg", "alerts.yml", "examples/README.md", "kubernetes/kustomization.yml",
                 "kubernetes/service.yml", "kserve/service.yml"):
        with open(f"{folder}/{name}") as file:
            text = re.sub(r"^At the top of the source tree:$.*?^## ", "", file.read(), flags=re.M | re.S)
        text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
        for path in re.findall(r"(?<![\w/.:-])(?:\.\./|/etc/|/usr/|\w+/)*[\w-]+\.(?:md|cfg|yml|conf|py|sh)\b", text):
            named.append(path)
            places = [machine.path(path)] if path.startswith("/") else [
                f"{folder}/{path}", f"{os.path.dirname(f'{folder}/{name}')}/{path}", f"{folder}/kubernetes/{path}"]
            assert any(map(os.path.exists, places)), f"{name} names {path}"
    assert {"/etc/tensord/tensord.conf", "examples/README.md", "keda.yml", "haproxy.cfg"} <= set(named), named


def check_units(machine):
    units = [machine.path(f"/lib/systemd/system/tensord.{kind}") for kind in ("service", "socket")]
    if not shutil.which("systemd-analyze"):
        skip("systemd-analyze is not installed")
    run("systemd-analyze", "verify", "--man=no", f"--root={machine.root}",
        *(unit.removeprefix(machine.root) for unit in units))
    run("systemd-analyze", "security", "--no-pager", "--offline=yes", f"--threshold={EXPOSURE_MAX}", units[0])


def main():
    need("debootstrap", "dpkg-deb", "lintian")
    deb = package()
    run("lintian", "--fail-on", "error,warning", "--tag-display-limit", "0", deb,
        env={**os.environ, "LC_ALL": "C.UTF-8"})
    machine = Machine()
    machine.install(deb)
    version = run("dpkg-deb", "-f", deb, "Version")
    assert machine("tensord", "--version").split()[1] == version, "the package's version"
    machine("tensord", f"--config={CONFIG}", "--check-config")
    assert machine("getent", "passwd", "tensord").endswith("/usr/sbin/nologin")
    check_user(machine)
    check_documents(machine)
    check_units(machine)
    check_started(machine)

    with open(machine.path(CONFIG), "a") as file:
        file.write("log_level = warn\n")
    machine.install(next_version(deb, machine.path("/tmp")))
    assert machine("dpkg-query", "-W", "-f=${Version}", "tensord") == version + "+1"
    assert "log_level = warn" in machine("tensord", f"--config={CONFIG}", "--print-config")

    machine("apt-get", "purge", "-y", "-qq", "tensord")
    left = subprocess.run(["find", machine.root, "-xdev", "-path", f"{machine.root}/tmp", "-prune", "-o",
                           "-name", "*tensord*", "-print"], capture_output=True, text=True).stdout.split()
    assert not left, f"purge left {left}"
    shutil.rmtree(machine.root)


if __name__ == "__main__":
    sys.exit(main())
