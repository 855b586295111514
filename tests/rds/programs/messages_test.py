#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Python's own socket module, which knows nothing of librds, with sockets of AF_RDS within one process."""

import errno
import os
import socket
import struct
import subprocess
import threading
import unittest

from af_rds import HOST, Case, bound


class Names(Case):
    def test_an_unbound_socket_has_no_name(self):
        one = self.unbound()
        self.assertEqual(one.getsockname()[0], socket.AF_UNSPEC)
        self.assertRaisesErrno(errno.ENOTCONN, one.getpeername)

    def test_a_bound_socket_has_one(self):
        host, port = self.bound().getsockname()
        self.assertEqual(host, HOST)
        self.assertGreater(port, 1)

    def test_a_port_belongs_to_one_socket(self):
        one, two = self.bound(), self.unbound()
        name = one.getsockname()
        self.assertRaisesErrno(errno.EADDRINUSE, two.bind, name)
        one.close()
        two.bind(name)
        self.assertEqual(two.getsockname(), name)

    def test_connecting_gives_a_peer(self):
        one, two = self.bound(), self.bound()
        one.connect(two.getsockname())
        self.assertEqual(one.getpeername(), two.getsockname())
        self.assertEqual(one.send(b"to the peer"), 11)
        self.assertEqual(two.recvfrom(100), (b"to the peer", one.getsockname()))

    def test_other_types_are_refused(self):
        for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
            self.assertRaisesErrno(errno.ESOCKTNOSUPPORT, socket.socket, socket.AF_RDS, kind)
        self.assertRaisesErrno(errno.EOPNOTSUPP, socket.socketpair, socket.AF_RDS, socket.SOCK_SEQPACKET)

    def test_what_rds_does_not_have(self):
        one = self.bound()
        for call in (one.listen, one.accept, lambda: one.shutdown(socket.SHUT_WR)):
            self.assertRaisesErrno(errno.EOPNOTSUPP, call)

    def test_options(self):
        one = self.bound()
        self.assertEqual(one.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE), socket.SOCK_SEQPACKET)
        self.assertEqual(one.getsockopt(socket.SOL_SOCKET, socket.SO_DOMAIN), socket.AF_RDS)
        self.assertEqual(one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), 0)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 100_000)
        self.assertEqual(one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF), 200_000)
        self.assertRaisesErrno(errno.ENOPROTOOPT, one.setsockopt, 276, 4711, 1)


class Messages(Case):
    def test_each_call(self):
        one, two = self.bound(), self.bound()
        one.connect(two.getsockname())
        room = bytearray(20)
        one.send(b"send")
        self.assertEqual(two.recv(100), b"send")
        one.sendall(b"sendall")
        self.assertEqual(two.recv_into(room), 7)
        one.sendto(b"sendto", two.getsockname())
        self.assertEqual(two.recvfrom_into(room), (6, one.getsockname()))
        one.sendmsg([b"send", b"", b"msg"])
        self.assertEqual(two.recvmsg(100), (b"sendmsg", [], 0, one.getsockname()))
        one.send(b"recvmsg_into")
        self.assertEqual(two.recvmsg_into([memoryview(room)[:3], memoryview(room)[3:]])[0], 12)
        self.assertEqual(room[:12], b"recvmsg_into")
        os.write(one.fileno(), b"write")
        self.assertEqual(os.read(two.fileno(), 100), b"write")
        os.writev(one.fileno(), [b"write", b"v"])
        self.assertEqual(os.readv(two.fileno(), [room]), 6)

    def test_sizes(self):
        one, two = self.bound(), self.bound()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 21)
        two.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 21)
        for size in (1, 0, 4095, 4096, 4097, 100_000, 1 << 20):
            payload = os.urandom(size)
            self.assertEqual(one.sendto(payload, two.getsockname()), size)
            self.assertEqual(two.recv(1 << 20), payload)
        self.assertRaisesErrno(errno.EMSGSIZE, one.sendto, bytes((1 << 20) + 1), two.getsockname())

    def test_to_itself(self):
        one = self.bound()
        one.sendto(b"me", one.getsockname())
        self.assertEqual(one.recvfrom(10), (b"me", one.getsockname()))

    def test_order(self):
        one, two = self.bound(), self.bound()
        for number in range(300):
            one.sendto(b"%d" % number, two.getsockname())
        self.assertEqual([int(two.recv(10)) for _ in range(300)], list(range(300)))

    def test_peek_and_truncation(self):
        one, two = self.bound(), self.bound()
        one.sendto(b"0123456789", two.getsockname())
        one.sendto(b"next", two.getsockname())
        self.assertEqual(two.recv(100, socket.MSG_PEEK), b"0123456789")
        self.assertEqual(two.recv_into(bytearray(4), 4, socket.MSG_PEEK | socket.MSG_TRUNC), 10)
        data, _, flags, _ = two.recvmsg(4)
        self.assertEqual((data, flags & socket.MSG_TRUNC), (b"0123", socket.MSG_TRUNC))
        self.assertEqual(two.recv(100), b"next")

    def test_a_destination_is_needed(self):
        self.assertRaisesErrno(errno.ENOTCONN, self.bound().send, b"x")
        self.assertRaisesErrno(errno.ENOTCONN, self.unbound().sendto, b"x", (HOST, 5))


