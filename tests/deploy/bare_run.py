"""From nothing to a first right answer: `make run` on a bare Debian 12."""
import json
import signal
import sys
import tempfile
import time
import urllib.error
import urllib.request

from bare import Bare
from instance import free_port

REQUEST = {"inputs": {"tensor": [1, 2, 3, 4], "indices": [[1], [3]], "updates": [10, 20]}}


def main():
    bare = Bare("bare-run")
    listen = f"127.0.0.1:{free_port()}"
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as log:
        server = bare.make("run", f"LISTEN={listen}", log=log)
        data = None
        while data is None and server.poll() is None and time.monotonic() < start + 900:
            try:
                with urllib.request.urlopen(f"http://{listen}/v2/models/tensor_scatter_add/infer",
                                            json.dumps(REQUEST).encode()) as answer:
                    data = json.load(answer)["outputs"][0]["data"]
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.2)
        minutes = (time.monotonic() - start) / 60
        server.send_signal(signal.SIGKILL)
        server.wait()
        log.seek(0)
        assert data == [1, 12, 3, 24], f"{data}\n{log.read()[-4000:]}"
        print(f"make run: a right answer after {minutes:.1f} minutes; {bare.installed(log)}")
    bare.remove()


if __name__ == "__main__":
    sys.exit(main())
