"""What docker/haproxy.cfg sends again, and to whom. Where a kept tensor is concerned: to the same node,
what met no connection or a 503, never what may have been applied. Else: to another replica, what met
no answer too. The servers are stand-ins that count."""
import contextlib
import http.server
import shutil
import socket
import sys
import threading
import time
import unittest

from instance import free_port, skip
from nodes import Client
from proxy import HAProxy, node_address

WRITES = ("PUT /v2/tensors/a", "POST /v2/models/tensor_scatter_add/infer?tensor=a&into=a",
          "DELETE /v2/tensors/a", "PATCH /v2/tensors/a", "PUT /v2/tensors/a?move=a.next")
PURE = ("POST /v2/models/gather_nd/infer", "GET /v2/models/gather_nd")
READS = ("GET /v2/tensors/a/data", "POST /v2/models/gather_nd/infer?tensor=a")


class Server(http.server.ThreadingHTTPServer):
    """Counts requests that are no health checks; answers them with the statuses of `script`, 200 when
    that is used up; 0: not at all."""

    daemon_threads = True

    def __init__(self, address):
        super().__init__(address, Handler)
        self.asked, self.script, self.lock, self.connections = 0, [], threading.Lock(), []
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def next_status(self):
        with self.lock:
            self.asked += 1
            return self.script.pop(0) if self.script else 200

    def process_request(self, request, client_address):
        self.connections.append(request)
        super().process_request(request, client_address)

    def handle_error(self, request, client_address):
        pass  # a connection that was cut

    def stop(self):
        """As if killed: it listens no more, and its connections are cut."""
        self.shutdown()
        self.server_close()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status = 200 if self.path.startswith("/v2/health") else self.server.next_status()
        if status == 0:
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = answer

    def log_message(self, *_):
        pass


class Repeats(unittest.TestCase):
    def setUp(self):
        self.port = free_port()
        self.nodes = [Server((node_address(i), self.port)) for i in range(3)]
        self.proxy = HAProxy(self.port, 3)
        self.proxy.wait_up(3, "nodes")
        self.proxy.wait_up(3)

    def tearDown(self):
        self.proxy.stop()
        for node in self.nodes:
            node.stop()

    def ask(self, request, *script):
        """(status, how often each node was asked, the busiest first)"""
        before = [node.asked for node in self.nodes]
        for node in self.nodes:
            node.script = list(script)
        client = Client(f"127.0.0.1:{self.proxy.port}")
        status, _, _ = client.ask(*request.split(), "{}")
        client.close()
        return status, sorted((node.asked - n for node, n in zip(self.nodes, before)), reverse=True)

    def test_a_503_is_repeated_on_the_same_node(self):
        for request in WRITES + READS:
            self.assertEqual(self.ask(request, 503, 503), (200, [3, 0, 0]), request)
        self.assertEqual(self.ask(WRITES[0], 503, 503, 503, 503), (503, [4, 0, 0]))

    def test_nothing_else_is_repeated(self):
        for request in WRITES + READS:
            for status, told in ((0, 502), (429, 429), (500, 500), (502, 502), (504, 504), (507, 507)):
                self.assertEqual(self.ask(request, status), (told, [1, 0, 0]), (request, status))

    def test_what_is_pure_goes_to_another_replica(self):
        for request in PURE:
            for status in (503, 0):
                self.assertEqual(self.ask(request, status), (200, [2, 1, 1]), (request, status))
            self.assertEqual(self.ask(request, 500), (500, [1, 0, 0]))

    def test_a_node_that_is_gone_for_a_moment_is_asked_again(self):
        self.ask(READS[0])
        place = next(i for i, node in enumerate(self.nodes) if node.asked)
        self.nodes[place].stop()
        answers = []
        thread = threading.Thread(target=lambda: answers.append(self.ask(WRITES[0])))
        thread.start()
        time.sleep(0.05)
        self.nodes[place] = Server((node_address(place), self.port))
        thread.join()
        self.assertEqual(([status for status, _ in answers], [node.asked for node in self.nodes]),
                         ([200], [int(i == place) for i in range(3)]))


if __name__ == "__main__":
    if not shutil.which("haproxy"):
        skip("haproxy is not installed")
    sys.exit(unittest.main())
