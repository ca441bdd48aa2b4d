"""hdr_reader.py - a histogram of a log of HdrHistogram, by its description of V2."""
import base64
import struct
import zlib

from fake import check


def decode(text):
    """Values and counts of a histogram of a log, by HdrHistogram's description of V2."""
    box = base64.b64decode(text)
    cookie, length = struct.unpack(">II", box[:8])
    check(cookie & ~0xf0 == 0x1c849304 and length == len(box) - 8, hex(cookie), length)
    plain = zlib.decompress(box[8:])
    cookie, length, offset, digits, low, high, ratio = struct.unpack(">IIiiqqd", plain[:40])
    check(cookie & ~0xf0 == 0x1c849303 and length == len(plain) - 40 and offset == 0)
    check((digits, low, ratio) == (3, 1, 1.0), digits, low, ratio)
    at, place, counts = 40, 0, {}
    while at < len(plain):
        number = shift = 0
        for step in range(9):
            byte = plain[at]
            at += 1
            number |= (byte if step == 8 else byte & 0x7f) << shift
            shift += 7
            if step == 8 or not byte & 0x80:
                break
        number = (number >> 1) ^ -(number & 1)
        if number < 0:
            place -= number
            continue
        bucket, step = max(place // 1024 - 1, 0), place if place < 1024 else place % 1024 + 1024
        counts[step << bucket] = number
        place += 1
    return counts
