#!/usr/bin/env python3
"""proxy.py PORT... - stands between one node and the members of etcd at these ports of loopback.
Prints its own ports, one for each; then obeys the lines of its input:

    pass      what it holds goes on
    hold      forwards nothing, to nobody: the two are apart, and what was sent comes late
    lose N    ends the connection instead of forwarding, at the next N answers of etcd
"""
import selectors
import socket
import sys

CHUNK = 1 << 16


class Way:
    """One direction of a connection; `held` was read and is not written yet."""

    def __init__(self, source, target, answers):
        self.source, self.target, self.answers, self.held = source, target, answers, b""


class Proxy:
    def __init__(self, ports):
        self.holds, self.losses, self.ways = False, 0, {}
        self.listeners = []
        for port in ports:
            listener = socket.create_server(("127.0.0.1", 0))
            listener.setblocking(False)
            self.listeners.append((listener, port))
        print(*(listener.getsockname()[1] for listener, _ in self.listeners), flush=True)

    def accept(self, listener, port):
        client, _ = listener.accept()
        try:
            server = socket.create_connection(("127.0.0.1", port), 1)
        except OSError:
            client.close()
            return
        for source, target, answers in ((client, server, False), (server, client, True)):
            source.setblocking(False)
            source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.ways[source] = Way(source, target, answers)

    def end(self, way):
        for end in (way.source, way.target):
            self.ways.pop(end, None)
            end.close()

    def forward(self, way):
        """Reads once and writes what goes; False: the connection is over."""
        try:
            if not way.held:
                way.held = way.source.recv(CHUNK)
                if not way.held:
                    return False
                if way.answers and self.losses:
                    self.losses -= 1
                    return False
            way.held = way.held[way.target.send(way.held):]
        except BlockingIOError:
            return True
        except OSError:
            return False
        return True

    def command(self, words):
        self.holds = words[0] == "hold"
        if words[0] == "lose":
            self.losses = int(words[1])

    def run(self):
        text = b""
        sys.stdin = sys.stdin.buffer.raw
        while True:
            selector = selectors.SelectSelector()
            selector.register(sys.stdin, selectors.EVENT_READ, "command")
            if not self.holds:
                for listener, port in self.listeners:
                    selector.register(listener, selectors.EVENT_READ, port)
                writes = {way.target for way in self.ways.values() if way.held}
                for end, way in self.ways.items():
                    events = (selectors.EVENT_READ if not way.held else 0) | \
                        (selectors.EVENT_WRITE if end in writes else 0)
                    if events:
                        selector.register(end, events, None)
            for key, events in selector.select():
                if key.data == "command":
                    got = sys.stdin.read(CHUNK)
                    if not got:
                        return
                    *lines, text = (text + got).split(b"\n")
                    for line in lines:
                        self.command(line.decode().split())
                elif key.data is not None:
                    self.accept(key.fileobj, key.data)
                elif key.fileobj in self.ways:
                    mine = self.ways[key.fileobj]
                    todo = [mine] if events & selectors.EVENT_READ else []
                    if events & selectors.EVENT_WRITE and mine.target in self.ways:
                        todo.append(self.ways[mine.target])
                    for way in todo:
                        if not self.forward(way):
                            self.end(way)
                            break


if __name__ == "__main__":
    Proxy([int(word) for word in sys.argv[1:]]).run()
