"""Bytes of requests and effects (wire.md W2, W3, W3c), and their readable form."""
import re
import struct

GTC = 2**64 - 1
IOC, FOK = 0, 1
ALL16, ALL32 = 0xFFFF, 0xFFFFFFFF
(PLACE, AMEND, REPLACE, CANCEL, CANCEL_ALL, MARKET_ORDER, CONDITIONAL, CONDITIONAL_CANCEL, BATCH,
 TRANSFER, WITHDRAW) = range(11)
CREATE_ACCOUNT, CREATE_SESSION, REVOKE_SESSION, REVOKE_ALL, CREATE_KEY, REVOKE_KEY = (
    11, 13, 14, 15, 34, 35)
CREATE_PASSKEY_ACCOUNT, LOGIN = 12, 33
ADD_ADMIN, REMOVE_ADMIN, ADD_ADMIN_PASSKEY, REMOVE_ADMIN_PASSKEY = 16, 17, 19, 20
ADD_SCOPED, REMOVE_SCOPED, ADD_SCOPED_PASSKEY, REMOVE_SCOPED_PASSKEY = 28, 29, 30, 31
KEY_CODES = (ADD_ADMIN, REMOVE_ADMIN, ADD_ADMIN_PASSKEY, REMOVE_ADMIN_PASSKEY, ADD_SCOPED,
             REMOVE_SCOPED, ADD_SCOPED_PASSKEY, REMOVE_SCOPED_PASSKEY)
SIGNED, BY_PASSKEY = 1, 2  # kinds of a command
CREATE_SUBACCOUNT, CLOSE_SUBACCOUNT, CREATE_PORTFOLIO, CLOSE_ACCOUNT = 22, 23, 24, 32
SCHEDULE_CANCEL, SET_MMP, RESET_MMP = 25, 26, 27
(ORACLE, DEFINE, MARKET_STATE, DEPOSIT, SETTLE, SUSPEND, TOP_UP, OPERATOR_CANCEL, HALT_ALL,
 FEE_TIER, INDEX_ACCEPT, CLOCK_CONFIRM) = range(1000, 1012)
TICK, LEVERAGE, CLOSE_PORTFOLIO, REOPEN_PORTFOLIO = 2000, 2001, 2002, 2003
FAUCET, RENAME, DISCONNECT, ARM, CONFIGURATION, BOOT = 2009, 2010, 2011, 2012, 2013, 2014
RESTORED, SIGNING_KEY = 2017, 2018
(MARKET_TYPE, LIMIT_TYPE, STOP_LIMIT, STOP_MARKET, TAKE_PROFIT, TAKE_PROFIT_MARKET, LIQUIDATE_TYPE,
 ADL_TYPE) = range(8)
FULL_ACCESS, READ, READ_WRITE = 0, 0, 1
ACTIVE, POST_ONLY, REDUCE_ONLY, CANCEL_ONLY, HALTED, CLOSED = range(6)
OPEN, FILLED, CANCELED, REJECTED, UNTRIGGERED, PARTIALLY_FILLED, EXPIRED = range(7)
ADD, REDUCE, DELETE, EXECUTE = range(4)
PORTFOLIO_ACTIVE, IN_LIQUIDATION, PORTFOLIO_CLOSED = range(3)
(CASH_TRADE, CASH_FEE, CASH_FUNDING, CASH_TRANSFER, CASH_DEPOSIT, CASH_WITHDRAWAL, CASH_REVERTED,
 CASH_FAUCET, CASH_LIQUIDATION, CASH_ADL, CASH_FUND, CASH_SETTLEMENT) = range(12)

STATUSES = """request_completed duplicate_request_id request_dropped retry_required
rejected_unauthorized rejected_rate_limited rejected_account_suspended order_rejected_invalid
order_rejected_expired order_rejected_internal order_rejected_invalid_market
rejected_invalid_portfolio_id rejected_invalid_price rejected_invalid_size rejected_size_zero
rejected_size_not_equal rejected_order_not_found rejected_invalid_uuid rejected_mark_price_zero
rejected_invalid_order_flags invalid_reduce_only_order rejected_slippage_exceeds_maximum
rejected_self_transfer self_trade_prevention rejected_max_open_orders_exceeded
rejected_post_only_would_cross_book rejected_market_not_found rejected_market_halted
rejected_market_reduce_only rejected_market_post_only rejected_market_cancel_only market_closed
insufficient_margin_to_place insufficient_margin_to_trade rejected_insufficient_free_equity
rejected_f_o_k_not_fully_filled_insufficient_margin
rejected_f_o_k_not_fully_filled_low_liquidity rejected_max_conditional_orders_exceeded
rejected_trigger_already_satisfied conditional_order_on_books conditional_order_not_found
rejected_conditional_order_expired rejected_invalid_trigger master_key_added master_key_removed
master_key_rejected_invalid master_key_rejected_unauthorized master_key_rejected_self_removal
master_key_rejected_last_key session_created session_revoked session_rejected
session_rejected_max_sessions account_created_with_session creation_rejected
account_created_session_failed""".split()
STATUS = {name: number for number, name in enumerate(STATUSES)}

