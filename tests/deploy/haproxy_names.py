"""docker/haproxy.cfg sends what is about one kept tensor to one node, however the request is written;
a node that comes or goes takes or leaves its own names, about one in N, and moves no other. Which node
was asked says its log, by the request's id."""
import collections
import json
import shutil
import sys
import unittest

from instance import Instance, free_port, skip
from nodes import Client, Nodes
from proxy import ADDRESSES, HAProxy, names_of

NAMES = [f"table-{i}" for i in range(3000)]
GATHER = "/v2/models/gather_nd/infer"
LOOKUP = {"inputs": {"indices": [[0]]}}
TABLE = {"datatype": "FP32", "shape": [2], "data": [7, 8]}


class Place(unittest.TestCase):
    """`ask` notes what was asked as; `where` says the nodes once they have ended."""

    def setUp(self):
        self.nodes = Nodes(3)
        self.proxy = self.through()
        self.client = Client(f"127.0.0.1:{self.proxy.port}")

    def through(self, nodes=3):
        proxy = HAProxy(self.nodes.port, nodes)
        self.addCleanup(proxy.stop)
        proxy.wait_up(nodes, "nodes")
        return proxy

    def tearDown(self):
        self.client.close()
        self.nodes.stop()

    def ask(self, number, method, target, body=None, client=None):
        return (client or self.client).ask(method, target, body and json.dumps(body), X_Request_Id=str(number))

    def where(self):
        self.nodes.stop()
        return self.nodes.seen


class Mapping(Place):
    def map(self, what, client=None):
        """Asks for every name."""
        for name in NAMES:
            status, _, answer = self.ask(f"{what}:{name}", "GET", f"/v2/tensors/{name}", client=client)
            assert status == 404 and b"TENSOR_NOT_FOUND" in answer, answer

    def test_a_node_takes_and_leaves_its_own_names(self):
        self.map("three")
        self.nodes.start(3)
        self.proxy.names.known = names_of(4)
        self.proxy.wait_up(4, "nodes")
        self.map("four")
        other = Client(f"127.0.0.1:{self.through(4).port}")
        self.map("another", other)
        other.close()
        self.nodes.end(1)
        self.proxy.wait_up(3, "nodes")
        self.map("less")
        self.nodes.start(1)
        self.proxy.wait_up(4, "nodes")
        self.map("back")

        seen = self.where()
        maps = {what: [seen[f"{what}:{name}"] for name in NAMES]
                for what in ("three", "four", "another", "less", "back")}
        three, four, less = (maps[what] for what in ("three", "four", "less"))
        parts = collections.Counter(three)
        come = [b for a, b in zip(three, four) if a != b]
        gone = [a for a, b in zip(four, less) if a != b]
        print(f"{len(NAMES)} names: {sorted(parts.items())} of three nodes; {len(come)} moved to a fourth; "
              f"{len(gone)} moved from one of four that left")
        self.assertEqual(set(come), {3})
        self.assertEqual(set(gone), {1})
        self.assertEqual(len(gone), four.count(1))
        self.assertEqual(maps["another"], four)
        self.assertEqual(maps["back"], four)
        for found, share in ((min(parts.values()), 3), (len(come), 4), (len(gone), 4)):
            self.assertLess(abs(found * share / len(NAMES) - 1), 0.2)


