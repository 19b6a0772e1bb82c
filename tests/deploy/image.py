"""docker/Dockerfile is built for real, over a Debian that debootstrap made, and its image serves.

It runs as the image says: entry point, user and environment, as process 1 with a read-only root.
Prints the image's size over its base, the time until it is ready, and its memory when idle.
"""
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request

from debian_root import FOLDER, base, need, run, size_bytes
from instance import TENSORD, Instance, skip

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
# No daemon, no kernel feature: this works inside a container as well.
BUILDAH = ("buildah", "--storage-driver=vfs", f"--root={FOLDER}/storage", f"--runroot={FOLDER}/run")
# The libraries' own documents: operation, inputs, the output's data.
EXAMPLES = (
    ("TensorScatterSub", {"input_x": [[-0.1, 0.3, 3.6], [0.4, 0.5, -3.2]], "indices": [[0, 0], [0, 0]],
                          "updates": [1.0, 2.2]}, [-3.3000002, 0.3, 3.6, 0.4, 0.5, -3.2]),
    ("TensorScatterNdAdd", {"tensor": [1] * 8, "indices": [[4], [3], [1], [7]], "updates": [9, 10, 11, 12]},
     [1, 12, 1, 11, 10, 1, 1, 13]),
    ("ScatterNd", {"indices": [[4], [3], [1], [7]], "updates": [9, 10, 11, 12], "shape": [8]},
     [0, 11, 0, 10, 9, 0, 0, 12]),
    ("sparse_segment_mean", {"data": [[0, 1, 2], [1, 2, 3], [3, 6, 7]], "indices": [0, 1, 2],
                             "segment_ids": [1, 2, 2]}, [0, 0, 0, 0, 1, 2, 2, 4, 5]),
    ("tensor_scatter_sub", {"tensor": [1] * 8, "indices": [[4], [3], [1], [7]], "updates": [9, 10, 11, 12]},
     [1, -10, 1, -9, -8, 1, 1, -11]),
)


def buildah(*arguments):
    return run(*BUILDAH, *arguments, env={**os.environ, "BUILDAH_ISOLATION": "chroot"}, cwd=ROOT)


def make_base(arch):
    container = buildah("from", "scratch")
    run("cp", "-a", base(arch) + "/.", buildah("mount", container))
    if arch:
        buildah("config", f"--arch={arch}", container)
    buildah("commit", "-q", container, "localhost/base")
    buildah("rm", container)


def build(dockerfile, arch, *options):
    """(mounted root, its configuration, bytes over the base) of the image."""
    make_base(arch)
    platform = [f"--platform=linux/{arch}"] if arch else []
    buildah("bud", "-q", "--format=docker", "--pull-never", "--build-arg=BASE=localhost/base", *platform, *options,
            "-f", dockerfile, "-t", "localhost/tensord", ".")
    container = buildah("from", "--pull-never", *platform, "localhost/tensord")
    root = buildah("mount", container)
    config = json.loads(buildah("inspect", container))["Docker"]["config"]
    return root, config, size_bytes(root) - size_bytes(base(arch))


# Process 1 of its own namespace, a read-only root, /proc, and nothing else.
CONTAINER = """
user=$1
shift
mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && mount -t proc proc "$0/proc" || exit 99
exec chroot --userspec="$user" "$0" env -i "$@"
"""


def in_container(root, config, *command):
    variables = [entry for entry in config["Env"] if not entry.startswith("TENSORD_DRAIN")]
    return ["unshare", "--mount", "--pid", "--fork", "sh", "-c", CONTAINER, root, config["User"], *variables, *command]


def first_process(parent):
    """The container's process 1, seen from here."""
    with open(f"/proc/{parent}/task/{parent}/children") as file:
        return int(file.read().split()[0])


def idle_kb(pid):
    with open(f"/proc/{pid}/status") as file:
        return int(next(line for line in file if line.startswith("VmRSS")).split()[1])


def examples(address):
    for op, inputs, wanted in EXAMPLES:
        body = json.dumps({"inputs": inputs}).encode()
        with urllib.request.urlopen(f"http://{address}/v2/models/{op}/infer", body) as answer:
            data = json.load(answer)["outputs"][0]["data"]
        assert data == wanted, f"{op}: {data}"


def bill_of_materials(name, root):
    """Writes <name>.cdx.json beside the program under test: CycloneDX, of the image's packages. Their
    number, which must be what dpkg has in the image."""
    tool = os.path.join(os.path.dirname(sys.executable), "debsbom")
    if not os.path.exists(tool):
        skip("there is no debsbom (tests/deploy/requirements.txt)")
    folder = os.path.join(os.path.dirname(os.path.abspath(TENSORD)), "sbom")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name.replace(" ", "-"))
    run(tool, "generate", "-t", "cdx", "--root", root, "--distro-name", name, "-o", path)
    with open(path + ".cdx.json") as file:
        bill = json.load(file)
    assert bill["bomFormat"] == "CycloneDX", bill["bomFormat"]
    listed = {c["name"] for c in bill["components"] if "arch=source" not in c.get("purl", "")}
    with open(f"{root}/var/lib/dpkg/status") as file:
        installed = {line.split()[1] for line in file if line.startswith("Package: ")}
    assert listed == installed, f"{listed ^ installed} differ"
    return len(listed)


def check_follow():
    """The stage of tensord-follow."""
    root, config, added = build("docker/Dockerfile", None, "--target=follow")
    done = subprocess.run(in_container(root, config, *config["Entrypoint"], "--check-config"), capture_output=True)
    assert done.stdout == b"ok\n", done
    packages = bill_of_materials("image-follow", root)
    assert added < 40 << 20, f"the image adds {added} bytes"
    buildah("rm", "--all")
    print(f"image of tensord-follow: {added / 1e6:.1f} MB over its base; {packages} packages")


def check(name, dockerfile, limit_bytes, *options, arch=None):
    root, config, added = build(dockerfile, arch, *options)
    start = time.monotonic()
    container = Instance(command=in_container(root, config, *config["Entrypoint"]))
    ready_ms = (time.monotonic() - start) * 1000
    pid = first_process(container.process.pid)
    rss_kb = idle_kb(pid)
    assert os.stat(f"/proc/{pid}").st_uid == 65532, "it does not run as the image's user"
    examples(container.address)
    health = [*config["Healthcheck"]["Test"][1:], f"--listen={container.address}"]
    assert subprocess.run(in_container(root, config, *health)).returncode == 0, "the health check"
    os.kill(pid, signal.SIGTERM)
    status = container.process.wait(60)
    assert status == 0, f"a drained container ends with {status}"
    assert subprocess.run(in_container(root, config, *health)).returncode != 0, "healthy when gone"
    assert added < limit_bytes, f"the image adds {added} bytes"
    packages = bill_of_materials(name, root)
    buildah("rm", "--all")
    print(f"{name}: {added / 1e6:.1f} MB over its base; {packages} packages; ready after {ready_ms:.0f} ms; "
          f"{rss_kb / 1024:.1f} MiB when idle")


def main():
    need("buildah", "debootstrap", "unshare")
    check("image", "docker/Dockerfile", 20 << 20)
    check_follow()


if __name__ == "__main__":
    sys.exit(main())