REASONS = """match_limit mmp_frozen batch_aborted already_credited max_sessions_exceeded
limit_reached subaccount_not_permitted read_only_key portfolio_not_active portfolio_not_empty
portfolio_not_closed subaccount_not_active subaccount_not_closed withdrawal_pending
insufficient_free_equity invalid_parameter faucet_limit_exceeded user_cancel cancel_all
time_in_force reduce_only oco dead_man disconnect mmp liquidation market_state operator market_gap
insurance_fund_deficit invalid_destination""".split()
REASON = {name: 128 + number for number, name in enumerate(REASONS)}


def reason_name(number):
    if number == 0:
        return "none"
    if number < 128:
        return STATUSES[number] if number < len(STATUSES) else str(number)
    return REASONS[number - 128] if number - 128 < len(REASONS) else str(number)


# The rules of operator codes (docs/reference.md) that the streams break, by number.
(RULE_ASSET, RULE_ASSET_UNKNOWN, RULE_PAD, RULE_STATE_CODE, RULE_FORCE, RULE_ASSET_CLOSED,
 RULE_CLOSE_NOTICE, RULE_STATE_OF_ALL, RULE_WITHDRAWAL_ID, RULE_OUTCOME, RULE_REVERTED_CASH,
 RULE_CLOCK_ANNOUNCE, RULE_GAP_NONE, RULE_GAP_OTHER) = range(52, 66)

# An effect: code, layout of its 48 bytes, names of the fields.
LAYOUTS = {
    2100: ("<16sQHBBB3x16x", "request_id account status reason item rule"),
    2101: ("<16sQQQBBBBHxx", "order_id remaining filled price status reason side type asset"),
    2102: ("<16sQqqIB3x", "order_id price quantity fee index liquidity"),
    2103: ("<QIIqqqHxx4x", "account subaccount portfolio size cost net_funding asset"),
    2104: ("<QIIqqQB7x", "account subaccount portfolio amount balance_after ref kind"),
    2105: ("<QIIqqqHxxI", "account subaccount portfolio payment size rate_ppb asset epoch"),
    2106: ("<QQIB3xQHxx12x", "price size orders side book_seq asset"),
    2107: ("<16sQQQHxxBBxx", "order_id price quantity book_seq asset side action"),
    2108: ("<QQQQHxxBBxx8x", "price size trade_seq book_seq asset taker_side flags"),
    2109: ("<QQqqHxxB3x8x", "index mark ema premium_ppb asset valid"),
    2110: ("<QqQqIHxxB7x", "index rate_ppb hour pool epoch asset open"),
    2111: ("<HxxBBxxQ32x", "asset state cause price"),
    2112: ("<QIIqqB15x", "account subaccount portfolio equity maintenance status"),
    2113: ("<QIIQqHxxB11x", "account subaccount portfolio price size asset level"),
    2114: ("<16sQHxx20x", "order_id source_price asset"),
    2115: ("<QIIB3xHxx24x", "account subaccount portfolio kind asset"),
    2116: ("<QIIQHxx20x", "account subaccount portfolio frozen_until asset"),
    2117: ("<qqB31x", "cash amount deficit"),
    2118: ("<32sQiBBB1x", "hash account pin kind action scope"),
    2119: ("<QIIBBB29x", "account subaccount portfolio status fee_tier what"),
    2120: ("<16sQIIQB7x", "withdrawal_id account subaccount portfolio amount outcome"),
    2121: ("<QIIQqqH6x", "account subaccount portfolio price profit cut asset"),
}
PACK = {code: struct.Struct(layout).pack for code, (layout, _) in LAYOUTS.items()}
assert all(struct.calcsize(layout) == 48 for layout, _ in LAYOUTS.values())
EFFECTS = struct.Struct("<H6x48s")


