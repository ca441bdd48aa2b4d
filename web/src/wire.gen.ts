// Requests, statuses, reasons and problem codes of perpd. Made by tools/clients; do not edit.

export const HEADER_VERSION = 1;

export const STATUSES = [
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
  "conditional_order_not_found", "rejected_conditional_order_expired", "rejected_invalid_trigger",
  "master_key_added", "master_key_removed", "master_key_rejected_invalid",
  "master_key_rejected_unauthorized", "master_key_rejected_self_removal",
  "master_key_rejected_last_key", "session_created", "session_revoked", "session_rejected",
  "session_rejected_max_sessions", "account_created_with_session", "creation_rejected",
  "account_created_session_failed",
] as const;
export type Status = (typeof STATUSES)[number];

export const REASONS = [
  "match_limit", "mmp_frozen", "batch_aborted", "already_credited", "max_sessions_exceeded",
  "limit_reached", "subaccount_not_permitted", "read_only_key", "portfolio_not_active",
  "portfolio_not_empty", "portfolio_not_closed", "subaccount_not_active", "subaccount_not_closed",
  "withdrawal_pending", "insufficient_free_equity", "invalid_parameter", "faucet_limit_exceeded",
  "user_cancel", "cancel_all", "time_in_force", "reduce_only", "oco", "dead_man", "disconnect",
  "mmp", "liquidation", "market_state", "operator", "market_gap", "insurance_fund_deficit",
  "invalid_destination",
] as const;
export type Reason = (typeof REASONS)[number];

export const PROBLEM_CODES = [
  "malformed_request", "malformed_payload", "malformed_json", "invalid_base64",
  "request_id_not_v7", "request_timestamp_out_of_window", "request_type_not_allowed",
  "unsupported_version", "passkey_requires_json", "invalid_parameter", "invalid_market",
  "invalid_signature", "signature_type_mismatch", "passkey_public_key_mismatch", "passkey_type",
  "passkey_challenge", "passkey_origin", "passkey_cross_origin", "passkey_rp_id",
  "passkey_user_presence", "passkey_user_verification", "invalid_api_key", "invalid_device_key",
  "invalid_token", "subaccount_not_permitted", "read_only_key", "origin_not_allowed",
  "host_not_allowed", "not_leader", "not_found", "portfolio_not_found", "order_not_found",
  "account_not_found", "request_not_found", "method_not_allowed", "request_timeout",
  "portfolio_not_active", "portfolio_not_empty", "portfolio_not_closed", "subaccount_not_active",
  "insufficient_free_equity", "faucet_limit_exceeded", "limit_reached", "pairing_already_used",
  "pairing_not_deposited", "pairing_expired", "payload_too_large", "unsupported_media_type",
  "rate_limited", "headers_too_large", "internal_error", "not_ready", "outcome_unknown",
  "too_many_connections",
] as const;
export type ProblemCode = (typeof PROBLEM_CODES)[number];

// The type that EIP-712 typed data has for each kind of field; null: none.
export const KINDS = {
  portfolio: null,
  account: "uint64",
  u64: "uint64",
  i64: null,
  index: "uint32",
  u32: "uint32",
  u16: null,
  u8: null,
  bool: "bool",
  pin: "string",
  enum: "string",
  amount: "string",
  time: "string",
  expiry: null,
  price: null,
  quantity: null,
  size: null,
  asset: null,
  uuid: "string",
  address: "address",
  text: "string",
  key: "bytes",
  hash: null,
  length: null,
  credential: "bytes",
  items: null,
  document: null,
  pad: null,
} as const;

export interface PortfolioId {
  readonly account_id: bigint;
  readonly subaccount_index: number;
  readonly portfolio_index: number;
}

export interface Field {
  readonly name: string;
  readonly kind: string;
  readonly offset: number;
  readonly size: number | null;
  readonly names?: readonly string[];
}

export interface RequestType {
  readonly code: number;
  readonly name: string;
  readonly signer: string;
  readonly path: string | null;
  readonly answer: string;
  readonly built: boolean;
  readonly body_bytes: number | null;
  readonly fields: readonly Field[];
}

export type Stp =
  "EXPIRE_TAKER" |
  "EXPIRE_MAKER" |
  "EXPIRE_BOTH" |
  "DECREMENT";

export type Side =
  "BOTH" |
  "BUYS" |
  "SELLS";

export type OrderType =
  "MARKET" |
  "LIMIT" |
  "STOP_LIMIT" |
  "STOP_MARKET" |
  "TAKE_PROFIT" |
  "TAKE_PROFIT_MARKET" |
  "LIQUIDATE" |
  "AUTO_DELEVERAGE";

export type TriggerSource =
  "MARK" |
  "LAST" |
  "INDEX";

export type LiveTif =
  "IOC" |
  "FOK" |
  "GTC";

export type SessionScope =
  "FULL_ACCESS" |
  "TRADING_ONLY";

export type Scope =
  "READ" |
  "READ_WRITE";

export type State =
  "ACTIVE" |
  "POST_ONLY" |
  "REDUCE_ONLY" |
  "CANCEL_ONLY" |
  "HALTED" |
  "CLOSED";

export type Outcome =
  "SETTLED" |
  "REVERTED";

export type Op =
  "PLACE_LIMIT" |
  "REDUCTION" |
  "REPLACEMENT" |
  "CANCEL";

export interface BatchItem {
  readonly op: Op;
  readonly post_only: boolean;
  readonly reduce_only: boolean;
  readonly stp: Stp;
  readonly asset: number;
  readonly price: bigint;
  readonly quantity: bigint;
  readonly expiry: bigint;
  readonly order_id: string;
  readonly expected_remaining: bigint;
}

