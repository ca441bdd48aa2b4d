"""Bodies of requests, packed by hand from the layouts of wire.md W3 and W3a."""
import struct

GTC, IOC, FOK = 2**64 - 1, 0, 1
ALL16, ALL32 = 0xFFFF, 0xFFFFFFFF
STP = {"EXPIRE_TAKER": 0, "EXPIRE_MAKER": 1, "EXPIRE_BOTH": 2, "DECREMENT": 3}
STATES = ["ACTIVE", "POST_ONLY", "REDUCE_ONLY", "CANCEL_ONLY", "HALTED", "CLOSED"]
SOURCES = {"mark": 0, "last": 1, "index": 2}
SIDES = {"both": 0, "buys": 1, "sells": 2}
TYPES = {"stop-limit": 2, "stop": 3, "take-limit": 4, "take": 5}
CODES = {
    "limit": 0, "reduce": 1, "replace": 2, "cancel": 3, "cancel-all": 4, "market": 5, "stop": 6,
    "take": 6, "cancel-conditional": 7, "batch": 8, "transfer": 9, "withdraw": 10, "account": 11,
    "session": 13, "revoke": 14, "subaccount": 22, "close-subaccount": 23, "portfolio": 24,
    "schedule": 25, "mmp": 26, "mmp-reset": 27, "close-account": 32, "api-key": 34,
    "oracle": 1000, "define": 1001, "state": 1002, "deposit": 1003, "settle": 1004,
    "suspend": 1005, "top-up": 1006, "operator-cancel": 1007, "halt-all": 1008, "tier": 1009,
    "accept": 1010, "confirm-clock": 1011,
}


def portfolio(place):
    return struct.pack("<QII", *place)


def limit(place, asset, price, quantity, expiry, flags):
    """flags: post_only, reduce_only, stp."""
    return portfolio(place) + struct.pack("<QqQBBBBHH", price, quantity, expiry, *flags, 0, asset,
                                          0)


def market(place, asset, quantity, slippage, flags):
    return portfolio(place) + struct.pack("<qIHHBB6x", quantity, slippage, asset, 0, *flags[1:])


def conditional(place, asset, quantity, terms, flags):
    return portfolio(place) + struct.pack(
        "<QQqQBBBBHHIBBH", terms["trigger"], terms["price"], quantity, terms["life"], *flags,
        terms["type"], asset, 0, terms["slippage"], terms["source"], terms["tif"], 0) + terms["oco"]


def reduction(place, asset, order_id, reduce_by, expected):
    return portfolio(place) + order_id + struct.pack("<QQHHI", reduce_by, expected, asset, 0, 0)


def replacement(place, asset, order_id, price, quantity, expiry, flags, expected):
    return portfolio(place) + order_id + struct.pack("<QqQBBBBHHQ", price, quantity, expiry,
                                                     *flags, 0, asset, 0, expected)


def cancel(place, asset, order_id):
    return portfolio(place) + order_id + struct.pack("<HHI", asset, 0, 0)


def cancel_all(place, asset, side, conditionals):
    return portfolio(place) + struct.pack("<HHBBH", asset, 0, side, conditionals, 0)


def batch(place, atomic, items):
    return portfolio(place) + struct.pack("<HB5x", len(items), atomic) + b"".join(items)


def item(operation, asset, flags, price, quantity, expiry, order_id, expected):
    return struct.pack("<BBBBHHQqQ", operation, *flags, asset, 0, price, quantity,
                       expiry) + order_id + struct.pack("<QQ", expected, 0)


def transfer(source, target, amount):
    return portfolio(source) + portfolio(target) + struct.pack("<Q", amount)


def withdraw(place, amount):
    return portfolio(place) + struct.pack("<Q", amount) + bytes(range(1, 21)) + bytes(4)


def account(session_public):
    return session_public + struct.pack("<Q32sB7x", 0, b"", 0)


def session(account_id, public, expires_ns, pin, scope):
    return struct.pack("<Q32sQiB3x", account_id, public, expires_ns, pin, scope)


def api_key(account_id, pin, scope):
    return struct.pack("<QiB3x32s", account_id, pin, scope, b"")


def new_portfolio(account_id, subaccount, name):
    return struct.pack("<QII32s", account_id, subaccount, 0, name.encode())


def schedule(place, deadline_ns):
    return portfolio(place) + struct.pack("<Q", deadline_ns)


def mmp(place, asset, window_ms, frozen_ms, most, most_net):
    return portfolio(place) + struct.pack("<HHIIIQQ", asset, 0, window_ms, frozen_ms, 0, most,
                                          most_net)


def mmp_reset(place, asset):
    return portfolio(place) + struct.pack("<HHI", asset, 0, 0)


def oracle(asset, price, publish_ns, sources):
    return struct.pack("<QQHHHH", publish_ns, price, asset, 0, sources, 0)


def index_accept(asset, price):
    return struct.pack("<QHHI", price, asset, 0, 0)


def clock_confirm(gap_ns):
    return struct.pack("<qQ", gap_ns, 0)


def state(asset, name, force):
    return struct.pack("<HHBBH", asset, 0, STATES.index(name), force, 0)


def deposit(place, amount, reference):
    return portfolio(place) + struct.pack("<Q", amount) + reference


def settle(withdrawal_id, outcome):
    return withdrawal_id + struct.pack("<B7x", outcome)


def operator_cancel(place, asset, order_id):
    return portfolio(place) + order_id + struct.pack("<HHI", asset, 0, 0)
