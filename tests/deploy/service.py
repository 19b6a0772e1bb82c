"""The units under a real systemd, booted in a container from the package: hardened as shipped, the
service becomes ready, answers its watchdog, reloads, restarts, and serves the socket that systemd
holds open."""
import os
import shutil
import subprocess
import sys

from debian_root import copy, need, run
from package import package

# What runs inside, once everything has started. It says `passed` when it gets to its end.
SCRIPT = r"""#!/bin/sh
exec >/result 2>&1
set -ex
systemctl start tensord.service
systemctl is-active tensord.service
tensord --health
[ "$(ps_user)" = tensord ]
systemctl reload tensord.service
tensord --health

: a process that hangs is replaced by the watchdog, one that runs is left alone
sleep 5
[ "$(systemctl show -P NRestarts tensord)" = 0 ]
kill -STOP "$(systemctl show -P MainPID tensord)"
for i in 1 2 3 4 5 6 7 8 9 10; do
    sleep 1
    [ "$(systemctl show -P NRestarts tensord)" = 0 ] || break
done
[ "$(systemctl show -P NRestarts tensord)" = 1 ]
healthy

systemctl stop tensord.service
[ "$(systemctl show -P Result tensord)" = success ]
[ "$(systemctl show -P ExecMainStatus tensord)" = 0 ]
fails tensord --health

: a connection that comes while nothing runs starts it
systemctl start tensord.socket
fails systemctl is-active tensord.service
healthy
systemctl is-active tensord.service
systemctl restart tensord.service
healthy
echo passed
"""
FUNCTIONS = r"""
ps_user() { stat -c %U "/proc/$(systemctl show -P MainPID tensord)"; }
healthy() {
    for i in 1 2 3 4 5 6 7 8 9 10; do
        if tensord --health; then return; fi
        sleep 0.5
    done
    exit 1
}
fails() { if "$@"; then exit 1; fi; }
"""
UNIT = """[Unit]
After=network.target
SuccessAction=poweroff-force
FailureAction=poweroff-force
[Service]
Type=oneshot
ExecStart=/check
TimeoutStartSec=90
[Install]
WantedBy=multi-user.target
"""
WATCHDOG = "[Service]\nWatchdogSec=2s\nTimeoutAbortSec=1s\n"


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)


def main():
    need("debootstrap", "systemd-nspawn")
    root = copy("service")
    shutil.copy(package(), f"{root}/tmp/it.deb")
    run("chroot", root, "apt-get", "update", "-qq")
    run("chroot", root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq",
        "--no-install-recommends", "systemd-sysv", "/tmp/it.deb")
    head, rest = SCRIPT.split("\n", 1)
    write(f"{root}/check", f"{head}\n{FUNCTIONS}{rest}", 0o755)
    write(f"{root}/etc/systemd/system/check.service", UNIT)
    write(f"{root}/etc/systemd/system/tensord.service.d/watchdog.conf", WATCHDOG)
    run("systemctl", f"--root={root}", "enable", "check.service")
    boot = subprocess.run(["systemd-nspawn", "-q", "--register=no", "--keep-unit", "--private-network",
                           "-b", "-D", root], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=240, stdin=subprocess.DEVNULL)
    if not os.path.exists(f"{root}/result"):
        print(boot.stdout[-4000:])
        return 1
    with open(f"{root}/result") as file:
        result = file.read()
    if not result.endswith("passed\n"):
        print(result)
        run("sh", "-c", f"journalctl -q --no-pager -D {root}/var/log/journal -u tensord | tail -40")
        return 1
    shutil.rmtree(root)
    return 0


if __name__ == "__main__":
    sys.exit(main())
