"""The safetensors library and urllib: files it saves are requests, answers are files it loads."""

import json
import unittest
import urllib.error
import urllib.request

import numpy as np
from safetensors.numpy import load, save

from support.server import ServerCase

TYPE = "application/vnd.safetensors"


class Safetensors(ServerCase, unittest.TestCase):
    def post(self, op, body, **headers):
        request = urllib.request.Request(
            f"http://{self.server.address}/v2/models/{op}/infer",
            data=body,
            headers={"Content-Type": TYPE, **{k.replace("_", "-"): v for k, v in headers.items()}},
        )
        with urllib.request.urlopen(request) as answer:
            return answer.headers["Content-Type"], answer.read()

    def infer(self, op, tensors, metadata=None):
        content_type, body = self.post(op, save(tensors, metadata))
        self.assertEqual(content_type, TYPE)
        return load(body)["output"]

    def test_scatter(self):
        output = self.infer(
            "tensor_scatter_add",
            {
                "tensor": np.array([1, 2, 3, 4], np.float32),
                "indices": np.array([[1], [3]], np.int32),
                "updates": np.array([10, 20], np.float32),
            },
        )
        np.testing.assert_array_equal(output, np.array([1, 12, 3, 24], np.float32))

    def test_every_type(self):
        for dtype in (
            *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
            *(np.float16, np.float32, np.float64, np.bool_, np.complex64),
        ):
            with self.subTest(dtype=dtype):
                output = self.infer(
                    "tensor_scatter_update",
                    {
                        "tensor": np.array([[1, 0], [1, 1]], dtype),
                        "indices": np.array([[1, 0]], np.int64),
                        "updates": np.array([0], dtype),
                    },
                )
                self.assertEqual(output.dtype, dtype)
                np.testing.assert_array_equal(output, np.array([[1, 0], [0, 1]], dtype))

    def test_complex_sum(self):
        output = self.infer(
            "scatter_nd",
            {
                "indices": np.array([[1], [1]], np.int32),
                "updates": np.array([1 + 2j, 3 - 1j], np.complex64),
                "shape": np.array([3], np.int32),
            },
        )
        np.testing.assert_array_equal(output, np.array([0, 4 + 1j, 0], np.complex64))

    def test_parameters_are_metadata(self):
        tensors = {
            "tensor": np.array([1, 2], np.float32),
            "indices": np.array([[5], [0]], np.int64),
            "updates": np.array([7, 8], np.float32),
        }
        output = self.infer("tensor_scatter_add", tensors, {"bad_indices_policy": "IGNORE"})
        np.testing.assert_array_equal(output, [9, 2])
        with self.assertRaises(urllib.error.HTTPError) as caught:
            self.post("tensor_scatter_add", save(tensors))
        with caught.exception as error:
            self.assertEqual(error.code, 400)
            self.assertEqual(error.headers["Content-Type"], "application/json")
            self.assertEqual(error.headers["Error-Code"], "INDEX_OUT_OF_BOUNDS")
            self.assertIn("indices[0] = [5]", json.loads(error.read())["error"])

    def test_accept_chooses_the_answer(self):
        body = save(
            {
                "tensor": np.array([1, 2], np.float32),
                "indices": np.array([[0]], np.int64),
                "updates": np.array([7], np.float32),
            }
        )
        content_type, answer = self.post("tensor_scatter_add", body, Accept="application/json")
        self.assertEqual(content_type, "application/json")
        self.assertEqual(json.loads(answer)["outputs"][0]["data"], [8.0, 2.0])
        for name in (TYPE, "application/safetensors", "application/x-safetensors"):
            content_type, answer = self.post("tensor_scatter_add", body, Accept=name)
            self.assertEqual(content_type, name)
            np.testing.assert_array_equal(load(answer)["output"], [8, 2])

    def test_json_in_and_a_file_out(self):
        content_type, answer = self.post(
            "scatter_nd",
            b'{"inputs":{"indices":[[1]],"updates":[[5,6]],"shape":[2,2]}}',
            Content_Type="application/json",
            Accept=TYPE,
        )
        self.assertEqual(content_type, TYPE)
        np.testing.assert_array_equal(load(answer)["output"], [[0, 0], [5, 6]])

    def test_empty_and_scalar_tensors(self):
        output = self.infer(
            "scatter_nd",
            {
                "indices": np.zeros((0, 1), np.int32),
                "updates": np.zeros((0, 3), np.float32),
                "shape": np.array([0, 3], np.int64),
            },
        )
        self.assertEqual(output.shape, (0, 3))
        output = self.infer(
            "gather_nd",
            {"params": np.array(5, np.float32), "indices": np.zeros((2, 0), np.int32)},
        )
        np.testing.assert_array_equal(output, [5, 5])

    def test_a_large_file(self):
        tensor = np.arange(4 << 20, dtype=np.float32)
        output = self.infer(
            "tensor_scatter_sub",
            {
                "tensor": tensor,
                "indices": np.array([[4194303]], np.int64),
                "updates": np.array([3], np.float32),
            },
        )
        tensor[-1] -= 3
        np.testing.assert_array_equal(output, tensor)


if __name__ == "__main__":
    unittest.main()
