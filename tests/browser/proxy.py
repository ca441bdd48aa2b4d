"""proxy.py - what may stand between a browser and perpd: HTTP passes, and the frames of streams
pass, stop, come twice, in another order, late or not at all, as the test says.
"""
import random
import socket
import struct
import threading

CHUNK = 65536


class Proxy:
    """Listens on a port of its own; `target` is the port that it asks. `fault` is what happens to
    what the server sends on streams: None, "silent", "shuffle" (drops, repeats, reorders)."""

    def __init__(self, target, seed=0):
        self.target, self.fault = target, None
        self.counts = {"dropped": 0, "repeated": 0, "reordered": 0}
        self._random = random.Random(seed)
        self._streams, self._lock = [], threading.Lock()
        self.admits = threading.Event()  # clear: a new stream waits
        self.admits.set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._listener.close()

    def end_streams(self, code):
        """Closes every stream with this code, as the server would."""
        with self._lock:
            streams, self._streams = self._streams, []
        for browser, server in streams:
            _shut(server)
            _send(browser, b"\x88\x02" + struct.pack(">H", code))
            _finish(browser)

    def _accept(self):
        while True:
            try:
                browser = self._listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._serve, args=(browser,), daemon=True).start()

    def _serve(self, browser):
        try:
            server = socket.create_connection(("127.0.0.1", self.target))
            first = browser.recv(CHUNK)
            if first.startswith(b"GET /api/v1/stream"):
                self.admits.wait()
            server.sendall(first)
        except OSError:
            _shut(browser)
            return
        is_stream = first.startswith(b"GET /api/v1/stream")
        threading.Thread(target=_pass, args=(browser, server), daemon=True).start()
        if is_stream:
            with self._lock:
                self._streams.append((browser, server))
            self._pass_frames(server, browser)
        else:
            _pass(server, browser)

    def _pass_frames(self, server, browser):
        data = b""
        while b"\r\n\r\n" not in data:
            data += (part := _receive(server))
            if not part:
                break
        head, _, data = data.partition(b"\r\n\r\n")
        _send(browser, head + b"\r\n\r\n")
        held = None
        while True:
            while (frame := _frame(data)) is not None:
                data = data[len(frame):]
                held = self._give(browser, frame, held)
            if not (part := _receive(server)):
                with self._lock:
                    stands = (browser, server) in self._streams
                if stands:
                    _finish(browser)
                return
            data += part

    def _give(self, browser, frame, held):
        """Sends a frame, or does what the fault says; gives one that waits for a later one."""
        if self.fault == "silent":
            return None
        if self.fault == "shuffle" and b'"type":"update"' in frame:
            chance = self._random.random()
            if chance < 0.1:
                self.counts["dropped"] += 1
                return held
            if chance < 0.2:
                self.counts["repeated"] += 1
                _send(browser, frame)
            elif chance < 0.3 and held is None:
                self.counts["reordered"] += 1
                return frame
        _send(browser, frame)
        if held is not None:
            _send(browser, held)
        return None


def _frame(data):
    """The first whole frame of what a server sends, which is not masked."""
    if len(data) < 2:
        return None
    length, at = data[1], 2
    if length == 126:
        length, at = int.from_bytes(data[2:4], "big"), 4
    elif length == 127:
        length, at = int.from_bytes(data[2:10], "big"), 10
    return data[:at + length] if len(data) >= at + length else None


def _receive(end):
    try:
        return end.recv(CHUNK)
    except OSError:
        return b""


def _send(end, data):
    try:
        end.sendall(data)
    except OSError:
        pass


def _shut(end):
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    end.close()


def _finish(end):
    """Ends what is sent; what the other side still says is read, or a reset would overtake it."""
    try:
        end.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def _pass(source, target):
    while data := _receive(source):
        _send(target, data)
    _shut(target)
    _shut(source)
