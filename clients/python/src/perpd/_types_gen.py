"""The records of perpd's answers (json.md). Made by tools/clients; do not edit."""
from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class Order(TypedDict):
    account_id: int
    subaccount_index: int
    portfolio_index: int
    id: str
    initial_size: str
    remaining_size: str
    market: str
    order_status: Literal[
        "OPEN", "FILLED", "CANCELED", "REJECTED", "UNTRIGGERED", "PARTIALLY_FILLED", "EXPIRED"
    ]
    order_type: Literal[
        "MARKET", "LIMIT", "STOP_LIMIT", "STOP_MARKET", "TAKE_PROFIT", "TAKE_PROFIT_MARKET",
        "LIQUIDATE", "AUTO_DELEVERAGE"
    ]
    side: Literal["LONG", "SHORT"]
    time_in_force: Literal["IOC", "FOK", "GTC", "GTT"]
    post_only: bool
    reduce_only: bool
    expires_at: int | None
    price: str | None
    filled_size: str
    average_price: str | None
    stp: Literal["EXPIRE_TAKER", "EXPIRE_MAKER", "EXPIRE_BOTH", "DECREMENT"]
    trigger_price: str | None
    trigger_source: Literal["MARK", "LAST", "INDEX", None]
    oco_group: str | None
    reason: NotRequired[str]
    sequence: int
    index: int
    time: int
    time_ns: int
    updated_at_ns: int
    book_handle: int | None


class Fill(TypedDict):
    account_id: int
    subaccount_index: int
    portfolio_index: int
    id: str
    request_id: str
    market: str
    side: Literal["LONG", "SHORT"]
    liquidity: Literal["TAKER", "MAKER"]
    price: str
    quantity: str
    fee: str
    sequence: int
    index: int
    time: int
    time_ns: int
    trade_seq: int | None


class Balance(TypedDict):
    account_id: int
    subaccount_index: int
    portfolio_index: int
    cash_balance: str
    name: str
    status: Literal["ACTIVE", "IN_LIQUIDATION", "CLOSED"]
    equity: str
    initial_margin: str
    maintenance_margin: str
    withdrawable: str
    withdrawable_now: str


class FundingPayment(TypedDict):
    account_id: int
    subaccount_index: int
    portfolio_index: int
    id: str
    market: str
    funding_rate: str
    payment: str
    position_size: str
    sequence: int
    index: int
    time: int
    time_ns: int
    index_price: str


class Position(TypedDict):
    account_id: int
    subaccount_index: int
    portfolio_index: int
    id: str
    market: str
    side: Literal["LONG", "SHORT"]
    size: str
    average_entry_price: str
    net_funding: str
    mark_price: str
    unrealized_pnl: str
    liquidation_price: str | None
    leverage: int
    initial_margin: str
    maintenance_margin: str
    adl_quantile: int


class Account(TypedDict):
    account_id: int
    status: Literal["ACTIVE", "CLOSED"]
    fee_tier: int
    maker_fee_rate: str
    taker_fee_rate: str
    volume_14d: str
    label: NotRequired[str]
    subaccount_count: int
    slots: Slots


Slots = TypedDict("Slots", {
    "class": 'Literal["unfunded", "small", "full"]',
    "tables": 'list[Slot]',
})


class Slot(TypedDict):
    table: str
    used: int
    bound: NotRequired[int]


class Subaccount(TypedDict):
    subaccount_index: int
    status: Literal["ACTIVE", "CLOSED"]
    portfolio_count: int
    cash_balance: str


class Session(TypedDict):
    created_at: str
    expires_at: str
    session_id: str
    session_public_key: str
    scope: Literal["FULL_ACCESS", "TRADING_ONLY"]
    master_public_key: NotRequired[str]
    subaccount_index: NotRequired[int]


class ApiKey(TypedDict):
    api_key_id: str
    scope: Literal["READ", "READ_WRITE"]
    subaccount_index: NotRequired[int]
    label: NotRequired[str]
    created_at: str


class DeviceKey(TypedDict):
    device_key_id: str
    subaccount_index: NotRequired[int]
    created_at: str
    expires_at: str


class ApiKeys(TypedDict):
    api_keys: list[ApiKey]
    device_keys: list[DeviceKey]


