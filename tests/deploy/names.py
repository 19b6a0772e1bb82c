"""Every setting and every metric that the operating page and the shipped files name exists, and the
page explains every metric of tensord's own."""
import glob
import os
import re
import subprocess
import sys
import urllib.request

from instance import TENSORD, Instance, skip

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
FILES = [f for pattern in ("docker/*", "docker/*/*", "config/*.service", "config/*.1", "tests/examples/*")
         for f in glob.glob(f"{ROOT}/{pattern}") if os.path.isfile(f)]
METRIC = re.compile(r"\b(?:tensord_|nv_inference_|process_)[a-z_]+\b")
PAGE = f"{ROOT}/docker/OPERATING.md"
# TENSORD_CONFIG is no setting, TENSORD_NAME stands for all, the others are Kubernetes'.
OTHER_VARIABLES = {"config", "name", "port", "service_host"}
# In the page a name in backticks that looks like a setting is one, but for these.
OTHER_WORDS = {"op", "code", "status", "timeout", "error_code", "request_id", "bad_indices_policy",
               "stop_grace_period", "dmesg", "tensord", "ok", "chunked", "flock",
               "localhost", "positions", "ttl", "r", "follow", "path", "method", "body", "everysec"}


def follower():
    """The settings and the metrics of tensord-follow: its own, from its sample and its source."""
    with open(f"{ROOT}/config/tensord-follow.conf") as sample:
        settings = re.findall(r"^#?(\w+) =", sample.read(), re.M)
    with open(f"{ROOT}/server/follow/counters.h") as header:
        names = re.findall(r"X\((\w+), \"", header.read())
    with open(f"{ROOT}/server/follow/counters.c") as source:
        names += re.findall(r"put\(text, \"(\w+)\"", source.read())
    return set(settings), {f"tensord_follow_{name}" for name in names}


def main():
    if not os.path.exists(TENSORD):
        skip(f"there is no {TENSORD}")
    server = Instance()
    metrics = urllib.request.urlopen(f"http://{server.address}/metrics").read().decode()
    server.drain()
    known = set(re.findall(r"^# TYPE (\w+)", metrics, re.M))
    settings = subprocess.run([TENSORD, "--print-config"], capture_output=True, text=True, check=True).stdout
    settings = set(re.findall(r"^#?(\w+) =", settings, re.M))
    page_metrics = set(known)
    theirs, counted = follower()
    settings |= theirs
    known |= counted
    faults = [] if FILES and page_metrics and settings and theirs and counted else ["there is nothing to compare"]
    for path in FILES:
        with open(path) as file:
            text = file.read()
        name = os.path.relpath(path, ROOT)
        faults += [f"{name}: there is no metric {m}" for m in set(METRIC.findall(text)) - known]
        variables = {v.lower() for v in re.findall(r"\bTENSORD_([A-Z_]+)\b", text)}
        faults += [f"{name}: there is no setting {v}" for v in variables - settings - OTHER_VARIABLES]
    with open(PAGE) as page:
        words = set(re.findall(r"`([a-z]+(?:_[a-z]+)*)`", page.read()))
    faults += [f"OPERATING.md does not explain {m}" for m in page_metrics - words if m.startswith("tensord_")]
    faults += [f"OPERATING.md: there is no setting {w}" for w in words - settings - known - OTHER_WORDS]
    for fault in sorted(faults):
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
