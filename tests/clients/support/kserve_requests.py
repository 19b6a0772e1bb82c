"""The requests that KServe's client is made to send, by the names of their recordings. The ids are
fixed: without one the client draws a new one each time."""

import numpy as np
from kserve import InferInput, InferRequest

OP = "tensor_scatter_add"


def request(name, *inputs, **more):
    return InferRequest(model_name=OP, infer_inputs=list(inputs), request_id=name, **more)


def tensor(name, array, binary):
    array = np.asarray(array)
    kind = {"f": "FP", "i": "INT"}[array.dtype.kind]
    made = InferInput(name, list(array.shape), f"{kind}{array.dtype.itemsize * 8}")
    made.set_data_from_numpy(array, binary_data=binary)
    return made


def scatter(name, binary, tensors, **more):
    return request(
        name,
        *(tensor(key, array, binary) for key, array in tensors.items()),
        **more,
    )


FP32 = {
    "tensor": np.array([1, 2, 3, 4], np.float32),
    "indices": np.array([[1], [3]], np.int32),
    "updates": np.array([10, 20], np.float32),
}
FP16 = {**FP32, "tensor": np.float16([1, 2, 3, 4]), "updates": np.float16([10, 20])}
EMPTY = {
    "tensor": np.array([1, 2], np.float32),
    "indices": np.zeros((0, 1), np.int64),
    "updates": np.zeros(0, np.float32),
}
KEPT = {key: FP32[key] for key in ("indices", "updates")}
NAN = {**FP32, "updates": np.array([np.nan, 20], np.float32)}
BINARY = {"parameters": {"binary_data_output": True}}

REQUESTS = {
    "kserve-json": scatter("kserve-json", False, FP32),
    "kserve-binary": scatter("kserve-binary", True, FP32, **BINARY),
    "kserve-binary-to-json": scatter("kserve-binary-to-json", True, FP32),
    "kserve-fp16": scatter("kserve-fp16", True, FP16, **BINARY),
    "kserve-empty": scatter("kserve-empty", True, EMPTY, **BINARY),
    "kserve-nan": scatter("kserve-nan", False, NAN),
    "kserve-kept": scatter("kserve-kept", False, KEPT, parameters={"tensor": "emb"}),
    "kserve-kept-binary": scatter(
        "kserve-kept-binary", True, KEPT, parameters={"tensor": "emb", "binary_data_output": True}
    ),
    "kserve-kept-into": scatter(
        "kserve-kept-into", True, KEPT, parameters={"tensor": "emb", "into": "emb"}
    ),
}