def told(code, body):
    """Whether the model tells this 2118: not a session that expired."""
    return code != 2118 or body[45] < 2


def credential_account(body):
    return int.from_bytes(body[32:40], "little")


def effect_text(effect):
    code, body = effect
    if code not in LAYOUTS:
        return f"{code} {body.hex()}"
    layout, names = LAYOUTS[code]
    parts = [str(code)]
    for name, value in zip(names.split(), struct.unpack(layout, body)):
        if isinstance(value, bytes):
            value = value.hex()[:32]
        elif name == "reason":
            value = reason_name(value)
        parts.append(f"{name}={value}")
    return " ".join(parts)


HEADER = struct.Struct("<BBHI")
PLACE_BODY = struct.Struct("<QIIQqQBBBBHH")
AMEND_BODY = struct.Struct("<QII16sQQHHI")
REPLACE_BODY = struct.Struct("<QII16sQqQBBBBHHQ")
MARKET_BODY = struct.Struct("<QIIqIHHBB6s")
CANCEL_BODY = struct.Struct("<QII16sHHI")
CANCEL_ALL_BODY = struct.Struct("<QIIHHBBH")
ACCOUNT_BODY = struct.Struct("<32sQ32sB7s")
SESSION_BODY = struct.Struct("<Q32sQiB3s")
KEY_BODY = struct.Struct("<Q33s7s")  # 16, 17, 20, 29, 31
ADMIN_PASSKEY_HEAD = struct.Struct("<Q33sBH")
SCOPED_BODY = struct.Struct("<QiB3s33s7s")
SCOPED_PASSKEY_HEAD = struct.Struct("<QiB3s33sBH")
REVOKE_BODY = struct.Struct("<Q32s")
CREATE_KEY_BODY = struct.Struct("<QiB3s32s")
LOGIN_BODY = struct.Struct("<QQi4s")
REVOKE_KEY_BODY = struct.Struct("<Q16s")
CONDITIONAL_BODY = struct.Struct("<QIIQQqQBBBBHHIBBH16s")
BATCH_HEAD = struct.Struct("<QIIHB5s")
BATCH_ITEM = struct.Struct("<BBBBHHQqQ16sQQ")
TRANSFER_BODY = struct.Struct("<QIIQIIQ")
WITHDRAW_BODY = struct.Struct("<QIIQ20sI")
CLOSE_SUBACCOUNT_BODY = struct.Struct("<QII")
CREATE_PORTFOLIO_BODY = struct.Struct("<QII32s")
SCHEDULE_BODY = struct.Struct("<QIIQ")
MMP_BODY = struct.Struct("<QIIHHIIIQQ")
RESET_MMP_BODY = struct.Struct("<QIIHHI")
SETTLE_BODY = struct.Struct("<16sB7s")
SUSPEND_BODY = struct.Struct("<QB7s")
TOP_UP_BODY = struct.Struct("<Q")
OPERATOR_CANCEL_BODY = struct.Struct("<QII16sHHI")
FEE_TIER_BODY = struct.Struct("<QB7s")
PORTFOLIO_BODY = struct.Struct("<16sQII")
FAUCET_BODY = struct.Struct("<16sQIIQ")
RENAME_BODY = struct.Struct("<16sQII32s")
DISCONNECT_BODY = struct.Struct("<16s")
ARM_BODY = struct.Struct("<16s16sQIIB7s")
LEVERAGE_BODY = struct.Struct("<16sQIIIHH")
ORACLE_BODY = struct.Struct("<QQHHHH")
INDEX_ACCEPT_BODY = struct.Struct("<QH6s")
CLOCK_CONFIRM_BODY = struct.Struct("<qQ")
DEPOSIT_BODY = struct.Struct("<QIIQ32s")
STATE_BODY = struct.Struct("<HHBBH")
HALT_ALL_BODY = struct.Struct("<B7s")
BOOT_BODY = struct.Struct("<QIIq")
RESTORED_BODY = struct.Struct("<16sQQ32s64s")
SIGNING_KEY_BODY = struct.Struct("<32s64s")
SIGNED_CODES = (*range(11), *range(CREATE_ACCOUNT, REVOKE_ALL + 1),
                *KEY_CODES, *range(CREATE_SUBACCOUNT, RESET_MMP + 1), CLOSE_ACCOUNT, LOGIN,
                CREATE_KEY, REVOKE_KEY,
                *range(ORACLE, CLOCK_CONFIRM + 1))