export interface PlaceLimitOrder {
  readonly portfolio_id: PortfolioId;
  readonly price: bigint;
  readonly quantity: bigint;
  readonly expiry: bigint;
  readonly post_only: boolean;
  readonly reduce_only: boolean;
  readonly stp: Stp;
  readonly asset: number;
}

export interface OrderReduction {
  readonly portfolio_id: PortfolioId;
  readonly order_id: string;
  readonly reduce_by: bigint;
  readonly expected_remaining: bigint;
  readonly asset: number;
}

export interface OrderReplacement {
  readonly portfolio_id: PortfolioId;
  readonly order_id: string;
  readonly price: bigint;
  readonly quantity: bigint;
  readonly expiry: bigint;
  readonly post_only: boolean;
  readonly reduce_only: boolean;
  readonly stp: Stp;
  readonly asset: number;
  readonly expected_remaining: bigint;
}

export interface OrderCancel {
  readonly portfolio_id: PortfolioId;
  readonly order_id: string;
  readonly asset: number;
}

export interface CancelAllOrders {
  readonly portfolio_id: PortfolioId;
  readonly asset: number;
  readonly side: Side;
  readonly include_conditional: boolean;
}

export interface PlaceMarketOrder {
  readonly portfolio_id: PortfolioId;
  readonly quantity: bigint;
  readonly max_slippage_ppm: number;
  readonly asset: number;
  readonly reduce_only: boolean;
  readonly stp: Stp;
}

export interface PlaceConditionalOrder {
  readonly portfolio_id: PortfolioId;
  readonly trigger_price: bigint;
  readonly price: bigint;
  readonly quantity: bigint;
  readonly expiry: bigint;
  readonly post_only: boolean;
  readonly reduce_only: boolean;
  readonly stp: Stp;
  readonly order_type: OrderType;
  readonly asset: number;
  readonly max_slippage_ppm: number;
  readonly trigger_source: TriggerSource;
  readonly live_tif: LiveTif;
  readonly oco_group: string;
}

export interface ConditionalOrderCancel {
  readonly portfolio_id: PortfolioId;
  readonly order_id: string;
  readonly asset: number;
}

export interface OrderBatch {
  readonly portfolio_id: PortfolioId;
  readonly atomic: boolean;
  readonly items: readonly BatchItem[];
}

export interface Transfer {
  readonly from: PortfolioId;
  readonly to: PortfolioId;
  readonly amount: bigint;
}

export interface Withdraw {
  readonly portfolio_id: PortfolioId;
  readonly amount: bigint;
  readonly destination: Uint8Array;
}

export interface CreateAccountSecp256k1 {
  readonly session_pub: Uint8Array;
  readonly session_expires_at: bigint;
  readonly label: string;
  readonly session_scope: SessionScope;
}

export interface CreateAccountPasskey {
  readonly session_pub: Uint8Array;
  readonly session_expires_at: bigint;
  readonly label: string;
  readonly session_scope: SessionScope;
}

export interface CreateSession {
  readonly account_id: bigint;
  readonly session_pub: Uint8Array;
  readonly expires_at: bigint;
  readonly subaccount_pin: number;
  readonly scope: SessionScope;
}

export interface RevokeSession {
  readonly account_id: bigint;
  readonly session_pub: Uint8Array;
}

export interface RevokeAllSessions {
  readonly account_id: bigint;
}

export interface AddAdminSecp256k1MasterKey {
  readonly account_id: bigint;
  readonly public_key: Uint8Array;
}

export interface RemoveAdminSecp256k1MasterKey {
  readonly account_id: bigint;
  readonly public_key: Uint8Array;
}

export interface Reserved18 {
}

export interface AddAdminPasskeyMasterKey {
  readonly account_id: bigint;
  readonly public_key: Uint8Array;
  readonly credential_id: Uint8Array;
}

export interface RemoveAdminPasskeyMasterKey {
  readonly account_id: bigint;
  readonly public_key: Uint8Array;
}

export interface Reserved21 {
}

export interface CreateSubaccount {
  readonly account_id: bigint;
}

export interface CloseSubaccount {
  readonly account_id: bigint;
  readonly subaccount_index: number;
}

export interface CreatePortfolio {
  readonly account_id: bigint;
  readonly subaccount_index: number;
  readonly name: string;
}

export interface ScheduleCancelAll {
  readonly portfolio_id: PortfolioId;
  readonly deadline_ns: bigint;
}

export interface SetMmp {
  readonly portfolio_id: PortfolioId;
  readonly asset: number;
  readonly window_ms: number;
  readonly frozen_ms: number;
  readonly max_quantity: bigint;
  readonly max_net_quantity: bigint;
}

export interface ResetMmp {
  readonly portfolio_id: PortfolioId;
  readonly asset: number;
}

export interface AddScopedSecp256k1MasterKey {
  readonly account_id: bigint;
  readonly subaccount_index: number;
  readonly scope: SessionScope;
  readonly public_key: Uint8Array;
}

export interface RemoveScopedSecp256k1MasterKey {
  readonly account_id: bigint;
  readonly public_key: Uint8Array;
}

export interface AddScopedPasskeyMasterKey {
  readonly account_id: bigint;
  readonly subaccount_index: number;
  readonly scope: SessionScope;
  readonly public_key: Uint8Array;
  readonly credential_id: Uint8Array;
}

export interface RemoveScopedPasskeyMasterKey {
  readonly account_id: bigint;
  readonly public_key: Uint8Array;
}

export interface CloseAccount {
  readonly account_id: bigint;
}

export interface Login {
  readonly account_id: bigint;
  readonly expires_at: bigint;
  readonly subaccount_pin: number;
}

