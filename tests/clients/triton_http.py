"""tritonclient.http, unmodified: every call of it that has an answer here."""

import unittest

import numpy as np
import tritonclient.http as triton
from tritonclient.utils import InferenceServerException

from support.server import ServerCase

DTYPES = {
    "INT8": np.int8,
    "INT16": np.int16,
    "INT32": np.int32,
    "INT64": np.int64,
    "UINT8": np.uint8,
    "UINT16": np.uint16,
    "UINT32": np.uint32,
    "UINT64": np.uint64,
    "FP16": np.float16,
    "FP32": np.float32,
    "FP64": np.float64,
}


def make_input(name, array, datatype, binary=True):
    made = triton.InferInput(name, list(array.shape), datatype)
    made.set_data_from_numpy(array, binary_data=binary)
    return made


def scatter_inputs(dtype="FP32", binary=(True, True, True)):
    return [
        make_input("tensor", np.array([1, 2, 3, 4], DTYPES[dtype]), dtype, binary[0]),
        make_input("indices", np.array([[1], [3], [1]], np.int32), "INT32", binary[1]),
        make_input("updates", np.array([10, 20, 30], DTYPES[dtype]), dtype, binary[2]),
    ]


SUM = [1, 42, 3, 24]


class Info(ServerCase, unittest.TestCase):
    def setUp(self):
        self.client = triton.InferenceServerClient(self.server.address)
        self.addCleanup(self.client.close)

    def test_health(self):
        self.assertTrue(self.client.is_server_live())
        self.assertTrue(self.client.is_server_ready())
        self.assertTrue(self.client.is_model_ready("TensorScatterAdd"))
        self.assertTrue(self.client.is_model_ready("tensor_scatter_add", "1"))
        self.assertFalse(self.client.is_model_ready("no_such_op"))
        self.assertFalse(self.client.is_model_ready("tensor_scatter_add", "7"))

    def test_server_metadata(self):
        metadata = self.client.get_server_metadata()
        self.assertEqual(metadata["name"], "tensord")
        self.assertIn("binary_tensor_data", metadata["extensions"])
        self.assertIsInstance(metadata["version"], str)

    def test_model_metadata(self):
        for version in ("", "1"):
            metadata = self.client.get_model_metadata("scatter_nd", version)
            self.assertEqual(metadata["name"], "scatter_nd")
            self.assertEqual(metadata["versions"], ["1"])
            names = [tensor["name"] for tensor in metadata["inputs"]]
            self.assertEqual(names, ["indices", "updates", "shape"])
            self.assertEqual([tensor["name"] for tensor in metadata["outputs"]], ["output"])
            for tensor in metadata["inputs"] + metadata["outputs"]:
                self.assertIsInstance(tensor["datatype"], str)
                self.assertIsInstance(tensor["shape"], list)

    def test_model_config(self):
        config = self.client.get_model_config("gather_nd")
        self.assertEqual(config["name"], "gather_nd")
        self.assertEqual(config["max_batch_size"], 0)
        self.assertEqual([tensor["name"] for tensor in config["input"]], ["params", "indices"])

    def test_statistics(self):
        before = self.client.get_inference_statistics("tensor_scatter_mul")["model_stats"][0]
        self.client.infer("TensorScatterMul", scatter_inputs())
        after = self.client.get_inference_statistics("tensor_scatter_mul")["model_stats"][0]
        self.assertEqual(after["inference_count"], before["inference_count"] + 1)
        self.assertEqual(after["execution_count"], before["execution_count"] + 1)
        for part in ("success", "fail", "queue", "compute_input", "compute_infer"):
            self.assertIsInstance(after["inference_stats"][part]["count"], int)
            self.assertIsInstance(after["inference_stats"][part]["ns"], int)
        everything = self.client.get_inference_statistics()["model_stats"]
        self.assertIn("scatter_nd", [model["name"] for model in everything])

    def test_repository_index(self):
        index = self.client.get_model_repository_index()
        self.assertIn("tensor_scatter_add", [model["name"] for model in index])
        self.assertEqual({model["state"] for model in index}, {"READY"})

    def test_extensions_that_are_off(self):
        self.assertEqual(self.client.get_system_shared_memory_status(), [])
        self.assertEqual(self.client.get_cuda_shared_memory_status(), [])
        self.client.unregister_system_shared_memory()
        self.client.unregister_cuda_shared_memory()
        self.assertIn("log_verbose_level", self.client.get_log_settings())
        self.assertIn("trace_level", self.client.get_trace_settings())
        self.assertIn("trace_level", self.client.get_trace_settings("scatter_nd"))
        for refused in (
            lambda: self.client.load_model("scatter_nd"),
            lambda: self.client.unload_model("scatter_nd"),
            lambda: self.client.register_system_shared_memory("r", "/k", 16),
            lambda: self.client.update_log_settings({"log_verbose_level": 1}),
            lambda: self.client.update_trace_settings(settings={"trace_level": ["TIMESTAMPS"]}),
        ):
            with self.assertRaises(InferenceServerException) as caught:
                refused()
            self.assertEqual(caught.exception.status(), "501")
            self.assertTrue(caught.exception.message().startswith("NOT_SUPPORTED: "))


