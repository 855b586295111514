#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Python's sockets with IPv6 names, beside IPv4, in a network of its own: a host may have no IPv6."""

import ctypes
import errno
import fcntl
import os
import selectors
import socket
import struct
import unittest

from af_rds import HOST, HOST6, Case, bound6, unbound6

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCSIFFLAGS, IFF_UP = 0x8914, 1

# The same port of both addresses. Sends back what comes, until a message says that it is the last.
ECHO = """
import selectors
four = bound()
six = bound6(port=four.getsockname()[1])
ready = selectors.DefaultSelector()
ready.register(four, selectors.EVENT_READ)
ready.register(six, selectors.EVENT_READ)
print(four.getsockname()[1], flush=True)
data = b""
while data != b"last":
    for key, _ in ready.select():
        data, sender = key.fileobj.recvfrom(1 << 20)
        key.fileobj.sendto(data, sender)
sys.stdin.read()
"""


def enter_network():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0 and libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
        return os.strerror(ctypes.get_errno())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", IFF_UP))
    return None


class Ipv6(Case):
    def bound6(self, port=0):
        return self.keep(bound6(port=port))

    def test_names(self):
        one = self.bound6()
        name = one.getsockname()
        self.assertEqual(name[0], HOST6)
        self.assertGreater(name[1], 1)
        self.assertRaisesErrno(errno.EADDRINUSE, self.keep(unbound6()).bind, name)
        # The port of the other address is another one.
        self.assertEqual(self.bound(HOST, name[1]).getsockname(), (HOST, name[1]))

    def test_messages(self):
        one, two = self.bound6(), self.bound6()
        one.connect(two.getsockname())
        self.assertEqual(one.getpeername(), two.getsockname())
        self.assertEqual(one.send(b"to the peer"), 11)
        self.assertEqual(two.recvfrom(100), (b"to the peer", one.getsockname()))

    def test_the_families_do_not_mix(self):
        one, two = self.bound6(), self.bound()
        self.assertRaisesErrno(errno.EOPNOTSUPP, one.sendto, b"x", ("::ffff:127.0.0.1", two.getsockname()[1]))

    def test_another_process_has_both(self):
        port = int(self.another(ECHO).stdout.readline())
        four, six = self.bound(), self.bound6()
        ready = selectors.DefaultSelector()
        self.addCleanup(ready.close)
        ready.register(four, selectors.EVENT_READ)
        ready.register(six, selectors.EVENT_READ)
        for size in 0, 1, 4097, 100_000:
            four.sendto(b"4" * size, (HOST, port))
            six.sendto(b"6" * size, (HOST6, port))
            got = {}
            while len(got) < 2:
                for key, _ in ready.select():
                    got[key.fileobj] = key.fileobj.recvfrom(1 << 20)
            self.assertEqual(got[four], (b"4" * size, (HOST, port)))
            self.assertEqual(got[six], (b"6" * size, (HOST6, port, 0, 0)))
        six.sendto(b"last", (HOST6, port))
        self.assertEqual(six.recv(10), b"last")


if __name__ == "__main__":
    WHY = enter_network()
    if WHY is not None:
        Ipv6 = unittest.skip(f"no network of its own: {WHY}")(Ipv6)
    unittest.main()
