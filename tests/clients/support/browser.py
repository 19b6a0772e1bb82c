"""Debian's chromium before the page of a real tensord. Without chromium a test is skipped (77)."""

import shutil
import sys
import time
import unittest

from support.server import Server

CHROMIUM = shutil.which("chromium")
VIOLATIONS = """window.violations = [];
document.addEventListener('securitypolicyviolation', e => violations.push(e.violatedDirective + ' ' + e.blockedURI));"""


def main():
    if not CHROMIUM:
        print("chromium is not installed")
        sys.exit(77)
    unittest.main()


class BrowserCase(unittest.TestCase):
    """A browser for all tests of a class. What a page must never do is looked at after each."""

    settings = ()

    @classmethod
    def setUpClass(cls):
        from playwright.sync_api import sync_playwright

        cls.server = Server(*cls.settings)
        cls.addClassCleanup(cls.server.stop)
        cls.playwright = sync_playwright().start()
        cls.addClassCleanup(cls.playwright.stop)
        cls.browser = cls.playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.faults = []
        self.refused = set()  # statuses and network errors that a test provokes: the browser tells them
        self.pages = []

    def open(self, url=None, wait=True, **context):
        """A page in a context of its own, watched."""
        url = url or f"http://{self.server.address}/"
        context.setdefault("viewport", {"width": 1280, "height": 1000})
        self.context = self.browser.new_context(**context)
        self.addCleanup(self.context.close)
        page = self.context.new_page()
        page.add_init_script(VIOLATIONS)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.faults.append(f"uncaught: {error}"))
        page.on("request", lambda request: self._request(request.url, url))
        page.set_default_timeout(15000)
        page.goto(url)
        self.pages.append(page)
        if wait:
            page.wait_for_selector("#inputs .input")
        return page

    def _console(self, message):
        text = message.text
        known = any(f"status of {fault}" in text or f"net::{fault}" in text for fault in self.refused)
        if message.type in ("error", "warning") and not known:
            self.faults.append(f"console: {text}")

    def _request(self, asked, url):
        origin = "/".join(url.split("/")[:3]) + "/"
        if not asked.startswith((origin, "data:")):
            self.faults.append(f"a request to {asked}")

    def tearDown(self):
        for page in self.pages:
            if not page.is_closed():
                self.faults += page.evaluate("window.violations")
        self.assertEqual(self.faults, [])

    def wait(self, page, expression, argument=None, seconds=15):
        """Until the expression (or function of the argument) is true in the page. Playwright's own
        wait_for_function evaluates text inside the page, which the page's policy forbids."""
        end = time.monotonic() + seconds
        while not page.evaluate(expression, argument):
            self.assertLess(time.monotonic(), end, expression)
            time.sleep(0.02)

    def run_request(self, page):
        """Runs what is on the page and returns what was announced."""
        page.evaluate("document.getElementById('said').textContent = ''")
        page.click("#run")
        self.wait(page, "document.getElementById('said').textContent !== ''")
        return page.text_content("#said")
