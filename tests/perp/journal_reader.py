"""journal_reader.py - a data directory read with nothing but the tables of journal.md, and written
again with a record changed: a second implementation for the tests of the store's commands.

CRC-32C is divided here by table, BLAKE2b is Python's own, zstd is the library's plain call.
"""
import ctypes
import ctypes.util
import dataclasses
import hashlib
import struct

FRAMES_AT = 4096
SLOT = 4096  # of `exchange` and `witness`
FRAME = struct.Struct("<8sHHI16sQQQQQQIIII32s")
RECORD = struct.Struct("<QIHBBHHHH")
TABLE = []
for byte in range(256):
    state = byte
    for _ in range(8):
        state = state >> 1 ^ (0x82F63B78 if state & 1 else 0)
    TABLE.append(state)


def crc32c(data):
    state = 0xFFFFFFFF
    for value in data:
        state = state >> 8 ^ TABLE[(state ^ value) & 0xFF]
    return state ^ 0xFFFFFFFF


def blake(data):
    return hashlib.blake2b(data, digest_size=32).digest()


@dataclasses.dataclass
class Record:
    sequence: int
    at: int  # bytes from the start of its frame
    t_ns: int
    length: int
    code: int
    kind: int
    payload: bytes
    key: bytes
    signature: bytes
    extra: bytes


@dataclasses.dataclass
class Frame:
    segment: int
    offset: int
    number: int
    boot: int
    first: int
    last: int
    durable: int
    length: int
    record_bytes: int
    previous: bytes
    data: bytes
    records: list


def read_records(data, first, count):
    at, records = 128, []
    for i in range(count):
        t_ns, length, code, kind, _, payload, key, extra, _ = RECORD.unpack_from(data, at)
        parts, start = [], at + 24
        for size in (payload, key, 0 if kind == 0 else 64, extra):
            parts.append(data[start:start + size])
            start += size
        assert length == (start - at + 7) // 8 * 8
        records.append(Record(first + i, at, t_ns, length, code, kind, *parts))
        at += length
    return records


def read_frame(data, offset, number):
    """The whole frame at `offset` of segment `number`, or None."""
    if data[offset:offset + 8] != b"perpdFRM":
        return None
    (_, version, size, crc, _, boot, segment, frame, first, last, durable, length, count,
     record_bytes, _, previous) = FRAME.unpack_from(data, offset)
    body = data[offset:offset + length]
    if (version, size, segment) != (1, 128, number) or crc != crc32c(body[16:]):
        return None
    assert last == first + count - 1
    return Frame(number, offset, frame, boot, first, last, durable, length, record_bytes, previous,
                 body, read_records(body, first, count))


def newest_slot(data):
    """The slot of the highest counter, of a file whose slots are all whole."""
    return max((data[at:at + SLOT] for at in range(0, len(data), SLOT)),
               key=lambda slot: struct.unpack_from("<Q", slot, 120))


