#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs of Debian's dapl2-utils, unmodified, over one of our IAs; see --help."""

import argparse
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import cases as case_file
import lanes
import libraries
from capture import Capture
from program import Program

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DEBIAN_LIBDAT2 = "/usr/lib/x86_64-linux-gnu/libdat2.so.2"


# The provider by the beginning of an IA's name: in our build, or Debian's.
PROVIDERS = {
    "softnet-": "provider_softnet/libdaplsoftnet.so.2",
    "verbs-": "provider_verbs/libdaplverbs.so.2",
    "ofa-v2-": "/usr/lib/x86_64-linux-gnu/libdaplofa.so.2",
}


def listening(port, process):
    """Whether somebody listens on this TCP port, in the network namespace of this process or thread."""
    for name in (f"/proc/{process}/net/tcp", f"/proc/{process}/net/tcp6"):
        try:
            with open(name, encoding="ascii") as file:
                lines = file.readlines()[1:]
        except OSError:  # it has ended, so nobody listens there
            return False
        for line in lines:
            words = line.split()
            if words[3] == "0A" and int(words[1].rsplit(":", 1)[1], 16) == port:
                return True
    return False


MOST_ATTEMPTS = 3  # with --again


class Excuses:
    """How many cases may still be run again. A defect that strikes now and then excuses a few cases. If it strikes
    most of them, it is another defect."""

    def __init__(self, most):
        self._lock = threading.Lock()  # lanes are threads
        self._left = most

    def take(self):
        """Whether one more case may be run again."""
        with self._lock:
            self._left -= 1
            return self._left >= 0