export interface CreateApiKey {
  readonly account_id: bigint;
  readonly subaccount_pin: number;
  readonly scope: Scope;
  readonly label: string;
}

export interface RevokeApiKey {
  readonly account_id: bigint;
  readonly api_key_id: string;
}

export interface FindAccount {
}

export interface OraclePrice {
  readonly publish_ts_ns: bigint;
  readonly index_price: bigint;
  readonly asset: number;
  readonly source_count: number;
}

export interface MarketDefine {
  readonly record: Uint8Array;
}

export interface MarketState {
  readonly asset: number;
  readonly state: State;
  readonly force: boolean;
}

export interface DepositCredit {
  readonly portfolio_id: PortfolioId;
  readonly amount: bigint;
  readonly external_ref: Uint8Array;
}

export interface WithdrawalSettle {
  readonly withdrawal_id: string;
  readonly outcome: Outcome;
}

export interface SuspendAccount {
  readonly account_id: bigint;
  readonly suspended: boolean;
}

export interface FundTopUp {
  readonly amount: bigint;
}

export interface OperatorCancel {
  readonly portfolio_id: PortfolioId;
  readonly order_id: string;
  readonly asset: number;
}

export interface HaltAll {
  readonly state: State;
}

export interface SetFeeTier {
  readonly account_id: bigint;
  readonly tier: number;
}

export interface IndexAccept {
  readonly index_price: bigint;
  readonly asset: number;
}

export interface ClockConfirm {
  readonly gap_ns: bigint;
}

export interface Bodies {
  readonly place_limit_order: PlaceLimitOrder;
  readonly order_reduction: OrderReduction;
  readonly order_replacement: OrderReplacement;
  readonly order_cancel: OrderCancel;
  readonly cancel_all_orders: CancelAllOrders;
  readonly place_market_order: PlaceMarketOrder;
  readonly place_conditional_order: PlaceConditionalOrder;
  readonly conditional_order_cancel: ConditionalOrderCancel;
  readonly order_batch: OrderBatch;
  readonly transfer: Transfer;
  readonly withdraw: Withdraw;
  readonly create_account_secp256k1: CreateAccountSecp256k1;
  readonly create_account_passkey: CreateAccountPasskey;
  readonly create_session: CreateSession;
  readonly revoke_session: RevokeSession;
  readonly revoke_all_sessions: RevokeAllSessions;
  readonly add_admin_secp256k1_master_key: AddAdminSecp256k1MasterKey;
  readonly remove_admin_secp256k1_master_key: RemoveAdminSecp256k1MasterKey;
  readonly reserved_18: Reserved18;
  readonly add_admin_passkey_master_key: AddAdminPasskeyMasterKey;
  readonly remove_admin_passkey_master_key: RemoveAdminPasskeyMasterKey;
  readonly reserved_21: Reserved21;
  readonly create_subaccount: CreateSubaccount;
  readonly close_subaccount: CloseSubaccount;
  readonly create_portfolio: CreatePortfolio;
  readonly schedule_cancel_all: ScheduleCancelAll;
  readonly set_mmp: SetMmp;
  readonly reset_mmp: ResetMmp;
  readonly add_scoped_secp256k1_master_key: AddScopedSecp256k1MasterKey;
  readonly remove_scoped_secp256k1_master_key: RemoveScopedSecp256k1MasterKey;
  readonly add_scoped_passkey_master_key: AddScopedPasskeyMasterKey;
  readonly remove_scoped_passkey_master_key: RemoveScopedPasskeyMasterKey;
  readonly close_account: CloseAccount;
  readonly login: Login;
  readonly create_api_key: CreateApiKey;
  readonly revoke_api_key: RevokeApiKey;
  readonly find_account: FindAccount;
  readonly oracle_price: OraclePrice;
  readonly market_define: MarketDefine;
  readonly market_state: MarketState;
  readonly deposit_credit: DepositCredit;
  readonly withdrawal_settle: WithdrawalSettle;
  readonly suspend_account: SuspendAccount;
  readonly fund_top_up: FundTopUp;
  readonly operator_cancel: OperatorCancel;
  readonly halt_all: HaltAll;
  readonly set_fee_tier: SetFeeTier;
  readonly index_accept: IndexAccept;
  readonly clock_confirm: ClockConfirm;
}

export const BATCH_ITEM: readonly Field[] = [
  { name: "op", kind: "enum", offset: 0, size: 1, names: [
    "PLACE_LIMIT", "REDUCTION", "REPLACEMENT", "CANCEL",
  ] },
  { name: "post_only", kind: "bool", offset: 1, size: 1 },
  { name: "reduce_only", kind: "bool", offset: 2, size: 1 },
  { name: "stp", kind: "enum", offset: 3, size: 1, names: [
    "EXPIRE_TAKER", "EXPIRE_MAKER", "EXPIRE_BOTH", "DECREMENT",
  ] },
  { name: "asset", kind: "asset", offset: 4, size: 2 },
  { name: "pad", kind: "pad", offset: 6, size: 2 },
  { name: "price", kind: "price", offset: 8, size: 8 },
  { name: "quantity", kind: "quantity", offset: 16, size: 8 },
  { name: "expiry", kind: "expiry", offset: 24, size: 8 },
  { name: "order_id", kind: "uuid", offset: 32, size: 16 },
  { name: "expected_remaining", kind: "size", offset: 48, size: 8 },
  { name: "pad", kind: "pad", offset: 56, size: 8 },
];

