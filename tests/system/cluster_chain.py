"""cluster_chain.py - the frames of a node's archive and journal, and the orders in them, as they
are on its disk.
"""
import collections
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "perp"))

import client
from journal_reader import FRAME, FRAMES_AT, blake, decompress, read_records, read_written

Frame = collections.namedtuple("Frame", "segment offset number boot data records")


def segment_of(path):
    """The bytes of a segment, those of an archived one with the padding of its frames."""
    if path.suffix == ".seg":
        return read_written(path) + bytes(4096)
    packed = decompress(path.read_bytes())
    data, at = packed[:FRAMES_AT], FRAMES_AT
    while at < len(packed):
        length, count = FRAME.unpack_from(packed, at)[11], FRAME.unpack_from(packed, at)[13]
        body = packed[at:at + FRAME.size + count]
        data, at = data + body.ljust(length, b"\0"), at + len(body)
    return data + bytes(4096)


def chain_of(folder):
    """The frames of archive/ and journal/ in order: each is named by the hash in the next."""
    frames, previous = [], None
    live = {path.name: path for path in (folder / "journal").glob("*.seg")}
    paths = live | {path.stem: path for path in (folder / "archive").glob("*.seg.zst")
                    if path.stem not in live}
    for _, path in sorted(paths.items()):
        data, at = segment_of(path), FRAMES_AT
        while data[at:at + 8] == b"perpdFRM":
            (_, _, _, _, _, boot, segment, number, first, _, _, length, count, _, _,
             before) = FRAME.unpack_from(data, at)
            body = data[at:at + length]
            if previous is not None and (before != previous or number != frames[-1].number + 1):
                return frames
            frames.append(Frame(segment, at, number, boot, body, read_records(body, first, count)))
            previous, at = blake(body), at + length
    return frames


def requests_of(frames):
    """The request id of each journalled order and cancel, with its sequence."""
    return [(record.payload[8:24], record.sequence) for frame in frames for record in frame.records
            if record.kind == 1 and record.code in (client.PLACE_LIMIT, client.CANCEL)]