class Runner:
    def __init__(self, options, work):
        self.ias = {"server": options.server_ia or options.ia, "client": options.client_ia or options.ia}
        # Server and client in names of files.
        self.ends = "_".join(dict.fromkeys(self.ias.values()))
        self.namespaces = {"server": options.server_netns, "client": options.client_netns}
        self.timeout = options.timeout
        self.again = options.again
        self.excuses = Excuses(options.most_again)
        self.work = work
        self.out = os.environ.get("SOFTDAT_OUT", work)
        self.bin = os.environ.get("SOFTDAT_BIN") or os.path.join(ROOT, "bazel-bin")
        self.libdat2 = os.path.join(self.bin, "dat/registry/libdat2.so.2")
        self.providers = {who: self.provider_of(ia) for who, ia in self.ias.items()}
        self.captures = []
        self.dat_conf = {who: os.path.join(work, f"dat.{who}.conf") for who in self.ias}

    def provider_of(self, ia):
        for prefix, path in PROVIDERS.items():
            if ia.startswith(prefix):
                return os.path.join(self.bin, path)
        sys.exit(f"run_peers: IA '{ia}': the name begins with one of {', '.join(PROVIDERS)}")

    def set_up(self):
        for who, ia in self.ias.items():
            with open(self.dat_conf[who], "w", encoding="utf-8") as file:
                # The client of dtest takes the name from its server, and here it means the client's
                # IA.
                for name in sorted({ia, self.ias["server"]}):
                    # Our provider gets its device by the IA's name, or else by the line, as
                    # Debian's always does.
                    parameters = f"{ia.removeprefix('ofa-v2-')} 0" if ia.startswith("ofa-v2-") else \
                        "" if name == ia else ia
                    file.write(f'{name} u2.0 nonthreadsafe default {self.providers[who]} softdat.1.0 '
                               f'"{parameters}" ""\n')
        for path in (self.libdat2, *self.providers.values()):
            if not os.path.exists(path):
                sys.exit(f"run_peers: {path} is missing; build with: bazel build //...")
        for program in ("dtest", "dapltest", "dumpcap", "tshark", "stdbuf"):
            if not shutil.which(program):
                sys.exit(f"run_peers: {program} is missing; build_defs/install_deps.sh check")

    def environment(self, case, who):
        """Chooses the libdat2 that a program finds, and records which one it has used."""
        variables = {name: value for name, value in os.environ.items()
                     if name not in ("DAT_OVERRIDE", "LD_LIBRARY_PATH", "SOFTDAT_PROVIDER_PATH",
                                     "SOFTDAT_OUT")}
        variables["SOFTDAT_BIN"] = self.bin
        if case.libdat2 == "debian":
            del variables["SOFTDAT_BIN"]
        # Our libdat2 finds our own IAs by their own names without dat.conf.
        if case.libdat2 == "debian" or self.ias["server"] != self.ias["client"] \
                or self.ias[who].startswith("ofa-v2-"):
            variables["DAT_OVERRIDE"] = self.dat_conf[who]
        return libraries.ask(variables, self.record(case, who))

    def record(self, case, who):
        return os.path.join(self.work, f"{case.file_name}.{who}.libs")

    def start(self, case, who, command):
        # The programs' output is a pipe. Without stdbuf its lines would come only at the end.
        command = ["stdbuf", "-oL"] + command
        if case.libdat2 == "ours":
            command = [os.path.join(ROOT, "tools/softdat-run")] + command
        if self.namespaces[who]:
            command = ["ip", "netns", "exec", self.namespaces[who]] + command
        return Program(command, self.environment(case, who))

    def wait_ready(self, case, server):
        if case.ready_text:
            return server.wait_for(lambda output: case.ready_text in output, self.timeout)
        deadline = time.monotonic() + self.timeout
        while not listening(case.ready_port, server.pid):
            if not server.running() or time.monotonic() > deadline:
                return False
            server.wait_for(lambda _: False, 0.02)
        return True

    def run_programs(self, case, outputs):
        """Runs server and client; puts their outputs into the dictionary; returns problems."""
        server = client = None
        problems = []
        try:
            if case.server:
                # Asked in this thread, because a lane has a network of its own.
                if case.ready_port and listening(case.ready_port, "thread-self"):
                    return [f"port {case.ready_port} is taken by somebody else"]
                server = self.start(case, "server", case.server)
                if not self.wait_ready(case, server):
                    problems.append("the server did not get ready")
            if not problems:
                client = self.start(case, "client", case.client)
                problems += self.finish(client, "client", case.client_signal)
            if server and not problems:
                problems += self.finish_server(case, server)
        finally:
            for who, program in (("client", client), ("server", server)):
                if program:
                    program.end()
                    outputs[who] = program.output
        return problems

    def finish(self, program, who, expected_signal=None):
        """Waits for the end of a program, which must come by this signal or by none."""
        status = program.wait(self.timeout)
        if status is None:
            return [f"the {who} did not end within {self.timeout} s"]
        if expected_signal and status != -expected_signal:
            return [f"the {who} was not ended by {expected_signal.name}: status {status}"]
        if not expected_signal and status < 0:
            return [f"the {who} was ended by {signal.Signals(-status).name}"]
        return []

    def finish_server(self, case, server):
        if case.server_ends:
            return self.finish(server, "server")
        server.wait_for(lambda output: not case_file.problems(output, case.expect_server, []),
                        self.timeout)
        return []

    def run(self, case):
        """Runs a case; returns (problems, outputs, seconds). Lanes call it at the same time."""
        start = time.monotonic()
        for attempt in range(MOST_ATTEMPTS):
            problems, outputs = self.attempt(case)
            excused = self.again and any(re.search(self.again, text) for text in outputs.values())
            if not problems or not excused or attempt + 1 == MOST_ATTEMPTS:
                break
            if attempt == 0 and not self.excuses.take():
                problems.append(f"too many cases were run again already because a program printed {self.again}")
                break
            print(f"once more: {case.name}, of which a program printed {self.again}")
        return problems, outputs, time.monotonic() - start

    def attempt(self, case):
        outputs = {}
        capture = None
        if case.capture:
            capture = Capture(os.path.join(self.out, f"{self.ends}_{case.file_name}.pcapng"),
                              apart=self.ends.startswith("softnet-udp-"))
        try:
            problems = self.run_programs(case, outputs)
        finally:
            capture_problems = capture.stop() if capture else []
        if capture:
            self.captures.append(capture.path)
        problems += capture_problems
        libdat2 = DEBIAN_LIBDAT2 if case.libdat2 == "debian" else self.libdat2
        for who, output in outputs.items():
            expect = case.expect_server if who == "server" else case.expect_client
            found = case_file.problems(output, expect, case.forbid)
            found += libraries.problems(self.record(case, who), libdat2, self.providers[who],
                                        self.bin)
            problems += [f"{who}: {text}" for text in found]
        return problems, outputs

    def check_captures(self):
        """Passed and failed captures, by build_defs/check/capture.sh."""
        if not self.captures:
            return 0, 0
        command = [os.path.join(ROOT, "build_defs/check/capture.sh")] + self.captures
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              encoding="utf-8", check=False)
        print(done.stdout.rstrip().rsplit("\n", 1)[0])
        counts = re.search(r"^(\d+) passed, (\d+) failed$", done.stdout, re.MULTILINE)
        return (int(counts[1]), int(counts[2])) if counts else (0, len(self.captures))


