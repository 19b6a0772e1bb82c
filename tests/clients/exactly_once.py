"""Writes under an Idempotency-Key through a proxy that cuts connections at every stage: repeated until
they are answered, each is applied once."""

import http.client
import json
import random
import socket
import threading
import unittest

from support.server import ServerCase

CLIENTS, WRITES = 4, 60


class Cutter(threading.Thread):
    """Passes bytes on both ways, and cuts most connections after some of them."""

    def __init__(self, address):
        super().__init__(daemon=True)
        host, port = address.rsplit(":", 1)
        self.target = (host, int(port))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.random = random.Random(1)
        self.cuts = 0

    def run(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            # A request has about 300 bytes, its answer about 500.
            budget = [self.random.choice([None, *range(0, 900, 30)])]
            far = socket.create_connection(self.target)
            for source, sink in ((near, far), (far, near)):
                threading.Thread(
                    target=self.copy, args=(source, sink, budget), daemon=True
                ).start()

    def copy(self, source, sink, budget):
        try:
            while data := source.recv(65536):
                if budget[0] is not None and len(data) > budget[0]:
                    sink.sendall(data[: budget[0]])
                    self.cuts += 1
                    break
                if budget[0] is not None:
                    budget[0] -= len(data)
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class ExactlyOnce(ServerCase, unittest.TestCase):
    settings = ("--log_requests=false",)

    def setUp(self):
        self.cutter = Cutter(self.server.address)
        self.cutter.start()
        self.addCleanup(self.cutter.listener.close)
        self.tries = 0

    def direct(self, method, path, body=None):
        connection = http.client.HTTPConnection(self.server.address)
        connection.request(
            method, path, body, {"Content-Type": "application/json", "Accept": "application/json"}
        )
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        self.assertLess(answer.status, 300, text)
        return json.loads(text)

    def write(self, path, method, body, key):
        """Until it is answered, whatever happens on the way. 409: the first try still runs."""
        while True:
            self.tries += 1
            connection = http.client.HTTPConnection("127.0.0.1", self.cutter.port, timeout=20)
            try:
                connection.request(
                    method,
                    path,
                    body,
                    {"Content-Type": "application/json", "Idempotency-Key": key},
                )
                answer = connection.getresponse()
                answer.read()
                if answer.status < 300:
                    return
                self.assertIn(answer.status, (409, 503))
            except (OSError, http.client.HTTPException):
                pass
            finally:
                connection.close()

    def test_the_sum_is_exact(self):
        self.direct("PUT", "/v2/tensors/sum", '{"datatype": "INT64", "shape": [3]}')

        def client(number):
            for i in range(WRITES):
                body = json.dumps(
                    {"inputs": {"indices": [[i % 3]], "updates": {"datatype": "INT64", "data": [1]}}}
                )
                path = "/v2/models/tensor_scatter_add/infer?tensor=sum&into=sum"
                self.write(path, "POST", body, f'"{number}-{i}"')

        threads = [threading.Thread(target=client, args=(n,)) for n in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        each = CLIENTS * WRITES // 3
        self.assertEqual(self.direct("GET", "/v2/tensors/sum/data")["data"], [each] * 3)
        self.assertEqual(self.direct("GET", "/v2/tensors/sum")["version"], CLIENTS * WRITES + 1)
        self.assertGreater(self.cutter.cuts, CLIENTS * WRITES // 4)


if __name__ == "__main__":
    unittest.main()