class Written(Place):
    """a, b and c are kept by different nodes."""

    def setUp(self):
        super().setUp()
        apart = {}
        for i in range(50):
            self.ask(f"n{i}", "GET", f"/v2/tensors/n{i}")
        self.nodes.stop()
        for i in range(50):
            apart.setdefault(self.nodes.seen[f"n{i}"], f"n{i}")
        self.a, self.b, self.c = (apart[i] for i in range(3))  # of node 0, 1, 2
        for i in range(3):
            self.nodes.start(i)
        self.proxy.wait_up(3, "nodes")
        for name in (self.a, self.b, self.c):
            status, _, answer = self.ask(name, "PUT", f"/v2/tensors/{name}", TABLE)
            assert status == 201, answer

    def test_the_name_decides(self):
        a, b, c = self.a, self.b, self.c
        rows = {  # target: its node
            f"/v2/tensors/{a}": 0, f"/v2/tensors/{b}/data": 1, f"/v2/tensors/{c}/data?rows=0:1": 2,
            f"/v2/tensors/{a}.next": 0, f"/v2/tensors/{b}.1.2": 1,
            f"/v2/tensors/{a}?tensor={b}": 0, f"/v2/tensors/{a}?into={c}&tensor={b}": 0,
            f"{GATHER}?tensor={a}": 0, f"{GATHER}?tensor={b}": 1, f"{GATHER}?tensor={c}": 2,
            f"{GATHER}?into={b}": 1, f"{GATHER}?tensor={a}&into={b}": 1, f"{GATHER}?into={b}&tensor={a}": 1,
            f"{GATHER}?into={c}.new&tensor={c}": 2, f"/v2/models/gather_nd/versions/1/infer?tensor={b}": 1,
            f"http://tensord/v2/tensors/{b}": 1, f"http://tensord{GATHER}?tensor={c}": 2,
            f"/v2/tensors/{a}/snapshot": 0, f"/%762/tensors/{b}": 1, f"/v2/%74ensors/{c}": 2, f"/v2/tensors%2f{b}": 1}
        for number, target in enumerate(rows):
            for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
                if method != "DELETE" or "." in target:
                    self.ask(f"{number}-{method}", method, target, LOOKUP)
        seen = self.where()
        wrong = [f"{request}: node {seen[request]}, not {place}: {target}"
                 for number, (target, place) in enumerate(rows.items())
                 for request in (f"{number}-GET", f"{number}-POST", f"{number}-PUT", f"{number}-PATCH")
                 if seen[request] != place]
        self.assertEqual(wrong, [])

    def test_no_spelling_reaches_another_node(self):
        """Who holds it answers, or the request is refused."""
        b = self.b
        code = "".join(f"%{ord(letter):02x}" for letter in b)
        for target in (f"{GATHER}?%74ensor={b}", f"{GATHER}?tensor={code}", f"{GATHER}?Tensor={b}", f"{GATHER}?tensor=+{b}",
                       f"{GATHER}?tensor={b}&tensor={b}", f"{GATHER}?x=1;tensor={b}", f"{GATHER}?tensor={b};into={b}",
                       f"{GATHER}?tensor={b}%26", f"{GATHER}?&&tensor={b}", f"{GATHER}??tensor={b}",
                       f"/v2/tensors/{code}/data", f"//v2/tensors/{b}/data", f"/v2//tensors/{b}/data",
                       f"/v2/./tensors/{b}/data", f"/v2/tensors//{b}/data", f"/v2/tensors/./{b}/data",
                       f"/V2/tensors/{b}/data", f"/v2/tensors/{b}/data/", f"/v2/tensors/{b}%2fdata", f"/v2/tensors;x/{b}/data"):
            for method, body in (("GET", None), ("POST", LOOKUP)):
                status, _, answer = self.ask("x", method, target, body)
                self.assertTrue(status == 200 or 400 <= status < 500, f"{method} {target}: {status}, {answer}")
                self.assertNotIn(b"TENSOR_NOT_FOUND", answer, f"{method} {target}")

    def test_a_name_in_the_body_alone_is_refused(self):
        for body in ({**LOOKUP, "parameters": {"tensor": self.a}}, {**LOOKUP, "parameters": {"into": self.a}},
                     {"inputs": {"params": [1, 2], "indices": {"tensor": self.a}}}):
            status, _, answer = self.ask("x", "POST", GATHER, body)
            self.assertEqual((status, b"tensor_in_url" in answer), (400, True), answer)


class Replicas(unittest.TestCase):
    def test_without_nodes_replicas_say_that_none_are_kept(self):
        replica = Instance(f"{ADDRESSES[0]}:{free_port()}", "--tensor-memory=0")
        proxy = HAProxy(int(replica.address.rpartition(":")[2]))
        proxy.wait_up(1)
        client = Client(f"127.0.0.1:{proxy.port}")
        for method, target in (("GET", "/v2/tensors/a"), ("GET", "/v2/tensors"), ("POST", f"{GATHER}?tensor=a")):
            status, _, answer = client.ask(method, target, json.dumps(LOOKUP))
            self.assertEqual((status, b"NOT_SUPPORTED" in answer), (501, True), answer)
        client.close()
        proxy.stop()
        replica.drain()


if __name__ == "__main__":
    if not shutil.which("haproxy"):
        skip("haproxy is not installed")
    sys.exit(unittest.main())
