"""request_body.py - the bodies of signed requests, packed by hand from the layouts of wire.md W3:
nothing of src/ is used or read. Members that a test leaves out are 0, or what an order mostly has.
"""
import json
import os
import struct
import time

GTC = 2**64 - 1
ALL_PORTFOLIOS = 0xFFFFFFFF
ALL_ASSETS = 0xFFFF
NO_PIN = -1
STOP_MARKET = 3  # a kind of conditional order
ITEM_PLACE, ITEM_CANCEL = 0, 3  # of a batch


def portfolio_bytes(account, subaccount=0, portfolio=0):
    return struct.pack("<QII", account, subaccount, portfolio)


def limit_body(account, price, quantity, expiry=GTC, asset=1, post_only=0, reduce_only=0, stp=0,
               subaccount=0, portfolio=0, pad43=0, pad46=0):
    """W3 code 0, 48 bytes: price[16] quantity[24] expiry[32] flags[40] asset[44] pads 43, 46."""
    return portfolio_bytes(account, subaccount, portfolio) + struct.pack(
        "<QqQBBBBHH", price, quantity, expiry, post_only, reduce_only, stp, pad43, asset, pad46)


def market_order_body(account, quantity, slippage_ppm=0, asset=1, reduce_only=0, stp=0,
                      subaccount=0, portfolio=0, asset_pad=0, pad=bytes(6)):
    """W3 code 5, 40 bytes: quantity[16] slippage[24] asset[28] reduce_only[32] stp[33]."""
    return portfolio_bytes(account, subaccount, portfolio) + struct.pack(
        "<qIHHBB", quantity, slippage_ppm, asset, asset_pad, reduce_only, stp) + pad


def reduce_body(account, order_id, reduce_by, expected=0, asset=1, subaccount=0, portfolio=0,
                asset_pad=0, pad=0):
    """W3 code 1, 56 bytes: order_id[16] reduce_by[32] expected_remaining[40] asset[48]."""
    return portfolio_bytes(account, subaccount, portfolio) + order_id + struct.pack(
        "<QQHHI", reduce_by, expected, asset, asset_pad, pad)


def replace_body(account, order_id, price, quantity, expiry=GTC, asset=1, post_only=0,
                 reduce_only=0, stp=0, expected=0, subaccount=0, portfolio=0, pad59=0,
                 asset_pad=0):
    """W3 code 2, 72 bytes: order_id[16], then price[32] .. asset[60] as a placing has them."""
    return portfolio_bytes(account, subaccount, portfolio) + order_id + struct.pack(
        "<QqQBBBBHHQ", price, quantity, expiry, post_only, reduce_only, stp, pad59, asset,
        asset_pad, expected)


def cancel_body(account, order_id, asset=1, subaccount=0, portfolio=0, asset_pad=0, pad=0):
    return portfolio_bytes(account, subaccount, portfolio) + order_id + struct.pack(
        "<HHI", asset, asset_pad, pad)


def cancel_all_body(account, asset=ALL_ASSETS, side=0, conditional=0, subaccount=0,
                    portfolio=ALL_PORTFOLIOS, pad=0):
    return portfolio_bytes(account, subaccount, portfolio) + struct.pack(
        "<HHBBH", asset, 0, side, conditional, pad)


def account_body(session_public, expires_ns=0, label=b"", scope=0, pad=bytes(7)):
    return session_public + struct.pack("<Q", expires_ns) + label.ljust(32, b"\0") + bytes(
        [scope]) + pad


def session_body(account, session_public, expires_ns=0, pin=NO_PIN, scope=0, pad=bytes(3)):
    return struct.pack("<Q", account) + session_public + struct.pack(
        "<QiB", expires_ns, pin, scope) + pad


def revoke_body(account, session_public):
    return struct.pack("<Q", account) + session_public


def revoke_all_body(account):
    return struct.pack("<Q", account)


def revoke_key_body(account, api_key_id):
    return struct.pack("<Q", account) + api_key_id


def api_key_body(account, pin=NO_PIN, scope=0, label=b"", pad=bytes(3)):
    return struct.pack("<QiB", account, pin, scope) + pad + label.ljust(32, b"\0")


def oracle_body(price, asset=1, publish_ns=None, sources=1, pad=0):
    return struct.pack("<QQHHHH", time.time_ns() if publish_ns is None else publish_ns, price,
                       asset, 0, sources, pad)


def deposit_body(account, amount, reference=None, subaccount=0, portfolio=0):
    return portfolio_bytes(account, subaccount, portfolio) + struct.pack("<Q", amount) + (
        reference or os.urandom(32))


def state_body(asset, state, force=0, pad=0, pad6=0):
    """W3a code 1002: asset[0] pad[2] state[4] force[5] pad[6]."""
    return struct.pack("<HHBBH", asset, pad, state, force, pad6)


def market_body(record):
    text = json.dumps(record).encode()
    return text + bytes(-len(text) % 8)


def conditional_body(account, trigger, quantity, price=0, kind=STOP_MARKET, expiry=GTC, asset=1,
                     source=0, live=0, oco=bytes(16)):
    """W3 code 6, 80 bytes: trigger[16] price[24] quantity[32] expiry[40] kind[51] asset[52]."""
    return portfolio_bytes(account) + struct.pack(
        "<QQqQBBBBHHIBBH", trigger, price, quantity, expiry, 0, 0, 0, kind, asset, 0, 0, source,
        live, 0) + oco


def batch_item(op, price=0, quantity=0, order_id=bytes(16), expiry=GTC, post_only=0, asset=1):
    """An item of code 8, 64 bytes; `order_id` is its own if it places."""
    return struct.pack("<BBBBHHQqQ16s16x", op, post_only, 0, 0, asset, 0, price, quantity, expiry,
                       order_id)


def batch_body(account, items, atomic=0):
    """W3 code 8: their count[16] atomic[18], then the items."""
    return portfolio_bytes(account) + struct.pack("<HB5x", len(items), atomic) + b"".join(items)


def portfolio_body(account, name=b"P", subaccount=0):
    """W3 code 24, 48 bytes: account[0] subaccount[8] name[16]."""
    return struct.pack("<QI4x32s", account, subaccount, name)


def withdraw_body(account, amount, address=bytes(20), portfolio=0):
    """W3 code 10, 48 bytes: amount[16] address[24]."""
    return portfolio_bytes(account, 0, portfolio) + struct.pack("<Q20s4x", amount, address)
