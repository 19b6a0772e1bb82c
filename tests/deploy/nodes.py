"""Nodes that keep tensors, and a client, for the tests of this folder."""
import http.client
import re

from instance import Instance, free_port
from proxy import node_address

SEEN = re.compile(r'"msg":"request","request_id":"([^"]+)"')


class Nodes:
    """tensords on one port, an address each."""

    def __init__(self, count, *settings):
        self.port, self.settings = free_port(), settings
        self.running, self.seen = {}, {}
        for i in range(count):
            self.start(i)

    def address(self, i):
        return f"{node_address(i)}:{self.port}"

    def start(self, i):
        self.running[i] = Instance(self.address(i), "--tensor_in_url=true", "--log-buffer=64M",
                                   "--log-level=debug", *self.settings)

    def end(self, i):
        """SIGTERM; what its log says that it was asked is in `seen`, {request's id: node}."""
        node = self.running.pop(i)
        with open(node.log_path) as log:
            assert node.drain() == 0, f"node {i} ended with a fault"
            self.seen.update(dict.fromkeys(SEEN.findall(log.read()), i))

    def stop(self):
        for i in list(self.running):
            self.end(i)


class Client:
    """One connection, made again where it broke."""

    def __init__(self, address):
        self.connection = http.client.HTTPConnection(address, timeout=60)

    def ask(self, method, target, body=None, **headers):
        """(status, headers, body)"""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
        try:
            self.connection.request(method, target, body, headers)
            answer = self.connection.getresponse()
            return answer.status, answer.headers, answer.read()
        except (OSError, http.client.HTTPException):
            self.connection.close()
            raise

    def close(self):
        self.connection.close()
