#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether selectors and asyncio see when a socket of AF_RDS can be read and written."""

import asyncio
import os
import selectors
import signal
import socket
import unittest

from af_rds import HOST, Case, bound

# Prints its port, and that it has received so many messages.
RECEIVER = """
receiver = bound()
print(receiver.getsockname()[1], flush=True)
for _ in range(int(sys.stdin.readline())):
    receiver.recv(1 << 20)
print("all", flush=True)
sys.stdin.read()
"""


class Selectors(Case):
    KINDS = (selectors.SelectSelector, selectors.PollSelector, selectors.EpollSelector)

    def events(self, kind, opened, timeout=0):
        with kind() as selector:
            selector.register(opened, selectors.EVENT_READ | selectors.EVENT_WRITE)
            return sum(events for _, events in selector.select(timeout))

    def assertReady(self, opened, events):  # pylint: disable=invalid-name
        for kind in self.KINDS:
            self.assertEqual(self.events(kind, opened), events, kind)

    def test_reading(self):
        one, two = self.bound(), self.bound()
        self.assertReady(two, selectors.EVENT_WRITE)
        one.sendto(b"1", two.getsockname())
        one.sendto(b"2", two.getsockname())
        for kind in self.KINDS:
            with kind() as selector:
                selector.register(two, selectors.EVENT_READ)
                self.assertEqual(len(selector.select(10)), 1)
        self.assertReady(two, selectors.EVENT_READ | selectors.EVENT_WRITE)
        two.recv(10, socket.MSG_PEEK)
        two.recv(10)
        self.assertReady(two, selectors.EVENT_READ | selectors.EVENT_WRITE)
        two.recv(10)
        self.assertReady(two, selectors.EVENT_WRITE)

    def test_reading_what_another_process_sends(self):
        two = self.bound()
        sender = self.another("""
sender = bound()
sender.sendto(b"x", (HOST, int(sys.argv[1])))
sys.stdin.read()
""", two.getsockname()[1])
        with selectors.DefaultSelector() as selector:
            selector.register(two, selectors.EVENT_READ)
            self.assertEqual(len(selector.select(30)), 1)
        self.assertEqual(two.recv(10), b"x")
        sender.stdin.close()
        sender.wait()

    def test_an_unbound_socket_can_be_written(self):
        self.assertReady(self.unbound(), selectors.EVENT_WRITE)

    def test_a_full_one_cannot(self):
        one = self.bound()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 10_000)
        one.setblocking(False)
        receiver = self.another(RECEIVER)
        port = int(receiver.stdout.readline())
        # A stopped process acknowledges nothing.
        receiver.send_signal(signal.SIGSTOP)
        os.waitpid(receiver.pid, os.WUNTRACED)
        sent = 0
        with self.assertRaises(BlockingIOError):
            while True:
                one.sendto(bytes(1000), (HOST, port))
                sent += 1
        self.assertReady(one, 0)
        receiver.send_signal(signal.SIGCONT)
        receiver.stdin.write("%d\n" % sent)
        receiver.stdin.flush()
        with selectors.DefaultSelector() as selector:
            selector.register(one, selectors.EVENT_WRITE)
            self.assertEqual(len(selector.select(30)), 1)
        self.assertEqual(receiver.stdout.readline().strip(), "all")

    def test_sockets_of_both_kinds(self):
        one, two = self.bound(), self.bound()
        udp = self.keep(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind((HOST, 0))
        with selectors.DefaultSelector() as selector:
            for opened in two, udp:
                selector.register(opened, selectors.EVENT_READ)
            one.sendto(b"rds", two.getsockname())
            self.assertEqual([key.fileobj for key, _ in selector.select(10)], [two])
            self.assertEqual(two.recv(10), b"rds")
            udp.sendto(b"udp", udp.getsockname())
            self.assertEqual([key.fileobj for key, _ in selector.select(10)], [udp])


class Asyncio(Case):
    def nonblocking(self):
        made = self.bound()
        made.setblocking(False)
        return made

    def test_echo(self):
        async def serve(server):
            loop = asyncio.get_running_loop()
            while True:
                data, sender = await loop.sock_recvfrom(server, 1000)
                await loop.sock_sendto(server, data, sender)

        async def ask(server, name):
            loop = asyncio.get_running_loop()
            with bound() as client:
                client.setblocking(False)
                await loop.sock_connect(client, server)
                for number in range(20):
                    question = b"%d of %d" % (number, name)
                    await loop.sock_sendall(client, question)
                    self.assertEqual(await loop.sock_recv(client, 1000), question)

        async def main():
            server = self.nonblocking()
            serving = asyncio.create_task(serve(server))
            await asyncio.gather(*(ask(server.getsockname(), name) for name in range(20)))
            serving.cancel()

        asyncio.run(asyncio.wait_for(main(), 30))

    def test_readers(self):
        one, two = self.nonblocking(), self.nonblocking()
        got = []

        async def main():
            loop = asyncio.get_running_loop()
            done = asyncio.Event()

            def read():
                got.append(int(two.recv(10)))
                if len(got) == 100:
                    loop.remove_reader(two)
                    done.set()

            loop.add_reader(two, read)
            for number in range(100):
                one.sendto(b"%d" % number, two.getsockname())
                if number % 7 == 0:
                    await asyncio.sleep(0)
            await done.wait()

        asyncio.run(asyncio.wait_for(main(), 30))
        self.assertEqual(got, list(range(100)))

    def test_a_receive_can_be_given_up(self):
        one, two = self.nonblocking(), self.nonblocking()

        async def main():
            loop = asyncio.get_running_loop()
            with self.assertRaises(TimeoutError):
                async with asyncio.timeout(0.02):
                    await loop.sock_recv(two, 10)
            one.sendto(b"later", two.getsockname())
            self.assertEqual(await loop.sock_recv(two, 10), b"later")

        asyncio.run(asyncio.wait_for(main(), 30))


if __name__ == "__main__":
    unittest.main()
