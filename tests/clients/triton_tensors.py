"""tritonclient, http and aio, unmodified: tensors that the server keeps."""

import asyncio
import json
import unittest
import urllib.request

import numpy as np
import tritonclient.http as triton
import tritonclient.http.aio as triton_aio
from tritonclient.utils import InferenceServerException

from support.server import ServerCase

TABLE = np.arange(20, dtype=np.float32).reshape(10, 2)


def indices(*rows):
    made = triton.InferInput("indices", [len(rows), 1], "INT64")
    return made.set_data_from_numpy(np.int64([[row] for row in rows]))


def updates(array):
    made = triton.InferInput("updates", list(array.shape), "FP32")
    return made.set_data_from_numpy(array)


class Tensors(ServerCase, unittest.TestCase):
    def setUp(self):
        self.client = triton.InferenceServerClient(self.server.address)
        self.addCleanup(self.client.close)
        self.put("emb", TABLE)

    def ask(self, method, path, body=None):
        url = f"http://{self.server.address}/v2/tensors/{path}"
        request = urllib.request.Request(url, body, {"Content-Type": "application/octet-stream"})
        request.get_method = lambda: method
        with urllib.request.urlopen(request) as answer:
            return answer.read(), answer.headers

    def put(self, name, array):
        shape = ",".join(str(size) for size in array.shape)
        self.ask("PUT", f"{name}?datatype=FP32&shape={shape}", array.tobytes())

    def data(self, name):
        url = f"http://{self.server.address}/v2/tensors/{name}/data"
        request = urllib.request.Request(url, headers={"Accept": "application/octet-stream"})
        with urllib.request.urlopen(request) as answer:
            return np.frombuffer(answer.read(), np.float32)

    def test_a_parameter_names_the_table(self):
        result = self.client.infer("gather_nd", [indices(3, 7)], parameters={"tensor": "emb"})
        np.testing.assert_array_equal(result.as_numpy("output"), TABLE[[3, 7]])
        self.assertEqual(result.get_response()["parameters"]["tensor_version"], 1)

    def test_the_query_names_it_and_headers_carry_conditions_and_keys(self):
        _, headers = self.ask("GET", "emb")
        arguments = {
            "query_params": {"tensor": "emb", "into": "emb"},
            "headers": {"If-Match": headers["ETag"], "Idempotency-Key": '"4f1c"'},
        }
        one = [indices(3), updates(np.float32([[1, 2]]))]
        result = self.client.infer("tensor_scatter_add", one, **arguments)
        self.assertEqual(result.get_response()["outputs"], [])
        again = self.client.infer("tensor_scatter_add", one, **arguments)
        self.assertEqual(again.get_response(), result.get_response())
        expected = TABLE.copy()
        expected[3] += [1, 2]
        np.testing.assert_array_equal(self.data("emb"), expected.ravel())
        arguments["headers"]["Idempotency-Key"] = '"4f1d"'
        with self.assertRaises(InferenceServerException) as caught:
            self.client.infer("tensor_scatter_add", one, **arguments)
        self.assertEqual(caught.exception.status(), "412")

    def test_shared_memory_is_the_same_reference(self):
        table = triton.InferInput("params", [4, 2], "FP32")
        table.set_shared_memory("emb", 32, offset=16)
        result = self.client.infer("gather_nd", [table, indices(1)])
        np.testing.assert_array_equal(result.as_numpy("output"), TABLE[[3]])
        status = self.client.get_system_shared_memory_status()
        self.assertIn(("emb", 80), [(region["name"], region["byte_size"]) for region in status])
        self.client.unregister_system_shared_memory()
        self.assertEqual(self.data("emb").size, 20)

    def test_shared_memory_of_an_output_is_into(self):
        table = triton.InferInput("tensor", [10, 2], "FP32")
        table.set_shared_memory("emb", 80)
        output = triton.InferRequestedOutput("output")
        output.set_shared_memory("emb", 80)
        result = self.client.infer(
            "tensor_scatter_update",
            [table, indices(0), updates(np.float32([[7, 8]]))],
            outputs=[output],
        )
        described = result.get_output("output")
        self.assertEqual((described["datatype"], described["shape"]), ("FP32", [10, 2]))
        self.assertNotIn("parameters", described)
        np.testing.assert_array_equal(self.data("emb")[:2], [7, 8])

    def test_register_stays_refused(self):
        with self.assertRaises(InferenceServerException) as caught:
            self.client.register_system_shared_memory("emb", "/key", 80)
        self.assertEqual(caught.exception.status(), "501")

    def test_the_extension_is_named_and_shared_memory_is_not(self):
        extensions = self.client.get_server_metadata()["extensions"]
        self.assertIn("resident_tensors", extensions)
        self.assertNotIn("system_shared_memory", extensions)

    def test_a_recorded_request_names_it_too(self):
        body = {
            "inputs": [{"name": "indices", "shape": [1, 1], "datatype": "INT64", "data": [9]}],
            "parameters": {"tensor": "emb"},
        }
        request = urllib.request.Request(
            f"http://{self.server.address}/v2/models/gather_nd/infer",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as answer:
            self.assertEqual(json.load(answer)["outputs"][0]["data"], [18.0, 19.0])

    def test_aio(self):
        async def run():
            async with triton_aio.InferenceServerClient(self.server.address) as client:
                write = client.infer(
                    "tensor_scatter_add",
                    [indices(5), updates(np.float32([[1, 1]]))],
                    parameters={"into": "emb"},
                    query_params={"tensor": "emb"},
                )
                self.assertEqual((await write).get_response()["outputs"], [])
                read = await client.infer("gather_nd", [indices(5)], parameters={"tensor": "emb"})
                np.testing.assert_array_equal(read.as_numpy("output"), TABLE[[5]] + 1)

        asyncio.run(run())


if __name__ == "__main__":
    unittest.main()