class MasterKey(TypedDict):
    public_key: str
    curve: Literal["SECP256K1", "PASSKEY"]
    kind: Literal["ADMIN", "SCOPED"]
    credential_id: NotRequired[str]
    scope: NotRequired[Literal["FULL_ACCESS", "TRADING_ONLY"]]
    subaccount_index: NotRequired[int]
    created_at: str


class MasterKeys(TypedDict):
    master_keys: list[MasterKey]


class Request(TypedDict):
    request_id: str
    request_type: str
    status: Status
    reason: NotRequired[str]
    sequence: int
    processed_at_ns: int
    results: NotRequired[list[Status]]
    account_id: NotRequired[int]
    subaccount_index: NotRequired[int]
    portfolio_index: NotRequired[int]
    session_id: NotRequired[str]
    withdrawal_id: NotRequired[str]
    api_key_id: NotRequired[str]


class Leverage(TypedDict):
    leverage: int
    market: str
    portfolio_index: int
    subaccount_index: int


class LeverageSet(TypedDict):
    leverage: int
    market: str
    portfolio_index: int
    subaccount_index: int
    account_id: int


class Portfolio(TypedDict):
    subaccount_index: int
    portfolio_index: int


class PortfolioStatus(TypedDict):
    account_id: int
    subaccount_index: int
    portfolio_index: int
    status: Literal["ACTIVE", "CLOSED"]


class Name(TypedDict):
    subaccount_index: int
    name: str


class Faucet(TypedDict):
    subaccount_index: int
    portfolio_index: int
    amount: str


class Envelope(TypedDict):
    payload: str
    signature: str
    public_key: NotRequired[str]
    credential_id: NotRequired[str]
    authenticator_data: NotRequired[str]
    client_data_json: NotRequired[str]


class Timing(TypedDict):
    verified: int
    sequenced: int
    matched: int
    ack: int


class RequestAck(TypedDict):
    status: Status
    processed_at_ns: int
    sequence: NotRequired[int]
    reason: NotRequired[str]
    field: NotRequired[str]
    rule: NotRequired[str]
    retry_after_ms: NotRequired[int]
    original_status: NotRequired[Status]
    original_processed_at_ns: NotRequired[int]
    results: NotRequired[list[Status]]
    withdrawal_id: NotRequired[str]
    subaccount_index: NotRequired[int]
    portfolio_index: NotRequired[int]
    order_status: NotRequired[Literal[
        "OPEN", "FILLED", "CANCELED", "REJECTED", "UNTRIGGERED", "PARTIALLY_FILLED", "EXPIRED",
        None
    ]]
    remaining_size: NotRequired[str | None]
    filled_size: NotRequired[str | None]
    average_price: NotRequired[str | None]
    quantity_ahead: NotRequired[str | None]
    book_handle: NotRequired[int | None]
    best_bid: NotRequired[str | None]
    best_ask: NotRequired[str | None]
    book_seq: NotRequired[int | None]
    timing_ns: NotRequired[Timing]
    receipt: NotRequired[str | None]


class SuccessAnswer(TypedDict):
    success: bool
    message: Status
    reason: NotRequired[str]
    processed_at_ns: int
    sequence: NotRequired[int]
    retry_after_ms: NotRequired[int]
    original_status: NotRequired[Status]
    original_processed_at_ns: NotRequired[int]
    account_id: NotRequired[int]
    kind: NotRequired[Literal["ADMIN", "SCOPED"]]
    scope: NotRequired[Literal["FULL_ACCESS", "TRADING_ONLY"]]
    subaccount_index: NotRequired[int]
    session_id: NotRequired[str]
    expires_at: NotRequired[str]
    api_key_id: NotRequired[str]
    api_key: NotRequired[str]
    device_key_id: NotRequired[str]
    device_key: NotRequired[str]
    receipt: NotRequired[str | None]


class PairingOpened(TypedDict):
    pairing_id: str
    write_token: str
    expires_at: str


class PairingKeys(TypedDict):
    ecdh_pub: str
    session_pub: str


class PairingText(TypedDict):
    ciphertext: str


class PairingChanged(TypedDict):
    pairing_id: str
    status: Literal["DEPOSITED", "COMPLETED"]


class Pairing(TypedDict):
    pairing_id: str
    status: Literal["PENDING", "DEPOSITED", "COMPLETED"]
    ecdh_pub: str | None
    session_pub: str | None


class PairingResult(TypedDict):
    pairing_id: str
    status: Literal["PENDING", "DEPOSITED", "COMPLETED"]
    ciphertext: str | None


