"""docker/compose.yml in a real Docker engine, as its first lines say: the image is built, two replicas
become healthy behind HAProxy and answer right, hardened as the file claims. Under load a third is
added and one of the first is stopped; every request is answered, and right. All of them end with 0.

Where no registry is: debian:12-slim is what debootstrap makes, and haproxy:2.8-alpine stands for that
Debian with its own HAProxy, started in the same way.
"""
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

import image
from debian_root import base, need, run
from engine import ADDRESS, Engine, build_image, enter, import_image, wait_for
from instance import skip

try:
    from load import INFER, Load
except ImportError as error:
    skip(f"{error.name} is not installed")

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
PORT = 8080
HAPROXY = """FROM debian:12-slim
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends haproxy >/dev/null
USER haproxy
STOPSIGNAL SIGUSR1
CMD ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]
"""
# Small requests before, between and after the events, at least, and a large one for each 1000 of them.
PART = 5000
BAD = {"inputs": {"tensor": [1, 2, 3, 4], "indices": [[1], [7]], "updates": [10, 20]}}
BAD_ANSWER = ("INDEX_OUT_OF_BOUNDS: indices[1] = [7] is out of bounds for shape [4] of tensor "
              "(axis 0: 7 is not in [0, 4))")


def compose(*arguments):
    return run("docker-compose", "-p", "tensord", "-f", "docker/compose.yml", *arguments, cwd=ROOT)


def inspect(container):
    return json.loads(run("docker", "inspect", container))[0]


def answering():
    try:
        return urllib.request.urlopen(f"http://{ADDRESS}:{PORT}/haproxy/ready").status == 200
    except (urllib.error.URLError, ConnectionError):
        return False


def start():
    """Seconds until HAProxy has a replica."""
    begin = time.monotonic()
    compose("up", "-d")
    assert wait_for(answering), f"HAProxy is not ready:\n{compose('logs')[-4000:]}"
    return time.monotonic() - begin


def check_confined(container):
    """The process, as the kernel sees it: a user's, without capabilities, on a read-only root."""
    process = f"/proc/{inspect(container)['State']['Pid']}"
    with open(f"{process}/status") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    assert "0" not in status["Uid"].split(), "it runs as root"
    assert status["NoNewPrivs"] == "1", "new privileges"
    for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[kind], 16) == 0, f"{kind} {status[kind]}"
    with open(f"{process}/mountinfo") as file:
        options = next(fields[5] for fields in map(str.split, file) if fields[4] == "/")
    assert "ro" in options.split(","), f"the root is {options}"


def check_replica(container):
    found = inspect(container)
    assert found["State"]["Health"]["Status"] == "healthy", found["State"]["Health"]
    assert found["HostConfig"]["Memory"] == 4 << 30, "the limit of memory"
    assert found["Config"]["User"] == "65532:65532", "the image's user"


def check_bad_index():
    try:
        urllib.request.urlopen(f"http://{ADDRESS}:{PORT}{INFER}", json.dumps(BAD).encode())
        raise AssertionError("a bad index is accepted")
    except urllib.error.HTTPError as error:
        answer = json.load(error)
        assert (error.code, answer) == (400, {"error": BAD_ANSWER}), f"{error.code}, {answer}"


def requests_of(container):
    """Its log's lines of requests that it computed."""
    lines = run("docker", "logs", container).splitlines()
    return [line for line in map(json.loads, lines) if line["msg"] == "request" and line.get("op")]


def disturb(load, replicas):
    """All replicas that there were."""
    def go_on():
        end = load.counts.small.value + PART
        assert wait_for(lambda: load.counts.small.value >= end or load.counts.wrong.value, 120), "the load stalls"

    go_on()
    compose("up", "-d", "--scale", "tensord=3")
    added = set(compose("ps", "-q", "tensord").split()) - set(replicas)
    assert len(added) == 1, f"added: {added}"
    assert wait_for(lambda: requests_of(*added)), "the third replica gets no requests"
    go_on()
    run("docker", "stop", replicas[0])
    go_on()
    return [*replicas, *added]


def check_log(container):
    """It computed its part, for the client, not for HAProxy."""
    clients = {line["remote"] for line in requests_of(container)}
    assert clients == {ADDRESS}, f"the log tells of clients {clients}"


def check():
    import_image(base(), "debian:12-slim")
    build_image(HAPROXY, "haproxy:2.8-alpine")
    compose("build")
    seconds = start()
    replicas = compose("ps", "-q", "tensord").split()
    assert len(replicas) == 2, f"{len(replicas)} replicas"
    for container in compose("ps", "-q").split():
        check_confined(container)
    for container in replicas:
        check_replica(container)
    image.examples(f"{ADDRESS}:{PORT}")
    check_bad_index()
    load = Load(ADDRESS, PORT, 1000, 1)
    try:
        replicas = disturb(load, replicas)
    finally:
        faults = load.finish()
    counts = load.counts
    print(f"compose: ready after {seconds:.1f} s; {counts.small.value} small and {counts.large.value} large "
          f"requests, {counts.wrong.value} lost or wrong, {counts.repeated.value} repeated")
    assert not faults and not counts.repeated.value, "\n".join(faults)
    compose("stop")
    for container in replicas:
        check_log(container)
        status = inspect(container)["State"]["ExitCode"]
        assert status == 0, f"a drained replica ends with {status}:\n{run('docker', 'logs', container)[-2000:]}"
    compose("down")
    left = run("docker", "ps", "-aq") + run("docker", "network", "ls", "-q", "--filter=name=tensord")
    assert not left, f"left: {left}"


def main():
    need("debootstrap", "docker-compose")
    base()  # outside, where the net is nearer
    enter()
    with Engine():
        check()


if __name__ == "__main__":
    sys.exit(main())
