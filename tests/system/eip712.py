"""eip712.py - Keccak-256 and the typed data of wire.md W4, encoded from the text alone.
"""
import datetime
import struct

CREATE_ACCOUNT, CREATE_SESSION, REVOKE_SESSION, REVOKE_ALL = 11, 13, 14, 15
LOGIN, CREATE_API_KEY, REVOKE_API_KEY = 33, 34, 35
TRANSFER, WITHDRAW = 9, 10
ADD_ADMIN, REMOVE_ADMIN, ADD_ADMIN_PASSKEY, REMOVE_ADMIN_PASSKEY = 16, 17, 19, 20
ADD_SCOPED, REMOVE_SCOPED, ADD_SCOPED_PASSKEY, REMOVE_SCOPED_PASSKEY = 28, 29, 30, 31
FIND_ACCOUNT = 36
CREATE_SUBACCOUNT, CLOSE_SUBACCOUNT, CREATE_PORTFOLIO, CLOSE_ACCOUNT = 22, 23, 24, 32


def bound(payload, exchange_id):
    """What Ed25519 signs (W4): of codes from 1000 on the payload bound to the exchange, if any."""
    operators = exchange_id and int.from_bytes(payload[2:4], "little") >= 1000
    return b"perpd operator 1" + exchange_id + payload if operators else payload


def id_text(raw):
    text = raw.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


# --- Keccak-256 (the padding byte 0x01 of Ethereum, not SHA-3's 0x06) -----------------------------

def _round_constants():
    """The 24 iota constants from the LFSR x^8 + x^6 + x^5 + x^4 + 1 of the Keccak reference."""
    register, constants = 1, []
    for _ in range(24):
        constant = 0
        for bit in range(7):
            if register & 1:
                constant |= 1 << ((1 << bit) - 1)
            register = (register << 1) ^ (0x171 if register & 0x80 else 0)
        constants.append(constant)
    return constants


_IOTA = _round_constants()
_WORD = 2**64 - 1


def _rotate(word, count):
    return ((word << count) | (word >> (64 - count))) & _WORD if count else word


def _permute(lanes):
    for constant in _IOTA:
        columns = [lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20]
                   for x in range(5)]
        for x in range(5):
            mixed = columns[x - 1] ^ _rotate(columns[(x + 1) % 5], 1)
            for y in range(0, 25, 5):
                lanes[x + y] ^= mixed
        x, y, word = 1, 0, lanes[1]
        for step in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            word, lanes[x + 5 * y] = (lanes[x + 5 * y],
                                      _rotate(word, (step + 1) * (step + 2) // 2 % 64))
        for y in range(0, 25, 5):
            row = lanes[y:y + 5]
            for x in range(5):
                lanes[x + y] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5] & _WORD)
        lanes[0] ^= constant


def keccak256(data):
    rate = 136
    padded = bytearray(data) + b"\x01"
    padded += bytes(-len(padded) % rate)
    padded[-1] |= 0x80
    lanes = [0] * 25
    for start in range(0, len(padded), rate):
        for at, word in enumerate(struct.unpack_from("<17Q", padded, start)):
            lanes[at] ^= word
        _permute(lanes)
    return struct.pack("<4Q", *lanes[:4])


# --- EIP-712 by the rule of W4, for the codes that a Secp256k1 key signs --------------------------

