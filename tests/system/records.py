"""records.py - the records that json.md and interface.md describe, as name: J1 type, in the order
of their members, and how a test writes their values.
"""
IDS = {"account_id": "int", "subaccount_index": "int", "portfolio_index": "int"}
ORDER = {  # interface.md and J2
    **IDS, "id": "uuid", "initial_size": "dec", "remaining_size": "dec", "market": "str",
    "order_status": "str", "order_type": "str", "side": "str", "time_in_force": "str",
    "post_only": "bool", "reduce_only": "bool", "expires_at": "int|null", "price": "dec|null",
    "filled_size": "dec", "average_price": "dec|null", "stp": "str", "trigger_price": "null",
    "trigger_source": "null", "oco_group": "null", "sequence": "int", "index": "int", "time": "ms",
    "time_ns": "ns", "updated_at_ns": "ns", "book_handle": "int|null"}
WITH_REASON = {}  # an order that is CANCELED or REJECTED: `reason` in J2's place
for _name, _kind in ORDER.items():
    WITH_REASON[_name] = _kind
    if _name == "oco_group":
        WITH_REASON["reason"] = "str"
FILL = {
    **IDS, "id": "uuid", "request_id": "uuid", "market": "str", "side": "str",
    "liquidity": "str", "price": "dec", "quantity": "dec", "fee": "dec", "time": "ms",
    "sequence": "int", "index": "int", "time_ns": "ns", "trade_seq": "int"}
BALANCE = {
    **IDS, "cash_balance": "dec", "name": "str", "status": "str", "equity": "dec",
    "initial_margin": "dec", "maintenance_margin": "dec", "withdrawable": "dec",
    "withdrawable_now": "dec"}
POSITION = {
    **IDS, "id": "uuid", "market": "str", "side": "str", "size": "dec",
    "average_entry_price": "dec", "net_funding": "dec", "mark_price": "dec",
    "unrealized_pnl": "dec", "liquidation_price": "dec|null", "leverage": "int",
    "initial_margin": "dec", "maintenance_margin": "dec", "adl_quantile": "int"}
SUBACCOUNT = {"subaccount_index": "int", "status": "str", "portfolio_count": "int",
              "cash_balance": "dec"}
LEVERAGE = {"leverage": "int", "market": "str", "portfolio_index": "int",
            "subaccount_index": "int", "account_id": "int"}
TRADE = {"price": "dec", "size": "dec", "taker_side": "str", "liquidation": "bool",
         "trade_seq": "int", "sequence": "int", "index": "int", "time": "ms", "time_ns": "ns"}
REQUEST = {"request_id": "uuid", "request_type": "str", "status": "str", "sequence": "int",
           "processed_at_ns": "ns"}
EVIDENCE = {  # X-Ack: full
    "status": "str", "processed_at_ns": "ns", "sequence": "int", "order_status": "str|null",
    "remaining_size": "dec|null", "filled_size": "dec|null", "average_price": "dec|null",
    "quantity_ahead": "dec|null", "book_handle": "int|null", "best_bid": "dec|null",
    "best_ask": "dec|null",
    "book_seq": "int|null", "timing_ns": "object"}


def decimal(units, decimals):
    """The J1 dec of an integer of so many decimals."""
    sign, units = ("-" if units < 0 else ""), abs(units)
    whole, part = divmod(units, 10**decimals)
    fraction = f"{part:0{decimals}d}".rstrip("0") if decimals else ""
    return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"


def usdc(micro):
    return decimal(micro, 6)


def ceiling(numerator, denominator):
    return -(-numerator // denominator)


def engine_id(time_ns, sequence, index):
    """R3: the UUIDv7 that the engine makes at t = time_ns, the index-th of the command."""
    milliseconds, rest = divmod(time_ns, 1_000_000)
    high = milliseconds << 16 | 0x7000 | 4096 * rest // 1_000_000
    low = 2 << 62 | sequence % 2**40 << 22 | index
    text = f"{high:016x}{low:016x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def in_order(table, row, records, types):
    """Every record has exactly these members in this order, each of its type."""
    for record in records:
        table.members(row, record, types)
        table.same(f"{row}: order of members", list(record), list(types))
