#!/usr/bin/env python3
"""Reads an archive that perpd's store wrote with nothing but journal.md and libzstd: each line of
the list, each hash, and each segment made again byte for byte as it stands in journal/.

The segments are taken apart here a second time: the frames that a line speaks of are counted in
journal/, not in the archive.
"""
import ctypes
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "perp"))
from journal_reader import blake

ZSTD = ctypes.CDLL("libzstd.so.1")
ZSTD.ZSTD_decompress.restype = ctypes.c_size_t
ZSTD.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
ZSTD.ZSTD_isError.argtypes = [ctypes.c_size_t]


def check(condition, *what):
    if not condition:
        print("failed:", *what)
        sys.exit(1)


def unzstd(data, most):
    check(data[:4] == bytes.fromhex("28b52ffd"), "a zstd frame")
    check(data[4] & 4, "with a checksum")
    out = ctypes.create_string_buffer(most)
    count = ZSTD.ZSTD_decompress(out, most, data, len(data))
    check(not ZSTD.ZSTD_isError(count), "zstd")
    return out.raw[:count]


def frames_of(segment):
    """(number, first, last, length, record_bytes, t_ns of its last record, hash) of each frame."""
    at, frames = 4096, []
    while at < len(segment) and segment[at:at + 8] == b"perpdFRM":
        number, first, last = struct.unpack_from("<QQQ", segment, at + 48)
        length, count, record_bytes = struct.unpack_from("<III", segment, at + 80)
        place, t_ns = at + 128, 0
        for _ in range(count):
            t_ns, record_length = struct.unpack_from("<QI", segment, place)
            place += record_length
        check(place == at + 128 + record_bytes, "records end where record_bytes says")
        frames.append((number, first, last, length, record_bytes, t_ns,
                       blake(segment[at:at + length])))
        at += length
    check(not any(segment[at:]), "zeros behind the last frame")
    return frames


def packed(segment, frames):
    out, at = segment[:4096], 4096
    for frame in frames:
        out += segment[at:at + 128 + frame[4]]
        at += frame[3]
    return out


def main(build):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "data"
        subprocess.run([pathlib.Path(build) / "tests" / "test_store_archive", folder], check=True)
        exchange = (folder / "exchange").read_bytes()
        text = (folder / "archive" / "index").read_text(encoding="ascii")
        lines = text.split("\n")
        check(lines[-1] == "", "a newline ends it")
        ids = f"{exchange[32:64].hex()} {exchange[16:32].hex()}"
        check(lines[0] == f"perpd-archive 1 {ids}", "head")
        above = text[:text.rindex("check ")].encode()
        check(lines[-2] == f"check {blake(above).hex()}", "check")
        entries = lines[1:-2]
        check(len(entries) == 5, "five segments")
        files = {path.name for path in (folder / "archive").iterdir()}
        check(files == {"index"} | {f"{n:010}.seg.zst" for n in range(5)}, "files", files)
        for number, line in enumerate(entries):
            words = line.split(" ")
            segment = (folder / "journal" / f"{number:010}.seg").read_bytes()
            file = (folder / "archive" / f"{number:010}.seg.zst").read_bytes()
            frames = frames_of(segment)
            t_ns = [frame[5] for frame in frames if frame[5]][-1]
            want = [number, frames[0][0], frames[-1][0], frames[0][1], frames[-1][2], t_ns,
                    len(file)]
            check(words[:7] == [str(value) for value in want], "line", number, words, want)
            check(words[7] == blake(file).hex(), "hash of file", number)
            check(words[8] == frames[-1][6].hex(), "hash of last frame", number)
            check(len(words) == 9, "words", number)
            check(unzstd(file, len(segment)) == packed(segment, frames), "contents", number)
    print(f"{len(entries)} archived segments agree")


main(sys.argv[1])
