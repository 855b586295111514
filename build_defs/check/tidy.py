#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs clang-tidy over C++ files.

usage: tidy.py [--all] --state FOLDER FILE... -- FLAG...

clang-tidy spends most of its time in the headers of the standard library, once for each file. So the files of a folder
are joined and checked as one. Files that do not compile without a warning when they are joined, because they have
helpers of the same name, are not. A file with a finding is then checked alone, and only what is found there counts.

A folder that was good is not checked again until one of its files changes, or a header that one includes, or the
settings, or clang-tidy. FOLDER remembers that. With --all nothing is remembered from before.

Prints what it finds, and "N passed, M failed" last. It counts files, including those that are remembered.
"""

import argparse
import concurrent.futures
import hashlib
import itertools
import os
import pathlib
import re
import subprocess
import sys

MOST = 24  # files that are joined into one


def run(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def unused_using(path):
    """misc-unused-using-decls for one file. In joined files that check counts a use in any as a use in all."""
    text = re.sub(r"//.*", "", pathlib.Path(path).read_text(encoding="utf-8"))
    return "".join(f"{path}: error: '{name}' is not used [using]\n"
                   for name in re.findall(r"^\s*using (?:\w*::)+(\w+);", text, re.MULTILINE)
                   if len(re.findall(rf"\b{name}\b", text)) < 2)


class Joined:
    """Several files joined in a file of its own; or one file as it is."""

    def __init__(self, files, state):
        self.starts, text = [], ""
        for file in files:
            self.starts.append((text.count("\n") + 1, file))
            text += pathlib.Path(file).read_text(encoding="utf-8") + "\n"
        self.path = files[0]
        if len(files) > 1:
            self.path = str(state / (hashlib.sha256("\n".join(files).encode()).hexdigest()[:20] + ".cc"))
            pathlib.Path(self.path).write_text(text, encoding="utf-8")

    def blamed(self, output):
        """The files with a finding in a compiler's output, in them or in a header of theirs. All of them if the output
        does not tell."""
        included = re.findall(r"^In file included from ([^\s:]+):(\d+):$", output, re.MULTILINE)
        places = re.findall(r"^([^\s:]+):(\d+):\d+: (?:fatal )?(?:error|warning): ", output, re.MULTILINE)
        found = {self.file_at(line) for path, line in included + places if os.path.samefile(path, self.path)}
        in_headers = any(not os.path.samefile(path, self.path) for path, _ in places)
        if (in_headers and not included) or (output and not found):
            return {file for _, file in self.starts}
        return found

    def file_at(self, line):
        return [file for start, file in self.starts if start <= int(line)][-1]


class Folder:
    """Files of one folder."""

    def __init__(self, files, state, flags, settings):
        self.files, self.state, self.flags = files, state, flags
        self.all = Joined(files, state)
        self.stamp = state / (pathlib.Path(self.all.path).name + ".good")
        self.settings = settings

    def key(self):
        """A digest of everything that can change the answer; None when a header is missing."""
        found = run("clang", *self.flags, "-M", self.all.path)
        if found.returncode != 0:
            return None
        digest = hashlib.sha256(self.settings)
        for path in found.stdout.replace("\\\n", " ").split()[1:]:
            digest.update(pathlib.Path(path).read_bytes())
        return digest.hexdigest()

    def warned(self, files):
        """The files that the compiler warns about when they are joined."""
        joined = Joined(files, self.state)
        said = run("clang", *self.flags, "-Werror", "-ferror-limit=0", "-fsyntax-only", joined.path).stderr
        return joined.blamed(said)

    def compiling(self):
        """The files in parts that each compile joined without a warning, if their files do alone."""
        rest = self.files
        while rest:
            part, apart = rest, set()
            while len(part) > 1 and (warned := self.warned(part)):
                apart |= warned if len(warned) < len(part) else set(part[1:])
                part = [file for file in part if file not in apart]
            yield part
            rest = [file for file in rest if file in apart]

    def tidy(self, path):
        """What clang-tidy finds. If it finds nothing and failed, that it failed."""
        ran = run("clang-tidy", "--quiet", "--config-file=.clang-tidy", path, "--", *self.flags)
        if ran.returncode != 0 and "error: " not in ran.stdout:
            return f"{path}: error: clang-tidy ended with {ran.returncode}: {ran.stderr[-300:]}\n"
        return ran.stdout

    def bad(self):
        """What is wrong with each file that is not good."""
        key = self.key()
        if key and self.stamp.is_file() and self.stamp.read_text(encoding="utf-8") == key:
            return {}
        bad = {}
        for part in self.compiling():
            joined = Joined(part, self.state)
            output = self.tidy(joined.path)
            for file in joined.blamed(output):
                alone = output if len(part) == 1 else self.tidy(file)
                if alone:
                    bad[file] = alone
        if key and not bad:
            self.stamp.write_text(key, encoding="utf-8")
        return bad


def folders(files, state, flags):
    """The files by folder, not too many at once."""
    settings = run("clang-tidy", "--version").stdout.encode() + " ".join(flags).encode()
    settings += pathlib.Path(".clang-tidy").read_bytes() + pathlib.Path(__file__).read_bytes()
    for _, together in itertools.groupby(sorted(files, key=os.path.split), os.path.dirname):
        together = list(together)
        parts = -(-len(together) // MOST)
        for part in range(parts):
            yield Folder(together[part::parts], state, flags, settings)


def main():
    if "--" not in sys.argv:
        sys.exit(__doc__)
    end = sys.argv.index("--")
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--state", type=pathlib.Path, required=True)
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args(sys.argv[1:end])
    arguments.state.mkdir(parents=True, exist_ok=True)
    if arguments.all:
        for old in arguments.state.iterdir():
            old.unlink()
    bad = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(Folder.bad, folders(arguments.files, arguments.state, sys.argv[end + 1:])):
            bad.update(found)
    for file in arguments.files:
        text = unused_using(file) + bad.get(file, "")
        if text:
            bad[file] = text
            print(text, end="")
    print(f"{len(arguments.files) - len(bad)} passed, {len(bad)} failed")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
