# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of scripts share that look through a tree of sources."""

import pathlib
import subprocess
import sys
import tempfile
import unittest


class TreeCase(unittest.TestCase):
    """A small tree, and what the script beside this file says about it."""

    script = ""  # its name

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def put(self, path, text):
        """Writes a file of the tree."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def expect(self, status, *printed):
        """Runs the script over the tree."""
        script = pathlib.Path(__file__).resolve().parent / self.script
        run = subprocess.run([sys.executable, script, "--root", self.root], check=False, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
        self.assertEqual((run.returncode, run.stdout), (status, "".join(line + "\n" for line in printed)))