def show_failure(problems, outputs):
    for problem in problems:
        print(f"     {problem}")
    for who, output in outputs.items():
        print(f"     ---- output of the {who}")
        for line in output.splitlines():
            if line.strip():
                print(f"     {line}")


def main():
    parser = argparse.ArgumentParser(
        prog="tests/peers/run.sh",
        description="Runs dtest, dtestcm, dapltest ... of Debian's dapl2-utils, unmodified, over "
        "softnet-lo or another IA, over our libdat2 and over Debian's, and checks what they print, which "
        "libraries they have used, and (for some) that tshark decodes the packets. The last line "
        "counts.",
        epilog="SOFTDAT_BIN: the bazel-bin folder to test (default: that of the tree). "
        "SOFTDAT_OUT: a folder for the captures, which are then left to the caller to check.")
    parser.add_argument("--list", action="store_true", help="name the cases and end")
    parser.add_argument("--only", metavar="REGEX", help="cases whose name matches")
    parser.add_argument("--skip", metavar="NAME", action="append", default=[],
                        help="not this case, over neither library")
    parser.add_argument("--milestone", type=int, help="cases up to this milestone")
    parser.add_argument("--cases", default=os.path.join(HERE, "cases.json"), metavar="FILE",
                        help="the cases (all that softnet has)")
    parser.add_argument("--libdat2", choices=case_file.LIBRARIES, help="over this one alone (both)")
    parser.add_argument("--ia", default="softnet-lo", help="IA name (softnet-lo)")
    parser.add_argument("--address", default="127.0.0.1", help="that of the server (127.0.0.1)")
    for who in ("server", "client"):
        parser.add_argument(f"--{who}-ia", metavar="IA", help=f"another IA for the {who}")
        parser.add_argument(f"--{who}-netns", metavar="NAME",
                            help=f"the network namespace that the {who} runs in")
    parser.add_argument("--again", metavar="REGEX",
                        help="for a device with a defect that strikes now and then: a case that fails "
                        "while a program prints this is run again, three times in all; said each time")
    parser.add_argument("--most-again", type=int, default=3, metavar="N",
                        help="how many cases may be run again, those over either library counted (3)")
    parser.add_argument("--timeout", type=float, default=120,
                        help="seconds for each step of a case (120)")
    parser.add_argument("--lanes", type=int, default=3,
                        help="cases that wait for their events run at the same time, each in a "
                        "network of its own; those that poll run alone (3)")
    options = parser.parse_args()
    ends = case_file.Ends(options.server_ia or options.ia, options.client_ia or options.ia,
                          options.address)
    cases = case_file.load(options.cases, ends, options.milestone,
                           [options.libdat2] if options.libdat2 else case_file.LIBRARIES)
    if options.only:
        cases = [case for case in cases if re.search(options.only, case.name)]
    unknown = set(options.skip) - {case.base for case in cases}
    if unknown and not options.only:
        parser.error(f"--skip: no such case: {', '.join(sorted(unknown))}")
    cases = [case for case in cases if case.base not in options.skip]
    if options.list:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader may close the pipe early
        for case in cases:
            print(case.name)
        return 0
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="softdat-peers-") as work:
        runner = Runner(options, work)
        runner.set_up()
        together = [case for case in cases if not case.polls]
        alone = [case for case in cases if case.polls]
        for case, (problems, outputs, seconds) in itertools.chain(
                lanes.run_all(together, options.lanes, runner.run),
                lanes.run_all(alone, 1, runner.run)):
            if problems:
                failed += 1
                print(f"FAIL {case.name} ({seconds:.1f} s)")
                show_failure(problems, outputs)
            else:
                passed += 1
                print(f"ok   {case.name} ({seconds:.1f} s)")
            sys.stdout.flush()
        if "SOFTDAT_OUT" not in os.environ:
            good, bad = runner.check_captures()
            passed += good
            failed += bad
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
