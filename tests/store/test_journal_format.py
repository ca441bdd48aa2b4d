#!/usr/bin/env python3
"""Reads a journal that perpd's store wrote with nothing but the tables of journal.md: every offset,
CRC-32C, BLAKE2b chain, zero pad and record of every segment, and the `exchange` file.

CRC-32C is that of journal_reader.py, BLAKE2b is Python's own.
"""
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "perp"))
from journal_reader import blake, crc32c


def check(condition, *what):
    if not condition:
        print("failed:", *what)
        sys.exit(1)


def zero(data):
    return not any(data)


def read_exchange(folder):
    whole = (folder / "exchange").read_bytes()
    check(len(whole) == 4 * 4096, "exchange: size")
    check((folder / "exchange").stat().st_mode & 0o777 == 0o600, "exchange: mode 0600")
    slots = [whole[at:at + 4096] for at in range(0, len(whole), 4096)]
    for data in slots:
        magic, version, size, crc = struct.unpack_from("<8sHHI", data)
        check((magic, version, size) == (b"perpdEXC", 2, 4096), "exchange: head")
        check(crc == crc32c(data[16:]), "exchange: crc")
        check(zero(data[136:]), "exchange: pad")
        check(struct.unpack_from("<Q", data, 128)[0] == 1, "exchange: epoch")
    data = max(slots, key=lambda slot: struct.unpack_from("<Q", slot, 120))
    check(not zero(data[80:112]), "exchange: secret key")
    return {"journal_id": data[16:32], "exchange_id": data[32:64], "hash_key": data[64:80],
            "boot": struct.unpack_from("<Q", data, 112)[0]}


def read_segment_header(data, number, exchange):
    magic, version, size, crc = struct.unpack_from("<8sHHI", data)
    check((magic, version, size) == (b"perpdSEG", 1, 128), "segment", number, "head")
    check(crc == crc32c(data[16:128]), "segment", number, "crc")
    check(data[16:32] == exchange["journal_id"], "segment", number, "journal_id")
    check(data[32:64] == exchange["exchange_id"], "segment", number, "exchange_id")
    check(data[64:80] == exchange["hash_key"], "segment", number, "hash_key")
    stated, boot, block = struct.unpack_from("<QQI", data, 80)
    check(stated == number, "segment", number, "number")
    check(1 <= boot <= exchange["boot"], "segment", number, "boot")
    check(block in (512, 4096), "segment", number, "block")
    check(zero(data[100:4096]), "segment", number, "pad")
    return block


def read_records(data, sequence, count):
    at = 0
    for _ in range(count):
        (t_ns, length, code, kind, pad, payload, key, extra, pad2) = struct.unpack_from(
            "<QIHBBHHHH", data, at)
        check((pad, pad2) == (0, 0), "record", sequence, "pads")
        check((kind, code, t_ns) == (1, 7, sequence), "record", sequence, "header")
        used = 24 + payload + key + 64 + extra
        check(length == (used + 7) // 8 * 8, "record", sequence, "length")
        check(zero(data[at + used:at + length]), "record", sequence, "padding")
        want = bytes((sequence * 31 + i) & 0xFF for i in range(payload))
        check(payload == 24 + (sequence * 2654435761) % 2**64 % 400, "record", sequence, "size")
        check(data[at + 24:at + 24 + payload] == want, "record", sequence, "payload")
        check(key == 32 + sequence % 2, "record", sequence, "key")
        check(extra == (32 if sequence % 3 == 0 else 0), "record", sequence, "extra")
        rest = data[at + 24 + payload:at + used]
        check(rest == bytes([sequence & 0xFF]) * len(rest), "record", sequence, "key, signature")
        at += length
        sequence += 1
    check(at == len(data), "records end where record_bytes says")


def main(build):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "data"
        subprocess.run([pathlib.Path(build) / "tests" / "test_store_disk_real", folder], check=True)
        exchange = read_exchange(folder)
        check(exchange["boot"] == 3, "three starts")
        previous = blake(exchange["exchange_id"])
        number, sequence, boot, durable, frames = 1, 1, 1, 0, {}
        closing, none_boot = [], 2
        segments = sorted((folder / "journal").glob("*.seg"))
        check(len(segments) >= 6, "several segments")
        for index, path in enumerate(segments):
            check(path.name == f"{index:010}.seg", "name", path.name)
            data = path.read_bytes()
            check(len(data) == 1 << 20, "size", path.name)
            block = read_segment_header(data, index, exchange)
            at = 4096
            while at < len(data) and data[at:at + 8] == b"perpdFRM":
                (_, version, size, crc, journal_id, frame_boot, segment, frame, first, last, named,
                 length, count, record_bytes, pad, chain) = struct.unpack_from(
                    "<8sHHI16sQQQQQQIIII32s", data, at)
                body = data[at:at + length]
                check((version, size, pad) == (1, 128, 0), "frame", frame, "head")
                check(crc == crc32c(body[16:]), "frame", frame, "crc")
                check(journal_id == exchange["journal_id"], "frame", frame, "journal_id")
                check(segment == index, "frame", frame, "segment")
                check(frame == number, "frame", frame, "number")
                check(frame_boot >= boot, "frame", frame, "boot")
                check(first == sequence and last == first + count - 1, "frame", frame, "sequences")
                check(chain == previous, "frame", frame, "previous_hash")
                check(length % block == 0 and length <= 1 << 20, "frame", frame, "length")
                check(zero(body[128 + record_bytes:]), "frame", frame, "zeros")
                check(length - 128 - record_bytes < block, "frame", frame, "no block too many")
                check(durable <= named < frame, "frame", frame, "durable_frame")
                if frame_boot > boot:  # a start names the whole chain that it found
                    check(named == frame - 1, "frame", frame, "first of its boot")
                elif frame_boot == none_boot:
                    check(named == frames[none_boot] - 1, "frame", frame, "none names nothing new")
                else:
                    check(named >= frame - 4, "frame", frame, "at most four in flight")
                frames.setdefault(frame_boot, frame)
                if count == 0:
                    check(record_bytes == 0 and last == first - 1, "frame", frame, "closing")
                    closing.append(frame_boot)
                read_records(body[128:128 + record_bytes], first, count)
                previous, boot, durable = blake(body), frame_boot, named
                number, sequence, at = number + 1, last + 1, at + length
            check(zero(data[at:]), "rest of", path.name)
        check(sequence - 1 == 24000, "every record", sequence)
        check(closing == [1, 2], "a closing frame for each clean stop")
    print(f"{number - 1} frames, {sequence - 1} records in {len(segments)} segments agree")


main(sys.argv[1])
