"""The engine behind its pipe (tool_engine_pipe.c): requests out, replies back, in batches."""
import struct
import subprocess
import threading

REPLY = struct.Struct("<QQBBBBIQQ")
EVIDENCE = struct.Struct("<8Q")  # behind it
WANTS_EVIDENCE = 4
HEAD = struct.Struct("<IBBHIQ")
PARTS = struct.Struct("<HHHH")
LENGTH = struct.Struct("<I")


def command_bytes(kind, code, payload, key, clock, extra=b"", flags=0):
    size = HEAD.size - 4 + PARTS.size + len(payload) + len(key) + len(extra)
    return (HEAD.pack(size, 99, kind, code, flags, clock)
            + PARTS.pack(len(payload), len(key), len(extra), 0) + payload + key + extra)


def read_bytes(what, account=0, rest=b""):
    return HEAD.pack(HEAD.size - 4 + len(rest), ord(what), 0, 0, 0, account) + rest


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
            length = LENGTH.unpack(head)[0]
            reply = read(length)
            if len(reply) < length:
                break
            replies.append(reply)
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
