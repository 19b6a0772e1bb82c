"""A real tensord on a free port, for tests in Python."""

import json
import os
import signal
import subprocess
import tempfile
import time


class Server:
    """Use as a context manager; `address` is host:port."""

    def __init__(self, *settings):
        program = os.environ.get("TENSORD", "build/tensord")
        self.log = tempfile.NamedTemporaryFile(prefix="tensord-log.")
        self.process = subprocess.Popen(
            [program, "--listen=127.0.0.1:0", *settings], stdout=self.log, stderr=self.log
        )
        self.address = self._wait()

    def _wait(self):
        for _ in range(3000):
            with open(self.log.name) as log:
                for line in log:
                    if line.endswith("\n") and '"msg":"listening"' in line:
                        return json.loads(line)["address"]
            if self.process.poll() is not None:
                break
            time.sleep(0.01)
        with open(self.log.name) as log:
            raise RuntimeError(f"the server did not start:\n{log.read()}")

    def stop(self):
        """Ends it; its exit status must be 0."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=60)
        if status != 0:
            with open(self.log.name) as log:
                raise RuntimeError(f"the server ended with status {status}:\n{log.read()[-20000:]}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class ServerCase:
    """Mixed into a unittest.TestCase: one server for all of its tests."""

    settings = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.settings)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
