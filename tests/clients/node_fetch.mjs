// fetch of Node and of browsers: JSON, and binary from typed arrays.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import test, { after, before } from "node:test";

let server, base, tensors;

before(async () => {
    server = spawn(process.env.TENSORD ?? "build/tensord", ["--listen=127.0.0.1:0"],
                   { stdio: ["ignore", "pipe", "inherit"] });
    for await (const line of createInterface({ input: server.stdout })) {
        const entry = JSON.parse(line);
        if (entry.msg === "listening") {
            base = `http://${entry.address}/v2/models/`;
            tensors = `http://${entry.address}/v2/tensors/`;
            break;
        }
    }
    server.stdout.resume();
});

after(async () => {
    const ended = new Promise((resolve) => server.on("exit", resolve));
    server.kill("SIGTERM");
    assert.equal(await ended, 0);
});

test("JSON", async () => {
    const answer = await fetch(base + "tensor_scatter_add/infer", {
        method: "POST",
        body: JSON.stringify({ inputs: { tensor: [1, 2, 3], indices: [[1]], updates: [5] } }),
    });
    assert.equal(answer.status, 200);
    assert.deepEqual((await answer.json()).outputs[0].data, [1, 7, 3]);
});

test("binary from typed arrays", async () => {
    const tensor = new Float32Array(100000).map((_, i) => i);
    const indices = new Int32Array([7, 99999]), updates = new Float32Array([1, 2]);
    const input = (name, datatype, shape, array) =>
        ({ name, datatype, shape, parameters: { binary_data_size: array.byteLength } });
    const json = new TextEncoder().encode(JSON.stringify({
        inputs: [input("tensor", "FP32", [100000], tensor),
                 input("indices", "INT32", [2, 1], indices),
                 input("updates", "FP32", [2], updates)],
        parameters: { binary_data_output: true },
    }));
    const answer = await fetch(base + "tensor_scatter_add/infer", {
        method: "POST",
        headers: { "Inference-Header-Content-Length": String(json.byteLength) },
        body: new Blob([json, tensor, indices, updates]),
    });
    assert.equal(answer.status, 200);
    const body = await answer.arrayBuffer();
    const length = Number(answer.headers.get("Inference-Header-Content-Length"));
    const { outputs } = JSON.parse(new TextDecoder().decode(new Uint8Array(body, 0, length)));
    assert.deepEqual(outputs[0].shape, [100000]);
    // The data starts at a multiple of 64, so a typed array can view it without a copy.
    const output = new Float32Array(body, length);
    tensor[7] += 1;
    tensor[99999] += 2;
    assert.deepEqual(output, tensor);
});

test("an error has a status and a sentence", async () => {
    const answer = await fetch(base + "tensor_scatter_add/infer", {
        method: "POST",
        body: JSON.stringify({ inputs: { tensor: [1], indices: [[4]], updates: [5] } }),
    });
    assert.equal(answer.status, 400);
    assert.equal(answer.headers.get("Error-Code"), "INDEX_OUT_OF_BOUNDS");
    assert.match((await answer.json()).error, /^INDEX_OUT_OF_BOUNDS: indices\[0\] = \[4\]/);
});

test("a tensor is kept, read, updated once under its key, and dropped", async () => {
    const table = new Float32Array(2000).map((_, i) => i);
    const put = await fetch(tensors + "emb?datatype=FP32&shape=1000,2&ttl=1h",
                            { method: "PUT", body: table });
    assert.equal(put.status, 201);
    const etag = put.headers.get("ETag");
    assert.deepEqual((await put.json()).shape, [1000, 2]);

    const gather = await fetch(base + "gather_nd/infer?tensor=emb", {
        method: "POST",
        body: JSON.stringify({ inputs: { indices: [[3], [999]] } }),
    });
    assert.equal(gather.headers.get("ETag"), etag);
    const read = await gather.json();
    assert.deepEqual(read.outputs[0].data, [6, 7, 1998, 1999]);
    assert.equal(read.parameters.tensor_version, 1);

    const update = (key, match) => fetch(base + "tensor_scatter_add/infer?tensor=emb&into=emb", {
        method: "POST",
        headers: { "Idempotency-Key": key, ...match },
        body: JSON.stringify({ inputs: { indices: [[3]], updates: [[1, 2]] } }),
    });
    const first = await update('"a"', { "If-Match": etag });
    assert.equal(first.status, 200);
    const again = await update('"a"', { "If-Match": etag });
    assert.equal(again.headers.get("Idempotent-Replayed"), "true");
    assert.deepEqual(await again.json(), await first.json());
    const late = await update('"b"', { "If-Match": etag });
    assert.equal(late.status, 412);
    assert.equal(late.headers.get("ETag"), first.headers.get("ETag"));
    await late.text();

    const rows = await fetch(tensors + "emb/data?rows=3:4",
                             { headers: { Accept: "application/octet-stream" } });
    assert.deepEqual(new Float32Array(await rows.arrayBuffer()), new Float32Array([7, 9]));
    for (const Accept of ["application/octet-stream", "application/json", "*/*"]) {
        const same = await fetch(tensors + "emb/data", {
            headers: { Accept, "If-None-Match": rows.headers.get("ETag") },
        });
        assert.equal(same.status, 304);
        assert.equal((await same.arrayBuffer()).byteLength, 0);
    }
    const head = await fetch(tensors + "emb/data?rows=3:4", { method: "HEAD" });
    assert.equal(head.status, 200);
    assert.equal(head.headers.get("Content-Length"), "136"); // 128 in front
    assert.equal((await fetch(tensors + "emb", { method: "DELETE" })).status, 204);
    const gone = await fetch(tensors + "emb");
    assert.equal(gone.headers.get("Error-Code"), "TENSOR_NOT_FOUND");
    await gone.text();
});
