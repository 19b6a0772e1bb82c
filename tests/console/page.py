"""The console page in a browser: every operation by clicking, faults marked in their place, for everybody."""

import json
import os
import sys
import unittest
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients"))
from support.browser import BrowserCase, main  # noqa: E402

BAD = "tensor_scatter_add, with a bad index"


class Page(BrowserCase):
    def examples(self):
        with urllib.request.urlopen(f"http://{self.server.address}/v2/models") as answer:
            return json.load(answer)["examples"]

    def choose(self, page, i):
        page.select_option("#example", str(i))
        self.wait(page, "i => examples[i].model === current.model && examples[i].says === current.says", i)

    def shown(self, page):
        """The elements of the answer's grid, in order."""
        texts = page.locator("#answer td:not(.corner)").all_text_contents()
        return [json.loads(text) for text in texts]

    def check(self, page, example):
        said = self.run_request(page)
        if "code" in example:
            self.assertIn(example["code"], page.text_content("#answer .failed"))
            self.assertTrue(said.startswith("Error: "), said)
        else:
            self.assertTrue(said.startswith("Answer: "), said)
            for ours, wanted in zip(self.shown(page), example["data"], strict=True):
                if isinstance(wanted, str):
                    self.assertEqual(ours, wanted)
                else:
                    self.assertAlmostEqual(ours, wanted, places=6)

    def test_every_example(self):
        self.refused = {400}
        page = self.open()
        examples = self.examples()
        self.assertEqual(page.locator("#example option").count(), len(examples))
        for encoding in ("json", "binary", "safetensors"):
            page.select_option("#encoding", encoding)
            for i, example in enumerate(examples[:None if encoding == "json" else 9]):
                strings = "BYTES" in json.dumps(example)
                with self.subTest(encoding=encoding, model=example["model"], i=i):
                    self.choose(page, i)
                    if encoding == "safetensors" and strings:
                        self.assertIn("safetensors has none", self.run_request(page))
                    else:
                        self.check(page, example)

    def test_every_operation_by_its_button(self):
        page = self.open()
        rows = page.locator("#operations tbody tr")
        for i in range(rows.count()):
            name = rows.nth(i).locator("th").text_content()
            rows.nth(i).locator("button").click()
            self.wait(page, "name => current.operation === name", name)
            self.assertIn("Answer: ", self.run_request(page))

    def test_counts_are_shown(self):
        page = self.open()
        self.run_request(page)
        self.wait(page, "/^[1-9].* since/.test(document.querySelector('.tile .note').textContent)")
        row = page.locator("#operations tr", has_text="tensor_scatter_sub").first
        self.assertNotEqual(row.locator("td").first.text_content(), "0")

    def test_an_errors_index_is_marked(self):
        self.refused = {400}
        page = self.open()
        page.select_option("#example", label=BAD)
        page.wait_for_selector('[aria-label="indices[1][0]"]')
        self.assertIn("indices[1] = [7]", self.run_request(page))
        marked = page.locator("[aria-invalid=true]")
        self.assertEqual(marked.evaluate_all("all => all.map(e => e.ariaLabel)"), ["indices[1][0]"])
        self.assertIn("indices[1] = [7]", page.text_content("#" + marked.get_attribute("aria-describedby")))
        page.click('[aria-label="Edit indices as JSON"]')
        page.fill('[aria-label="indices as JSON"]', "[[1],\n  [99]]")
        self.assertEqual(page.locator("mark").count(), 0)
        self.run_request(page)
        self.assertEqual(page.locator("mark").all_text_contents(), ["99"])
        page.fill('[aria-label="indices as JSON"]', "[[1], [2]]")
        self.assertIn("Answer: ", self.run_request(page))
        self.assertEqual(page.locator("[aria-invalid=true]").count(), 0)

    def test_what_cannot_be_read_is_said(self):
        self.refused = {400}
        page = self.open()
        page.click('[aria-label="Edit updates as JSON"]')
        page.fill('[aria-label="updates as JSON"]', "[1, 2")
        self.assertIn("INVALID_JSON", page.text_content("#answer") if self.run_request(page) else "")
        page.select_option("#encoding", "binary")
        self.assertIn("updates: the text ends too early", self.run_request(page))

    def test_changed_elements_are_marked(self):
        page = self.open()
        page.fill('[aria-label="updates[0]"]', "0.5")
        self.assertIn("1 of 6 elements changed", self.run_request(page))
        self.assertEqual(page.locator("td.changed").all_text_contents(), ["-2.8000002"])

    def test_types_travel_exactly(self):
        page = self.open()
        for kind, value in (("INT64", "9007199254740993"), ("FP16", "0.1"), ("BF16", "1.5"), ("UINT8", "255")):
            page.select_option('[aria-label="Type of tensor"]', kind)
            page.select_option('[aria-label="Type of updates"]', kind)
            page.click('[aria-label="Edit tensor as JSON"]')
            page.fill('[aria-label="tensor as JSON"]', f"[[{value}, 1, 2], [3, 4, 5]]")
            page.click('[aria-label="Edit tensor as a grid"]')
            page.fill('[aria-label="updates[0]"]', "0")
            page.fill('[aria-label="updates[1]"]', "0")
            for encoding in ("json", "binary", "safetensors"):
                with self.subTest(kind=kind, encoding=encoding):
                    page.select_option("#encoding", encoding)
                    self.assertIn("0 of 6 elements changed", self.run_request(page))
                    first = page.locator("#answer td:not(.corner)").first.text_content()
                    self.assertEqual(float(first), float(value))
                    if kind == "INT64":
                        self.assertEqual(first, value)

    def test_keyboard_alone(self):
        page = self.open()
        seen = []
        for _ in range(80):
            page.keyboard.press("Tab")
            at = page.evaluate("document.activeElement.id || document.activeElement.ariaLabel || document.activeElement.textContent")
            seen.append(at)
            if page.evaluate("document.activeElement === document.body"):
                break  # once around
            outlined = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            self.assertNotEqual(outlined, "none", at)
            if at == "example":
                page.keyboard.press("ArrowDown")
                self.wait(page, "current.model === 'TensorScatterNdAdd'")
            if at == "updates[0]":
                page.keyboard.type("5")
                page.keyboard.press("Enter")
                self.wait(page, "document.getElementById('said').textContent !== ''")
        self.assertIn("Answer: FP32 [8]", page.text_content("#said"))
        for wanted in ("Skip to “Try an operation”", "run", "copy", "tab-curl", "The lines as a table"):
            self.assertIn(wanted, seen)

    def test_narrow_and_still(self):
        page = self.open(viewport={"width": 320, "height": 700}, reduced_motion="reduce")
        self.run_request(page)
        self.assertEqual(page.evaluate("document.documentElement.scrollWidth"), 320)
        self.assertEqual(page.evaluate("document.getAnimations().length"), 0)

    def test_axe_finds_nothing(self):
        from axe_playwright_python.sync_playwright import Axe

        self.refused = {400}
        for scheme, width in (("light", 1280), ("dark", 320)):
            page = self.open(color_scheme=scheme, viewport={"width": width, "height": 900})
            page.click("#figures summary")
            for label in (None, "ScatterNd, with strings", BAD):
                with self.subTest(scheme=scheme, width=width, label=label):
                    if label:
                        page.select_option("#example", label=label)
                        self.run_request(page)
                    if label == BAD:
                        page.click('[aria-label="Edit indices as JSON"]')
                    found = Axe().run(page)
                    self.assertEqual(found.violations_count, 0, found.generate_report())


if __name__ == "__main__":
    main()
