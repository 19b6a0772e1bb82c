"""Kept tables as a good engineer writes them in an afternoon: FastAPI and a dictionary of NumPy arrays."""

import numpy as np
from fastapi import FastAPI, Request, Response

app = FastAPI()
tables = {"table": np.zeros((100_000, 64), np.float32)}


@app.get("/v2/health/ready")
async def ready():
    return {"ready": True}


@app.post("/lookup/{name}")
async def lookup(name: str, request: Request):
    rows = np.frombuffer(await request.body(), np.int32)
    return Response(tables[name][rows].tobytes(), media_type="application/octet-stream")


@app.post("/update/{name}/{count}")
async def update(name: str, count: int, request: Request):
    body = await request.body()
    rows = np.frombuffer(body, np.int32, count)
    tables[name][rows] = np.frombuffer(body, np.float32, offset=4 * count).reshape(count, -1)
    return {"rows": count}
