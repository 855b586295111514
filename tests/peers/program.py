# SPDX-License-Identifier: BSD-3-Clause
"""One program under test: its output as it comes, and an end that is certain."""

import os
import signal
import subprocess
import threading
import time


class Program:
    """Starts in a session of its own, so that it can be ended with all its children."""

    def __init__(self, command, environment):
        self.command = command
        self._output = []
        self._changed = threading.Condition()  # guards _output and _ended
        self._ended = False
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True, encoding="utf-8", errors="replace")
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self._process.stdout:
            with self._changed:
                self._output.append(line)
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    @property
    def output(self):
        with self._changed:
            return "".join(self._output)

    @property
    def pid(self):
        return self._process.pid

    def running(self):
        return self._process.poll() is None

    def wait_for(self, condition, seconds):
        """Waits until condition(output) holds, the output ends, or the time is over. Returns whether it holds."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while True:
                if condition("".join(self._output)):
                    return True
                left = deadline - time.monotonic()
                if self._ended or left <= 0:
                    return False
                self._changed.wait(left)

    def wait(self, seconds):
        """Waits until it has exited. Returns its status, or None if the time is over."""
        try:
            status = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        self._reader.join(seconds)
        return status

    def end(self):
        """Ends the program and its children, whatever they do."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self._process.pid, number)
            except ProcessLookupError:
                break
            if self.wait(3) is not None and number == signal.SIGTERM:
                continue
        self.wait(3)