export const REQUESTS: { readonly [Name in keyof Bodies]: RequestType } = {
  place_limit_order: {
    code: 0,
    name: "place_limit_order",
    signer: "session",
    path: "/api/v1/trading/order/place/limit",
    answer: "ack",
    built: true,
    body_bytes: 48,
    fields: [
      { name: "portfolio_id", kind: "portfolio", offset: 0, size: 16 },
      { name: "price", kind: "price", offset: 16, size: 8 },
      { name: "quantity", kind: "quantity", offset: 24, size: 8 },
      { name: "expiry", kind: "expiry", offset: 32, size: 8 },
      { name: "post_only", kind: "bool", offset: 40, size: 1 },
      { name: "reduce_only", kind: "bool", offset: 41, size: 1 },
      { name: "stp", kind: "enum", offset: 42, size: 1, names: [
        "EXPIRE_TAKER", "EXPIRE_MAKER", "EXPIRE_BOTH", "DECREMENT",
      ] },
      { name: "pad", kind: "pad", offset: 43, size: 1 },
      { name: "asset", kind: "asset", offset: 44, size: 2 },
      { name: "pad", kind: "pad", offset: 46, size: 2 },
    ],
  },
  order_reduction: {
    code: 1,
    name: "order_reduction",
    signer: "session",
    path: "/api/v1/trading/order/update",
    answer: "ack",
    built: true,
    body_bytes: 56,
    fields: [
      { name: "portfolio_id", kind: "portfolio", offset: 0, size: 16 },
      { name: "order_id", kind: "uuid", offset: 16, size: 16 },
      { name: "reduce_by", kind: "size", offset: 32, size: 8 },
      { name: "expected_remaining", kind: "size", offset: 40, size: 8 },
      { name: "asset", kind: "asset", offset: 48, size: 2 },
      { name: "pad", kind: "pad", offset: 50, size: 6 },
    ],
  },
  order_replacement: {
    code: 2,
    name: "order_replacement",
    signer: "session",
    path: "/api/v1/trading/order/update",
    answer: "ack",
    built: true,
    body_bytes: 72,
    fields: [
      { name: "portfolio_id", kind: "portfolio", offset: 0, size: 16 },
      { name: "order_id", kind: "uuid", offset: 16, size: 16 },
      { name: "price", kind: "price", offset: 32, size: 8 },
      { name: "quantity", kind: "quantity", offset: 40, size: 8 },
      { name: "expiry", kind: "expiry", offset: 48, size: 8 },
      { name: "post_only", kind: "bool", offset: 56, size: 1 },
      { name: "reduce_only", kind: "bool", offset: 57, size: 1 },
      { name: "stp", kind: "enum", offset: 58, size: 1, names: [
        "EXPIRE_TAKER", "EXPIRE_MAKER", "EXPIRE_BOTH", "DECREMENT",
      ] },
      { name: "pad", kind: "pad", offset: 59, size: 1 },
      { name: "asset", kind: "asset", offset: 60, size: 2 },
      { name: "pad", kind: "pad", offset: 62, size: 2 },
      { name: "expected_remaining", kind: "size", offset: 64, size: 8 },
    ],
  },
  order_cancel: {
    code: 3,
    name: "order_cancel",
    signer: "session",
    path: "/api/v1/trading/order/cancel",
    answer: "ack",
    built: true,
    body_bytes: 40,
    fields: [
      { name: "portfolio_id", kind: "portfolio", offset: 0, size: 16 },
      { name: "order_id", kind: "uuid", offset: 16, size: 16 },
      { name: "asset", kind: "asset", offset: 32, size: 2 },
      { name: "pad", kind: "pad", offset: 34, size: 6 },
    ],
  },
  cancel_all_orders: {
    code: 4,
    name: "cancel_all_orders",
    signer: "session",
    path: "/api/v1/trading/order/cancel-all",
    answer: "ack",
    built: true,
    body_bytes: 24,
    fields: [
      { name: "portfolio_id", kind: "portfolio", offset: 0, size: 16 },
      { name: "asset", kind: "asset", offset: 16, size: 2 },
      { name: "pad", kind: "pad", offset: 18, size: 2 },
      { name: "side", kind: "enum", offset: 20, size: 1, names: [
        "BOTH", "BUYS", "SELLS",
      ] },
      { name: "include_conditional", kind: "bool", offset: 21, size: 1 },
      { name: "pad", kind: "pad", offset: 22, size: 2 },
    ],
  },
  place_market_order: {
    code: 5,
    name: "place_market_order",
    signer: "session",
    path: "/api/v1/trading/order/place/market",
    answer: "ack",
    built: true,
    body_bytes: 40,
    fields: [
      { name: "portfolio_id", kind: "portfolio", offset: 0, size: 16 },
      { name: "quantity", kind: "quantity", offset: 16, size: 8 },
      { name: "max_slippage_ppm", kind: "u32", offset: 24, size: 4 },
      { name: "asset", kind: "asset", offset: 28, size: 2 },
      { name: "pad", kind: "pad", offset: 30, size: 2 },
      { name: "reduce_only", kind: "bool", offset: 32, size: 1 },
      { name: "stp", kind: "enum", offset: 33, size: 1, names: [
        "EXPIRE_TAKER", "EXPIRE_MAKER", "EXPIRE_BOTH", "DECREMENT",
      ] },
      { name: "pad", kind: "pad", offset: 34, size: 6 },
    ],
  },
  place_conditional_order: {
    code: 6,
    name: "place_conditional_order",
    signer: "session",
    path: "/api/v1/trading/order/place/conditional",
    answer: "ack",
    built: true,
    body_bytes: 80,
    fields: [
      { name: "portfolio_id", kind: "portfolio", offset: 0, size: 16 },
      { name: "trigger_price", kind: "price", offset: 16, size: 8 },
      { name: "price", kind: "price", offset: 24, size: 8 },
      { name: "quantity", kind: "quantity", offset: 32, size: 8 },
      { name: "expiry", kind: "expiry", offset: 40, size: 8 },
      { name: "post_only", kind: "bool", offset: 48, size: 1 },
      { name: "reduce_only", kind: "bool", offset: 49, size: 1 },
      { name: "stp", kind: "enum", offset: 50, size: 1, names: [
        "EXPIRE_TAKER", "EXPIRE_MAKER", "EXPIRE_BOTH", "DECREMENT",
      ] },
      { name: "order_type", kind: "enum", offset: 51, size: 1, names: [
        "MARKET", "LIMIT", "STOP_LIMIT", "STOP_MARKET", "TAKE_PROFIT", "TAKE_PROFIT_MARKET",
        "LIQUIDATE", "AUTO_DELEVERAGE",
      ] },
      { name: "asset", kind: "asset", offset: 52, size: 2 },
      { name: "pad", kind: "pad", offset: 54, size: 2 },
      { name: "max_slippage_ppm", kind: "u32", offset: 56, size: 4 },
      { name: "trigger_source", kind: "enum", offset: 60, size: 1, names: [
        "MARK", "LAST", "INDEX",
      ] },
      { name: "live_tif", kind: "enum", offset: 61, size: 1, names: [
        "IOC", "FOK", "GTC",
      ] },
      { name: "pad", kind: "pad", offset: 62, size: 2 },
      { name: "oco_group", kind: "uuid", offset: 64, size: 16 },
    ],
  },
  conditional_order_cancel: {
    code: 7,
    name: "conditional_order_cancel",
    signer: "session",
    path: "/api/v1/trading/order/cancel/conditional",
    answer: "ack",
    built: true,
    body_bytes: 40,
    fields: [
      { name: "portfolio_id", kind: "portfolio", offset: 0, size: 16 },
      { name: "order_id", kind: "uuid", offset: 16, size: 16 },
      { name: "asset", kind: "asset", offset: 32, size: 2 },
      { name: "pad", kind: "pad", offset: 34, size: 6 },
    ],
  },
  order_batch: {
    code: 8,
    name: "order_batch",
    signer: "session",
    path: "/api/v1/trading/order/batch",
    answer: "ack",
    built: true,
    body_bytes: null,
    fields: [
      { name: "portfolio_id", kind: "portfolio", offset: 0, size: 16 },
      { name: "count", kind: "u16", offset: 16, size: 2 },
      { name: "atomic", kind: "bool", offset: 18, size: 1 },
      { name: "pad", kind: "pad", offset: 19, size: 5 },
      { name: "items", kind: "items", offset: 24, size: null },
    ],
  },
  transfer: {
    code: 9,
    name: "transfer",
    signer: "session_or_master",
    path: "/api/v1/cash/transfer",
    answer: "ack",
    built: true,
    body_bytes: 40,
    fields: [
      { name: "from", kind: "portfolio", offset: 0, size: 16 },
      { name: "to", kind: "portfolio", offset: 16, size: 16 },
      { name: "amount", kind: "amount", offset: 32, size: 8 },
    ],
  },
  withdraw: {
    code: 10,
    name: "withdraw",
    signer: "session_or_master",
    path: "/api/v1/cash/withdraw",
    answer: "ack",
    built: true,
    body_bytes: 48,
    fields: [
      { name: "portfolio_id", kind: "portfolio", offset: 0, size: 16 },
      { name: "amount", kind: "amount", offset: 16, size: 8 },
      { name: "destination", kind: "address", offset: 24, size: 20 },
      { name: "pad", kind: "pad", offset: 44, size: 4 },
    ],
  },
  create_account_secp256k1: {
    code: 11,
    name: "create_account_secp256k1",
    signer: "new_secp256k1",
    path: "/api/v1/account/create",
    answer: "success",
    built: true,
    body_bytes: 80,
    fields: [
      { name: "session_pub", kind: "key", offset: 0, size: 32 },
      { name: "session_expires_at", kind: "time", offset: 32, size: 8 },
      { name: "label", kind: "text", offset: 40, size: 32 },
      { name: "session_scope", kind: "enum", offset: 72, size: 1, names: [
        "FULL_ACCESS", "TRADING_ONLY",
      ] },
      { name: "pad", kind: "pad", offset: 73, size: 7 },
    ],
  },
  create_account_passkey: {
    code: 12,
    name: "create_account_passkey",
    signer: "new_passkey",
    path: "/api/v1/account/create",
    answer: "success",
    built: true,
    body_bytes: 80,
    fields: [
      { name: "session_pub", kind: "key", offset: 0, size: 32 },
      { name: "session_expires_at", kind: "time", offset: 32, size: 8 },
      { name: "label", kind: "text", offset: 40, size: 32 },
      { name: "session_scope", kind: "enum", offset: 72, size: 1, names: [
        "FULL_ACCESS", "TRADING_ONLY",
      ] },
      { name: "pad", kind: "pad", offset: 73, size: 7 },
    ],
  },
  create_session: {
    code: 13,
    name: "create_session",
    signer: "master",
    path: "/api/v1/auth/sessions/create",
    answer: "success",
    built: true,
    body_bytes: 56,
    fields: [
      { name: "account_id", kind: "account", offset: 0, size: 8 },
      { name: "session_pub", kind: "key", offset: 8, size: 32 },
      { name: "expires_at", kind: "time", offset: 40, size: 8 },
      { name: "subaccount_pin", kind: "pin", offset: 48, size: 4 },
      { name: "scope", kind: "enum", offset: 52, size: 1, names: [
        "FULL_ACCESS", "TRADING_ONLY",
      ] },
      { name: "pad", kind: "pad", offset: 53, size: 3 },
    ],
  },
  revoke_session: {
    code: 14,
    name: "revoke_session",
    signer: "master",
    path: "/api/v1/auth/sessions/revoke",
    answer: "success",
    built: true,
    body_bytes: 40,
    fields: [
      { name: "account_id", kind: "account", offset: 0, size: 8 },
      { name: "session_pub", kind: "key", offset: 8, size: 32 },
    ],
  },
  revoke_all_sessions: {
    code: 15,
    name: "revoke_all_sessions",
    signer: "master",
    path: "/api/v1/auth/sessions/revoke-all",
    answer: "success",
    built: true,
    body_bytes: 8,
    fields: [
      { name: "account_id", kind: "account", offset: 0, size: 8 },
    ],
  },
  add_admin_secp256k1_master_key: {
    code: 16,
    name: "add_admin_secp256k1_master_key",
    signer: "admin",
    path: "/api/v1/auth/admin-keys/add",
    answer: "success",
    built: true,
    body_bytes: 48,
    fields: [
      { name: "account_id", kind: "account", offset: 0, size: 8 },
      { name: "public_key", kind: "key", offset: 8, size: 33 },
      { name: "pad", kind: "pad", offset: 41, size: 7 },
    ],
  },
  remove_admin_secp256k1_master_key: {
    code: 17,
    name: "remove_admin_secp256k1_master_key",
    signer: "admin",
    path: "/api/v1/auth/admin-keys/remove",
    answer: "success",
    built: true,
    body_bytes: 48,
    fields: [
      { name: "account_id", kind: "account", offset: 0, size: 8 },
      { name: "public_key", kind: "key", offset: 8, size: 33 },
      { name: "pad", kind: "pad", offset: 41, size: 7 },
    ],
  },
  reserved_18: {
    code: 18,
    name: "reserved_18",
    signer: "none",
    path: null,
    answer: "ack",
    built: false,
    body_bytes: 0,
    fields: [
    ],
  },
  add_admin_passkey_master_key: {
    code: 19,
    name: "add_admin_passkey_master_key",
    signer: "admin",
    path: "/api/v1/auth/admin-keys/add",
    answer: "success",
    built: true,
    body_bytes: null,
    fields: [
      { name: "account_id", kind: "account", offset: 0, size: 8 },
      { name: "public_key", kind: "key", offset: 8, size: 33 },
      { name: "pad", kind: "pad", offset: 41, size: 1 },
      { name: "credential_id_len", kind: "length", offset: 42, size: 2 },
      { name: "credential_id", kind: "credential", offset: 44, size: null },
    ],
  },
  remove_admin_passkey_master_key: {
    code: 20,
    name: "remove_admin_passkey_master_key",
    signer: "admin",
    path: "/api/v1/auth/admin-keys/remove",
    answer: "success",
    built: true,
    body_bytes: 48,
    fields: [
      { name: "account_id", kind: "account", offset: 0, size: 8 },
      { name: "public_key", kind: "key", offset: 8, size: 33 },
      { name: "pad", kind: "pad", offset: 41, size: 7 },
    ],
  },
  reserved_21: {
    code: 21,
    name: "reserved_21",
    signer: "none",
    path: null,
    answer: "ack",
    built: false,
    body_bytes: 0,
    fields: [
    ],
  },
  create_subaccount: {
    code: 22,
    name: "create_subaccount",
    signer: "master",
    path: "/api/v1/subaccounts/create",
    answer: "ack",
    built: true,
    body_bytes: 8,
    fields: [
      { name: "account_id", kind: "account", offset: 0, size: 8 },
    ],
  },
  close_subaccount: {
    code: 23,
    name: "close_subaccount",
    signer: "master",
    path: "/api/v1/subaccounts/close",
    answer: "ack",
    built: true,
    body_bytes: 16,
    fields: [
      { name: "account_id", kind: "account", offset: 0, size: 8 },
      { name: "subaccount_index", kind: "index", offset: 8, size: 4 },
      { name: "pad", kind: "pad", offset: 12, size: 4 },
    ],
  },
  create_portfolio: {
    code: 24,
    name: "create_portfolio",
    signer: "session_or_master",
    path: "/api/v1/portfolio/create",
    answer: "ack",
    built: true,
    body_bytes: 48,
    fields: [
      { name: "account_id", kind: "account", offset: 0, size: 8 },
      { name: "subaccount_index", kind: "index", offset: 8, size: 4 },
      { name: "pad", kind: "pad", offset: 12, size: 4 },
      { name: "name", kind: "text", offset: 16, size: 32 },
    ],
  },
  schedule_cancel_all: {
    code: 25,
    name: "schedule_cancel_all",
    signer: "session",
    path: "/api/v1/trading/schedule-cancel",
    answer: "ack",
    built: true,
    body_bytes: 24,
    fields: [
      { name: "portfolio_id", kind: "portfolio", offset: 0, size: 16 },
      { name: "deadline_ns", kind: "time", offset: 16, size: 8 },
    ],
  },
  set_mmp: {
    code: 26,
    name: "set_mmp",
    signer: "session",
    path: "/api/v1/trading/mmp/set",
    answer: "ack",
    built: true,
    body_bytes: 48,
    fields: [
      { name: "portfolio_id", kind: "portfolio", offset: 0, size: 16 },
      { name: "asset", kind: "asset", offset: 16, size: 2 },
      { name: "pad", kind: "pad", offset: 18, size: 2 },
      { name: "window_ms", kind: "u32", offset: 20, size: 4 },
      { name: "frozen_ms", kind: "u32", offset: 24, size: 4 },
      { name: "pad", kind: "pad", offset: 28, size: 4 },
      { name: "max_quantity", kind: "size", offset: 32, size: 8 },
      { name: "max_net_quantity", kind: "size", offset: 40, size: 8 },
    ],
  },
  reset_mmp: {
    code: 27,
    name: "reset_mmp",
    signer: "session",
    path: "/api/v1/trading/mmp/reset",
    answer: "ack",
    built: true,
    body_bytes: 24,
    fields: [
      { name: "portfolio_id", kind: "portfolio", offset: 0, size: 16 },
      { name: "asset", kind: "asset", offset: 16, size: 2 },
      { name: "pad", kind: "pad", offset: 18, size: 6 },
    ],
  },
  add_scoped_secp256k1_master_key: {
    code: 28,
    name: "add_scoped_secp256k1_master_key",
    signer: "admin",
    path: "/api/v1/auth/scoped-keys/add",
    answer: "success",
    built: true,
    body_bytes: 56,
    fields: [
      { name: "account_id", kind: "account", offset: 0, size: 8 },
      { name: "subaccount_index", kind: "pin", offset: 8, size: 4 },
      { name: "scope", kind: "enum", offset: 12, size: 1, names: [
        "FULL_ACCESS", "TRADING_ONLY",
      ] },
      { name: "pad", kind: "pad", offset: 13, size: 3 },
      { name: "public_key", kind: "key", offset: 16, size: 33 },
      { name: "pad", kind: "pad", offset: 49, size: 7 },
    ],
  },
  remove_scoped_secp256k1_master_key: {
    code: 29,
    name: "remove_scoped_secp256k1_master_key",
    signer: "admin",
    path: "/api/v1/auth/scoped-keys/remove",
    answer: "success",
    built: true,
    body_bytes: 48,
    fields: [
      { name: "account_id", kind: "account", offset: 0, size: 8 },
      { name: "public_key", kind: "key", offset: 8, size: 33 },
      { name: "pad", kind: "pad", offset: 41, size: 7 },
    ],
  },
  add_scoped_passkey_master_key: {
    code: 30,
    name: "add_scoped_passkey_master_key",
    signer: "admin",
    path: "/api/v1/auth/scoped-keys/add",
    answer: "success",
    built: true,
    body_bytes: null,
    fields: [
      { name: "account_id", kind: "account", offset: 0, size: 8 },
      { name: "subaccount_index", kind: "pin", offset: 8, size: 4 },
      { name: "scope", kind: "enum", offset: 12, size: 1, names: [
        "FULL_ACCESS", "TRADING_ONLY",
      ] },
      { name: "pad", kind: "pad", offset: 13, size: 3 },
      { name: "public_key", kind: "key", offset: 16, size: 33 },
      { name: "pad", kind: "pad", offset: 49, size: 1 },
      { name: "credential_id_len", kind: "length", offset: 50, size: 2 },
      { name: "credential_id", kind: "credential", offset: 52, size: null },
    ],
  },
  remove_scoped_passkey_master_key: {
    code: 31,
    name: "remove_scoped_passkey_master_key",
    signer: "admin",
    path: "/api/v1/auth/scoped-keys/remove",
    answer: "success",
    built: true,
    body_bytes: 48,
    fields: [
      { name: "account_id", kind: "account", offset: 0, size: 8 },
      { name: "public_key", kind: "key", offset: 8, size: 33 },
      { name: "pad", kind: "pad", offset: 41, size: 7 },
    ],
  },
  close_account: {
    code: 32,
    name: "close_account",
    signer: "admin",
    path: "/api/v1/account/close",
    answer: "ack",
    built: true,
    body_bytes: 8,
    fields: [
      { name: "account_id", kind: "account", offset: 0, size: 8 },
    ],
  },
  login: {
    code: 33,
    name: "login",
    signer: "session_or_master",
    path: "/api/v1/login",
    answer: "success",
    built: true,
    body_bytes: 24,
    fields: [
      { name: "account_id", kind: "account", offset: 0, size: 8 },
      { name: "expires_at", kind: "time", offset: 8, size: 8 },
      { name: "subaccount_pin", kind: "pin", offset: 16, size: 4 },
      { name: "pad", kind: "pad", offset: 20, size: 4 },
    ],
  },
  create_api_key: {
    code: 34,
    name: "create_api_key",
    signer: "session_or_master",
    path: "/api/v1/api-keys",
    answer: "success",
    built: true,
    body_bytes: 48,
    fields: [
      { name: "account_id", kind: "account", offset: 0, size: 8 },
      { name: "subaccount_pin", kind: "pin", offset: 8, size: 4 },
      { name: "scope", kind: "enum", offset: 12, size: 1, names: [
        "READ", "READ_WRITE",
      ] },
      { name: "pad", kind: "pad", offset: 13, size: 3 },
      { name: "label", kind: "text", offset: 16, size: 32 },
    ],
  },
  revoke_api_key: {
    code: 35,
    name: "revoke_api_key",
    signer: "session_or_master",
    path: "/api/v1/api-keys/revoke",
    answer: "success",
    built: true,
    body_bytes: 24,
    fields: [
      { name: "account_id", kind: "account", offset: 0, size: 8 },
      { name: "api_key_id", kind: "uuid", offset: 8, size: 16 },
    ],
  },
  find_account: {
    code: 36,
    name: "find_account",
    signer: "master",
    path: "/api/v1/account/find",
    answer: "success",
    built: true,
    body_bytes: 8,
    fields: [
      { name: "pad", kind: "pad", offset: 0, size: 8 },
    ],
  },
  oracle_price: {
    code: 1000,
    name: "oracle_price",
    signer: "operator",
    path: "/api/v1/operator",
    answer: "ack",
    built: true,
    body_bytes: 24,
    fields: [
      { name: "publish_ts_ns", kind: "time", offset: 0, size: 8 },
      { name: "index_price", kind: "price", offset: 8, size: 8 },
      { name: "asset", kind: "asset", offset: 16, size: 2 },
      { name: "pad", kind: "pad", offset: 18, size: 2 },
      { name: "source_count", kind: "u16", offset: 20, size: 2 },
      { name: "pad", kind: "pad", offset: 22, size: 2 },
    ],
  },
  market_define: {
    code: 1001,
    name: "market_define",
    signer: "operator",
    path: "/api/v1/operator",
    answer: "ack",
    built: true,
    body_bytes: null,
    fields: [
      { name: "record", kind: "document", offset: 0, size: null },
    ],
  },
  market_state: {
    code: 1002,
    name: "market_state",
    signer: "operator",
    path: "/api/v1/operator",
    answer: "ack",
    built: true,
    body_bytes: 8,
    fields: [
      { name: "asset", kind: "asset", offset: 0, size: 2 },
      { name: "pad", kind: "pad", offset: 2, size: 2 },
      { name: "state", kind: "enum", offset: 4, size: 1, names: [
        "ACTIVE", "POST_ONLY", "REDUCE_ONLY", "CANCEL_ONLY", "HALTED", "CLOSED",
      ] },
      { name: "force", kind: "bool", offset: 5, size: 1 },
      { name: "pad", kind: "pad", offset: 6, size: 2 },
    ],
  },
  deposit_credit: {
    code: 1003,
    name: "deposit_credit",
    signer: "operator",
    path: "/api/v1/operator",
    answer: "ack",
    built: true,
    body_bytes: 56,
    fields: [
      { name: "portfolio_id", kind: "portfolio", offset: 0, size: 16 },
      { name: "amount", kind: "amount", offset: 16, size: 8 },
      { name: "external_ref", kind: "hash", offset: 24, size: 32 },
    ],
  },
  withdrawal_settle: {
    code: 1004,
    name: "withdrawal_settle",
    signer: "operator",
    path: "/api/v1/operator",
    answer: "ack",
    built: true,
    body_bytes: 24,
    fields: [
      { name: "withdrawal_id", kind: "uuid", offset: 0, size: 16 },
      { name: "outcome", kind: "enum", offset: 16, size: 1, names: [
        "SETTLED", "REVERTED",
      ] },
      { name: "pad", kind: "pad", offset: 17, size: 7 },
    ],
  },
  suspend_account: {
    code: 1005,
    name: "suspend_account",
    signer: "operator",
    path: "/api/v1/operator",
    answer: "ack",
    built: true,
    body_bytes: 16,
    fields: [
      { name: "account_id", kind: "account", offset: 0, size: 8 },
      { name: "suspended", kind: "bool", offset: 8, size: 1 },
      { name: "pad", kind: "pad", offset: 9, size: 7 },
    ],
  },
  fund_top_up: {
    code: 1006,
    name: "fund_top_up",
    signer: "operator",
    path: "/api/v1/operator",
    answer: "ack",
    built: true,
    body_bytes: 8,
    fields: [
      { name: "amount", kind: "amount", offset: 0, size: 8 },
    ],
  },
  operator_cancel: {
    code: 1007,
    name: "operator_cancel",
    signer: "operator",
    path: "/api/v1/operator",
    answer: "ack",
    built: true,
    body_bytes: 40,
    fields: [
      { name: "portfolio_id", kind: "portfolio", offset: 0, size: 16 },
      { name: "order_id", kind: "uuid", offset: 16, size: 16 },
      { name: "asset", kind: "asset", offset: 32, size: 2 },
      { name: "pad", kind: "pad", offset: 34, size: 6 },
    ],
  },
  halt_all: {
    code: 1008,
    name: "halt_all",
    signer: "operator",
    path: "/api/v1/operator",
    answer: "ack",
    built: true,
    body_bytes: 8,
    fields: [
      { name: "state", kind: "enum", offset: 0, size: 1, names: [
        "ACTIVE", "POST_ONLY", "REDUCE_ONLY", "CANCEL_ONLY", "HALTED", "CLOSED",
      ] },
      { name: "pad", kind: "pad", offset: 1, size: 7 },
    ],
  },
  set_fee_tier: {
    code: 1009,
    name: "set_fee_tier",
    signer: "operator",
    path: "/api/v1/operator",
    answer: "ack",
    built: true,
    body_bytes: 16,
    fields: [
      { name: "account_id", kind: "account", offset: 0, size: 8 },
      { name: "tier", kind: "u8", offset: 8, size: 1 },
      { name: "pad", kind: "pad", offset: 9, size: 7 },
    ],
  },
  index_accept: {
    code: 1010,
    name: "index_accept",
    signer: "operator",
    path: "/api/v1/operator",
    answer: "ack",
    built: true,
    body_bytes: 16,
    fields: [
      { name: "index_price", kind: "price", offset: 0, size: 8 },
      { name: "asset", kind: "asset", offset: 8, size: 2 },
      { name: "pad", kind: "pad", offset: 10, size: 6 },
    ],
  },
  clock_confirm: {
    code: 1011,
    name: "clock_confirm",
    signer: "operator",
    path: "/api/v1/operator",
    answer: "ack",
    built: true,
    body_bytes: 16,
    fields: [
      { name: "gap_ns", kind: "i64", offset: 0, size: 8 },
      { name: "pad", kind: "pad", offset: 8, size: 8 },
    ],
  },
};
