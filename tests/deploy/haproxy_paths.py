"""What docker/haproxy.cfg keeps inside stays inside, whatever way its path is written; every other path
passes. Through the real HAProxy, with request lines that no client library would send."""
import shutil
import socket
import sys

from instance import Instance, free_port, skip
from proxy import ADDRESSES, HAProxy

# All that any server or proxy behind HAProxy might take for /metrics.
METRICS = ("/metrics", "/metrics?x=1", "/metrics/", "/metrics//", "//metrics", "///metrics", "/./metrics", "/../metrics",
           "/v2/../metrics", "/v2/%2e%2e/metrics", "/v2/.%2E/metrics", "/%2e/metrics", "/metrics/.", "/metrics/..%2fmetrics",
           "/%6detrics", "/%6Detrics", "/metric%73", "/%6d%65%74%72%69%63%73", "/%2fmetrics", "/%2Fmetrics", "%2fmetrics",
           "/METRICS", "/Metrics", "/%4detrics", "/metrics%00", "/metrics%20", "/metrics;x", "/metrics%3fx",
           "http://tensord/metrics", "http://tensord/%6detrics", "http://tensord//metrics", "/tensord/metrics")
REFUSED = ("/metrics%", "/metrics%zz", "/%zz/metrics", "/%6detrics%6")
OPEN = {"/v2/health/ready": 200, "/v2/%68ealth/ready": 200, "/v2/models/gather_nd": 200, "/v2": 200,
        "/haproxy/ready": 200, "http://tensord/v2/health/ready": 200, "/metric": 404, "/nothing": 404}


def get(port, target, method="GET"):
    """(status, body), the target as it is."""
    with socket.create_connection(("127.0.0.1", port), 30) as s:
        s.sendall(f"{method} {target} HTTP/1.1\r\nHost: tensord\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: s.recv(65536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


def main():
    if not shutil.which("haproxy"):
        skip("haproxy is not installed")
    server = Instance(f"{ADDRESSES[0]}:{free_port()}")
    proxy = HAProxy(int(server.address.rpartition(":")[2]))
    proxy.wait_up(1)
    faults = []
    for targets, allowed in ((METRICS, (404, 400)), (REFUSED, (400,))):
        for target in targets:
            for method in ("GET", "HEAD", "POST"):
                status, body = get(proxy.port, target, method)
                if status not in allowed or b"tensord_" in body:
                    faults.append(f"{method} {target}: {status}, {len(body)} bytes")
    for target, wanted in OPEN.items():
        status, _ = get(proxy.port, target)
        if status != wanted:
            faults.append(f"{target}: {status}, not {wanted}")
    status, body = get(proxy.stats_port, "/metrics")
    if status != 200 or b"haproxy_" not in body:
        faults.append(f"HAProxy's own metrics: {status}")
    if b"tensord_" not in get(int(server.address.rpartition(":")[2]), "/metrics")[1]:
        faults.append("the replica itself has no metrics, so nothing was kept inside")
    log = proxy.stop()
    server.drain()
    for fault in faults:
        print(fault)
    if faults:
        print(log[-4000:])
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
