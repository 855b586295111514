#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What build_defs/citations says of small trees, right and wrong ones."""

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
    """A tree with the document above and whatever a case puts beside it."""

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


if __name__ == "__main__":
    unittest.main()
