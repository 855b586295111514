#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Several processes on one address, each with Python's own sockets of AF_RDS."""

import errno
import signal
import unittest

from af_rds import HOST, Case

# Prints its port, and sends each message back until one says that it is the last.
ECHO = """
server = bound(HOST, int(sys.argv[1]) if len(sys.argv) > 1 else 0)
print(server.getsockname()[1], flush=True)
while True:
    data, sender = server.recvfrom(1 << 20)
    server.sendto(data, sender)
    if data == b"last":
        break
# What has been sent is the kernel's elsewhere. Here it goes with the process, so this waits for it to be received.
sys.stdin.read()
"""


class Processes(Case):
    def echo(self, *arguments):
        """A process that sends back, and the name of its socket."""
        process = self.another(ECHO, *arguments)
        return process, (HOST, int(process.stdout.readline()))

    def assertEchoes(self, client, server, payload):  # pylint: disable=invalid-name
        client.sendto(payload, server)
        self.assertEqual(client.recvfrom(1 << 20), (payload, server))

    def test_echo(self):
        _, server = self.echo()
        client = self.bound()
        for size in 0, 1, 4096, 10_000, 100_000:
            self.assertEchoes(client, server, bytes(size))
        for number in range(200):
            self.assertEchoes(client, server, b"%d" % number)

    def test_a_port_of_another_process_is_taken(self):
        process, server = self.echo()
        self.assertRaisesErrno(errno.EADDRINUSE, self.unbound().bind, server)
        process.kill()
        process.wait()
        self.unbound().bind(server)

    def test_everybody_with_everybody(self):
        servers = [self.echo() for _ in range(4)]
        clients = [self.bound() for _ in range(4)]
        for client in clients:
            for _, server in servers:
                client.sendto(b"from %d" % client.getsockname()[1], server)
        for client in clients:
            answers = [client.recvfrom(100) for _ in servers]
            self.assertEqual({data for data, _ in answers}, {b"from %d" % client.getsockname()[1]})
            self.assertEqual({sender for _, sender in answers}, {server for _, server in servers})

    def test_the_end_of_one_harms_no_other(self):
        first, name = self.echo()
        _, other = self.echo()
        client = self.bound()
        self.assertEchoes(client, name, b"1")
        self.assertEchoes(client, other, b"2")
        first.send_signal(signal.SIGKILL)
        first.wait()
        for _ in range(20):
            self.assertEchoes(client, other, b"3")

    def test_the_next_one_on_the_port_is_found(self):
        first, name = self.echo()
        client = self.bound()
        self.assertEchoes(client, name, b"1")
        first.kill()
        first.wait()
        _, again = self.echo(name[1])
        self.assertEqual(again, name)
        self.assertEchoes(client, name, b"2")

    # The first process holds what the others use to find each other.
    def test_the_first_may_go(self):
        first, name = self.echo()
        _, other = self.echo()
        client = self.bound()
        self.assertEchoes(client, name, b"1")
        first.kill()
        first.wait()
        _, late = self.echo()
        self.assertEchoes(client, other, b"2")
        self.assertEchoes(client, late, b"3")

    def test_an_orderly_end_delivers_what_was_received(self):
        process, server = self.echo()
        self.assertEchoes(self.bound(), server, b"last")
        process.stdin.close()
        self.assertEqual(process.wait(), 0)


if __name__ == "__main__":
    unittest.main()
