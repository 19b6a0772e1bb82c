"""tensor_scatter_add of protocol v2, JSON and binary, as a good engineer writes it in an afternoon:
FastAPI, orjson, numpy.

    uvicorn --app-dir tests/bench/peers fastapi_server:app --workers 2 --port 8080
"""

import numpy as np
import orjson
from fastapi import FastAPI, Request, Response

app = FastAPI()
DTYPES = {"FP32": np.float32, "FP64": np.float64, "INT32": np.int32, "INT64": np.int64}
LENGTH = "inference-header-content-length"


def decode(body, header_length):
    request = orjson.loads(memoryview(body)[:header_length])
    inputs, offset = {}, header_length
    for entry in request["inputs"]:
        dtype = DTYPES[entry["datatype"]]
        if "data" in entry:
            array = np.array(entry["data"], dtype)
        else:
            size = entry["parameters"]["binary_data_size"]
            array = np.frombuffer(body, dtype, size // np.dtype(dtype).itemsize, offset)
            offset += size
        inputs[entry["name"]] = array.reshape(entry["shape"])
    return inputs, request.get("parameters", {}).get("binary_data_output", False)


def scatter_add(tensor, indices, updates):
    output = tensor.copy()
    np.add.at(output, tuple(np.moveaxis(indices, -1, 0)), updates)
    return output


def encode(output, binary):
    described = {"name": "output", "datatype": "FP32", "shape": output.shape}
    answer = {"model_name": "tensor_scatter_add", "model_version": "1", "outputs": [described]}
    if not binary:
        described["data"] = output.reshape(-1)
        text = orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY)
        return Response(text, media_type="application/json")
    described["parameters"] = {"binary_data_size": output.nbytes}
    text = orjson.dumps(answer)
    return Response(
        b"".join((text, output.data.cast("B"))),
        media_type="application/octet-stream",
        headers={LENGTH: str(len(text))},
    )


@app.get("/v2/health/ready")
async def ready():
    return {"ready": True}


@app.post("/v2/models/tensor_scatter_add/infer")
async def infer(request: Request):
    body = await request.body()
    inputs, binary = decode(body, int(request.headers.get(LENGTH, len(body))))
    return encode(scatter_add(**inputs), binary)
