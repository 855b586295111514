#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What build_defs/citations and build_defs/covers say about small trees, right and wrong ones."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
DOCUMENT = "# Title\n\n## 1. Codes\n\nA rule.\n\n## 9. Connections\n\n### 9.6 The end, at last\n\n* A rule.\n"
# Not written out with a number, so that this file cites nothing.
WORD = "semantics"


class TreeTest(unittest.TestCase):
    """A tree with the document above and whatever a case adds."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.put("docs/semantics.md", DOCUMENT)

    def put(self, path, text):
        """Writes a file of the tree."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def run_script(self, name, *arguments):
        """(exit status, everything that was printed)"""
        run = subprocess.run([sys.executable, HERE / name, "--root", self.root, *arguments], check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return run.returncode, run.stdout


class CitationsTest(TreeTest):
    """build_defs/citations"""

    def expect(self, source, status, *printed, path="dat/some.h"):
        """Runs the script over one source."""
        self.put(path, source)
        self.assertEqual(self.run_script("citations"), (status, "".join(line + "\n" for line in printed)))

    def test_sections_that_are_there(self):
        self.expect(f"// One ({WORD} 1), two ({WORD} 1, 9.6), and\n// over lines ({WORD}\n// 9,\n// 9.6).\n", 0,
                    "3 citations of 3 sections")

    def test_a_section_that_is_not_there(self):
        self.expect(f"int a;\n// So ({WORD} 9.7).\n", 1, "dat/some.h:2: docs/semantics.md has no section 9.7")

    def test_one_among_good_ones_and_over_a_line(self):
        self.expect(f"// So ({WORD} 1,\n  // 9.5, 9.6), {WORD}\n  // 9.6.1.\n", 1,
                    "dat/some.h:1: docs/semantics.md has no section 9.5",
                    "dat/some.h:2: docs/semantics.md has no section 9.6.1")

    def test_in_scripts_and_documents(self):
        self.expect(f"# {WORD} 2\n", 1, "tests/BUILD:1: docs/semantics.md has no section 2", path="tests/BUILD")

    def test_other_spellings(self):
        for spelt in (f"DAT 2.0 {WORD} 9.6", f"{WORD.capitalize()} 9.6", f"{WORD}, section 9.6", f"{WORD} §9.6"):
            self.expect(f"// {spelt}\n", 1, f"dat/some.h:1: spell it '{WORD} 9.6'")
        self.expect(f"// {WORD} 1 and 9.6\n", 1, f"dat/some.h:1: spell it '{WORD} 1, 9.6'")

    def test_what_is_built_is_left_out(self):
        self.put("bazel-bin/dat/some.h", f"// {WORD} 5\n")
        self.put("out/some.h", f"// {WORD} 5\n")
        self.put(".git/some.h", f"// {WORD} 5\n")
        self.expect(f"// {WORD} 1\n", 0, "1 citations of 3 sections")

    def test_a_tree_that_cites_nothing_is_none(self):
        status, printed = self.run_script("citations")
        self.assertEqual(status, 1)
        self.assertIn("nothing cites docs/semantics.md", printed)


class CoversTest(TreeTest):
    """build_defs/covers"""

    def page(self, source, path="dat/some_test.cc"):
        """What the script writes for one source, and that it then calls this current."""
        self.put(path, source)
        self.assertEqual(self.run_script("covers"), (0, ""))
        self.assertEqual(self.run_script("covers", "--check"), (0, ""))
        return (self.root / "docs/covered.md").read_text(encoding="utf-8")

    def expect_wrong(self, source, printed):
        """A source that is refused, so that the page is not written."""
        self.put("dat/some_test.cc", source)
        self.assertEqual(self.run_script("covers"), (1, printed + "\n"))
        self.assertFalse((self.root / "docs/covered.md").exists())

    def test_cases_tables_and_files(self):
        page = self.page(f"// Of a file.\n// covers: {WORD} 1\n\n#include <a>\n\n"
                         f"// covers: {WORD} 1, 9.6\n// Why.\nTEST_P(SomeTest,\n       Case) {{\n\n"
                         f"// covers: {WORD} 9.6\n// clang-format off\nconst Row kRows[] = {{\n")
        self.assertIn("## Sections without a test\n\nThere is none.\n", page)
        self.assertIn("### [1 Codes](semantics.md#1-codes)\n\n- `dat/some_test.cc`\n", page)
        self.assertIn("### [9.6 The end, at last](semantics.md#96-the-end-at-last)\n\n"
                      "- `dat/some_test.cc`: `SomeTest.Case`, `kRows`\n", page)

    def test_a_file_alone(self):
        page = self.page(f"// Of a table.\n// covers: {WORD} 1\n// clang-format off\n\nCELL(a)\n", "dat/codes.inc")
        self.assertIn("### [1 Codes](semantics.md#1-codes)\n\n- `dat/codes.inc`\n", page)

    def test_a_section_without_a_test(self):
        page = self.page(f"// covers: {WORD} 1\nTEST(A, B) {{}}\n")
        self.assertIn("## Sections without a test\n\n- [9.6 The end, at last](semantics.md#96-the-end-at-last)\n\n", page)

    def test_a_page_that_is_not_current(self):
        self.page(f"// covers: {WORD} 1\nTEST(A, B) {{}}\n")
        self.put("dat/some_test.cc", f"// covers: {WORD} 1\nTEST(A, Renamed) {{}}\n")
        self.assertEqual(self.run_script("covers", "--check"),
                         (1, "docs/covered.md is not what the tests say; again with: build_defs/covers\n"))

    def test_marks_that_are_wrong(self):
        self.expect_wrong(f"// covers: {WORD} 9.7\nTEST(A, B) {{}}\n",
                          "dat/some_test.cc:1: docs/semantics.md has no section 9.7")
        for spelt in ("9.6", f"{WORD} 1,9.6", f"{WORD} 9.6, so", f"{WORD}"):
            self.expect_wrong(f"// covers: {spelt}\nTEST(A, B) {{}}\n",
                              f"dat/some_test.cc:1: a mark is spelt '// covers: {WORD} 9.6, 9.7'")
        self.expect_wrong(f"int a;\n// covers: {WORD} 1\nint Function() {{\n",
                          "dat/some_test.cc:2: there is no test case and no table below the mark")


if __name__ == "__main__":
    unittest.main()