SESSION_HEADERS = {code: HEADER.pack(1, 0, code, 0) for code in SIGNED_CODES}
HEADERS = {code: HEADER.pack(1, 1, code, 0) for code in SIGNED_CODES}  # of secp256k1 keys
PASSKEY_HEADERS = {code: HEADER.pack(1, 2, code, 0) for code in SIGNED_CODES}
BODIES = {PLACE: PLACE_BODY, AMEND: AMEND_BODY, REPLACE: REPLACE_BODY, CANCEL: CANCEL_BODY,
          CANCEL_ALL: CANCEL_ALL_BODY, MARKET_ORDER: MARKET_BODY,
          CONDITIONAL: CONDITIONAL_BODY, CONDITIONAL_CANCEL: CANCEL_BODY, TRANSFER: TRANSFER_BODY,
          WITHDRAW: WITHDRAW_BODY, CLOSE_SUBACCOUNT: CLOSE_SUBACCOUNT_BODY,
          CREATE_PORTFOLIO: CREATE_PORTFOLIO_BODY, SCHEDULE_CANCEL: SCHEDULE_BODY,
          SET_MMP: MMP_BODY, RESET_MMP: RESET_MMP_BODY, SETTLE: SETTLE_BODY,
          SUSPEND: SUSPEND_BODY, TOP_UP: TOP_UP_BODY, OPERATOR_CANCEL: OPERATOR_CANCEL_BODY,
          FEE_TIER: FEE_TIER_BODY, CLOSE_PORTFOLIO: PORTFOLIO_BODY,
          REOPEN_PORTFOLIO: PORTFOLIO_BODY, FAUCET: FAUCET_BODY, RENAME: RENAME_BODY,
          DISCONNECT: DISCONNECT_BODY, ARM: ARM_BODY, CREATE_KEY: CREATE_KEY_BODY,
          LOGIN: LOGIN_BODY, REVOKE_KEY: REVOKE_KEY_BODY,
          ORACLE: ORACLE_BODY, INDEX_ACCEPT: INDEX_ACCEPT_BODY,
          CLOCK_CONFIRM: CLOCK_CONFIRM_BODY, BOOT: BOOT_BODY, RESTORED: RESTORED_BODY,
          SIGNING_KEY: SIGNING_KEY_BODY,
          DEPOSIT: DEPOSIT_BODY,
          LEVERAGE: LEVERAGE_BODY, MARKET_STATE: STATE_BODY, HALT_ALL: HALT_ALL_BODY}


def uuid7(milliseconds, number):
    """A UUIDv7 of that time; `number` fills its 74 free bits."""
    value = (milliseconds << 80 | 7 << 76 | (number >> 62 & 0xFFF) << 64 | 2 << 62
             | number & (1 << 62) - 1)
    return value.to_bytes(16, "big")


def uuid7_of(t, sequence, index):
    """The id that the engine makes at t (R3)."""
    milliseconds, rest = divmod(t, 10**6)
    value = (milliseconds << 80 | 7 << 76 | rest * 4096 // 10**6 << 64 | 2 << 62
             | sequence % 2**40 << 22 | index)
    return value.to_bytes(16, "big")


def is_uuid7(value):
    return value[6] >> 4 == 7 and value[8] >> 6 == 2


def uuid_ms(value):
    return int.from_bytes(value[:6], "big")


def pad8(text):
    return text + b"\0" * (-len(text) % 8)


def option_rows(source):
    """(name, default) of every engine option that is built, from the table in option.h."""
    with open(f"{source}/src/base/option.h", encoding="utf-8") as file:
        text = file.read()
    rows = re.findall(r'X\((\w+),\s*(\w+),\s*\w+,\s*(\d+),\s*([01]),\s*"([^"]*)"', text)
    return sorted((f"{section}.{key}", value) for section, key, engine, built, value in rows
                  if engine != "0" and built == "1")


def configuration(source, values):
    """The body of record 2013 with `values` in place of defaults."""
    rows = dict(option_rows(source))
    unknown = set(values) - set(rows)
    assert not unknown, unknown
    rows.update(values)
    return pad8("".join(f"{key}={value}\n" for key, value in sorted(rows.items())).encode())
