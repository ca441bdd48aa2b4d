"""Requests, statuses, reasons, problem codes of perpd. Made by tools/clients; do not edit."""
from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from struct import Struct
from typing import ClassVar, Final, Literal
from uuid import UUID

from .body import (BOOL, ID, INTEGER, LENGTH, PORTFOLIO, TAIL, Body, Fields, PortfolioId,
                   TypedField, bytes_of, enum_of, items_of, text_of)

HEADER_VERSION: Final = 1

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

Reason = Literal[
    "match_limit", "mmp_frozen", "batch_aborted", "already_credited", "max_sessions_exceeded",
    "limit_reached", "subaccount_not_permitted", "read_only_key", "portfolio_not_active",
    "portfolio_not_empty", "portfolio_not_closed", "subaccount_not_active",
    "subaccount_not_closed", "withdrawal_pending", "insufficient_free_equity",
    "invalid_parameter", "faucet_limit_exceeded", "user_cancel", "cancel_all", "time_in_force",
    "reduce_only", "oco", "dead_man", "disconnect", "mmp", "liquidation", "market_state",
    "operator", "market_gap", "insurance_fund_deficit", "invalid_destination",
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


class Stp(IntEnum):
    EXPIRE_TAKER = 0
    EXPIRE_MAKER = 1
    EXPIRE_BOTH = 2
    DECREMENT = 3


class Side(IntEnum):
    BOTH = 0
    BUYS = 1
    SELLS = 2


class OrderType(IntEnum):
    MARKET = 0
    LIMIT = 1
    STOP_LIMIT = 2
    STOP_MARKET = 3
    TAKE_PROFIT = 4
    TAKE_PROFIT_MARKET = 5
    LIQUIDATE = 6
    AUTO_DELEVERAGE = 7


class TriggerSource(IntEnum):
    MARK = 0
    LAST = 1
    INDEX = 2


class LiveTif(IntEnum):
    IOC = 0
    FOK = 1
    GTC = 2


class SessionScope(IntEnum):
    FULL_ACCESS = 0
    TRADING_ONLY = 1


class Scope(IntEnum):
    READ = 0
    READ_WRITE = 1


class State(IntEnum):
    ACTIVE = 0
    POST_ONLY = 1
    REDUCE_ONLY = 2
    CANCEL_ONLY = 3
    HALTED = 4
    CLOSED = 5


class Outcome(IntEnum):
    SETTLED = 0
    REVERTED = 1


class Op(IntEnum):
    PLACE_LIMIT = 0
    REDUCTION = 1
    REPLACEMENT = 2
    CANCEL = 3


@dataclass(frozen=True)
class BatchItem(Body):
    """One of the items of order_batch."""
    NAME: ClassVar[str] = "batch_item"
    LAYOUT: ClassVar[Struct] = Struct("<BBBBH2xQqQ16sQ8x")
    FIELDS: ClassVar[Fields] = (
        ("op", enum_of(Op)),
        ("post_only", BOOL),
        ("reduce_only", BOOL),
        ("stp", enum_of(Stp)),
        ("asset", INTEGER),
        ("price", INTEGER),
        ("quantity", INTEGER),
        ("expiry", INTEGER),
        ("order_id", ID),
        ("expected_remaining", INTEGER),
    )
    op: Op
    post_only: bool
    reduce_only: bool
    stp: Stp
    asset: int
    price: int
    quantity: int
    expiry: int
    order_id: UUID
    expected_remaining: int


ITEMS: Final = items_of(BatchItem)


@dataclass(frozen=True)
class PlaceLimitOrder(Body):
    """Request 0, place_limit_order; signer: session."""
    CODE: ClassVar[int] = 0
    PATH: ClassVar[str] = "/api/v1/trading/order/place/limit"
    NAME: ClassVar[str] = "place_limit_order"
    LAYOUT: ClassVar[Struct] = Struct("<QIIQqQBBB1xH2x")
    FIELDS: ClassVar[Fields] = (
        ("portfolio_id", PORTFOLIO),
        ("price", INTEGER),
        ("quantity", INTEGER),
        ("expiry", INTEGER),
        ("post_only", BOOL),
        ("reduce_only", BOOL),
        ("stp", enum_of(Stp)),
        ("asset", INTEGER),
    )
    portfolio_id: PortfolioId
    price: int
    quantity: int
    expiry: int
    post_only: bool
    reduce_only: bool
    stp: Stp
    asset: int


@dataclass(frozen=True)
class OrderReduction(Body):
    """Request 1, order_reduction; signer: session."""
    CODE: ClassVar[int] = 1
    PATH: ClassVar[str] = "/api/v1/trading/order/update"
    NAME: ClassVar[str] = "order_reduction"
    LAYOUT: ClassVar[Struct] = Struct("<QII16sQQH6x")
    FIELDS: ClassVar[Fields] = (
        ("portfolio_id", PORTFOLIO),
        ("order_id", ID),
        ("reduce_by", INTEGER),
        ("expected_remaining", INTEGER),
        ("asset", INTEGER),
    )
    portfolio_id: PortfolioId
    order_id: UUID
    reduce_by: int
    expected_remaining: int
    asset: int


@dataclass(frozen=True)
class OrderReplacement(Body):
    """Request 2, order_replacement; signer: session."""
    CODE: ClassVar[int] = 2
    PATH: ClassVar[str] = "/api/v1/trading/order/update"
    NAME: ClassVar[str] = "order_replacement"
    LAYOUT: ClassVar[Struct] = Struct("<QII16sQqQBBB1xH2xQ")
    FIELDS: ClassVar[Fields] = (
        ("portfolio_id", PORTFOLIO),
        ("order_id", ID),
        ("price", INTEGER),
        ("quantity", INTEGER),
        ("expiry", INTEGER),
        ("post_only", BOOL),
        ("reduce_only", BOOL),
        ("stp", enum_of(Stp)),
        ("asset", INTEGER),
        ("expected_remaining", INTEGER),
    )
    portfolio_id: PortfolioId
    order_id: UUID
    price: int
    quantity: int
    expiry: int
    post_only: bool
    reduce_only: bool
    stp: Stp
    asset: int
    expected_remaining: int


@dataclass(frozen=True)
class OrderCancel(Body):
    """Request 3, order_cancel; signer: session."""
    CODE: ClassVar[int] = 3
    PATH: ClassVar[str] = "/api/v1/trading/order/cancel"
    NAME: ClassVar[str] = "order_cancel"
    LAYOUT: ClassVar[Struct] = Struct("<QII16sH6x")
    FIELDS: ClassVar[Fields] = (
        ("portfolio_id", PORTFOLIO),
        ("order_id", ID),
        ("asset", INTEGER),
    )
    portfolio_id: PortfolioId
    order_id: UUID
    asset: int


@dataclass(frozen=True)
class CancelAllOrders(Body):
    """Request 4, cancel_all_orders; signer: session."""
    CODE: ClassVar[int] = 4
    PATH: ClassVar[str] = "/api/v1/trading/order/cancel-all"
    NAME: ClassVar[str] = "cancel_all_orders"
    LAYOUT: ClassVar[Struct] = Struct("<QIIH2xBB2x")
    FIELDS: ClassVar[Fields] = (
        ("portfolio_id", PORTFOLIO),
        ("asset", INTEGER),
        ("side", enum_of(Side)),
        ("include_conditional", BOOL),
    )
    portfolio_id: PortfolioId
    asset: int
    side: Side
    include_conditional: bool


@dataclass(frozen=True)
class PlaceMarketOrder(Body):
    """Request 5, place_market_order; signer: session."""
    CODE: ClassVar[int] = 5
    PATH: ClassVar[str] = "/api/v1/trading/order/place/market"
    NAME: ClassVar[str] = "place_market_order"
    LAYOUT: ClassVar[Struct] = Struct("<QIIqIH2xBB6x")
    FIELDS: ClassVar[Fields] = (
        ("portfolio_id", PORTFOLIO),
        ("quantity", INTEGER),
        ("max_slippage_ppm", INTEGER),
        ("asset", INTEGER),
        ("reduce_only", BOOL),
        ("stp", enum_of(Stp)),
    )
    portfolio_id: PortfolioId
    quantity: int
    max_slippage_ppm: int
    asset: int
    reduce_only: bool
    stp: Stp


@dataclass(frozen=True)
class PlaceConditionalOrder(Body):
    """Request 6, place_conditional_order; signer: session."""
    CODE: ClassVar[int] = 6
    PATH: ClassVar[str] = "/api/v1/trading/order/place/conditional"
    NAME: ClassVar[str] = "place_conditional_order"
    LAYOUT: ClassVar[Struct] = Struct("<QIIQQqQBBBBH2xIBB2x16s")
    FIELDS: ClassVar[Fields] = (
        ("portfolio_id", PORTFOLIO),
        ("trigger_price", INTEGER),
        ("price", INTEGER),
        ("quantity", INTEGER),
        ("expiry", INTEGER),
        ("post_only", BOOL),
        ("reduce_only", BOOL),
        ("stp", enum_of(Stp)),
        ("order_type", enum_of(OrderType)),
        ("asset", INTEGER),
        ("max_slippage_ppm", INTEGER),
        ("trigger_source", enum_of(TriggerSource)),
        ("live_tif", enum_of(LiveTif)),
        ("oco_group", ID),
    )
    portfolio_id: PortfolioId
    trigger_price: int
    price: int
    quantity: int
    expiry: int
    post_only: bool
    reduce_only: bool
    stp: Stp
    order_type: OrderType
    asset: int
    max_slippage_ppm: int
    trigger_source: TriggerSource
    live_tif: LiveTif
    oco_group: UUID


@dataclass(frozen=True)
class ConditionalOrderCancel(Body):
    """Request 7, conditional_order_cancel; signer: session."""
    CODE: ClassVar[int] = 7
    PATH: ClassVar[str] = "/api/v1/trading/order/cancel/conditional"
    NAME: ClassVar[str] = "conditional_order_cancel"
    LAYOUT: ClassVar[Struct] = Struct("<QII16sH6x")
    FIELDS: ClassVar[Fields] = (
        ("portfolio_id", PORTFOLIO),
        ("order_id", ID),
        ("asset", INTEGER),
    )
    portfolio_id: PortfolioId
    order_id: UUID
    asset: int


@dataclass(frozen=True)
class OrderBatch(Body):
    """Request 8, order_batch; signer: session."""
    CODE: ClassVar[int] = 8
    PATH: ClassVar[str] = "/api/v1/trading/order/batch"
    NAME: ClassVar[str] = "order_batch"
    LAYOUT: ClassVar[Struct] = Struct("<QIIHB5x")
    FIELDS: ClassVar[Fields] = (
        ("portfolio_id", PORTFOLIO),
        ("count", LENGTH),
        ("atomic", BOOL),
        ("items", ITEMS),
    )
    portfolio_id: PortfolioId
    atomic: bool
    items: tuple[BatchItem, ...]


@dataclass(frozen=True)
class Transfer(Body):
    """Request 9, transfer; signer: session_or_master."""
    CODE: ClassVar[int] = 9
    PATH: ClassVar[str] = "/api/v1/cash/transfer"
    NAME: ClassVar[str] = "transfer"
    LAYOUT: ClassVar[Struct] = Struct("<QIIQIIQ")
    FIELDS: ClassVar[Fields] = (
        ("from_", PORTFOLIO),
        ("to", PORTFOLIO),
        ("amount", INTEGER),
    )
    from_: PortfolioId
    to: PortfolioId
    amount: int


@dataclass(frozen=True)
class Withdraw(Body):
    """Request 10, withdraw; signer: session_or_master."""
    CODE: ClassVar[int] = 10
    PATH: ClassVar[str] = "/api/v1/cash/withdraw"
    NAME: ClassVar[str] = "withdraw"
    LAYOUT: ClassVar[Struct] = Struct("<QIIQ20s4x")
    FIELDS: ClassVar[Fields] = (
        ("portfolio_id", PORTFOLIO),
        ("amount", INTEGER),
        ("destination", bytes_of(20)),
    )
    portfolio_id: PortfolioId
    amount: int
    destination: bytes


@dataclass(frozen=True)
class CreateAccountSecp256k1(Body):
    """Request 11, create_account_secp256k1; signer: new_secp256k1."""
    CODE: ClassVar[int] = 11
    PATH: ClassVar[str] = "/api/v1/account/create"
    NAME: ClassVar[str] = "create_account_secp256k1"
    LAYOUT: ClassVar[Struct] = Struct("<32sQ32sB7x")
    FIELDS: ClassVar[Fields] = (
        ("session_pub", bytes_of(32)),
        ("session_expires_at", INTEGER),
        ("label", text_of(32)),
        ("session_scope", enum_of(SessionScope)),
    )
    session_pub: bytes
    session_expires_at: int
    label: str
    session_scope: SessionScope


@dataclass(frozen=True)
class CreateAccountPasskey(Body):
    """Request 12, create_account_passkey; signer: new_passkey."""
    CODE: ClassVar[int] = 12
    PATH: ClassVar[str] = "/api/v1/account/create"
    NAME: ClassVar[str] = "create_account_passkey"
    LAYOUT: ClassVar[Struct] = Struct("<32sQ32sB7x")
    FIELDS: ClassVar[Fields] = (
        ("session_pub", bytes_of(32)),
        ("session_expires_at", INTEGER),
        ("label", text_of(32)),
        ("session_scope", enum_of(SessionScope)),
    )
    session_pub: bytes
    session_expires_at: int
    label: str
    session_scope: SessionScope


@dataclass(frozen=True)
class CreateSession(Body):
    """Request 13, create_session; signer: master."""
    CODE: ClassVar[int] = 13
    PATH: ClassVar[str] = "/api/v1/auth/sessions/create"
    NAME: ClassVar[str] = "create_session"
    LAYOUT: ClassVar[Struct] = Struct("<Q32sQiB3x")
    FIELDS: ClassVar[Fields] = (
        ("account_id", INTEGER),
        ("session_pub", bytes_of(32)),
        ("expires_at", INTEGER),
        ("subaccount_pin", INTEGER),
        ("scope", enum_of(SessionScope)),
    )
    account_id: int
    session_pub: bytes
    expires_at: int
    subaccount_pin: int
    scope: SessionScope


@dataclass(frozen=True)
class RevokeSession(Body):
    """Request 14, revoke_session; signer: master."""
    CODE: ClassVar[int] = 14
    PATH: ClassVar[str] = "/api/v1/auth/sessions/revoke"
    NAME: ClassVar[str] = "revoke_session"
    LAYOUT: ClassVar[Struct] = Struct("<Q32s")
    FIELDS: ClassVar[Fields] = (
        ("account_id", INTEGER),
        ("session_pub", bytes_of(32)),
    )
    account_id: int
    session_pub: bytes


@dataclass(frozen=True)
class RevokeAllSessions(Body):
    """Request 15, revoke_all_sessions; signer: master."""
    CODE: ClassVar[int] = 15
    PATH: ClassVar[str] = "/api/v1/auth/sessions/revoke-all"
    NAME: ClassVar[str] = "revoke_all_sessions"
    LAYOUT: ClassVar[Struct] = Struct("<Q")
    FIELDS: ClassVar[Fields] = (
        ("account_id", INTEGER),
    )
    account_id: int


@dataclass(frozen=True)
class AddAdminSecp256k1MasterKey(Body):
    """Request 16, add_admin_secp256k1_master_key; signer: admin."""
    CODE: ClassVar[int] = 16
    PATH: ClassVar[str] = "/api/v1/auth/admin-keys/add"
    NAME: ClassVar[str] = "add_admin_secp256k1_master_key"
    LAYOUT: ClassVar[Struct] = Struct("<Q33s7x")
    FIELDS: ClassVar[Fields] = (
        ("account_id", INTEGER),
        ("public_key", bytes_of(33)),
    )
    account_id: int
    public_key: bytes


@dataclass(frozen=True)
class RemoveAdminSecp256k1MasterKey(Body):
    """Request 17, remove_admin_secp256k1_master_key; signer: admin."""
    CODE: ClassVar[int] = 17
    PATH: ClassVar[str] = "/api/v1/auth/admin-keys/remove"
    NAME: ClassVar[str] = "remove_admin_secp256k1_master_key"
    LAYOUT: ClassVar[Struct] = Struct("<Q33s7x")
    FIELDS: ClassVar[Fields] = (
        ("account_id", INTEGER),
        ("public_key", bytes_of(33)),
    )
    account_id: int
    public_key: bytes


@dataclass(frozen=True)
class AddAdminPasskeyMasterKey(Body):
    """Request 19, add_admin_passkey_master_key; signer: admin."""
    CODE: ClassVar[int] = 19
    PATH: ClassVar[str] = "/api/v1/auth/admin-keys/add"
    NAME: ClassVar[str] = "add_admin_passkey_master_key"
    LAYOUT: ClassVar[Struct] = Struct("<Q33s1xH")
    FIELDS: ClassVar[Fields] = (
        ("account_id", INTEGER),
        ("public_key", bytes_of(33)),
        ("credential_id_len", LENGTH),
        ("credential_id", TAIL),
    )
    account_id: int
    public_key: bytes
    credential_id: bytes


@dataclass(frozen=True)
class RemoveAdminPasskeyMasterKey(Body):
    """Request 20, remove_admin_passkey_master_key; signer: admin."""
    CODE: ClassVar[int] = 20
    PATH: ClassVar[str] = "/api/v1/auth/admin-keys/remove"
    NAME: ClassVar[str] = "remove_admin_passkey_master_key"
    LAYOUT: ClassVar[Struct] = Struct("<Q33s7x")
    FIELDS: ClassVar[Fields] = (
        ("account_id", INTEGER),
        ("public_key", bytes_of(33)),
    )
    account_id: int
    public_key: bytes


@dataclass(frozen=True)
class CreateSubaccount(Body):
    """Request 22, create_subaccount; signer: master."""
    CODE: ClassVar[int] = 22
    PATH: ClassVar[str] = "/api/v1/subaccounts/create"
    NAME: ClassVar[str] = "create_subaccount"
    LAYOUT: ClassVar[Struct] = Struct("<Q")
    FIELDS: ClassVar[Fields] = (
        ("account_id", INTEGER),
    )
    account_id: int


@dataclass(frozen=True)
class CloseSubaccount(Body):
    """Request 23, close_subaccount; signer: master."""
    CODE: ClassVar[int] = 23
    PATH: ClassVar[str] = "/api/v1/subaccounts/close"
    NAME: ClassVar[str] = "close_subaccount"
    LAYOUT: ClassVar[Struct] = Struct("<QI4x")
    FIELDS: ClassVar[Fields] = (
        ("account_id", INTEGER),
        ("subaccount_index", INTEGER),
    )
    account_id: int
    subaccount_index: int


@dataclass(frozen=True)
class CreatePortfolio(Body):
    """Request 24, create_portfolio; signer: session_or_master."""
    CODE: ClassVar[int] = 24
    PATH: ClassVar[str] = "/api/v1/portfolio/create"
    NAME: ClassVar[str] = "create_portfolio"
    LAYOUT: ClassVar[Struct] = Struct("<QI4x32s")
    FIELDS: ClassVar[Fields] = (
        ("account_id", INTEGER),
        ("subaccount_index", INTEGER),
        ("name", text_of(32)),
    )
    account_id: int
    subaccount_index: int
    name: str


@dataclass(frozen=True)
class ScheduleCancelAll(Body):
    """Request 25, schedule_cancel_all; signer: session."""
    CODE: ClassVar[int] = 25
    PATH: ClassVar[str] = "/api/v1/trading/schedule-cancel"
    NAME: ClassVar[str] = "schedule_cancel_all"
    LAYOUT: ClassVar[Struct] = Struct("<QIIQ")
    FIELDS: ClassVar[Fields] = (
        ("portfolio_id", PORTFOLIO),
        ("deadline_ns", INTEGER),
    )
    portfolio_id: PortfolioId
    deadline_ns: int


@dataclass(frozen=True)
class SetMmp(Body):
    """Request 26, set_mmp; signer: session."""
    CODE: ClassVar[int] = 26
    PATH: ClassVar[str] = "/api/v1/trading/mmp/set"
    NAME: ClassVar[str] = "set_mmp"
    LAYOUT: ClassVar[Struct] = Struct("<QIIH2xII4xQQ")
    FIELDS: ClassVar[Fields] = (
        ("portfolio_id", PORTFOLIO),
        ("asset", INTEGER),
        ("window_ms", INTEGER),
        ("frozen_ms", INTEGER),
        ("max_quantity", INTEGER),
        ("max_net_quantity", INTEGER),
    )
    portfolio_id: PortfolioId
    asset: int
    window_ms: int
    frozen_ms: int
    max_quantity: int
    max_net_quantity: int


@dataclass(frozen=True)
class ResetMmp(Body):
    """Request 27, reset_mmp; signer: session."""
    CODE: ClassVar[int] = 27
    PATH: ClassVar[str] = "/api/v1/trading/mmp/reset"
    NAME: ClassVar[str] = "reset_mmp"
    LAYOUT: ClassVar[Struct] = Struct("<QIIH6x")
    FIELDS: ClassVar[Fields] = (
        ("portfolio_id", PORTFOLIO),
        ("asset", INTEGER),
    )
    portfolio_id: PortfolioId
    asset: int


@dataclass(frozen=True)
class AddScopedSecp256k1MasterKey(Body):
    """Request 28, add_scoped_secp256k1_master_key; signer: admin."""
    CODE: ClassVar[int] = 28
    PATH: ClassVar[str] = "/api/v1/auth/scoped-keys/add"
    NAME: ClassVar[str] = "add_scoped_secp256k1_master_key"
    LAYOUT: ClassVar[Struct] = Struct("<QiB3x33s7x")
    FIELDS: ClassVar[Fields] = (
        ("account_id", INTEGER),
        ("subaccount_index", INTEGER),
        ("scope", enum_of(SessionScope)),
        ("public_key", bytes_of(33)),
    )
    account_id: int
    subaccount_index: int
    scope: SessionScope
    public_key: bytes


@dataclass(frozen=True)
class RemoveScopedSecp256k1MasterKey(Body):
    """Request 29, remove_scoped_secp256k1_master_key; signer: admin."""
    CODE: ClassVar[int] = 29
    PATH: ClassVar[str] = "/api/v1/auth/scoped-keys/remove"
    NAME: ClassVar[str] = "remove_scoped_secp256k1_master_key"
    LAYOUT: ClassVar[Struct] = Struct("<Q33s7x")
    FIELDS: ClassVar[Fields] = (
        ("account_id", INTEGER),
        ("public_key", bytes_of(33)),
    )
    account_id: int
    public_key: bytes


@dataclass(frozen=True)
class AddScopedPasskeyMasterKey(Body):
    """Request 30, add_scoped_passkey_master_key; signer: admin."""
    CODE: ClassVar[int] = 30
    PATH: ClassVar[str] = "/api/v1/auth/scoped-keys/add"
    NAME: ClassVar[str] = "add_scoped_passkey_master_key"
    LAYOUT: ClassVar[Struct] = Struct("<QiB3x33s1xH")
    FIELDS: ClassVar[Fields] = (
        ("account_id", INTEGER),
        ("subaccount_index", INTEGER),
        ("scope", enum_of(SessionScope)),
        ("public_key", bytes_of(33)),
        ("credential_id_len", LENGTH),
        ("credential_id", TAIL),
    )
    account_id: int
    subaccount_index: int
    scope: SessionScope
    public_key: bytes
    credential_id: bytes


@dataclass(frozen=True)
class RemoveScopedPasskeyMasterKey(Body):
    """Request 31, remove_scoped_passkey_master_key; signer: admin."""
    CODE: ClassVar[int] = 31
    PATH: ClassVar[str] = "/api/v1/auth/scoped-keys/remove"
    NAME: ClassVar[str] = "remove_scoped_passkey_master_key"
    LAYOUT: ClassVar[Struct] = Struct("<Q33s7x")
    FIELDS: ClassVar[Fields] = (
        ("account_id", INTEGER),
        ("public_key", bytes_of(33)),
    )
    account_id: int
    public_key: bytes


@dataclass(frozen=True)
class CloseAccount(Body):
    """Request 32, close_account; signer: admin."""
    CODE: ClassVar[int] = 32
    PATH: ClassVar[str] = "/api/v1/account/close"
    NAME: ClassVar[str] = "close_account"
    LAYOUT: ClassVar[Struct] = Struct("<Q")
    FIELDS: ClassVar[Fields] = (
        ("account_id", INTEGER),
    )
    account_id: int


@dataclass(frozen=True)
class Login(Body):
    """Request 33, login; signer: session_or_master."""
    CODE: ClassVar[int] = 33
    PATH: ClassVar[str] = "/api/v1/login"
    NAME: ClassVar[str] = "login"
    LAYOUT: ClassVar[Struct] = Struct("<QQi4x")
    FIELDS: ClassVar[Fields] = (
        ("account_id", INTEGER),
        ("expires_at", INTEGER),
        ("subaccount_pin", INTEGER),
    )
    account_id: int
    expires_at: int
    subaccount_pin: int


@dataclass(frozen=True)
class CreateApiKey(Body):
    """Request 34, create_api_key; signer: session_or_master."""
    CODE: ClassVar[int] = 34
    PATH: ClassVar[str] = "/api/v1/api-keys"
    NAME: ClassVar[str] = "create_api_key"
    LAYOUT: ClassVar[Struct] = Struct("<QiB3x32s")
    FIELDS: ClassVar[Fields] = (
        ("account_id", INTEGER),
        ("subaccount_pin", INTEGER),
        ("scope", enum_of(Scope)),
        ("label", text_of(32)),
    )
    account_id: int
    subaccount_pin: int
    scope: Scope
    label: str


@dataclass(frozen=True)
class RevokeApiKey(Body):
    """Request 35, revoke_api_key; signer: session_or_master."""
    CODE: ClassVar[int] = 35
    PATH: ClassVar[str] = "/api/v1/api-keys/revoke"
    NAME: ClassVar[str] = "revoke_api_key"
    LAYOUT: ClassVar[Struct] = Struct("<Q16s")
    FIELDS: ClassVar[Fields] = (
        ("account_id", INTEGER),
        ("api_key_id", ID),
    )
    account_id: int
    api_key_id: UUID


@dataclass(frozen=True)
class FindAccount(Body):
    """Request 36, find_account; signer: master."""
    CODE: ClassVar[int] = 36
    PATH: ClassVar[str] = "/api/v1/account/find"
    NAME: ClassVar[str] = "find_account"
    LAYOUT: ClassVar[Struct] = Struct("<8x")


@dataclass(frozen=True)
class OraclePrice(Body):
    """Request 1000, oracle_price; signer: operator."""
    CODE: ClassVar[int] = 1000
    PATH: ClassVar[str] = "/api/v1/operator"
    NAME: ClassVar[str] = "oracle_price"
    LAYOUT: ClassVar[Struct] = Struct("<QQH2xH2x")
    FIELDS: ClassVar[Fields] = (
        ("publish_ts_ns", INTEGER),
        ("index_price", INTEGER),
        ("asset", INTEGER),
        ("source_count", INTEGER),
    )
    publish_ts_ns: int
    index_price: int
    asset: int
    source_count: int


@dataclass(frozen=True)
class MarketDefine(Body):
    """Request 1001, market_define; signer: operator."""
    CODE: ClassVar[int] = 1001
    PATH: ClassVar[str] = "/api/v1/operator"
    NAME: ClassVar[str] = "market_define"
    LAYOUT: ClassVar[Struct] = Struct("<")
    FIELDS: ClassVar[Fields] = (
        ("record", TAIL),
    )
    record: bytes


@dataclass(frozen=True)
class MarketState(Body):
    """Request 1002, market_state; signer: operator."""
    CODE: ClassVar[int] = 1002
    PATH: ClassVar[str] = "/api/v1/operator"
    NAME: ClassVar[str] = "market_state"
    LAYOUT: ClassVar[Struct] = Struct("<H2xBB2x")
    FIELDS: ClassVar[Fields] = (
        ("asset", INTEGER),
        ("state", enum_of(State)),
        ("force", BOOL),
    )
    asset: int
    state: State
    force: bool


@dataclass(frozen=True)
class DepositCredit(Body):
    """Request 1003, deposit_credit; signer: operator."""
    CODE: ClassVar[int] = 1003
    PATH: ClassVar[str] = "/api/v1/operator"
    NAME: ClassVar[str] = "deposit_credit"
    LAYOUT: ClassVar[Struct] = Struct("<QIIQ32s")
    FIELDS: ClassVar[Fields] = (
        ("portfolio_id", PORTFOLIO),
        ("amount", INTEGER),
        ("external_ref", bytes_of(32)),
    )
    portfolio_id: PortfolioId
    amount: int
    external_ref: bytes


@dataclass(frozen=True)
class WithdrawalSettle(Body):
    """Request 1004, withdrawal_settle; signer: operator."""
    CODE: ClassVar[int] = 1004
    PATH: ClassVar[str] = "/api/v1/operator"
    NAME: ClassVar[str] = "withdrawal_settle"
    LAYOUT: ClassVar[Struct] = Struct("<16sB7x")
    FIELDS: ClassVar[Fields] = (
        ("withdrawal_id", ID),
        ("outcome", enum_of(Outcome)),
    )
    withdrawal_id: UUID
    outcome: Outcome


@dataclass(frozen=True)
class SuspendAccount(Body):
    """Request 1005, suspend_account; signer: operator."""
    CODE: ClassVar[int] = 1005
    PATH: ClassVar[str] = "/api/v1/operator"
    NAME: ClassVar[str] = "suspend_account"
    LAYOUT: ClassVar[Struct] = Struct("<QB7x")
    FIELDS: ClassVar[Fields] = (
        ("account_id", INTEGER),
        ("suspended", BOOL),
    )
    account_id: int
    suspended: bool


@dataclass(frozen=True)
class FundTopUp(Body):
    """Request 1006, fund_top_up; signer: operator."""
    CODE: ClassVar[int] = 1006
    PATH: ClassVar[str] = "/api/v1/operator"
    NAME: ClassVar[str] = "fund_top_up"
    LAYOUT: ClassVar[Struct] = Struct("<Q")
    FIELDS: ClassVar[Fields] = (
        ("amount", INTEGER),
    )
    amount: int


@dataclass(frozen=True)
class OperatorCancel(Body):
    """Request 1007, operator_cancel; signer: operator."""
    CODE: ClassVar[int] = 1007
    PATH: ClassVar[str] = "/api/v1/operator"
    NAME: ClassVar[str] = "operator_cancel"
    LAYOUT: ClassVar[Struct] = Struct("<QII16sH6x")
    FIELDS: ClassVar[Fields] = (
        ("portfolio_id", PORTFOLIO),
        ("order_id", ID),
        ("asset", INTEGER),
    )
    portfolio_id: PortfolioId
    order_id: UUID
    asset: int


@dataclass(frozen=True)
class HaltAll(Body):
    """Request 1008, halt_all; signer: operator."""
    CODE: ClassVar[int] = 1008
    PATH: ClassVar[str] = "/api/v1/operator"
    NAME: ClassVar[str] = "halt_all"
    LAYOUT: ClassVar[Struct] = Struct("<B7x")
    FIELDS: ClassVar[Fields] = (
        ("state", enum_of(State)),
    )
    state: State


@dataclass(frozen=True)
class SetFeeTier(Body):
    """Request 1009, set_fee_tier; signer: operator."""
    CODE: ClassVar[int] = 1009
    PATH: ClassVar[str] = "/api/v1/operator"
    NAME: ClassVar[str] = "set_fee_tier"
    LAYOUT: ClassVar[Struct] = Struct("<QB7x")
    FIELDS: ClassVar[Fields] = (
        ("account_id", INTEGER),
        ("tier", INTEGER),
    )
    account_id: int
    tier: int


@dataclass(frozen=True)
class IndexAccept(Body):
    """Request 1010, index_accept; signer: operator."""
    CODE: ClassVar[int] = 1010
    PATH: ClassVar[str] = "/api/v1/operator"
    NAME: ClassVar[str] = "index_accept"
    LAYOUT: ClassVar[Struct] = Struct("<QH6x")
    FIELDS: ClassVar[Fields] = (
        ("index_price", INTEGER),
        ("asset", INTEGER),
    )
    index_price: int
    asset: int


@dataclass(frozen=True)
class ClockConfirm(Body):
    """Request 1011, clock_confirm; signer: operator."""
    CODE: ClassVar[int] = 1011
    PATH: ClassVar[str] = "/api/v1/operator"
    NAME: ClassVar[str] = "clock_confirm"
    LAYOUT: ClassVar[Struct] = Struct("<q8x")
    FIELDS: ClassVar[Fields] = (
        ("gap_ns", INTEGER),
    )
    gap_ns: int


REQUESTS: Final[dict[int, type[Body]]] = {
    0: PlaceLimitOrder,
    1: OrderReduction,
    2: OrderReplacement,
    3: OrderCancel,
    4: CancelAllOrders,
    5: PlaceMarketOrder,
    6: PlaceConditionalOrder,
    7: ConditionalOrderCancel,
    8: OrderBatch,
    9: Transfer,
    10: Withdraw,
    11: CreateAccountSecp256k1,
    12: CreateAccountPasskey,
    13: CreateSession,
    14: RevokeSession,
    15: RevokeAllSessions,
    16: AddAdminSecp256k1MasterKey,
    17: RemoveAdminSecp256k1MasterKey,
    19: AddAdminPasskeyMasterKey,
    20: RemoveAdminPasskeyMasterKey,
    22: CreateSubaccount,
    23: CloseSubaccount,
    24: CreatePortfolio,
    25: ScheduleCancelAll,
    26: SetMmp,
    27: ResetMmp,
    28: AddScopedSecp256k1MasterKey,
    29: RemoveScopedSecp256k1MasterKey,
    30: AddScopedPasskeyMasterKey,
    31: RemoveScopedPasskeyMasterKey,
    32: CloseAccount,
    33: Login,
    34: CreateApiKey,
    35: RevokeApiKey,
    36: FindAccount,
    1000: OraclePrice,
    1001: MarketDefine,
    1002: MarketState,
    1003: DepositCredit,
    1004: WithdrawalSettle,
    1005: SuspendAccount,
    1006: FundTopUp,
    1007: OperatorCancel,
    1008: HaltAll,
    1009: SetFeeTier,
    1010: IndexAccept,
    1011: ClockConfirm,
}

# What a wallet shows of each request that a master key on secp256k1 may sign.
TYPED: Final[dict[int, tuple[TypedField, ...]]] = {
    9: (
        TypedField("from", "portfolio", "", 0, 16),
        TypedField("to", "portfolio", "", 16, 16),
        TypedField("amount", "amount", "string", 32, 8),
    ),
    10: (
        TypedField("portfolio_id", "portfolio", "", 0, 16),
        TypedField("amount", "amount", "string", 16, 8),
        TypedField("destination", "address", "address", 24, 20),
    ),
    11: (
        TypedField("session_pub", "key", "bytes", 0, 32),
        TypedField("session_expires_at", "time", "string", 32, 8),
        TypedField("label", "text", "string", 40, 32),
        TypedField("session_scope", "enum", "string", 72, 1, (
            "FULL_ACCESS", "TRADING_ONLY",
        )),
    ),
    13: (
        TypedField("account_id", "account", "uint64", 0, 8),
        TypedField("session_pub", "key", "bytes", 8, 32),
        TypedField("expires_at", "time", "string", 40, 8),
        TypedField("subaccount_pin", "pin", "string", 48, 4),
        TypedField("scope", "enum", "string", 52, 1, (
            "FULL_ACCESS", "TRADING_ONLY",
        )),
    ),
    14: (
        TypedField("account_id", "account", "uint64", 0, 8),
        TypedField("session_pub", "key", "bytes", 8, 32),
    ),
    15: (
        TypedField("account_id", "account", "uint64", 0, 8),
    ),
    16: (
        TypedField("account_id", "account", "uint64", 0, 8),
        TypedField("public_key", "key", "bytes", 8, 33),
    ),
    17: (
        TypedField("account_id", "account", "uint64", 0, 8),
        TypedField("public_key", "key", "bytes", 8, 33),
    ),
    19: (
        TypedField("account_id", "account", "uint64", 0, 8),
        TypedField("public_key", "key", "bytes", 8, 33),
        TypedField("credential_id_len", "length", "", 42, 2),
        TypedField("credential_id", "credential", "bytes", 44, None),
    ),
    20: (
        TypedField("account_id", "account", "uint64", 0, 8),
        TypedField("public_key", "key", "bytes", 8, 33),
    ),
    22: (
        TypedField("account_id", "account", "uint64", 0, 8),
    ),
    23: (
        TypedField("account_id", "account", "uint64", 0, 8),
        TypedField("subaccount_index", "index", "uint32", 8, 4),
    ),
    24: (
        TypedField("account_id", "account", "uint64", 0, 8),
        TypedField("subaccount_index", "index", "uint32", 8, 4),
        TypedField("name", "text", "string", 16, 32),
    ),
    28: (
        TypedField("account_id", "account", "uint64", 0, 8),
        TypedField("subaccount_index", "pin", "string", 8, 4),
        TypedField("scope", "enum", "string", 12, 1, (
            "FULL_ACCESS", "TRADING_ONLY",
        )),
        TypedField("public_key", "key", "bytes", 16, 33),
    ),
    29: (
        TypedField("account_id", "account", "uint64", 0, 8),
        TypedField("public_key", "key", "bytes", 8, 33),
    ),
    30: (
        TypedField("account_id", "account", "uint64", 0, 8),
        TypedField("subaccount_index", "pin", "string", 8, 4),
        TypedField("scope", "enum", "string", 12, 1, (
            "FULL_ACCESS", "TRADING_ONLY",
        )),
        TypedField("public_key", "key", "bytes", 16, 33),
        TypedField("credential_id_len", "length", "", 50, 2),
        TypedField("credential_id", "credential", "bytes", 52, None),
    ),
    31: (
        TypedField("account_id", "account", "uint64", 0, 8),
        TypedField("public_key", "key", "bytes", 8, 33),
    ),
    32: (
        TypedField("account_id", "account", "uint64", 0, 8),
    ),
    33: (
        TypedField("account_id", "account", "uint64", 0, 8),
        TypedField("expires_at", "time", "string", 8, 8),
        TypedField("subaccount_pin", "pin", "string", 16, 4),
    ),
    34: (
        TypedField("account_id", "account", "uint64", 0, 8),
        TypedField("subaccount_pin", "pin", "string", 8, 4),
        TypedField("scope", "enum", "string", 12, 1, (
            "READ", "READ_WRITE",
        )),
        TypedField("label", "text", "string", 16, 32),
    ),
    35: (
        TypedField("account_id", "account", "uint64", 0, 8),
        TypedField("api_key_id", "uuid", "string", 8, 16),
    ),
    36: (
    ),
}
