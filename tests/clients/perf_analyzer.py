"""What perf_analyzer asks before, between and after its measurements, read as strictly as it reads
(model_parser.cc, triton_client_backend.cc): it checks little and breaks on the rest."""

import http.client
import json
import struct
import unittest

from support.server import ServerCase

MODEL = "/v2/models/tensor_scatter_add"
STATISTICS = (
    *("success", "queue", "compute_input", "compute_infer", "compute_output"),
    *("cache_hit", "cache_miss"),
)


class PerfAnalyzer(ServerCase, unittest.TestCase):
    def setUp(self):
        self.connection = http.client.HTTPConnection(self.server.address, timeout=30)
        self.addCleanup(self.connection.close)

    def ask(self, path, method="GET", body=None, headers=None):
        self.connection.request(method, path, body, headers or {})
        answer = self.connection.getresponse()
        text = answer.read()
        self.assertEqual(answer.status, 200, text)
        length = int(answer.headers.get("Inference-Header-Content-Length", len(text)))
        return json.loads(text[:length])

    def statistics(self):
        (model,) = self.ask(MODEL + "/stats")["model_stats"]
        self.assertEqual(model["name"], "tensor_scatter_add")
        self.assertIsInstance(model["version"], str)
        for name in ("inference_count", "execution_count"):
            self.assertIs(type(model[name]), int)
        for name in STATISTICS:
            for unit in ("count", "ns"):
                self.assertIs(type(model["inference_stats"][name][unit]), int)
                self.assertGreaterEqual(model["inference_stats"][name][unit], 0)
        return model

    def infer(self):
        tensors = struct.pack("<8f4i4f", *range(8), *range(4), *range(4))
        inputs = [
            ("tensor", "FP32", [8], 32),
            ("indices", "INT32", [4, 1], 16),
            ("updates", "FP32", [4], 16),
        ]
        text = json.dumps(
            {
                "id": "",
                "parameters": {"binary_data_output": True},
                "inputs": [
                    {
                        "name": name,
                        "datatype": datatype,
                        "shape": shape,
                        "parameters": {"binary_data_size": size},
                    }
                    for name, datatype, shape, size in inputs
                ],
            }
        ).encode()
        return self.ask(
            MODEL + "/infer",
            "POST",
            text + tensors,
            {"Inference-Header-Content-Length": str(len(text))},
        )

    def test_the_model_is_described(self):
        self.assertIn("statistics", self.ask("/v2")["extensions"])
        model, config = self.ask(MODEL), self.ask(MODEL + "/config")
        self.assertIs(type(config["max_batch_size"]), int)
        for cache in [config["response_cache"]] if "response_cache" in config else []:
            self.assertIs(type(cache["enable"]), bool)
        for policy in (
            [config["model_transaction_policy"]] if "model_transaction_policy" in config else []
        ):
            self.assertIs(type(policy["decoupled"]), bool)
        for kind in ("input", "output"):
            described = {tensor["name"] for tensor in model[kind + "s"]}
            self.assertLessEqual({tensor["name"] for tensor in config[kind]}, described)

    def test_statistics_count_what_was_asked_between_two_looks(self):
        before = self.statistics()
        for _ in range(10):
            self.assertEqual(self.infer()["outputs"][0]["shape"], [8])
        after = self.statistics()
        self.assertEqual(after["inference_count"] - before["inference_count"], 10)
        success = [model["inference_stats"]["success"] for model in (before, after)]
        self.assertEqual(success[1]["count"] - success[0]["count"], 10)
        self.assertGreater(success[1]["ns"], success[0]["ns"])

    def test_shared_memory_is_left_as_it_was(self):
        for kind in ("system", "cuda"):
            self.assertEqual(self.ask(f"/v2/{kind}sharedmemory/unregister", "POST", b""), {})

    def test_the_metrics_that_it_scrapes_are_text(self):
        self.connection.request("GET", "/metrics")
        answer = self.connection.getresponse()
        text = answer.read().decode()
        self.assertEqual(answer.status, 200)
        for line in text.splitlines():
            self.assertTrue(line.startswith("#") or len(line.rsplit(" ", 1)) == 2, line)


if __name__ == "__main__":
    unittest.main()
