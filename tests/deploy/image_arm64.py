"""docker/Dockerfile, built and run for linux/arm64 through qemu: the same file as for amd64. Slow: the
compiler is emulated too."""
import sys

import image
from debian_root import need
from emulation import emulation


def main():
    need("buildah", "debootstrap", "unshare", "mount")
    with emulation("arm64"):
        image.check("arm64 image", "docker/Dockerfile", 24 << 20, arch="arm64")


if __name__ == "__main__":
    sys.exit(main())
