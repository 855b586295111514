# SPDX-License-Identifier: BSD-3-Clause
"""Captures of the loopback interface with dumpcap, complete to the last packet."""

import os
import socket
import subprocess
import uuid

from program import Program

_BUFFER_MIB = "128"
_SECONDS = 20


def _join_packets(most):
    """How many packets of a UDP socket loopback passes on as one. A capture then has them as one, too."""
    subprocess.run(["ip", "link", "set", "lo", "gso_max_segs", str(most)], check=True)


class Capture:
    """A capture from the creation of the object until stop(). `apart`: of a wire over UDP, whose packets are captured
    one by one."""

    def __init__(self, path, apart=False):
        self.path = path
        self._apart = apart
        if apart:
            _join_packets(1)
        self._dumpcap = Program(
            ["dumpcap", "-q", "-i", "lo", "-B", _BUFFER_MIB, "-w", path], dict(os.environ))
        # dumpcap prints the name of its file when it captures.
        self.ready = self._dumpcap.wait_for(lambda output: "File: " in output, _SECONDS)

    def stop(self):
        """Ends the capture. Returns what was wrong with it, empty if nothing."""
        if self._apart:
            _join_packets(65535)
        if not self.ready:
            self._dumpcap.end()
            return [f"no capture: {self._dumpcap.output.strip()}"]
        # The last packet is a datagram of our own. When it is in the file, all others are.
        mark = uuid.uuid4().bytes
        complete = False
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(mark, ("127.0.0.1", 9))
            complete = self._dumpcap.wait_for(lambda _: self._ends_with(mark), 0) or \
                self._poll(mark)
        self._dumpcap.end()
        return [] if complete else ["the capture did not get all packets"]

    def _poll(self, mark):
        # dumpcap writes a packet within its own poll interval. Nothing tells us when.
        for _ in range(_SECONDS * 10):
            if self._ends_with(mark):
                return True
            self._dumpcap.wait_for(lambda _: False, 0.1)
        return False

    def _ends_with(self, mark):
        try:
            with open(self.path, "rb") as file:
                file.seek(0, os.SEEK_END)
                file.seek(max(0, file.tell() - 4096))
                return mark in file.read()
        except OSError:
            return False
