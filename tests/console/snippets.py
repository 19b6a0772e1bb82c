"""What the page offers to copy runs as it stands there, and answers what the page was answered."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients"))
from support.browser import BrowserCase, main  # noqa: E402

# Programs that run the snippets of their input, a JSON list, and print a mark behind each.
MARK = "\x1e"
RUN_PYTHON = """
import json, sys, traceback
for text in json.load(sys.stdin):
    try:
        exec(compile(text, "<snippet>", "exec"), {"__name__": "__main__"})
    except BaseException:
        traceback.print_exc(file=sys.stdout)
    print("\\x1e", end="")
"""
RUN_NODE = """
import { readFileSync } from "node:fs";
for (const text of JSON.parse(readFileSync(0, "utf8"))) {
  try { await import("data:text/javascript," + encodeURIComponent(text)); } catch (error) { console.log(error); }
  process.stdout.write("\\x1e");
}
"""
RUN_SHELL = """
import json, subprocess, sys
for text in json.load(sys.stdin):
    subprocess.run(["sh", "-c", text], stderr=subprocess.STDOUT)
    print("\\x1e", end="", flush=True)
"""
LANGUAGES = {
    "curl": ([sys.executable, "-c", RUN_SHELL], "curl"),
    "Python": ([sys.executable, "-c", RUN_PYTHON], None),
    "JavaScript": (["node", "--input-type=module", "-e", RUN_NODE], "node"),
}
BYTES = re.compile(r"b(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")


def elements(text):
    """Those of an answer, however its client prints them; of an error its text."""
    if text.startswith("[b"):  # numpy's strings
        return [ast.literal_eval(word).decode() for word in BYTES.findall(text)]
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(text)
            return found if isinstance(found, list) else found["outputs"][0]["data"]
        except (ValueError, SyntaxError, KeyError):
            pass
    try:
        return [float(word) for word in text.replace("[", " ").replace("]", " ").split()]
    except ValueError:
        return text


class SnippetsCase(BrowserCase):
    """Collects what the page shows, then runs it: [(what, language, text, wanted)]."""

    environment = {}

    def setUp(self):
        super().setUp()
        self.shown = []

    def choose(self, page, i):
        page.select_option("#example", str(i))
        self.wait(page, "i => current && examples[i].says === current.says && examples[i].model === current.model", i)

    def collect(self, page, what, wanted, languages=LANGUAGES):
        for language in languages:
            page.click(f"#tab-{language}")
            self.shown.append((what, language, page.text_content("#snippet"), wanted))

    def run_all(self):
        for language, (command, tool) in LANGUAGES.items():
            rows = [row for row in self.shown if row[1] == language]
            if not rows or tool and not shutil.which(tool):
                continue
            done = subprocess.run(command, input=json.dumps([row[2] for row in rows]), capture_output=True, text=True,
                                  timeout=120, env={**os.environ, **self.environment})
            printed = done.stdout.split(MARK)
            self.assertEqual(len(printed), len(rows) + 1, done.stdout + done.stderr)
            for (what, _, text, wanted), answer in zip(rows, printed):
                with self.subTest(what=what, language=language, text=text):
                    self.check(answer, wanted)

    def check(self, answer, wanted):
        if isinstance(wanted, str):
            return self.assertIn(wanted, answer)
        got = elements(answer)
        self.assertEqual(len(got), len(wanted), answer)
        for ours, theirs in zip(got, wanted):
            if isinstance(theirs, str):
                self.assertEqual(ours, theirs)
            else:
                self.assertAlmostEqual(ours, theirs, delta=1e-6 * max(1, abs(theirs)), msg=answer)


def answer_of(example):
    return example.get("code") or example["data"]


class Snippets(SnippetsCase):
    def test_every_example(self):
        page = self.open()
        for i, example in enumerate(page.evaluate("examples")):
            self.choose(page, i)
            self.collect(page, example["model"], answer_of(example))
            if i > 6:
                continue
            for encoding in ("binary", "safetensors"):
                if encoding == "safetensors" and "BYTES" in json.dumps(example):
                    continue
                page.select_option("#encoding", encoding)
                self.collect(page, f"{example['model']}, {encoding}", answer_of(example))
            page.select_option("#encoding", "json")
        self.run_all()

    def test_parameters(self):
        page = self.open()
        examples = page.evaluate("examples")
        self.choose(page, next(i for i, example in enumerate(examples) if "code" in example))
        page.select_option("#policy", "IGNORE")
        page.select_option("#device", "cpu")
        page.fill("#timeout", "5000")
        for encoding in ("json", "binary", "safetensors"):
            page.select_option("#encoding", encoding)
            self.collect(page, encoding, [1, 12, 3, 4])
        self.run_all()

    def test_what_a_shell_must_not_touch(self):
        page = self.open()
        self.choose(page, 3)
        page.fill('[aria-label="updates[0]"]', "it's $HOME ${x} `x` \\ \"é\"")
        for encoding in ("json", "binary"):
            page.select_option("#encoding", encoding)
            self.collect(page, encoding, ["", "it's $HOME ${x} `x` \\ \"é\"ter", "", "hello", ""])
        self.run_all()

    def test_a_newcomers_way(self):
        """Run, get it wrong, see where, mend it, copy a line that works."""
        self.refused = {400}
        page = self.open(permissions=["clipboard-read", "clipboard-write"])

        def copy(wanted):
            page.evaluate("document.getElementById('copy').textContent = ''")
            page.click("#copy")
            self.wait(page, "document.getElementById('copy').textContent === 'Copied'")
            self.shown.append(("copied", "curl", page.evaluate("navigator.clipboard.readText()"), wanted))

        self.assertIn("Answer: ", self.run_request(page))
        page.fill('[aria-label="indices[1][1]"]', "3")
        page.keyboard.press("Enter")
        self.wait(page, "document.getElementById('said').textContent.includes('Error: ')")
        self.assertIn("indices[1] = [0, 3] is out of bounds", page.text_content("#answer"))
        self.assertEqual(page.get_attribute(".wrong", "aria-label"), "indices[1][1]")
        copy("INDEX_OUT_OF_BOUNDS: indices[1] = [0, 3]")
        page.fill('[aria-label="indices[1][1]"]', "2")
        self.assertIn("2 of 6 elements changed", self.run_request(page))
        copy([-1.1, 0.3, 1.4, 0.4, 0.5, -3.2])
        self.run_all()

    def test_a_resident(self):
        url = f"http://{self.server.address}/v2/tensors/table.1"
        table = b'{"datatype": "FP32", "shape": [3], "data": [7, 8, 9]}'
        request = urllib.request.Request(url, table, {"Content-Type": "application/json"}, method="PUT")
        urllib.request.urlopen(request).close()
        page = self.open()
        page.click("#operations button:text-is('gather_nd')")
        self.wait(page, "current.operation === 'gather_nd'")
        page.wait_for_selector('[aria-label="Where params comes from"]')
        page.select_option('[aria-label="Where params comes from"]', "table.1")
        self.run_request(page)
        self.assertEqual(page.locator("#answer td:not(.corner)").all_text_contents(), ["8", "7"])
        for encoding in ("json", "binary", "safetensors"):
            page.select_option("#encoding", encoding)
            self.collect(page, encoding, [8, 7])
        self.run_all()


class Token(SnippetsCase):
    """With tokens, and below a path."""

    environment = {"TOKEN": "a-secret-of-alice"}

    @classmethod
    def setUpClass(cls):
        tokens = tempfile.NamedTemporaryFile("w", suffix=".tokens")
        tokens.write("alice:a-secret-of-alice\n")
        tokens.flush()
        cls.addClassCleanup(tokens.close)
        cls.settings = (f"--tokens={tokens.name}", "--base_path=/a/b")
        super().setUpClass()

    def test_with_a_token(self):
        self.refused = {401}
        page = self.open(f"http://{self.server.address}/a/b/")
        self.assertIn("needs a token", self.run_request(page))
        page.fill("#token", "a-secret-of-alice")
        page.keyboard.press("Enter")
        self.assertIn("Answer: ", self.run_request(page))
        for encoding in ("json", "binary", "safetensors"):
            page.select_option("#encoding", encoding)
            self.collect(page, encoding, page.evaluate("current.data"))
        self.assertNotIn("secret", json.dumps(self.shown))
        self.run_all()


if __name__ == "__main__":
    main()
