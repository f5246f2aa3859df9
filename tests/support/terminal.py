# SPDX-License-Identifier: GPL-3.0-or-later
"""A command whose standard output is a terminal."""

import fcntl
import os
import struct
import subprocess
import sys
import termios


def terminal(columns, command):
    """Run the command on a terminal of 40 rows, and print what it prints as it comes.
    Returns its exit code."""
    controller, output = os.openpty()
    fcntl.ioctl(output, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output)
    os.close(output)
    while True:
        try:
            text = os.read(controller, 65536)
        except OSError:  # the last one has closed it
            break
        if not text:
            break
        sys.stdout.buffer.write(text)
        sys.stdout.flush()
    return process.wait()
