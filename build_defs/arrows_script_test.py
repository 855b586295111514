#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What build_defs/arrows says about small trees, right and wrong ones."""

import unittest

from tree_case import TreeCase

TABLE = """
| folder | what | may use |
|---|---|---|
| `low` | at the bottom | nothing |
| `high` | on top | `low` |
| `high/attic` | a room of it | `high`, `low` |
| `dat/include` | the public headers | nothing |
"""


class ArrowsTest(TreeCase):
    """A tree with the table above and whatever a case puts beside it."""

    script = "arrows"

    def setUp(self):
        super().setUp()
        self.put("docs/architecture.md", TABLE)
        self.put("high/house.cc", '#include "low/ground.h"\n')
        self.put("high/attic/box.cc", '#include "high/house.h"\n#include "low/ground.h"\n#include <vector>\n')

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