class Infer(ServerCase, unittest.TestCase):
    def setUp(self):
        self.client = triton.InferenceServerClient(self.server.address, concurrency=2)
        self.addCleanup(self.client.close)

    def test_binary_both_ways(self):
        result = self.client.infer("tensor_scatter_nd_add", scatter_inputs())
        np.testing.assert_array_equal(result.as_numpy("output"), np.array(SUM, np.float32))
        response = result.get_response()
        self.assertEqual(response["model_name"], "tensor_scatter_nd_add")
        self.assertEqual(response["model_version"], "1")
        self.assertNotIn("id", response)

    def test_json_both_ways(self):
        inputs = scatter_inputs(binary=(False, False, False))
        outputs = [triton.InferRequestedOutput("output", binary_data=False)]
        result = self.client.infer(
            "tensor_scatter_add", inputs, outputs=outputs, request_id="r-1", model_version="1"
        )
        np.testing.assert_array_equal(result.as_numpy("output"), np.array(SUM, np.float32))
        self.assertEqual(result.get_response()["id"], "r-1")
        self.assertNotIn("parameters", result.get_output("output"))

    def test_mixed(self):
        for binary in ((True, False, True), (False, True, False), (False, False, True)):
            for binary_output in (True, False):
                outputs = [triton.InferRequestedOutput("output", binary_data=binary_output)]
                result = self.client.infer(
                    "tensor_scatter_add", scatter_inputs(binary=binary), outputs=outputs
                )
                np.testing.assert_array_equal(result.as_numpy("output"), SUM)

    def test_every_number_type(self):
        for datatype, dtype in DTYPES.items():
            result = self.client.infer("TensorScatterAdd", scatter_inputs(datatype))
            output = result.as_numpy("output")
            self.assertEqual(output.dtype, dtype)
            np.testing.assert_array_equal(output, np.array(SUM, dtype))
            self.assertEqual(result.get_output("output")["datatype"], datatype)

    def test_bf16(self):
        import ml_dtypes

        inputs = [
            make_input("tensor", np.array([1.5, 2, 3], ml_dtypes.bfloat16), "BF16"),
            make_input("indices", np.array([[0]], np.int64), "INT64"),
            make_input("updates", np.array([0.25], ml_dtypes.bfloat16), "BF16"),
        ]
        result = self.client.infer("tensor_scatter_add", inputs)
        self.assertEqual(result.get_output("output")["datatype"], "BF16")
        np.testing.assert_array_equal(result.as_numpy("output").astype(np.float32), [1.75, 2, 3])

    def test_bool(self):
        inputs = [
            make_input("tensor", np.array([True, False, True]), "BOOL"),
            make_input("indices", np.array([[2]], np.int64), "INT64"),
            make_input("updates", np.array([False]), "BOOL"),
        ]
        result = self.client.infer("tensor_scatter_update", inputs)
        np.testing.assert_array_equal(result.as_numpy("output"), [True, False, False])

    def test_bytes(self):
        for binary in (True, False):
            inputs = [
                make_input("tensor", np.array([b"ab", b"", b"c"], object), "BYTES", binary),
                make_input("indices", np.array([[1]], np.int32), "INT32", binary),
                make_input("updates", np.array(["x\u00e9".encode()], object), "BYTES", binary),
            ]
            result = self.client.infer("tensor_scatter_update", inputs)
            output = list(result.as_numpy("output"))
            self.assertEqual(output, [b"ab", "x\u00e9".encode(), b"c"])

    def test_a_scalar_and_an_empty_tensor(self):
        params = make_input("params", np.array(5, np.float32), "FP32")
        indices = make_input("indices", np.zeros((2, 0), np.int32), "INT32")
        result = self.client.infer("gather_nd", [params, indices])
        np.testing.assert_array_equal(result.as_numpy("output"), [5, 5])
        inputs = [
            make_input("indices", np.zeros((0, 1), np.int32), "INT32"),
            make_input("updates", np.zeros((0, 3), np.float32), "FP32"),
            make_input("shape", np.array([0, 3], np.int32), "INT32"),
        ]
        result = self.client.infer("scatter_nd", inputs)
        self.assertEqual(result.as_numpy("output").shape, (0, 3))

    def test_nonfinite_in_json(self):
        inputs = scatter_inputs(binary=(False, False, False))
        inputs[0].set_data_from_numpy(np.array([np.nan, np.inf, -np.inf, 1], np.float32), False)
        outputs = [triton.InferRequestedOutput("output", binary_data=False)]
        result = self.client.infer("tensor_scatter_update", inputs, outputs=outputs)
        np.testing.assert_array_equal(
            result.as_numpy("output"), np.array([np.nan, 30, -np.inf, 20], np.float32)
        )

    def test_compressed_requests(self):
        for coding in ("gzip", "deflate"):
            result = self.client.infer(
                "tensor_scatter_add",
                scatter_inputs(),
                request_compression_algorithm=coding,
                response_compression_algorithm=coding,
            )
            np.testing.assert_array_equal(result.as_numpy("output"), SUM)

    def test_a_large_tensor(self):
        tensor = np.arange(4 << 20, dtype=np.float32)
        rows = np.array([[0], [4194303]], np.int64)
        inputs = [
            make_input("tensor", tensor, "FP32"),
            make_input("indices", rows, "INT64"),
            make_input("updates", np.array([1, 2], np.float32), "FP32"),
        ]
        output = self.client.infer("tensor_scatter_update", inputs).as_numpy("output")
        tensor[[0, 4194303]] = [1, 2]
        np.testing.assert_array_equal(output, tensor)

    def test_async_infer(self):
        pending = [
            self.client.async_infer("tensor_scatter_add", scatter_inputs()) for _ in range(8)
        ]
        for request in pending:
            np.testing.assert_array_equal(request.get_result().as_numpy("output"), SUM)

    def test_parameters(self):
        inputs = scatter_inputs()
        inputs[1].set_data_from_numpy(np.array([[1], [9], [-1]], np.int32))
        result = self.client.infer(
            "tensor_scatter_add",
            inputs,
            priority=1,
            timeout=10_000_000,
            sequence_id=7,
            sequence_start=True,
            parameters={"bad_indices_policy": "IGNORE", "mine": "kept to myself"},
        )
        np.testing.assert_array_equal(result.as_numpy("output"), [1, 12, 3, 4])
        self.assertEqual(result.get_response()["parameters"], {"ignored_indices": 2})

    def assert_refused(self, status, code, **arguments):
        with self.assertRaises(InferenceServerException) as caught:
            self.client.infer(**arguments)
        self.assertEqual(caught.exception.status(), str(status))
        self.assertTrue(caught.exception.message().startswith(code + ": "), caught.exception)
        return caught.exception.message()

    def test_errors_reach_the_caller(self):
        self.assert_refused(
            404, "MODEL_NOT_FOUND", model_name="no_such_op", inputs=scatter_inputs()
        )
        self.assert_refused(
            400, "MISSING_INPUT", model_name="scatter_nd", inputs=scatter_inputs()[1:]
        )
        inputs = scatter_inputs()
        inputs[1].set_data_from_numpy(np.array([[1], [7], [-1]], np.int32))
        message = self.assert_refused(
            400, "INDEX_OUT_OF_BOUNDS", model_name="tensor_scatter_add", inputs=inputs
        )
        self.assertIn("indices[1] = [7]", message)
        self.assert_refused(
            400,
            "UNKNOWN_OUTPUT",
            model_name="tensor_scatter_add",
            inputs=scatter_inputs(),
            outputs=[triton.InferRequestedOutput("result")],
        )
        self.assert_refused(
            400,
            "INVALID_PARAMETER",
            model_name="tensor_scatter_add",
            inputs=scatter_inputs(),
            outputs=[triton.InferRequestedOutput("output", class_count=3)],
        )


class Limits(ServerCase, unittest.TestCase):
    settings = ("--max_body=1M",)

    def test_a_refused_upload_still_says_why(self):
        client = triton.InferenceServerClient(self.server.address)
        self.addCleanup(client.close)
        inputs = [
            make_input("tensor", np.zeros(16 << 20, np.float32), "FP32"),
            make_input("indices", np.array([[0]], np.int64), "INT64"),
            make_input("updates", np.array([1], np.float32), "FP32"),
        ]
        with self.assertRaises(InferenceServerException) as caught:
            client.infer("tensor_scatter_add", inputs)
        self.assertEqual(caught.exception.status(), "413")
        self.assertIn("max_body", caught.exception.message())


if __name__ == "__main__":
    unittest.main()
