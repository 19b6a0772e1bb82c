"""What KServe's InferenceRESTClient sends (heavy/kserve_rest.py recorded it), and what it needs of
the answers: their exact content type, and JSON that a strict reader takes."""

import json
import struct
import unittest
import urllib.request

from support.recorded import replay
from support.server import ServerCase


def refuse(constant):
    raise ValueError(f"orjson does not take {constant}")


class KServeRecorded(ServerCase, unittest.TestCase):
    def infer(self, name):
        """The output as the client reads it, and its tensor as bytes or None."""
        status, headers, body = replay(self.server.address, name)
        self.assertEqual(status, 200, body)
        length = int(headers.get("inference-header-content-length", len(body)))
        answer = json.loads(body[:length], parse_constant=refuse)
        self.assertEqual(answer["id"], name)
        self.assertEqual(answer["model_name"], "tensor_scatter_add")
        output = answer["outputs"][0]
        raw = body[length:] if "data" not in output else None
        if raw is not None:
            self.assertEqual(output["parameters"]["binary_data_size"], len(raw))
        return output, raw

    def test_json(self):
        for name in ("kserve-json", "kserve-binary-to-json"):
            output, _ = self.infer(name)
            self.assertEqual(output["data"], [1, 12, 3, 24])

    def test_binary(self):
        output, raw = self.infer("kserve-binary")
        self.assertEqual(struct.unpack("<4f", raw), (1, 12, 3, 24))
        self.assertEqual((output["datatype"], output["shape"]), ("FP32", [4]))
        output, raw = self.infer("kserve-fp16")
        self.assertEqual(struct.unpack("<4e", raw), (1, 12, 3, 24))

    def test_a_size_of_zero_with_data_null(self):
        output, raw = self.infer("kserve-empty")
        self.assertEqual(struct.unpack("<2f", raw), (1, 2))

    def put(self):
        """emb is 1, 2, 3, 4."""
        url = f"http://{self.server.address}/v2/tensors/emb?datatype=FP32&shape=4"
        request = urllib.request.Request(url, struct.pack("<4f", 1, 2, 3, 4), method="PUT")
        urllib.request.urlopen(request).close()

    def test_parameters_name_a_kept_tensor(self):
        self.put()
        output, _ = self.infer("kserve-kept")
        self.assertEqual(output["data"], [1, 12, 3, 24])
        _, raw = self.infer("kserve-kept-binary")
        self.assertEqual(struct.unpack("<4f", raw), (1, 12, 3, 24))

    def test_into_keeps_the_result(self):
        self.put()
        for last in (24, 44):
            status, _, body = replay(self.server.address, "kserve-kept-into")
            self.assertEqual((status, json.loads(body)["outputs"]), (200, []))
            url = f"http://{self.server.address}/v2/tensors/emb/data"
            request = urllib.request.Request(url, headers={"Accept": "application/octet-stream"})
            with urllib.request.urlopen(request) as answer:
                self.assertEqual(struct.unpack("<4f", answer.read())[3], last)

    def test_nan_that_became_null(self):
        status, headers, body = replay(self.server.address, "kserve-nan")
        self.assertEqual(status, 400)
        self.assertEqual(headers["content-type"], "application/json")
        self.assertRegex(json.loads(body)["error"], "^INVALID_FIELD: .*null")


if __name__ == "__main__":
    unittest.main()
