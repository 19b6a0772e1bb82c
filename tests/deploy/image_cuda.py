"""docker/Dockerfile.cuda, built with the CUDA toolkit of this machine in place of NVIDIA's images (for
one architecture); its image serves where there is no device, too."""
import os
import sys

import image
from debian_root import need
from instance import skip

TOOLKIT = "/usr/local/cuda"


def main():
    need("buildah", "debootstrap", "unshare")
    if not os.path.exists(f"{TOOLKIT}/bin/nvcc"):
        skip(f"there is no CUDA toolkit in {TOOLKIT}")
    image.check("CUDA image", "docker/Dockerfile.cuda", 64 << 20, f"--volume={TOOLKIT}:{TOOLKIT}:ro",
                "--build-arg=BUILD_BASE=localhost/base", "--build-arg=CUDA_ARCHS=75")


if __name__ == "__main__":
    sys.exit(main())
