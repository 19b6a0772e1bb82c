"""tritonclient.http.aio, unmodified. aiohttp offers every content coding on every call, and the
client does not decode those of metadata: nothing may be compressed."""

import asyncio
import unittest

import numpy as np
import tritonclient.http.aio as triton
from tritonclient.utils import InferenceServerException

from support.server import ServerCase


def make_input(name, array, datatype, binary=True):
    made = triton.InferInput(name, list(array.shape), datatype)
    made.set_data_from_numpy(array, binary_data=binary)
    return made


def scatter_inputs(start=1, binary=True):
    return [
        make_input("tensor", np.array([start, 2, 3, 4], np.float32), "FP32", binary),
        make_input("indices", np.array([[1], [3]], np.int64), "INT64", binary),
        make_input("updates", np.array([10, 20], np.float32), "FP32", binary),
    ]


class Aio(ServerCase, unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.client = triton.InferenceServerClient(self.server.address)
        self.addAsyncCleanup(self.client.close)

    async def test_health(self):
        self.assertTrue(await self.client.is_server_live())
        self.assertTrue(await self.client.is_server_ready())
        self.assertTrue(await self.client.is_model_ready("ScatterNd"))
        self.assertFalse(await self.client.is_model_ready("no_such_op"))

    async def test_descriptions(self):
        self.assertEqual((await self.client.get_server_metadata())["name"], "tensord")
        metadata = await self.client.get_model_metadata("scatter_nd", "1")
        self.assertEqual(metadata["name"], "scatter_nd")
        self.assertEqual((await self.client.get_model_config("scatter_nd"))["max_batch_size"], 0)
        index = await self.client.get_model_repository_index()
        self.assertIn("scatter_nd", [model["name"] for model in index])
        stats = await self.client.get_inference_statistics("scatter_nd")
        self.assertEqual(stats["model_stats"][0]["name"], "scatter_nd")
        everything = await self.client.get_inference_statistics()
        self.assertGreater(len(everything["model_stats"]), 1)

    async def test_extensions_that_are_off(self):
        self.assertEqual(await self.client.get_system_shared_memory_status(), [])
        self.assertEqual(await self.client.get_cuda_shared_memory_status(), [])
        await self.client.unregister_system_shared_memory()
        self.assertIn("log_verbose_level", await self.client.get_log_settings())
        self.assertIn("trace_level", await self.client.get_trace_settings())
        with self.assertRaises(InferenceServerException) as caught:
            await self.client.load_model("scatter_nd")
        self.assertEqual(caught.exception.status(), "501")

    async def test_infer(self):
        for binary_in in (True, False):
            for binary_out in (True, False):
                outputs = [triton.InferRequestedOutput("output", binary_data=binary_out)]
                result = await self.client.infer(
                    "TensorScatterNdAdd", scatter_inputs(binary=binary_in), outputs=outputs
                )
                np.testing.assert_array_equal(result.as_numpy("output"), [1, 12, 3, 24])

    async def test_compressed_requests(self):
        for coding in ("gzip", "deflate"):
            result = await self.client.infer(
                "tensor_scatter_add",
                scatter_inputs(),
                request_compression_algorithm=coding,
                response_compression_algorithm=coding,
            )
            np.testing.assert_array_equal(result.as_numpy("output"), [1, 12, 3, 24])

    async def test_many_at_once(self):
        results = await asyncio.gather(
            *(self.client.infer("tensor_scatter_add", scatter_inputs(i)) for i in range(100))
        )
        for i, result in enumerate(results):
            np.testing.assert_array_equal(result.as_numpy("output"), [i, 12, 3, 24])

    async def test_errors_reach_the_caller(self):
        for name, code, status in (
            ("no_such_op", "MODEL_NOT_FOUND", "404"),
            ("scatter_nd", "UNKNOWN_INPUT", "400"),
        ):
            with self.assertRaises(InferenceServerException) as caught:
                await self.client.infer(name, scatter_inputs())
            self.assertEqual(caught.exception.status(), status)
            self.assertTrue(caught.exception.message().startswith(code + ": "), caught.exception)


if __name__ == "__main__":
    unittest.main()
