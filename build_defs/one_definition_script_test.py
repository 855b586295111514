#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What build_defs/one_definition says about small trees, right and wrong ones."""

import unittest

from tree_case import TreeCase


class OneDefinitionTest(TreeCase):
    """A tree with a type and whatever a case puts beside it."""

    script = "one_definition"

    def setUp(self):
        super().setUp()
        self.put("low/offer.h", "namespace net::low {\nstruct Offer {\n  int a = 0;\n};\n}\n")

    def expect_twice(self, text):
        """`text` defines the type once more."""
        self.put("low/other.cc", text)
        self.expect(1, "net::low::Offer is defined in low/offer.h, low/other.cc")

    def test_one(self):
        self.expect(0, "1 types, each defined in one file")

    def test_two(self):
        self.expect_twice("namespace net::low { struct Offer { long b; }; }")

    def test_in_words_of_other_kinds(self):
        self.expect_twice("namespace net { namespace low {\nclass [[nodiscard]] Offer final : public Base<int> {};\n} }")

    def test_an_enumeration(self):
        self.expect_twice("namespace net::low {\nint x = f({1, 2});\nenum class Offer : int { kNone };\n}")

    def test_behind_what_is_no_code(self):
        self.expect_twice("// {\n/* { */ #define A { \\\n {\nnamespace net::low {\nconst char c = '{', *s = \"{\\\"\","
                          " *r = R\"x({)\" )x\"; int n = 1'000;\nstruct Offer {};\n}")

    def test_behind_what_has_brackets(self):
        self.expect_twice("namespace net::low { template <typename T = int> struct alignas(64) Offer : B<decltype(f())> "
                          "{}; }")

    def test_an_open_brace(self):
        self.put("low/other.cc", "namespace net {\n#if A\nstruct A {\n#else\nstruct A : B {\n#endif\n};\n}\n")
        self.expect(1, "low/other.cc: a brace is not closed, or this script reads it wrongly")

    def test_others_of_the_name(self):
        self.put("low/other.cc", "struct Offer {};\n"
                                 "namespace net { struct Offer {}; }\n"
                                 "namespace net::low {\n"
                                 "namespace { struct Offer {}; }\n"
                                 "struct Offer;\n"
                                 "class Holder { struct Offer {}; };\n"
                                 "void F() { struct Offer {}; }\n"
                                 "struct Offer Make() { return {}; }\n"
                                 "struct Offer offer = {};\n"
                                 "struct Holder::Offer {};\n"
                                 "template <> struct Offer<int> {};\n"
                                 "}\n")
        self.expect(0, "4 types, each defined in one file")

    def test_a_specialization_is_another_type(self):
        self.put("low/a.h", "namespace net { template <typename T> struct Of {}; }")
        self.put("low/b.h", "namespace net { template <> struct Of<int> {}; }")
        self.expect(0, "2 types, each defined in one file")

    def test_no_tree(self):
        (self.root / "low/offer.h").unlink()
        self.expect(1, f"{self.root}: no type is defined; is this the tree?")


if __name__ == "__main__":
    unittest.main()
