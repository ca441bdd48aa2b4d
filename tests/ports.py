"""ports.py - a port for a program that must be told which."""
import random
import socket

FROM, OF_KERNEL = 10_000, 32_768  # what the kernel gives to others at any time begins there


def free_port():
    """One of 127.0.0.1 that nobody listens on, and that nobody is given by chance."""
    while True:
        port = random.randrange(FROM, OF_KERNEL)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