class Logout(TypedDict):
    device_key_deleted: bool
    session_revoked: bool


class Tier(TypedDict):
    upper_notional: str | None
    max_leverage: int
    imr_ppm: int
    mmr_ppm: int


class Fee(TypedDict):
    tier: int
    maker_fee_rate: str
    taker_fee_rate: str


class Market(TypedDict):
    market: str
    asset_id: int
    base: str
    price_decimals: int
    size_decimals: int
    tick_size: str
    lot_size: str
    min_size: str
    max_order_size: str
    min_notional: str
    impact_notional: str
    max_leverage: int
    tiers: list[Tier]
    price_band_ppm: int
    max_slippage_ppm: int
    mark_book_ppm: int
    oracle_sources_min: int
    position_limit: str
    open_interest_limit: str
    fees: list[Fee]
    funding_interval_s: int
    max_price: str
    state: Literal["ACTIVE", "POST_ONLY", "REDUCE_ONLY", "CANCEL_ONLY", "HALTED", "CLOSED"]
    effective_at_ns: NotRequired[int]
    next_tiers: NotRequired[list[Tier]]


class Markets(TypedDict):
    markets: list[Market]


class Book(TypedDict):
    market: str
    seq: int
    engine_seq: int
    time_ns: int
    bids: list[list[str]]
    asks: list[list[str]]


class BookOrder(TypedDict):
    handle: int
    side: Literal["LONG", "SHORT"]
    price: str
    size: str


class BookOrders(TypedDict):
    market: str
    seq: int
    engine_seq: int
    time_ns: int
    orders: list[BookOrder]


class Trade(TypedDict):
    price: str
    size: str
    taker_side: Literal["LONG", "SHORT"]
    liquidation: bool
    trade_seq: int
    sequence: int
    index: int
    time: int
    time_ns: int


class Trades(TypedDict):
    market: str
    seq: int
    trades: list[Trade]
    next_before_sequence: int | None
    next_before_index: int | None


class Candle(TypedDict):
    interval: Literal["1m", "5m", "15m", "1h", "4h", "1d"]
    start_time: int
    open: str
    high: str
    low: str
    close: str
    volume: str
    notional: str
    trade_count: int


class Candles(TypedDict):
    market: str
    interval: Literal["1m", "5m", "15m", "1h", "4h", "1d"]
    candles: list[Candle]


class Ticker(TypedDict):
    market: str
    seq: int
    last_price: str | None
    mark_price: str | None
    index_price: str | None
    bid_price: str | None
    ask_price: str | None
    open_24h: str | None
    high_24h: str | None
    low_24h: str | None
    volume_24h: str
    notional_24h: str
    open_interest: str


class Tickers(TypedDict):
    tickers: list[Ticker]


class FundingRate(TypedDict):
    funding_rate: str
    index_price: str
    time: int
    time_ns: int
    sequence: int
    index: int


class FundingRates(TypedDict):
    market: str
    funding_rates: list[FundingRate]
    next_before_sequence: int | None
    next_before_index: int | None


class Liquidation(TypedDict):
    side: Literal["LONG", "SHORT"]
    price: str
    size: str
    level: int
    sequence: int
    index: int
    time: int
    time_ns: int


class Liquidations(TypedDict):
    market: str
    seq: int
    liquidations: list[Liquidation]
    next_before_sequence: int | None
    next_before_index: int | None


class Mark(TypedDict):
    market: str
    seq: int
    engine_seq: int
    time_ns: int
    mark_price: str | None
    index_price: str | None
    premium: str
    predicted_funding_rate: str
    valid: bool
    book_term: str
    third_price: str | None
    clamp_ppm: int
    in_gap: bool


class Movement(TypedDict):
    sequence: int
    index: int
    time: int
    time_ns: int
    kind: Literal[
        "trade", "fee", "funding", "transfer", "deposit", "withdrawal", "withdrawal_reverted",
        "faucet", "liquidation", "adl", "fund", "settlement"
    ]
    amount: str
    balance_after: str
    market: NotRequired[str]
    ref_id: str | None


class CashRow(TypedDict):
    sequence: int
    index: int
    time: int
    time_ns: int
    account_id: int
    subaccount_index: int
    portfolio_index: int
    kind: Literal[
        "trade", "fee", "funding", "transfer", "deposit", "withdrawal", "withdrawal_reverted",
        "faucet", "liquidation", "adl", "fund", "settlement"
    ]
    amount: str
    balance_after: str
    market: NotRequired[str]
    ref_id: str | None


