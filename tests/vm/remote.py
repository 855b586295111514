#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs bash commands in the other of two guests that are linked (tests/vm/run).

usage: remote.py serve PORT               carries out commands, side by side, until one is "exit"
       remote.py run HOST PORT COMMAND    the command's output as it comes, and its status

Run by root in emulated machines whose network has nobody else: whoever connects may do anything.
A command ends when the one who asked for it has gone.
"""
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time

CONNECT_SECONDS = 120  # the other guest may still be booting


def carry_out(connection, ended):
    with connection:
        command = connection.makefile("r").readline().strip()
        if command == "exit":
            ended.set()
            return
        process = subprocess.Popen(["bash", "-c", command], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        output = process.stdout.fileno()
        while True:
            ready, _, _ = select.select([output, connection], [], [])
            if connection in ready:  # nothing is sent after the command
                os.killpg(process.pid, signal.SIGTERM)
                process.wait()
                return
            piece = process.stdout.read1(65536)
            if not piece:
                break
            connection.sendall(piece)
        connection.sendall(b"\0%d\n" % process.wait())


def serve(port):
    ended = threading.Event()
    with socket.create_server(("", port)) as listener:
        listener.settimeout(0.2)
        while not ended.is_set():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            connection.settimeout(None)
            threading.Thread(target=carry_out, args=(connection, ended), daemon=True).start()
    return 0


def connect(host, port):
    end = time.monotonic() + CONNECT_SECONDS
    while True:
        try:
            return socket.create_connection((host, port), timeout=5)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def run(host, port, command):
    with connect(host, port) as connection:
        connection.settimeout(None)
        connection.sendall(command.replace("\n", ";").encode() + b"\n")
        if command == "exit":
            return 0
        rest = b""
        while piece := connection.recv(65536):
            rest += piece
            said, zero, rest = rest.partition(b"\0")
            sys.stdout.buffer.write(said)
            sys.stdout.buffer.flush()
            rest = zero + rest
        return int(rest[1:]) % 256 if rest else 255


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "serve":
        return serve(int(arguments[1]))
    if len(arguments) == 4 and arguments[0] == "run":
        return run(arguments[1], int(arguments[2]), arguments[3])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
