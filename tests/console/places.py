"""The page where it may stand: behind a token, under TLS, before a server that restarts, leaves or is alone with
five pages; what it costs the browser."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients"))
from support.browser import BrowserCase, main  # noqa: E402
from support.server import Server  # noqa: E402

STATE = "document.getElementById('state').textContent"


class Token(BrowserCase):
    """Nothing is shown without one."""

    @classmethod
    def setUpClass(cls):
        tokens = tempfile.NamedTemporaryFile("w", suffix=".tokens")
        tokens.write("alice:a-secret-of-alice\n")
        tokens.flush()
        cls.addClassCleanup(tokens.close)
        cls.settings = (f"--tokens={tokens.name}", "--protect_metrics=true", "--protect_info=true")
        super().setUpClass()

    def test_it_asks_and_forgets(self):
        self.refused = {401}
        page = self.open(wait=False)
        self.wait(page, f"{STATE} === 'Needs a token'")
        for section in ("#now", "#try", "#all", "#residents"):
            self.assertFalse(page.is_visible(section))
        page.fill("#token", "a wrong one")
        page.keyboard.press("Enter")
        self.wait(page, "document.getElementById('notice').textContent.startsWith('The token was refused.')")
        page.fill("#token", "a-secret-of-alice")
        page.keyboard.press("Enter")
        page.wait_for_selector("#inputs .input")
        self.assertIn("Answer: ", self.run_request(page))
        self.assertEqual(page.input_value("#token"), "")
        self.assertEqual(page.evaluate("localStorage.length + sessionStorage.length + document.cookie.length"), 0)
        page.click("#forget-token")
        self.wait(page, f"{STATE} === 'Needs a token'")
        page.reload()
        self.wait(page, f"{STATE} === 'Needs a token'")


@unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
class Tls(BrowserCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cert, key = f"{folder.name}/cert.pem", f"{folder.name}/key.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2", "-keyout", key, "-out", cert],
            check=True, capture_output=True)
        cls.settings = ("--listen=tls:127.0.0.1:0", f"--tls_cert={cert}", f"--tls_key={key}", "--base_path=/t")
        super().setUpClass()

    def test_under_tls_below_a_path(self):
        address = self.server.address.split("tls:")[-1]
        page = self.open(f"https://{address}/t/", ignore_https_errors=True)
        self.assertIn("Answer: ", self.run_request(page))
        self.assertIn(f"https://{address}/t/v2/models/", page.text_content("#snippet"))
        self.wait(page, f"{STATE} === 'Ready'")


class Restart(BrowserCase):
    def test_it_says_so_and_comes_back(self):
        self.refused = {"ERR_"}
        page = self.open()
        port = self.server.address.rsplit(":", 1)[1]
        self.run_request(page)
        page.fill('[aria-label="updates[0]"]', "17")
        self.server.stop()
        self.wait(page, f"{STATE} === 'Not reachable'")
        self.assertIn("asks again every second", page.text_content("#notice"))
        self.assertIn("did not answer", self.run_request(page))
        type(self).server = Server(f"--listen=127.0.0.1:{port}")
        self.addCleanup(self.server.stop)
        self.wait(page, f"{STATE} === 'Ready'", seconds=30)
        self.wait(page, "document.getElementById('notice').textContent.startsWith('The server was started anew')")
        self.assertEqual(page.input_value('[aria-label="updates[0]"]'), "17")  # what was typed stays
        self.assertIn("Answer: ", self.run_request(page))


class Leaving(BrowserCase):
    settings = ("--drain_delay=20s",)

    def test_it_says_why_it_is_not_ready(self):
        self.refused = {503}
        page = self.open()
        self.server.process.send_signal(signal.SIGTERM)
        self.wait(page, f"{STATE} === 'Not ready: draining'")
        self.server.process.send_signal(signal.SIGTERM)


class Endurance(BrowserCase):
    def heap(self, session):
        for _ in range(3):  # what was drawn is freed in more than one pass
            session.send("HeapProfiler.collectGarbage")
            time.sleep(0.2)
        return session.send("Runtime.getHeapUsage")["usedSize"]

    def test_the_heap_is_flat(self):
        """Five minutes of samples are kept; after those a poll adds nothing. The bound leaves room for the engine's own."""
        page = self.open()
        self.run_request(page)
        page.click("#figures summary")
        session = self.context.new_cdp_session(page)
        polls = "async n => { for (let i = 0; i < n; i++) await poll(); }"
        page.evaluate(polls, 320)
        self.assertEqual(page.evaluate("samples.length"), 300)
        before = self.heap(session)
        page.evaluate(polls, 300)
        grown = self.heap(session) - before
        self.assertLess(grown, 2_000_000, f"of {before}")

    def test_hidden_it_asks_nothing(self):
        page = self.open()
        page.evaluate("Object.defineProperty(document, 'hidden', {value: true})")
        time.sleep(1.5)
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        time.sleep(2.5)
        page.evaluate("0")  # what came meanwhile is heard
        self.assertEqual(asked, [])

    def test_small_requests_beside_five_pages(self):
        """Each is answered right while the pages poll; make bench has what they cost."""
        body = b'{"inputs": {"tensor": [1, 2, 3, 4], "indices": [[1], [3]], "updates": [10, 20]}}'
        head = b"POST /v2/models/tensor_scatter_add/infer HTTP/1.1\r\nHost: t\r\nContent-Length: %d\r\n\r\n" % len(body)
        host, port = self.server.address.split(":")
        polls = []
        for page in [self.open() for _ in range(5)]:
            self.wait(page, f"{STATE} === 'Ready'")
            page.on("request", lambda request: polls.append(request.url))
        with socket.create_connection((host, int(port))) as connection:
            end = time.monotonic() + 3
            while time.monotonic() < end:
                connection.sendall(head + body)
                answer = connection.recv(65536)
                self.assertTrue(answer.startswith(b"HTTP/1.1 200"))
                self.assertTrue(answer.endswith(b'"data":[1.0,12.0,3.0,24.0]}]}\n'))
                time.sleep(0.002)
        page.evaluate("0")  # what was asked meanwhile is heard
        self.assertGreaterEqual(len(polls), 5)


if __name__ == "__main__":
    main()
