"""Programs of another architecture start on this machine, through qemu, while a test runs."""
import contextlib
import os
import shutil
import subprocess

from instance import skip

FOLDER = "/proc/sys/fs/binfmt_misc"
# The head of an ELF file: 64 bits, little-endian, an executable or a shared object, for that machine.
HEADS = {"arm64": (r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00",
                   r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff")}
QEMU = {"arm64": "qemu-aarch64-static"}


@contextlib.contextmanager
def emulation(arch):
    """The interpreter is opened now (F), so it is there in every root."""
    qemu = shutil.which(QEMU[arch]) or skip(f"{QEMU[arch]} is not installed")
    if not os.path.exists(f"{FOLDER}/register"):
        subprocess.run(["mount", "-t", "binfmt_misc", "binfmt_misc", FOLDER], capture_output=True)
    if not os.path.exists(f"{FOLDER}/register"):
        skip("this kernel starts no program of another architecture (binfmt_misc)")
    name = f"tensord-{arch}"
    magic, mask = HEADS[arch]
    ours = not any(entry.endswith("aarch64") for entry in os.listdir(FOLDER))
    if ours:
        with open(f"{FOLDER}/register", "w") as register:
            register.write(f":{name}:M::{magic}:{mask}:{qemu}:F")
    try:
        yield
    finally:
        if ours:
            with open(f"{FOLDER}/{name}", "w") as entry:
                entry.write("-1")
