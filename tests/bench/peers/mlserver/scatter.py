"""tensor_scatter_add as a runtime of MLServer."""

import numpy as np
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceRequest, InferenceResponse


class ScatterAdd(MLModel):
    async def load(self) -> bool:
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        inputs = {entry.name: NumpyCodec.decode_input(entry) for entry in payload.inputs}
        output = inputs["tensor"].copy()
        np.add.at(output, tuple(np.moveaxis(inputs["indices"], -1, 0)), inputs["updates"])
        return InferenceResponse(
            model_name=self.name,
            model_version="1",
            outputs=[NumpyCodec.encode_output("output", output)],
        )