class Directory:
    """The chain of a data directory: archive, then journal. `frames` in order."""

    def __init__(self, folder):
        self.folder = folder
        exchange = newest_slot((folder / "exchange").read_bytes())
        self.journal_id, self.exchange_id = exchange[16:32], exchange[32:64]
        self.boot = struct.unpack_from("<Q", exchange, 112)[0]
        self.frames, previous = [], blake(self.exchange_id)
        files = {int(path.name[:10]): path for path in (folder / "journal").glob("*.seg")}
        for path in (folder / "archive").glob("*.seg.zst"):
            files.setdefault(int(path.name[:10]), path)
        for number in sorted(files):
            data = self.bytes_of(files[number])
            offset = FRAMES_AT
            while offset < len(data) and (frame := read_frame(data, offset, number)):
                if frame.number != len(self.frames) + 1 or frame.previous != previous:
                    return  # the chain ends; what follows is for others to judge
                self.frames.append(frame)
                previous = blake(frame.data)
                offset += frame.length
        self.files = files

    def bytes_of(self, path):
        """A segment as it stood, to the end of its frames."""
        if path.suffix != ".zst":
            return read_written(path).rstrip(b"\0") + bytes(4096)
        packed, at = decompress(path.read_bytes()), FRAMES_AT
        out = bytearray(packed[:FRAMES_AT])
        while at < len(packed):  # header and records of each frame, without the padding
            length, _, record_bytes = struct.unpack_from("<III", packed, at + 80)
            body = packed[at:at + 128 + record_bytes]
            out += body + bytes(length - len(body))
            at += len(body)
        return bytes(out) + bytes(4096)

    @property
    def records(self):
        return [record for frame in self.frames for record in frame.records]

    def record(self, sequence):
        return next((frame, record) for frame in self.frames for record in frame.records
                    if record.sequence == sequence)

    def write(self, frame_number, data):
        """Puts `data` in a frame's place and seals it and every frame behind it anew."""
        previous = None
        for frame in self.frames[frame_number - 1:]:
            body = bytearray(data if previous is None else frame.data)
            if previous is not None:
                body[96:128] = previous
            struct.pack_into("<I", body, 12, crc32c(body[16:]))
            self.put(frame.segment, frame.offset, body)
            previous = blake(bytes(body))

    def put(self, segment, offset, data):
        with open(self.folder / "journal" / f"{segment:010}.seg", "r+b") as file:
            file.seek(offset)
            file.write(data)

    def split(self, starts):
        """Moves frames on: from frame starts[0] into segment 1, from starts[1] into segment 2, ...
        All of them stand in segment 0; they are sealed anew."""
        previous, place = None, FRAMES_AT
        with open(self.folder / "journal/0000000000.seg", "rb") as file:
            head = file.read(FRAMES_AT)
        size = (self.folder / "journal/0000000000.seg").stat().st_size
        for frame in self.frames[starts[0] - 1:]:
            self.put(0, frame.offset, bytes(frame.length))
        for number, start in enumerate(starts, 1):
            header = bytearray(head)
            struct.pack_into("<Q", header, 80, number)
            struct.pack_into("<I", header, 12, crc32c(header[16:128]))
            with open(self.folder / f"journal/{number:010}.seg", "wb") as file:
                file.truncate(size)
                file.write(header)
            place = FRAMES_AT
            end = starts[number] - 1 if number < len(starts) else len(self.frames)
            for frame in self.frames[start - 1:end]:
                body = bytearray(frame.data)
                struct.pack_into("<Q", body, 40, number)
                body[96:128] = previous or frame.previous
                struct.pack_into("<I", body, 12, crc32c(body[16:]))
                self.put(number, place, body)
                place += len(body)
                previous = blake(bytes(body))
        self.name_in_witness(self.frames[-1], previous)
        (self.folder / "heads").unlink(missing_ok=True)  # they name the frames as they were

    def name_in_witness(self, frame, frame_hash):
        """Lets every slot of `witness` name this frame."""
        path = self.folder / "witness"
        data = bytearray(path.read_bytes())
        for at in range(0, len(data), SLOT):
            data[at + 64:at + 96] = frame_hash
            struct.pack_into("<QQ", data, at + 104, frame.number, frame.last)
            struct.pack_into("<I", data, at + 12, crc32c(data[at + 16:at + SLOT]))
        path.write_bytes(data)

    def append(self, code, body, t_ns):
        """One frame with one unsigned record behind the last frame."""
        self.append_records([(code, body, t_ns)])

    def append_records(self, rows):
        """One frame with unsigned records (code, body, t_ns) behind the last frame."""
        tail = self.frames[-1]
        record = b""
        for code, body, t_ns in rows:
            length = (24 + len(body) + 7) // 8 * 8
            record += (RECORD.pack(t_ns, length, code, 0, 0, len(body), 0, 0, 0) +
                       body).ljust(length, b"\0")
        length = len(record)
        block = 4096 if all(frame.length % 4096 == 0 for frame in self.frames) else 512
        size = (128 + length + block - 1) // block * block
        sequence = tail.last + 1
        data = bytearray(FRAME.pack(
            b"perpdFRM", 1, 128, 0, self.journal_id, tail.boot, tail.segment, tail.number + 1,
            sequence, sequence + len(rows) - 1, tail.number, size, len(rows), length, 0,
            blake(tail.data)))
        data += record.ljust(size - 128, b"\0")
        struct.pack_into("<I", data, 12, crc32c(data[16:]))
        self.put(tail.segment, tail.offset + tail.length, data)


def read_written(path):
    """A file to the first MiB of zeros: a segment has 64 of them, and no record has as many."""
    parts = []
    with open(path, "rb", buffering=0) as file:
        while (part := file.read(1 << 20)) and part.count(0) != len(part):
            parts.append(part)
    return b"".join(parts)


def decompress(data):
    library = ctypes.CDLL(ctypes.util.find_library("zstd"))
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
    size = library.ZSTD_getFrameContentSize(data, ctypes.c_size_t(len(data)))
    room = ctypes.create_string_buffer(min(size, 65 << 20))  # all ones: it is not known
    count = library.ZSTD_decompress(room, ctypes.c_size_t(len(room)), data,
                                    ctypes.c_size_t(len(data)))
    assert count <= len(room), "zstd"
    return ctypes.string_at(room, count)
