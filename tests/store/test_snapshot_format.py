#!/usr/bin/env python3
"""Reads snapshots that perpd's store wrote with nothing but the tables of journal.md (Snapshot):
every offset, CRC-32C, hash, pad, and the sections' bytes. What is refused is in test_snapshot.c.

CRC-32C is that of journal_reader.py, BLAKE2b is Python's own.
"""
import hashlib
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "perp"))
from journal_reader import crc32c


def check(condition, *what):
    if not condition:
        print("failed:", *what)
        sys.exit(1)


def pattern(count):
    return bytes((i * 31 + (i >> 12)) & 0xFF for i in range(count))


def read_snapshot(path, exchange, sequence, section_count):
    data = path.read_bytes()
    check(path.stat().st_mode & 0o777 == 0o600, path.name, "mode 0600")
    magic, version, size, crc = struct.unpack_from("<8sHHI", data)
    check((magic, version, size) == (b"perpdSNP", 1, 256), path.name, "head")
    check(data[16:32] == exchange[16:32], path.name, "journal_id")
    check(data[32:64] == exchange[32:64], path.name, "exchange_id")
    check(data[64:80] == exchange[64:80], path.name, "hash_key")
    (stated, frame, t_ns, boot, rules, sections, image_bytes) = struct.unpack_from("<QQQQIIQ",
                                                                                   data, 80)
    check((stated, frame) == (sequence, sequence - 7), path.name, "sequence, frame")
    check((t_ns, boot, rules) == (1700000000123456789, 3, 12), path.name, "t, boot, rules")
    check(sections == section_count, path.name, "section_count")
    check(data[128:160] == b"\x51" * 32, path.name, "effects_hash")
    check(data[192:224] == b"\x52" * 32, path.name, "frame_hash")
    check(not any(data[224:256]), path.name, "pad of the header")
    table_end = 256 + 32 * sections
    check(crc == crc32c(data[16:table_end]), path.name, "crc of header and table")
    at, image = 4096, hashlib.blake2b(digest_size=32)
    check(not any(data[table_end:at]), path.name, "pad behind the table")
    for index in range(1, sections + 1):
        (code, version, offset, count, section_crc, pad) = struct.unpack_from(
            "<IIQQII", data, 256 + 32 * (index - 1))
        check((code, version, pad) == (10 * index, 100 + index, 0), path.name, "row", index)
        check((offset, count) == (at, index**2 * 17 - 17), path.name, "place of", index)
        section = data[offset:offset + count]
        check(section == pattern(count), path.name, "bytes of", index)
        check(section_crc == crc32c(section), path.name, "crc of", index)
        image.update(section)
        at += count
    check(image_bytes == at - 4096 and len(data) == at, path.name, "image_bytes")
    check(data[160:192] == image.digest(), path.name, "image_hash")
    return len(data)


def main(build):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "data"
        subprocess.run([pathlib.Path(build) / "tests" / "snapshot", folder], check=True)
        exchange = (folder / "exchange").read_bytes()
        files = sorted(path.name for path in (folder / "snapshot").iterdir())
        check(files == ["1000.snap", "9007199254740993.snap"], "names", files)
        small = read_snapshot(folder / "snapshot" / "1000.snap", exchange, 1000, 3)
        large = read_snapshot(folder / "snapshot" / "9007199254740993.snap", exchange,
                              9007199254740993, 64)
    print(f"snapshots of {small} and {large} bytes agree")


main(sys.argv[1])