class CashHistory(TypedDict):
    history: list[CashRow]
    next_before_sequence: int | None
    next_before_index: int | None


class Fund(TypedDict):
    balance: str
    deficit: bool
    history: list[Movement]
    next_before_sequence: int | None
    next_before_index: int | None


class Time(TypedDict):
    time_ms: int
    time_ns: int


class State(TypedDict):
    state: Literal["ready", "draining", "lagging", "maintenance"]
    applied: int
    durable: int
    lag_ms: int
    history_from_sequence: int
    clock_gap_ns: NotRequired[int]
    maintenance_at_ns: NotRequired[int]
    insurance_fund_deficit: NotRequired[bool]
    text: NotRequired[str]
    head: NotRequired[str]


class Head(TypedDict):
    head: str


class Receipt(TypedDict):
    receipt: str


class Heads(TypedDict):
    heads: list[Head]


class Frames(TypedDict):
    first_frame: int
    last_frame: int
    last_sequence: int
    segment: int
    offset: int
    block_bytes: int
    boot: int
    first_length: int
    bytes: str


class Sealed(TypedDict):
    open_segment: int
    sealed: bool


class Handover(TypedDict):
    node: str


class Maintenance(TypedDict):
    maintenance_at_ns: NotRequired[int]


class Window(TypedDict):
    past: int
    future: int


class Passkey(TypedDict):
    rp_id: str
    origins: list[str]


class Domain(TypedDict):
    name: str
    version: str
    salt: str


class FeeTier(TypedDict):
    tier: int
    volume_14d: str


class RequestType(TypedDict):
    code: int
    name: str
    path: str | None


class ReasonCode(TypedDict):
    code: int
    name: str


class Exchange(TypedDict):
    exchange_id: str
    signing_public: str
    eip712_domain: Domain
    operator_domain: str
    rules_version: int
    epoch: int
    testnet: bool
    durability: str
    request_id_window_ms: Window
    passkey: NotRequired[Passkey]
    limits: object
    fee_tiers: list[FeeTier]
    request_types: list[RequestType]
    statuses: list[Status]
    reasons: list[ReasonCode]


class Latency(TypedDict):
    since_ns: int
    stages: list[LatencyStage]


class LatencyStage(TypedDict):
    stage: Literal["verified", "pushed", "sequenced", "matched", "released", "sent", "read"]
    count: int
    sum_ns: int
    buckets: list[list[int]]


class Limits(TypedDict):
    limits: object
    rate_limits: bool
    remaining: NotRequired[Remaining]
    slots: NotRequired[Slots]


class Remaining(TypedDict):
    public: int
    signature: int
    creation: int
    read: NotRequired[int]
    write: NotRequired[int]
    cancel: NotRequired[int]


class TypedDataTypes(TypedDict):
    types: object
    primaryType: str
    domain: Domain


class TypedData(TypedDict):
    types: object
    primaryType: str
    domain: Domain
    message: object


class PreviewBody(TypedDict):
    payload: str


class Preview(TypedDict):
    typed_data: TypedData
    domain_separator: str
    struct_hash: str
    digest: str


class PayloadField(TypedDict):
    offset: int
    size: int
    name: str
    kind: str
    hex: str
    value: str


class PayloadCheck(TypedDict):
    check: str
    ok: bool
    code: NotRequired[str]
    detail: NotRequired[str]


class PayloadMistake(TypedDict):
    mistake: Mistake
    detail: str


class PayloadReport(TypedDict):
    request_type: int | None
    name: str | None
    request_id: str | None
    fields: list[PayloadField]
    fields_error: NotRequired[str]
    digest: str | None
    checks: list[PayloadCheck]
    mistakes: list[PayloadMistake]
    proved: bool


class Withdrawal(TypedDict):
    withdrawal_id: str
    account_id: int
    subaccount_index: int
    portfolio_index: int
    amount: str
    destination: str
    requested_at_ns: int
    status: Literal["pending", "settled", "reverted"]
    sequence: int
    index: int


class Withdrawals(TypedDict):
    withdrawals: list[Withdrawal]
    next_before_sequence: int | None
    next_before_index: int | None


