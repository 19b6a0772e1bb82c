"""Requests as clients sent them, byte for byte, in tests/clients/recorded/NAME.http."""

import os
import re
import socket

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "recorded")


def plain(request):
    """Without the port of the server that it was sent to, which differs each time."""
    return re.sub(rb"(?i)(\r\nhost: [^:\r]*):\d+", rb"\1:8080", request, count=1)


def replay(address, name):
    """Sends a recording and returns the answer: status, headers in lower case, body."""
    host, port = address.split(":")
    with open(os.path.join(FOLDER, name + ".http"), "rb") as file:
        request = file.read()
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(request)
        with connection.makefile("rb") as answer:
            status = int(answer.readline().split()[1])
            headers = {}
            while line := answer.readline().strip():
                key, value = line.decode().split(": ", 1)
                headers[key.lower()] = value
            return status, headers, answer.read(int(headers["content-length"]))
