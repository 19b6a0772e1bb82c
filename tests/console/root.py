"""What stands at the root, without a browser: the page and its headers, the ways in as JSON, the setting."""

import gzip
import http.client
import json
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients"))
from support.server import Server, ServerCase  # noqa: E402

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "Accept-Encoding": "gzip, br"}
POLICY = (
    r"default-src 'none'; script-src 'sha256-[\w+/]{43}='; style-src 'sha256-[\w+/]{43}='; connect-src 'self'; "
    r"img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
TEXT_MOST, GZIP_MOST = 60_000, 20_000


def ask(address, path="/", headers=None, method="GET"):
    connection = http.client.HTTPConnection(address, timeout=30)
    try:
        connection.request(method, path, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


class Root(ServerCase, unittest.TestCase):
    def page(self, headers=BROWSER, **more):
        return ask(self.server.address, headers=headers, **more)

    def test_the_page_is_small_and_alone(self):
        status, headers, body = self.page()
        self.assertEqual((status, headers["Content-Encoding"]), (200, "gzip"))
        text = gzip.decompress(body).decode()
        self.assertLessEqual(len(body), GZIP_MOST)
        self.assertLessEqual(len(text.encode()), TEXT_MOST)
        plain = self.page({"Accept": "text/html"})
        self.assertEqual((plain[0], plain[1]["Content-Encoding"], plain[2].decode()), (200, None, text))
        self.assertNotIn("http://", text.replace("http://www.w3.org/2000/svg", ""))  # a namespace, not an address
        self.assertNotIn("https://", text)
        for never in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "localStorage", "sessionStorage", "cookie",
                      "DELETE", "'PUT'", "into="):
            self.assertNotIn(never, text)

    def test_its_headers(self):
        status, headers, _ = self.page()
        self.assertRegex(headers["Content-Security-Policy"], f"^{POLICY}$")
        self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
        self.assertEqual(headers["Referrer-Policy"], "no-referrer")
        self.assertEqual(headers["Cross-Origin-Opener-Policy"], "same-origin")
        self.assertEqual(headers["Cache-Control"], "no-cache")
        self.assertEqual(headers["Content-Type"], "text/html; charset=utf-8")
        self.assertIn("Accept", headers["Vary"])

    def test_it_is_sent_once(self):
        _, headers, body = self.page()
        again = self.page({**BROWSER, "If-None-Match": headers["ETag"]})
        self.assertEqual((again[0], again[1]["ETag"], again[2]), (304, headers["ETag"], b""))
        other = self.page({"Accept": "text/html", "If-None-Match": headers["ETag"]})
        self.assertEqual(other[0], 200)
        head = self.page(method="HEAD")
        self.assertEqual((head[0], head[1]["Content-Length"], head[2]), (200, str(len(body)), b""))
        self.assertEqual(self.page(method="POST")[0], 405)

    def test_json_for_who_does_not_want_html(self):
        for accept in ({}, {"Accept": "*/*"}, {"Accept": "application/json"}, {"Accept": "text/html;q=0.5, application/json"}):
            status, headers, body = self.page(accept)
            self.assertEqual((status, headers["Content-Type"]), (200, "application/json"))
            ways = json.loads(body)
            for name in ("page", "server", "operations", "tensors", "ready", "metrics", "openapi"):
                self.assertIn(ask(self.server.address, ways[name])[0], (200,), name)
            self.assertTrue(body.endswith(b"\n"))

    def log_of_start(self):
        """With its last line, which is written behind."""
        for _ in range(1000):
            with open(self.server.log.name) as log:
                text = log.read()
            if '"msg":"its page"' in text and text.endswith("\n"):
                return text
            time.sleep(0.01)
        self.fail(f"the start does not tell its page: {text}")

    def test_an_open_page_is_quiet_and_cheap(self):
        """A poll a second below 1 % of a core is below 10 ms; no line in the log."""
        before = self.log_of_start()
        connection = http.client.HTTPConnection(self.server.address)

        def cpu():
            with open(f"/proc/{self.server.process.pid}/stat") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

        start, polls = cpu(), 200
        for i in range(polls):
            for path in ("/metrics",) + (("/v2/tensors",) if i % 5 == 0 else ()):
                connection.request("GET", path, headers={"Accept": "*/*"})
                answer = connection.getresponse()
                answer.read()
                self.assertEqual(answer.status, 200)
        connection.close()
        self.assertLess((cpu() - start) / polls, 0.01)
        time.sleep(0.3)  # the log is written behind
        with open(self.server.log.name) as log:
            self.assertEqual(log.read(), before)


class Elsewhere(unittest.TestCase):
    def test_below_a_path(self):
        with Server("--base_path=/tensor/d") as server:
            for path in ("/tensor/d", "/tensor/d/"):
                self.assertEqual(ask(server.address, path, BROWSER)[0], 200)
            ways = json.loads(ask(server.address, "/tensor/d/")[2])
            self.assertEqual(ways["operations"], "/tensor/d/v2/models")
            self.assertEqual(ask(server.address, "/", BROWSER)[0], 404)

    def log(self, server):
        with open(server.log.name) as log:
            return log.read()

    def test_the_log_says_where_the_page_is(self):
        for settings, url in (((), "http://%s/"), (("--base_path=/t",), "http://%s/t/")):
            with Server(*settings) as server:
                connection = http.client.HTTPConnection(server.address)
                connection.request("GET", "/v2")  # by then the line is there
                connection.getresponse().read()
                connection.close()
                for _ in range(500):
                    if "its page" in self.log(server):
                        break
                    time.sleep(0.01)
                self.assertIn(f'"msg":"its page","url":"{url % server.address}"', self.log(server))

    def test_switched_off(self):
        with Server("--console=false") as server:
            self.assertNotIn("its page", self.log(server))
            for headers in ({}, BROWSER):
                self.assertEqual(ask(server.address, "/", headers)[0], 404)


if __name__ == "__main__":
    unittest.main()
