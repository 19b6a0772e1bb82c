"""schemathesis: what GET /openapi.json says, asked of a running server, in valid and in broken
requests. The same ones every time."""

import os
import subprocess
import sys
import tempfile
import unittest

from support.server import ServerCase

CONFIG = os.path.join(os.path.dirname(os.path.abspath(__file__)), "schemathesis.toml")
EXAMPLES = 10  # of each operation, beside those that cover its description


class Schemathesis(ServerCase, unittest.TestCase):
    def test_the_server_does_what_its_description_says(self):
        with tempfile.TemporaryDirectory() as folder:
            status = subprocess.call(
                [
                    *(os.path.join(os.path.dirname(sys.executable), "st"), "--config-file", CONFIG),
                    *("run", f"http://{self.server.address}/openapi.json", "--seed=1"),
                    *("--checks=all", "--phases=coverage,fuzzing", f"--max-examples={EXAMPLES}"),
                    *("--generation-database=none", "--no-color", "--request-timeout=10"),
                ],
                cwd=folder,
                timeout=300,
            )
        self.assertEqual(status, 0)


if __name__ == "__main__":
    unittest.main()
