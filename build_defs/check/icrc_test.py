#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What build_defs/check/icrc.py says of captures of soft-RoCE, as they are and with one thing changed."""

import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "icrc.py"
CAPTURES = [pathlib.Path(argument).resolve() for argument in sys.argv[1:]]
# Of a frame with IPv4: where the IP header, the UDP header and the BTH begin.
IP, UDP, BTH = 14, 34, 42


def frames(capture):
    """The frames of a pcap file of this machine's byte order."""
    data, at, found = capture.read_bytes(), 24, []
    while at < len(data):
        taken = struct.unpack_from("=I", data, at + 8)[0]
        found.append(bytearray(data[at + 16:at + 16 + taken]))
        at += 16 + taken
    return found


def pcap(packets, cut=0):
    """A pcap file."""
    data = struct.pack("=IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
    for packet in packets:
        taken = packet[:len(packet) - cut]
        data += struct.pack("=IIII", 0, 0, len(taken), len(packet)) + bytes(taken)
    return data


def block(kind, body):
    """A block of a pcapng file."""
    body += bytes(-len(body) % 4)
    length = struct.pack("=I", len(body) + 12)
    return struct.pack("=I", kind) + length + body + length


def pcapng(packets):
    """A pcapng file."""
    data = block(0x0a0d0d0a, struct.pack("=IHHq", 0x1a2b3c4d, 1, 0, -1)) + block(1, struct.pack("=HHI", 1, 0, 0))
    for packet in packets:
        data += block(6, struct.pack("=5I", 0, 0, 0, len(packet), len(packet)) + bytes(packet))
    return data


def of_4791(packet):
    """Whether a frame is IPv4 and RoCEv2."""
    return packet[12:14] == b"\x08\x00" and packet[UDP + 2:UDP + 4] == struct.pack(">H", 4791)


class IcrcTest(unittest.TestCase):
    """A capture of soft-RoCE, and a file that a case makes of it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "capture"
        self.frames = [frame for frame in frames(CAPTURES[0]) if of_4791(frame)]

    def expect(self, status, printed, data):
        """Runs the script over a file with these bytes."""
        self.file.write_bytes(data)
        run = subprocess.run([sys.executable, SCRIPT, self.file], check=False, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
        self.assertEqual(run.returncode, status, run.stdout)
        self.assertRegex(run.stdout, printed)

    def test_what_soft_roce_sends_is_right(self):
        for capture in CAPTURES:
            self.expect(0, r": \d+ packets from ", capture.read_bytes())

    def test_both_formats(self):
        self.expect(0, "packets from", pcap(self.frames))
        self.expect(0, "packets from", pcapng(self.frames))

    def test_every_octet_counts_but_the_masked(self):
        frame = self.frames[0]
        masked = {IP + 1, IP + 8, IP + 10, IP + 11, UDP + 6, UDP + 7, BTH + 4}
        # What says which packet it is, and how long its parts are, is not changed here.
        structure = {IP, IP + 2, IP + 3, IP + 9, UDP + 2, UDP + 3, UDP + 4, UDP + 5}
        right, wrong = [], []
        for at in range(IP, len(frame)):
            changed = bytearray(frame)
            changed[at] ^= 1
            if at not in structure:
                (right if at in masked else wrong).append(changed)
        self.expect(0, f": {len(right)} packets from", pcapng(right))
        self.expect(1, f"WRONG {len(wrong)} packets with a wrong ICRC: frames 1 2 3", pcapng(wrong))

    def test_a_packet_that_is_cut(self):
        self.expect(1, "WRONG frame 1 is not whole", pcap(self.frames[:1], cut=1))

    def test_no_packet(self):
        other = bytearray(self.frames[0])
        other[UDP + 2] ^= 1
        self.expect(1, "WRONG no packet of RoCEv2", pcap([other]))

    def test_no_capture(self):
        self.expect(1, "WRONG no capture", b"nothing")


if __name__ == "__main__":
    if not CAPTURES:
        sys.exit("usage: icrc_test.py CAPTURE...")
    unittest.main(argv=sys.argv[:1])
