"""Draws the console page as people see it, light and dark, wide and narrow: `make screenshots`.

    take.py FOLDER      FOLDER/wide-light.png, wide-dark.png, narrow-light.png, narrow-dark.png

A real server computes for a minute, some of it wrongly, and keeps a few tensors."""

import http.client
import itertools
import json
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "clients"))
from playwright.sync_api import sync_playwright  # noqa: E402
from support.browser import CHROMIUM  # noqa: E402
from support.server import Server  # noqa: E402

SIZES = {"wide": (1280, 1076), "narrow": (320, 860)}
SECONDS = 60
TENSORS = (("embeddings", (100000, 64), ""), ("embeddings.next", (100000, 64), "&ttl=1h"), ("counts", (4096,), "&ttl=10m"))


def keep_tensors(address):
    connection = http.client.HTTPConnection(address)
    for name, shape, lease in TENSORS:
        size = 4
        for n in shape:
            size *= n
        url = f"/v2/tensors/{name}?datatype=FP32&shape={','.join(map(str, shape))}{lease}"
        connection.request("PUT", url, bytes(size), {"Content-Type": "application/octet-stream"})
        connection.getresponse().read()


def compute(address, stop):
    """About a hundred requests a second, in waves, one in fifty of them wrong."""
    connection = http.client.HTTPConnection(address)
    names = itertools.cycle(("tensor_scatter_add", "tensor_scatter_sub", "tensor_scatter_add", "tensor_scatter_max"))
    for i, name in enumerate(names):
        if stop.is_set():
            return
        rows = 2000 if i % 10 == 0 else 4
        inputs = {
            "tensor": [[1.5] * 8] * rows,
            "indices": [[rows if i % 50 == 7 else rows - 1]] + [[k] for k in range(rows // 2)],
            "updates": [[0.5] * 8] * (rows // 2 + 1),
        }
        connection.request("POST", f"/v2/models/{name}/infer", json.dumps({"inputs": inputs}))
        connection.getresponse().read()
        time.sleep(0.006 + 0.004 * (i // 300 % 3))


def take(page, path):
    for _ in range(5):  # a browser's first requests are slow
        page.click("#run")
        page.wait_for_selector("#answer .verdict")
        page.wait_for_timeout(300)
    page.mouse.move(0, 0)
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=path, animations="disabled")


def main(folder):
    os.makedirs(folder, exist_ok=True)
    with Server() as server, sync_playwright() as playwright:
        keep_tensors(server.address)
        stop = threading.Event()
        load = threading.Thread(target=compute, args=(server.address, stop))
        load.start()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        pages = {}
        for (size, (width, height)), scheme in itertools.product(SIZES.items(), ("light", "dark")):
            context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": height})
            pages[f"{size}-{scheme}"] = context.new_page()
            pages[f"{size}-{scheme}"].goto(f"http://{server.address}/")
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            next(iter(pages.values())).wait_for_timeout(1000)
        for name, page in pages.items():
            take(page, os.path.join(folder, f"{name}.png"))
        stop.set()
        load.join()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
