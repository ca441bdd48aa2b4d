"""The engine behind its pipe (tool_engine_pipe.c): requests out, replies back, in batches."""
import struct
import subprocess
import threading

REPLY = struct.Struct("<QQBBBBIQQ")
HEAD = struct.Struct("<IBBHIQ")
PARTS = struct.Struct("<HHHH")
LENGTH = struct.Struct("<I")
# struct row_balance, row_book, row_level and row_audit (base/row.h)
BALANCE = struct.Struct("<QIIqq16s16s16s32sB15x")
BOOK = struct.Struct("<32sQII8x")
LEVELS = struct.Struct("<QQ")
BOOK_DEPTH = 1000
AUDIT = struct.Struct("<16s16sqq16s16s16s16s16sIIB7x")


def command_bytes(kind, code, payload, key, clock):
    size = HEAD.size - 4 + PARTS.size + len(payload) + len(key)
    return (HEAD.pack(size, 99, kind, code, 0, clock)
            + PARTS.pack(len(payload), len(key), 0, 0) + payload + key)


def balance_bytes(account):
    return HEAD.pack(HEAD.size - 4 + 8, 98, 0, 0, 0, account) + bytes(8)


def book_bytes(symbol):
    return (HEAD.pack(HEAD.size - 4 + 36, 107, 0, 0, 0, 0) + symbol.encode().ljust(32, b"\0")
            + LENGTH.pack(BOOK_DEPTH))


def audit_bytes():
    return HEAD.pack(HEAD.size - 4, 97, 0, 0, 0, 0)


def integer(data):
    return int.from_bytes(data, "little", signed=True)


class Pipe:
    def __init__(self, build):
        self.process = subprocess.Popen([f"{build}/tests/engine_pipe"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def run(self, requests):
        """Sends a batch and gives its replies, one bytes object each."""
        data = b"".join(requests)
        writer = threading.Thread(target=self._write, args=(data,))
        writer.start()
        replies = []
        read = self.process.stdout.read
        for _ in requests:
            head = read(4)
            if len(head) < 4:
                break
            replies.append(read(LENGTH.unpack(head)[0]))
        writer.join()
        return replies

    def _write(self, data):
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the engine ended: the short list of replies says so

    def close(self):
        """Ends the engine; gives its exit code."""
        self.process.stdin.close()
        code = self.process.wait()
        self.process.stdout.close()
        return code
