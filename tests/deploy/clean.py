"""From nothing to a first right answer: a bare Debian 12 with git and make, a clone, `make run`."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from debian_root import copy, need, run
from instance import free_port

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
# /proc and the devices of a machine, and all of it gone with the last process.
MACHINE = """
mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"
"""
REQUEST = {"inputs": {"tensor": [1, 2, 3, 4], "indices": [[1], [3]], "updates": [10, 20]}}


def main():
    need("debootstrap", "git", "unshare")
    root = copy("clean")
    run("chroot", root, "apt-get", "update", "-qq")
    run("chroot", root, "apt-get", "install", "-y", "-qq", "--no-install-recommends", "git", "make")
    run("git", "clone", "-q", f"file://{ROOT}", f"{root}/tensord")
    listen = f"127.0.0.1:{free_port()}"
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as log:
        server = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", MACHINE, root,
             "make", "-C", "/tensord", "run", f"LISTEN={listen}"],
            stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        data = None
        while data is None and server.poll() is None and time.monotonic() < start + 900:
            try:
                with urllib.request.urlopen(f"http://{listen}/v2/models/tensor_scatter_add/infer",
                                            json.dumps(REQUEST).encode()) as answer:
                    data = json.load(answer)["outputs"][0]["data"]
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.2)
        seconds = time.monotonic() - start
        server.send_signal(signal.SIGKILL)
        server.wait()
        log.seek(0)
        assert data == [1, 12, 3, 24], f"{data}\n{log.read()[-4000:]}"
        log.seek(0)
        installed = next(line for line in log if line.startswith("installing"))
    shutil.rmtree(root)
    print(f"make run: a right answer after {seconds:.0f} s; {installed.strip()}")


if __name__ == "__main__":
    sys.exit(main())