class Waiting(Case):
    def test_without_blocking(self):
        one, two = self.bound(), self.bound()
        two.setblocking(False)
        self.assertRaises(BlockingIOError, two.recv, 10)
        one.sendto(b"x", two.getsockname())
        two.setblocking(True)
        self.assertEqual(two.recv(10), b"x")
        self.assertRaises(BlockingIOError, two.recv, 10, socket.MSG_DONTWAIT)

    def test_timeouts_of_python(self):
        one = self.bound()
        one.settimeout(0.05)
        self.assertRaises(TimeoutError, one.recv, 10)

    def test_timeouts_of_the_socket(self):
        one = self.bound()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 50_000))
        self.assertRaisesErrno(errno.ETIMEDOUT, one.recv, 10)

    def test_a_receiver_is_woken(self):
        one, two = self.bound(), self.bound()
        got = []
        receiver = threading.Thread(target=lambda: got.append(two.recv(10)))
        receiver.start()
        one.sendto(b"wake up", two.getsockname())
        receiver.join()
        self.assertEqual(got, [b"wake up"])

    def test_a_message_is_for_one_of_several_receivers(self):
        one, two = self.bound(), self.bound()
        got, lock = [], threading.Lock()

        def receive():
            while (data := two.recv(10)) != b"end":
                with lock:
                    got.append(int(data))

        receivers = [threading.Thread(target=receive) for _ in range(4)]
        for receiver in receivers:
            receiver.start()
        for number in range(400):
            one.sendto(b"%d" % number, two.getsockname())
        for _ in receivers:
            one.sendto(b"end", two.getsockname())
        for receiver in receivers:
            receiver.join()
        self.assertEqual(sorted(got), list(range(400)))

    def test_many_threads_with_sockets_of_their_own(self):
        server = self.bound()
        wrong = []

        def serve():
            while (received := server.recvfrom(100))[0] != b"end":
                server.sendto(*received)

        def ask(name):
            with bound() as client:
                for number in range(50):
                    question = b"%d of %d" % (number, name)
                    client.sendto(question, server.getsockname())
                    if client.recvfrom(100) != (question, server.getsockname()):
                        wrong.append(question)

        serving = threading.Thread(target=serve)
        serving.start()
        asking = [threading.Thread(target=ask, args=(name,)) for name in range(8)]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
        with bound() as client:
            client.sendto(b"end", server.getsockname())
        serving.join()
        self.assertEqual(wrong, [])


class Descriptors(Case):
    def test_a_socket_lives_as_long_as_one_descriptor(self):
        one, two = self.bound(), self.bound()
        name = two.getsockname()
        copy = self.keep(two.dup())
        two.close()
        self.assertEqual(copy.getsockname(), name)
        one.sendto(b"x", name)
        self.assertEqual(copy.recv(10), b"x")
        copy.close()
        self.keep(self.unbound()).bind(name)

    def test_copies_share_one_queue(self):
        one, two = self.bound(), self.bound()
        copy = os.dup(two.fileno())
        one.sendto(b"1", two.getsockname())
        one.sendto(b"2", two.getsockname())
        self.assertEqual(os.read(copy, 10), b"1")
        self.assertEqual(two.recv(10), b"2")
        os.close(copy)

    def test_a_copy_over_a_socket_closes_it(self):
        one, two = self.bound(), self.bound()
        name = two.getsockname()
        os.dup2(one.fileno(), two.fileno())
        self.assertEqual(two.getsockname(), one.getsockname())
        self.keep(self.unbound()).bind(name)

    def test_programs_that_it_starts_leave_its_sockets_alone(self):
        one, two = self.bound(), self.bound()
        one.sendto(b"before", two.getsockname())
        # The child closes all descriptors, after vfork.
        self.assertEqual(subprocess.run(["true"], check=True, close_fds=True).returncode, 0)
        one.sendto(b"after", two.getsockname())
        self.assertEqual([two.recv(10), two.recv(10)], [b"before", b"after"])

    def test_a_fork_leaves_them_to_the_parent(self):
        one, two = self.bound(), self.bound()
        child = os.fork()
        if child == 0:
            # The child has descriptors that it can only close, and may have sockets of its own.
            status = 1
            try:
                two.getsockname()
            except OSError as error:
                status = 0 if error.errno == errno.EBADF else 2
            two.close()
            with bound() as own:
                own.sendto(b"x", own.getsockname())
                status += 4 * (own.recv(10) != b"x")
            os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        one.sendto(b"still there", two.getsockname())
        self.assertEqual(two.recv(100), b"still there")


if __name__ == "__main__":
    unittest.main()
