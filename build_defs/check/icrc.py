#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the ICRC of every RoCEv2 packet in captures. Shares no code with the wire formats of this tree.

usage: build_defs/check/icrc.py FILE...

Prints what is wrong, and how many packets came from each address. The status is 1 when an ICRC is wrong, a packet was
not captured whole, or a file has no such packet.
"""

import collections
import socket
import struct
import sys
import zlib

PORT = 4791
ETHERNET = 1


def pcap_frames(data):
    """The frames of a pcap file, as (interface type, octets, whole)."""
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    link = struct.unpack_from(order + "I", data, 20)[0] & 0xffff
    at = 24
    while at + 16 <= len(data):
        taken, size = struct.unpack_from(order + "II", data, at + 8)
        yield link, data[at + 16:at + 16 + taken], taken == size
        at += 16 + taken


def pcapng_frames(data):
    """The same of a pcapng file: section headers, interfaces, enhanced and simple packets."""
    order, links, at = "<", [], 0
    while at + 12 <= len(data):
        kind = data[at:at + 4]
        if kind == b"\x0a\x0d\x0d\x0a":
            order = "<" if data[at + 8:at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            links = []
        kind, length = struct.unpack_from(order + "II", data, at)
        if length < 12:
            raise ValueError(f"a block of {length} octets")
        if kind == 1:
            links.append(struct.unpack_from(order + "H", data, at + 8)[0])
        elif kind == 6:
            interface, _, _, taken, size = struct.unpack_from(order + "5I", data, at + 8)
            yield links[interface], data[at + 28:at + 28 + taken], taken == size
        elif kind == 3:
            size = struct.unpack_from(order + "I", data, at + 8)[0]
            taken = min(size, length - 16)
            yield links[0], data[at + 12:at + 12 + taken], taken == size
        at += length


def frames(path):
    """The frames of a capture."""
    with open(path, "rb") as file:
        data = file.read()
    yield from pcapng_frames(data) if data[:4] == b"\x0a\x0d\x0d\x0a" else pcap_frames(data)


def icrc(ip, udp):
    """The ICRC that belongs behind a packet: its IP header, and UDP header to pad octets."""
    masked = bytearray(b"\xff" * 8 + ip + udp)
    if ip[0] >> 4 == 4:
        ones = [1, 8, 10, 11]  # type of service, time to live, checksum
    else:
        masked[8] |= 0x0f  # traffic class and flow label
        ones = [1, 2, 3, 7]  # and hop limit
    behind = len(ip)
    ones += [behind + 6, behind + 7, behind + 8 + 4]  # UDP checksum; BTH: FECN, BECN and the reserved bits with them
    for index in ones:
        masked[8 + index] = 0xff
    return struct.pack("<I", zlib.crc32(bytes(masked)))


def roce(link, frame):
    """(source address, IP header, UDP header and payload) of a RoCEv2 packet, or nothing."""
    if link != ETHERNET:
        raise ValueError(f"link type {link} is not Ethernet")
    kind = frame[12:14]
    if kind == b"\x08\x00":
        header = (frame[14] & 15) * 4
        ip, protocol = frame[14:14 + header], frame[23]
        end = 14 + struct.unpack_from(">H", frame, 16)[0]
        source = socket.inet_ntop(socket.AF_INET, frame[26:30])
    elif kind == b"\x86\xdd":
        ip, protocol = frame[14:54], frame[20]
        end = 54 + struct.unpack_from(">H", frame, 18)[0]
        source = socket.inet_ntop(socket.AF_INET6, frame[22:38])
    else:
        return None
    rest = frame[14 + len(ip):end]
    if protocol != socket.IPPROTO_UDP or len(rest) < 8 or struct.unpack_from(">H", rest, 2)[0] != PORT:
        return None
    return source, ip, rest


def problems(path):
    """What is wrong with a capture. Prints what it holds."""
    found, counts, wrong = [], collections.Counter(), []
    for number, (link, frame, whole) in enumerate(frames(path), 1):
        packet = roce(link, frame)
        if packet is None:
            continue
        source, ip, udp = packet
        counts[source] += 1
        length = struct.unpack_from(">H", udp, 4)[0]
        if not whole or length != len(udp):
            found.append(f"frame {number} is not whole")
        elif length < 8 + 12 + 4 or length % 4 or udp[-4:] != icrc(ip, udp[:-4]):
            wrong.append(number)
    if wrong:
        found.append(f"{len(wrong)} packets with a wrong ICRC: frames {' '.join(map(str, wrong[:5]))}")
    if not counts:
        found.append("no packet of RoCEv2")
    for source, count in sorted(counts.items()):
        print(f"{path}: {count} packets from {source}")
    return found


def main():
    paths = sys.argv[1:]
    if not paths:
        sys.exit(__doc__)
    bad = False
    for path in paths:
        try:
            found = problems(path)
        except (OSError, ValueError, struct.error, IndexError) as error:
            found = [f"no capture: {error}"]
        for text in found:
            print(f"{path}: WRONG {text}")
        bad = bad or bool(found)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
