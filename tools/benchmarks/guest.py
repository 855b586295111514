# SPDX-License-Identifier: BSD-3-Clause
"""Measurements inside an emulated machine (tests/vm/run): the curves over soft-RoCE, and the
instructions of an operation.

The clock of a machine with SOFTDAT_VM_ICOUNT advances by a nanosecond with each instruction of its
one processor. So a microsecond of processor time is a thousand instructions, including those of the
kernel. Only loops that sleep can be counted, because a loop that spins counts its spins.
"""

import json
import os
import subprocess
import tempfile

# The operations that are counted: (work, test, options, floor).
COUNTED = [
    ("64 B send, there and back, `dat_evd_wait`", "send_lat", ["-s", "64", "-e"], "raw:tcp-block"),
    ("64 B send, there and back, `dat_cno_wait`", "send_lat", ["-s", "64", "--wait", "cno"],
     "raw:tcp-epoll"),
    ("64 B send, there and back, descriptor of a CNO", "send_lat", ["-s", "64", "--wait", "fd"],
     "raw:tcp-epoll"),
    ("64 B write and a notice, there and back, `dat_evd_wait`", "write_lat", ["-s", "64", "-e"],
     "raw:tcp-block"),
    ("64 B read, `dat_evd_wait`", "read_lat", ["-s", "64", "-e"], "raw:tcp-block"),
    ("4 KiB send, there and back, `dat_evd_wait`", "send_lat", ["-s", "4096", "-e"],
     "raw:tcp-block"),
    ("64 B sends, window 64", "send_bw", ["-s", "64", "-t", "64", "-Q", "1", "-e"],
     "raw:tcp-gather"),
    ("64 B writes, window 64", "write_bw", ["-s", "64", "-t", "64", "-Q", "1", "-e"],
     "raw:tcp-gather"),
    ("64 B writes, window 64, a completion for 16", "write_bw",
     ["-s", "64", "-t", "64", "-Q", "16", "-e"], "raw:tcp-gather"),
    ("4 KiB writes, window 64", "write_bw", ["-s", "4096", "-t", "64", "-Q", "1", "-e"],
     "raw:tcp-gather"),
    ("1 MiB writes", "write_bw", ["-s", "1M", "-t", "8", "-Q", "1", "-e"], "raw:tcp-block"),
    ("1 MiB reads", "read_bw", ["-s", "1M", "-t", "8", "-Q", "1", "-e"], "raw:tcp-block"),
]
CPU = "CPU us per iteration"


def run(root, program, command, say, what, counting=False):
    """Runs this program's `command` in a guest. Returns the JSON that it prints, or why there is none."""
    say(what)
    with tempfile.TemporaryDirectory() as share:
        script = ("%s; %s/tools/benchmarks/run --program %s %s >/share/result.json 2>/share/errors"
                  " || { tail -1 /share/errors; exit 1; }"
                  % ("ip link set lo up" if counting else "soft_dummy rxe", root, program, command))
        environment = {**os.environ, "SOFTDAT_VM_SHARE": share, "SOFTDAT_VM_LIMIT": "1500"}
        if counting:
            environment["SOFTDAT_VM_ICOUNT"] = "1"
        done = subprocess.run([os.path.join(root, "tests", "vm", "run"), script], env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        kept = os.path.join(share, "result.json")
        if done.returncode != 0 or not os.path.exists(kept):
            said = done.stdout.strip().splitlines()
            return {"not_measured": said[-1] if said else "the guest ended with %d" % done.returncode}
        with open(kept, encoding="utf-8") as result:
            return json.load(result)


def count(measurer):
    """Runs in the guest. Counts the instructions of each operation, of both ends, and of its floor."""
    rows = []
    for work, test, options, floor in COUNTED:
        result = measurer.json("compare", "--cpus", "any", "--slices", "5", "--slice-ms", "40",
                               "--test", test, *options, floor, "softnet-lo")
        row = {"work": work, "floor": floor, "test": " ".join(["--test", test, *options])}
        if "not_measured" in result:
            row["not_measured"] = result["not_measured"]
        else:
            row["floor_instructions"], row["dat_instructions"] = (
                round(one[CPU]["median"] * 1000) for one in result["units"])
        rows.append(row)
    return rows
