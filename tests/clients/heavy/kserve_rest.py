"""KServe's InferenceRESTClient, unmodified: every call that it has for protocol v2, and that it
still sends what was recorded for `make test`.

    kserve_rest.py --record    writes tests/clients/recorded/kserve-*.http anew
"""

import asyncio
import os
import sys
import unittest
import urllib.request

import httpx
import numpy as np
from kserve import InferenceRESTClient, RESTConfig

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

from support.kserve_requests import OP, REQUESTS  # noqa: E402
from support.recorded import FOLDER, plain  # noqa: E402
from support.server import ServerCase  # noqa: E402


async def call(address, method, *arguments, **more):
    client = InferenceRESTClient(RESTConfig(protocol="v2"))
    try:
        return await getattr(client, method)(f"http://{address}", *arguments, **more)
    finally:
        await client.close()


async def sent(request):
    """The bytes that the client sends for it."""
    heard = asyncio.get_running_loop().create_future()

    async def hear(reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1])
            for line in head.splitlines()
            if line.lower().startswith(b"content-length:")
        )
        heard.set_result(head + await reader.readexactly(length))
        writer.write(b"HTTP/1.1 500 Enough\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(hear, "127.0.0.1", 0) as listener:
        port = listener.sockets[0].getsockname()[1]
        try:
            await call(f"127.0.0.1:{port}", "infer", request, model_name=OP)
        except httpx.HTTPStatusError:
            pass
        return await heard


class KServe(ServerCase, unittest.TestCase):
    def call(self, method, *arguments, **more):
        return asyncio.run(call(self.server.address, method, *arguments, **more))

    def infer(self, name):
        answer = self.call("infer", REQUESTS[name], model_name=OP)
        self.assertEqual(answer.model_name, OP)
        self.assertEqual(answer.id, name)
        return answer.outputs[0]

    def test_health(self):
        self.assertIs(self.call("is_server_live"), True)
        self.assertIs(self.call("is_server_ready"), True)
        self.assertIs(self.call("is_model_ready", OP), True)

    def test_forms(self):
        for name in ("kserve-json", "kserve-binary", "kserve-binary-to-json", "kserve-fp16"):
            with self.subTest(name):
                np.testing.assert_array_equal(self.infer(name).as_numpy(), [1, 12, 3, 24])

    def test_empty_inputs(self):
        np.testing.assert_array_equal(self.infer("kserve-empty").as_numpy(), [1, 2])

    def test_nan_becomes_null_and_is_refused_with_the_reason(self):
        with self.assertRaises(httpx.HTTPStatusError) as caught:
            self.infer("kserve-nan")
        self.assertIn("INVALID_FIELD", str(caught.exception))
        self.assertIn("null", str(caught.exception))

    def test_kept_tensors(self):
        url = f"http://{self.server.address}/v2/tensors/emb?datatype=FP32&shape=4"
        elements = np.float32([1, 2, 3, 4]).tobytes()
        urllib.request.urlopen(urllib.request.Request(url, elements, method="PUT")).close()
        for name in ("kserve-kept", "kserve-kept-binary"):
            with self.subTest(name):
                np.testing.assert_array_equal(self.infer(name).as_numpy(), [1, 12, 3, 24])
        answer = self.call("infer", REQUESTS["kserve-kept-into"], model_name=OP)
        self.assertEqual((answer.id, answer.outputs), ("kserve-kept-into", []))
        np.testing.assert_array_equal(self.infer("kserve-kept").as_numpy(), [1, 22, 3, 44])

    def test_an_unknown_model(self):
        with self.assertRaises(httpx.HTTPStatusError) as caught:
            self.call("infer", REQUESTS["kserve-json"], model_name="nothing")
        self.assertIn("MODEL_NOT_FOUND", str(caught.exception))
        self.assertEqual(caught.exception.response.status_code, 404)

    def test_it_sends_what_was_recorded(self):
        for name, request in REQUESTS.items():
            with self.subTest(name), open(os.path.join(FOLDER, name + ".http"), "rb") as file:
                self.assertEqual(plain(asyncio.run(sent(request))), file.read())


def record():
    for name, request in REQUESTS.items():
        with open(os.path.join(FOLDER, name + ".http"), "wb") as file:
            file.write(plain(asyncio.run(sent(request))))


if __name__ == "__main__":
    record() if sys.argv[1:] == ["--record"] else unittest.main()
