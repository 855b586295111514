# SPDX-License-Identifier: BSD-3-Clause
"""Sections of docs/semantics.md, and where the tree names them: for build_defs/citations and build_defs/covers."""

import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCUMENT = "docs/semantics.md"

NUMBER = r"\d+(?:\.\d+)*"
# What may stand between two words: a citation may continue on the next line of a comment.
SPACE = r"(?:[ \t]|\n[ \t]*(?://|#|\*)?[ \t]*)+"
# Any spelling, so that none escapes the look-up: with the version in front, a capital, "section",
# "and".
CITATION = re.compile(
    rf"(?:\bDAT{SPACE}[\d.]+{SPACE})?\b[Ss]emantics,?{SPACE}(?:(?:sections?|clauses?|§)(?:{SPACE})?)?"
    rf"(?P<list>{NUMBER}(?:(?:,|,?{SPACE}and){SPACE}{NUMBER}\b)*)")


class Section:
    """One numbered heading."""

    def __init__(self, number, title, anchor):
        self.number = number
        self.title = title
        self.anchor = anchor
        self.has_rules = False  # has text of its own, not only further headings


def anchor_of(heading):
    """The name by which a link reaches a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def sections(text):
    """The numbered headings of the document, by number, in its order."""
    found, current = {}, None
    for line in text.splitlines():
        heading = re.match(rf"#+ (({NUMBER})\.? (.+))$", line)
        if heading:
            current = Section(heading[2], heading[3], anchor_of(heading[1]))
            found[current.number] = current
        elif current and line.strip():
            current.has_rules = True
    return found


def texts(root):
    """(path, text) of every text file of the tree, in order; leaves out what is built."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders
                            if not name.startswith((".", "bazel-")) and name not in ("out", "__pycache__"))
        for name in sorted(files):
            path = pathlib.Path(folder, name)
            try:
                yield str(path.relative_to(root)), path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                pass  # no text


def citations(text):
    """(line, numbers, whether it is spelt as all others are) of each citation in a text."""
    for match in CITATION.finditer(text):
        numbers = re.findall(NUMBER, match["list"])
        uniform = re.sub(SPACE, " ", match[0]) == "semantics " + ", ".join(numbers)
        yield text.count("\n", 0, match.start()) + 1, numbers, uniform
