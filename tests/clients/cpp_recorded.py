"""What Triton's C++ client sends where its inputs and its output are in shared memory, and what it
needs of the answer. perf_analyzer 2.47.0 sent it (--shared-memory=system, through a proxy that answered
its registrations); the regions that it names are tensors that the server keeps."""

import json
import struct
import unittest
import urllib.request

from support.recorded import replay
from support.server import ServerCase

INPUTS = {
    "tensor_0_0": ("FP32", "8", struct.pack("<8f", *range(8))),
    "indices_0_0": ("INT64", "4,1", struct.pack("<4q", 0, 1, 2, 7)),
    "updates_0_0": ("FP32", "4", struct.pack("<4f", 10, 20, 30, 40)),
}
RESULT = (10, 21, 32, 3, 4, 5, 6, 47)


class CppRecorded(ServerCase, unittest.TestCase):
    def setUp(self):
        for name, (datatype, shape, elements) in INPUTS.items():
            self.ask("PUT", f"{name}?datatype={datatype}&shape={shape}", elements)

    def ask(self, method, path, body=None):
        url = f"http://{self.server.address}/v2/tensors/{path}"
        headers = {"Content-Type": "application/octet-stream", "Accept": "application/octet-stream"}
        request = urllib.request.Request(url, body, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return answer.read()

    def infer(self):
        status, headers, body = replay(self.server.address, "cpp-shared-memory")
        self.assertEqual(status, 200, body)
        self.assertEqual(headers["content-type"], "application/json")
        return json.loads(body)

    def test_the_result_becomes_the_region_of_the_output(self):
        answer = self.infer()
        # It takes the parameters of an output for those of one that was sent, and fails without
        # binary_data_size among them.
        described = {"name": "output", "datatype": "FP32", "shape": [8]}
        self.assertEqual(answer["outputs"], [described])
        self.assertEqual(struct.unpack("<8f", self.ask("GET", "output/data")), RESULT)
        for name, (_, _, elements) in INPUTS.items():
            self.assertEqual(self.ask("GET", name + "/data"), elements)

    def test_a_region_that_is_not_there(self):
        self.ask("DELETE", "indices_0_0")
        status, headers, body = replay(self.server.address, "cpp-shared-memory")
        self.assertEqual((status, headers["error-code"]), (404, "TENSOR_NOT_FOUND"))
        self.assertIn("indices_0_0", json.loads(body)["error"])

    def test_unregistering_drops_nothing(self):
        for kind in ("system", "cuda"):
            status, _, body = replay(self.server.address, "cpp-unregister-" + kind)
            self.assertEqual((status, json.loads(body)), (200, {}))
        self.infer()


if __name__ == "__main__":
    unittest.main()
