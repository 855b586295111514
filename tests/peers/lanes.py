# SPDX-License-Identifier: BSD-3-Clause
"""Runs cases side by side. Each lane runs one at a time, in a network of its own."""

import ctypes
import queue
import subprocess
import threading
import traceback

_CLONE_NEWNET = 0x40000000


def _own_network():
    """Moves this thread, and all that it starts, into a new network. Returns whether that is possible."""
    if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWNET) != 0:
        return False
    return subprocess.run(["ip", "link", "set", "lo", "up"], check=False,
                          stderr=subprocess.DEVNULL).returncode == 0


def _work(cases, run, results):
    while True:
        try:
            case = cases.get_nowait()
        except queue.Empty:
            return
        try:
            results.put((case, run(case)))
        except Exception:  # pylint: disable=broad-except
            results.put((case, ([traceback.format_exc()], {}, 0.0)))


def _lane(cases, run, results):
    # The programs insist on fixed ports, so a lane without a network of its own would disturb the
    # others. The first lane uses the network that is there, so all cases run in any case.
    if _own_network():
        _work(cases, run, results)
    else:
        print("[peers] no second network can be made here; the cases run one after the other")


def run_all(case_list, lanes, run):
    """Yields (case, run(case)) as the cases end; `run` is called from `lanes` threads."""
    cases, results = queue.Queue(), queue.Queue()
    for case in case_list:
        cases.put(case)
    threads = [threading.Thread(target=_lane if number else _work, args=(cases, run, results))
               for number in range(lanes)]
    for thread in threads:
        thread.start()
    try:
        for _ in case_list:
            yield results.get()
    finally:
        # Interrupted: the lanes end the programs that they have started, and take no other case.
        while not cases.empty():
            try:
                cases.get_nowait()
            except queue.Empty:
                break
        for thread in threads:
            thread.join()