class Audit(TypedDict):
    sequence: int
    markets: list[object]
    totals: object
    i1: bool
    i2: bool
    i3: bool
    i4: bool
    i5: bool
    i6: bool
    i7: bool
    i8: bool
    i9: bool
    i10: bool
    solvency: object
    recount_differences: int


class Live(TypedDict):
    live: bool


class Ready(TypedDict):
    ready: bool
    reasons: list[str]
    applied: int
    durable: int
    lag_ms: int
    clock_difference_ms: int
    replay_percent: int
    clock_gap_ns: NotRequired[int]


class Problem(TypedDict):
    type: str
    title: str
    status: int
    code: ProblemCode
    detail: str
    server_time_ms: NotRequired[int]
    request_type: NotRequired[int]
    parameter: NotRequired[str]
    field: NotRequired[str]
    max_bytes: NotRequired[int]
    retry_after_ms: NotRequired[int]
    lag_ms: NotRequired[int]

Status = Literal[
    "request_completed", "duplicate_request_id", "request_dropped", "retry_required",
    "rejected_unauthorized", "rejected_rate_limited", "rejected_account_suspended",
    "order_rejected_invalid", "order_rejected_expired", "order_rejected_internal",
    "order_rejected_invalid_market", "rejected_invalid_portfolio_id", "rejected_invalid_price",
    "rejected_invalid_size", "rejected_size_zero", "rejected_size_not_equal",
    "rejected_order_not_found", "rejected_invalid_uuid", "rejected_mark_price_zero",
    "rejected_invalid_order_flags", "invalid_reduce_only_order",
    "rejected_slippage_exceeds_maximum", "rejected_self_transfer", "self_trade_prevention",
    "rejected_max_open_orders_exceeded", "rejected_post_only_would_cross_book",
    "rejected_market_not_found", "rejected_market_halted", "rejected_market_reduce_only",
    "rejected_market_post_only", "rejected_market_cancel_only", "market_closed",
    "insufficient_margin_to_place", "insufficient_margin_to_trade",
    "rejected_insufficient_free_equity", "rejected_f_o_k_not_fully_filled_insufficient_margin",
    "rejected_f_o_k_not_fully_filled_low_liquidity", "rejected_max_conditional_orders_exceeded",
    "rejected_trigger_already_satisfied", "conditional_order_on_books",
    "conditional_order_not_found", "rejected_conditional_order_expired",
    "rejected_invalid_trigger", "master_key_added", "master_key_removed",
    "master_key_rejected_invalid", "master_key_rejected_unauthorized",
    "master_key_rejected_self_removal", "master_key_rejected_last_key", "session_created",
    "session_revoked", "session_rejected", "session_rejected_max_sessions",
    "account_created_with_session", "creation_rejected", "account_created_session_failed",
]

Mistake = Literal[
    "url_safe_base64", "unpadded_base64", "der_signature", "wallet_signature", "high_s",
    "uncompressed_key", "address_as_key", "base64_signed", "hex_signed", "hash_signed",
    "header_missing", "padding_missing", "big_endian", "id_as_text", "id_v4", "time_unit",
    "wrong_salt", "domain_missing", "personal_sign", "payload_challenge", "operator_domain",
]

ProblemCode = Literal[
    "malformed_request", "malformed_payload", "malformed_json", "invalid_base64",
    "request_id_not_v7", "request_timestamp_out_of_window", "request_type_not_allowed",
    "unsupported_version", "passkey_requires_json", "invalid_parameter", "invalid_market",
    "invalid_signature", "signature_type_mismatch", "passkey_public_key_mismatch", "passkey_type",
    "passkey_challenge", "passkey_origin", "passkey_cross_origin", "passkey_rp_id",
    "passkey_user_presence", "passkey_user_verification", "invalid_api_key", "invalid_device_key",
    "invalid_token", "subaccount_not_permitted", "read_only_key", "origin_not_allowed",
    "host_not_allowed", "not_leader", "not_found", "portfolio_not_found", "order_not_found",
    "account_not_found", "request_not_found", "method_not_allowed", "request_timeout",
    "portfolio_not_active", "portfolio_not_empty", "portfolio_not_closed",
    "subaccount_not_active", "insufficient_free_equity", "faucet_limit_exceeded", "limit_reached",
    "pairing_already_used", "pairing_not_deposited", "pairing_expired", "payload_too_large",
    "unsupported_media_type", "rate_limited", "headers_too_large", "internal_error", "not_ready",
    "outcome_unknown", "too_many_connections",
]
