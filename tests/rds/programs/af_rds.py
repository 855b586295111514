# SPDX-License-Identifier: BSD-3-Clause
"""What the tests in Python have in common. A test that hangs ends with the stacks of its threads."""

import faulthandler
import os
import socket
import subprocess
import sys
import unittest

HOST = "127.0.0.1"
HOST6 = "::1"
# Well below the time that a small test has.
MOST_SECONDS = 45


def bound(host=HOST, port=0):
    """A socket with a name of its own."""
    made = socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET)
    made.bind((host, port))
    return made


def unbound6():
    """Python takes the names of AF_RDS for IPv4 ones, so it is told that this is a socket of AF_INET6."""
    made = socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET)
    return socket.socket(socket.AF_INET6, socket.SOCK_SEQPACKET, fileno=made.detach())


def bound6(host=HOST6, port=0):
    """A socket with an IPv6 name of its own."""
    made = unbound6()
    made.bind((host, port))
    return made


class Case(unittest.TestCase):
    """Its sockets and processes end with it."""

    @classmethod
    def setUpClass(cls):
        faulthandler.dump_traceback_later(MOST_SECONDS, exit=True)

    @classmethod
    def tearDownClass(cls):
        faulthandler.cancel_dump_traceback_later()

    def keep(self, opened):
        self.addCleanup(opened.close)
        return opened

    def unbound(self):
        return self.keep(socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET))

    def bound(self, host=HOST, port=0):
        return self.keep(bound(host, port))

    def assertRaisesErrno(self, number, call, *arguments):  # pylint: disable=invalid-name
        with self.assertRaises(OSError) as caught:
            call(*arguments)
        self.assertEqual(caught.exception.errno, number, caught.exception)

    def another(self, body, *arguments):
        """Another Python, which runs `body` with the arguments as sys.argv[1:]. It has `bound` and `bound6`."""
        text = "import os, socket, sys\nfrom af_rds import HOST, bound, bound6\n" + body
        process = subprocess.Popen([sys.executable, "-c", text, *map(str, arguments)],  # pylint: disable=consider-using-with
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   env=dict(os.environ, PYTHONPATH=os.path.dirname(os.path.abspath(__file__))))
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.kill)
        return process
