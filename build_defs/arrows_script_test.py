#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What build_defs/arrows says about small trees, right and wrong ones."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "arrows"
TABLE = """
| folder | what | may use |
|---|---|---|
| `low` | at the bottom | nothing |
| `high` | on top | `low` |
| `high/attic` | a room of it | `high`, `low` |
| `dat/include` | the public headers | nothing |
"""


class ArrowsTest(unittest.TestCase):
    """A tree with the table above and whatever a case puts beside it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.put("docs/architecture.md", TABLE)
        self.put("high/house.cc", '#include "low/ground.h"\n')
        self.put("high/attic/box.cc", '#include "high/house.h"\n#include "low/ground.h"\n#include <vector>\n')

    def put(self, path, text):
        """Writes a file of the tree."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def expect(self, status, *printed):
        """Runs the script over the tree."""
        run = subprocess.run([sys.executable, SCRIPT, "--root", self.root], check=False, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
        self.assertEqual((run.returncode, run.stdout), (status, "".join(line + "\n" for line in printed)))

    def test_all_as_the_table_says(self):
        self.expect(0, "3 arrows between 4 rows")

    def test_an_arrow_up(self):
        self.put("low/ground.h", '\n#include "high/house.h"\n')
        self.expect(1, "low/ground.h:2: low includes high, which docs/architecture.md does not allow it")

    def test_the_public_headers_are_a_folder(self):
        self.put("low/ground.cc", "#include <dat2/udat.h>\n")
        self.expect(1, "low/ground.cc:1: low includes dat/include, which docs/architecture.md does not allow it")

    def test_an_arrow_that_nobody_needs(self):
        self.put("high/attic/box.cc", '#include "high/house.h"\n')
        self.expect(1, "docs/architecture.md: high/attic may use low, and does not")

    def test_tests_may_use_what_they_test(self):
        self.put("low/ground_test.cc", '#include "high/house.h"\n')
        self.expect(0, "3 arrows between 4 rows")


if __name__ == "__main__":
    unittest.main()