def utc(milliseconds):
    whole, rest = divmod(milliseconds, 1000)
    try:
        moment = datetime.datetime.fromtimestamp(whole, datetime.timezone.utc)
    except (OverflowError, ValueError):
        return str(milliseconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{rest:03d}Z"


def _time(raw):
    value = struct.unpack("<Q", raw)[0]
    return "default" if value == 0 else utc(value // 1_000_000)


def _pin(raw):
    value = struct.unpack("<i", raw)[0]
    return "whole account" if value == -1 else f"subaccount {value}"


def _enum(*names):
    return lambda raw: names[raw[0]] if raw[0] < len(names) else str(raw[0])


def _text(raw):
    return raw.rstrip(b"\0").decode()


def _u64(raw):
    return struct.unpack("<Q", raw)[0]


def _u32(raw):
    return struct.unpack("<I", raw)[0]


def _amount(raw):
    whole, rest = divmod(_u64(raw), 10**6)
    return (f"{whole}.{rest:06}".rstrip("0").rstrip(".") if rest else str(whole)) + " USDC"


def _portfolio(prefix, offset):
    """A portfolio_id expands to its three members (W4)."""
    names = ["AccountId", "SubaccountIndex", "PortfolioIndex"]
    names = [prefix + name if prefix else name[0].lower() + name[1:] for name in names]
    return ((names[0], "uint64", offset, 8, _u64), (names[1], "uint32", offset + 8, 4, _u32),
            (names[2], "uint32", offset + 12, 4, _u32))


_SCOPE = _enum("FULL_ACCESS", "TRADING_ONLY")
EIP712 = {  # code: name, body fields as (member, type, offset, size, value)
    CREATE_ACCOUNT: ("create_account_secp256k1", (
        ("sessionPub", "bytes", 0, 32, bytes), ("sessionExpiresAt", "string", 32, 8, _time),
        ("label", "string", 40, 32, _text), ("sessionScope", "string", 72, 1, _SCOPE))),
    CREATE_SESSION: ("create_session", (
        ("accountId", "uint64", 0, 8, _u64), ("sessionPub", "bytes", 8, 32, bytes),
        ("expiresAt", "string", 40, 8, _time), ("subaccountPin", "string", 48, 4, _pin),
        ("scope", "string", 52, 1, _SCOPE))),
    REVOKE_SESSION: ("revoke_session", (
        ("accountId", "uint64", 0, 8, _u64), ("sessionPub", "bytes", 8, 32, bytes))),
    REVOKE_ALL: ("revoke_all_sessions", (("accountId", "uint64", 0, 8, _u64),)),
    LOGIN: ("login", (
        ("accountId", "uint64", 0, 8, _u64), ("expiresAt", "string", 8, 8, _time),
        ("subaccountPin", "string", 16, 4, _pin))),
    CREATE_API_KEY: ("create_api_key", (
        ("accountId", "uint64", 0, 8, _u64), ("subaccountPin", "string", 8, 4, _pin),
        ("scope", "string", 12, 1, _enum("READ", "READ_WRITE")),
        ("label", "string", 16, 32, _text))),
    REVOKE_API_KEY: ("revoke_api_key", (
        ("accountId", "uint64", 0, 8, _u64), ("apiKeyId", "string", 8, 16, id_text))),
    TRANSFER: ("transfer", _portfolio("from", 0) + _portfolio("to", 16) + (
        ("amount", "string", 32, 8, _amount),)),
    WITHDRAW: ("withdraw", _portfolio("", 0) + (
        ("amount", "string", 16, 8, _amount), ("destination", "address", 24, 20, bytes))),
    CREATE_SUBACCOUNT: ("create_subaccount", (("accountId", "uint64", 0, 8, _u64),)),
    CLOSE_SUBACCOUNT: ("close_subaccount", (
        ("accountId", "uint64", 0, 8, _u64), ("subaccountIndex", "uint32", 8, 4, _u32))),
    CREATE_PORTFOLIO: ("create_portfolio", (
        ("accountId", "uint64", 0, 8, _u64), ("subaccountIndex", "uint32", 8, 4, _u32),
        ("name", "string", 16, 32, _text))),
    CLOSE_ACCOUNT: ("close_account", (("accountId", "uint64", 0, 8, _u64),)),
    FIND_ACCOUNT: ("find_account", ()),
}
_ACCOUNT = ("accountId", "uint64", 0, 8, _u64)
_SCOPED = (("subaccountIndex", "string", 8, 4, _pin), ("scope", "string", 12, 1, _SCOPE))
_KEY, _SCOPED_KEY = ("publicKey", "bytes", 8, 33, bytes), ("publicKey", "bytes", 16, 33, bytes)
for _code, _kind in ((ADD_ADMIN, "add_admin_secp256k1"), (REMOVE_ADMIN, "remove_admin_secp256k1"),
                     (REMOVE_ADMIN_PASSKEY, "remove_admin_passkey"),
                     (REMOVE_SCOPED, "remove_scoped_secp256k1"),
                     (REMOVE_SCOPED_PASSKEY, "remove_scoped_passkey")):
    EIP712[_code] = (_kind + "_master_key", (_ACCOUNT, _KEY))
EIP712[ADD_SCOPED] = ("add_scoped_secp256k1_master_key", (_ACCOUNT, *_SCOPED, _SCOPED_KEY))


def _credential(at):
    """A credential id and the length before it."""
    return ("credentialId", "bytes", at - 2, 258, lambda raw: raw[2:2 + raw[0] + 256 * raw[1]])


EIP712[ADD_ADMIN_PASSKEY] = ("add_admin_passkey_master_key", (_ACCOUNT, _KEY, _credential(44)))
EIP712[ADD_SCOPED_PASSKEY] = ("add_scoped_passkey_master_key", (
    _ACCOUNT, *_SCOPED, _SCOPED_KEY, _credential(52)))


def eip712_members(payload):
    """The primary type and its members as (name, type, value), in order."""
    name, fields = EIP712.get(struct.unpack_from("<H", payload, 2)[0], ("unknown", ()))
    members = [("action", "string", name)]
    for member, kind, offset, size, value in fields:
        raw = payload[24 + offset:24 + offset + size]
        try:
            members.append((member, kind, value(raw)))
        except (struct.error, IndexError, UnicodeDecodeError):
            members.append((member, kind, 0 if kind.startswith("uint") else b""))
    request_id = payload[8:24]
    members.append(("requestId", "string", id_text(request_id)))
    members.append(("signedAt", "string", utc(int.from_bytes(request_id[:6], "big"))))
    members.append(("payload", "bytes", payload))
    return "".join(word.capitalize() for word in name.split("_")), members


def _word(kind, value):
    if kind in ("uint64", "uint32"):
        return value.to_bytes(32, "big")
    if kind == "address":
        return value.rjust(32, b"\0")
    return keccak256(value.encode() if isinstance(value, str) else value)


def eip712_domain(salt):
    kind = b"EIP712Domain(string name,string version,bytes32 salt)"
    return keccak256(keccak256(kind) + keccak256(b"Perpetuals") + keccak256(b"1") + salt)


def eip712_struct(payload):
    primary, members = eip712_members(payload)
    kind = primary + "(" + ",".join(f"{kind} {name}" for name, kind, _ in members) + ")"
    return keccak256(keccak256(kind.encode()) +
                     b"".join(_word(kind, value) for _, kind, value in members))


def eip712_digest(payload, salt):
    return keccak256(b"\x19\x01" + eip712_domain(salt) + eip712_struct(payload))
