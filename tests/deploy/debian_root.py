"""Debian 12 roots for the tests of images and packages, made once by debootstrap."""
import os
import shutil
import subprocess

from instance import TENSORD, skip

FOLDER = os.path.abspath(os.environ.get("DEPLOY", os.path.dirname(TENSORD) + "/deploy"))


def need(*tools):
    if os.getuid() != 0:
        skip("this needs root")
    for tool in tools:
        if not shutil.which(tool):
            skip(f"{tool} is not installed")


def run(*command, **options):
    """Its output; what it printed is shown when it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          stdin=subprocess.DEVNULL, **options)
    if done.returncode != 0:
        print(done.stdout[-6000:])
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}")
    return done.stdout.strip()


def base(arch=None):
    """A minimal Debian 12, not to be written to; of another architecture than this machine's where
    its programs can be started (see emulation.py)."""
    path = f"{FOLDER}/base{'-' + arch if arch else ''}"
    if not os.path.exists(f"{path}.made"):
        os.makedirs(FOLDER, exist_ok=True)
        shutil.rmtree(path, ignore_errors=True)
        run("debootstrap", "--variant=minbase", *([f"--arch={arch}"] if arch else []), "bookworm", path)
        run("chroot", path, "sh", "-c", "apt-get clean; rm -rf /var/lib/apt/lists/* /var/log/*")
        with open(f"{path}.made", "w"):
            pass
    return path


def copy(name):
    """A copy of the base to write to, as FOLDER/name."""
    path = f"{FOLDER}/{name}"
    shutil.rmtree(path, ignore_errors=True)
    run("cp", "-a", base(), path)
    return path


def size_bytes(path):
    return int(run("du", "-sxb", path).split()[0])
