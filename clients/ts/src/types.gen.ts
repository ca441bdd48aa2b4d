// The records of perpd's answers (docs/spec/json.md). Made by tools/clients; do not edit.

// The members that are integers of 64 bits: json.ts makes bigints of them.
export const WIDE: ReadonlySet<string> = new Set([
  "account_id", "applied", "book_seq", "clock_gap_ns", "durable", "effective_at_ns", "engine_seq",
  "expires_at", "history_from_sequence", "last_sequence", "maintenance_at_ns",
  "next_before_sequence", "original_processed_at_ns", "prev_seq", "processed_at_ns",
  "requested_at_ns", "seq", "sequence", "since_ns", "sum_ns", "time_ns", "trade_seq",
  "updated_at_ns",
]);

export interface Order {
  readonly account_id: bigint;
  readonly subaccount_index: number;
  readonly portfolio_index: number;
  readonly id: string;
  readonly initial_size: string;
  readonly remaining_size: string;
  readonly market: string;
  readonly order_status:
    "OPEN" | "FILLED" | "CANCELED" | "REJECTED" | "UNTRIGGERED" | "PARTIALLY_FILLED" | "EXPIRED";
  readonly order_type:
    "MARKET" | "LIMIT" | "STOP_LIMIT" | "STOP_MARKET" | "TAKE_PROFIT" | "TAKE_PROFIT_MARKET" |
    "LIQUIDATE" | "AUTO_DELEVERAGE";
  readonly side: "LONG" | "SHORT";
  readonly time_in_force: "IOC" | "FOK" | "GTC" | "GTT";
  readonly post_only: boolean;
  readonly reduce_only: boolean;
  readonly expires_at: bigint | null;
  readonly price: string | null;
  readonly filled_size: string;
  readonly average_price: string | null;
  readonly stp: "EXPIRE_TAKER" | "EXPIRE_MAKER" | "EXPIRE_BOTH" | "DECREMENT";
  readonly trigger_price: string | null;
  readonly trigger_source: "MARK" | "LAST" | "INDEX" | null;
  readonly oco_group: string | null;
  readonly reason?: string;
  readonly sequence: bigint;
  readonly index: number;
  readonly time: number;
  readonly time_ns: bigint;
  readonly updated_at_ns: bigint;
  readonly book_handle: number | null;
}

export interface Fill {
  readonly account_id: bigint;
  readonly subaccount_index: number;
  readonly portfolio_index: number;
  readonly id: string;
  readonly request_id: string;
  readonly market: string;
  readonly side: "LONG" | "SHORT";
  readonly liquidity: "TAKER" | "MAKER";
  readonly price: string;
  readonly quantity: string;
  readonly fee: string;
  readonly sequence: bigint;
  readonly index: number;
  readonly time: number;
  readonly time_ns: bigint;
  readonly trade_seq: bigint | null;
}

export interface Balance {
  readonly account_id: bigint;
  readonly subaccount_index: number;
  readonly portfolio_index: number;
  readonly cash_balance: string;
  readonly name: string;
  readonly status: "ACTIVE" | "IN_LIQUIDATION" | "CLOSED";
  readonly equity: string;
  readonly initial_margin: string;
  readonly maintenance_margin: string;
  readonly withdrawable: string;
  readonly withdrawable_now: string;
}

export interface FundingPayment {
  readonly account_id: bigint;
  readonly subaccount_index: number;
  readonly portfolio_index: number;
  readonly id: string;
  readonly market: string;
  readonly funding_rate: string;
  readonly payment: string;
  readonly position_size: string;
  readonly sequence: bigint;
  readonly index: number;
  readonly time: number;
  readonly time_ns: bigint;
  readonly index_price: string;
}

export interface Position {
  readonly account_id: bigint;
  readonly subaccount_index: number;
  readonly portfolio_index: number;
  readonly id: string;
  readonly market: string;
  readonly side: "LONG" | "SHORT";
  readonly size: string;
  readonly average_entry_price: string;
  readonly net_funding: string;
  readonly mark_price: string;
  readonly unrealized_pnl: string;
  readonly liquidation_price: string | null;
  readonly leverage: number;
  readonly initial_margin: string;
  readonly maintenance_margin: string;
  readonly adl_quantile: number;
}

export interface Account {
  readonly account_id: bigint;
  readonly status: "ACTIVE" | "CLOSED";
  readonly fee_tier: number;
  readonly maker_fee_rate: string;
  readonly taker_fee_rate: string;
  readonly volume_14d: string;
  readonly label?: string;
  readonly subaccount_count: number;
  readonly slots: Slots;
}

export interface Slots {
  readonly class: "unfunded" | "small" | "full";
  readonly tables: readonly Slot[];
}

export interface Slot {
  readonly table: string;
  readonly used: number;
  readonly bound?: number;
}

export interface Subaccount {
  readonly subaccount_index: number;
  readonly status: "ACTIVE" | "CLOSED";
  readonly portfolio_count: number;
  readonly cash_balance: string;
}

export interface Session {
  readonly created_at: string;
  readonly expires_at: string;
  readonly session_id: string;
  readonly session_public_key: string;
  readonly scope: "FULL_ACCESS" | "TRADING_ONLY";
  readonly master_public_key?: string;
  readonly subaccount_index?: number;
}

export interface ApiKey {
  readonly api_key_id: string;
  readonly scope: "READ" | "READ_WRITE";
  readonly subaccount_index?: number;
  readonly label?: string;
  readonly created_at: string;
}

export interface DeviceKey {
  readonly device_key_id: string;
  readonly subaccount_index?: number;
  readonly created_at: string;
  readonly expires_at: string;
}

export interface ApiKeys {
  readonly api_keys: readonly ApiKey[];
  readonly device_keys: readonly DeviceKey[];
}

export interface MasterKey {
  readonly public_key: string;
  readonly curve: "SECP256K1" | "PASSKEY";
  readonly kind: "ADMIN" | "SCOPED";
  readonly credential_id?: string;
  readonly scope?: "FULL_ACCESS" | "TRADING_ONLY";
  readonly subaccount_index?: number;
  readonly created_at: string;
}

export interface MasterKeys {
  readonly master_keys: readonly MasterKey[];
}

export interface Request {
  readonly request_id: string;
  readonly request_type: string;
  readonly status: Status;
  readonly reason?: string;
  readonly sequence: bigint;
  readonly processed_at_ns: bigint;
  readonly results?: readonly Status[];
  readonly account_id?: bigint;
  readonly subaccount_index?: number;
  readonly portfolio_index?: number;
  readonly session_id?: string;
  readonly withdrawal_id?: string;
  readonly api_key_id?: string;
}

export interface Leverage {
  readonly leverage: number;
  readonly market: string;
  readonly portfolio_index: number;
  readonly subaccount_index: number;
}

export interface LeverageSet {
  readonly leverage: number;
  readonly market: string;
  readonly portfolio_index: number;
  readonly subaccount_index: number;
  readonly account_id: bigint;
}

export interface Portfolio {
  readonly subaccount_index: number;
  readonly portfolio_index: number;
}

export interface PortfolioStatus {
  readonly account_id: bigint;
  readonly subaccount_index: number;
  readonly portfolio_index: number;
  readonly status: "ACTIVE" | "CLOSED";
}

export interface Name {
  readonly subaccount_index: number;
  readonly name: string;
}

export interface Faucet {
  readonly subaccount_index: number;
  readonly portfolio_index: number;
  readonly amount: string;
}

export interface Envelope {
  readonly payload: string;
  readonly signature: string;
  readonly public_key?: string;
  readonly credential_id?: string;
  readonly authenticator_data?: string;
  readonly client_data_json?: string;
}

export interface Timing {
  readonly verified: number;
  readonly sequenced: number;
  readonly matched: number;
  readonly ack: number;
}

export interface RequestAck {
  readonly status: Status;
  readonly processed_at_ns: bigint;
  readonly sequence?: bigint;
  readonly reason?: string;
  readonly field?: string;
  readonly rule?: string;
  readonly retry_after_ms?: number;
  readonly original_status?: Status;
  readonly original_processed_at_ns?: bigint;
  readonly results?: readonly Status[];
  readonly withdrawal_id?: string;
  readonly subaccount_index?: number;
  readonly portfolio_index?: number;
  readonly order_status?:
    "OPEN" | "FILLED" | "CANCELED" | "REJECTED" | "UNTRIGGERED" | "PARTIALLY_FILLED" | "EXPIRED" |
    null;
  readonly remaining_size?: string | null;
  readonly filled_size?: string | null;
  readonly average_price?: string | null;
  readonly quantity_ahead?: string | null;
  readonly book_handle?: number | null;
  readonly best_bid?: string | null;
  readonly best_ask?: string | null;
  readonly book_seq?: bigint | null;
  readonly timing_ns?: Timing;
  readonly receipt?: string | null;
}

export interface SuccessAnswer {
  readonly success: boolean;
  readonly message: Status;
  readonly reason?: string;
  readonly processed_at_ns: bigint;
  readonly sequence?: bigint;
  readonly retry_after_ms?: number;
  readonly original_status?: Status;
  readonly original_processed_at_ns?: bigint;
  readonly account_id?: bigint;
  readonly kind?: "ADMIN" | "SCOPED";
  readonly scope?: "FULL_ACCESS" | "TRADING_ONLY";
  readonly subaccount_index?: number;
  readonly session_id?: string;
  readonly expires_at?: string;
  readonly api_key_id?: string;
  readonly api_key?: string;
  readonly device_key_id?: string;
  readonly device_key?: string;
  readonly receipt?: string | null;
}

export interface PairingOpened {
  readonly pairing_id: string;
  readonly write_token: string;
  readonly expires_at: string;
}

export interface PairingKeys {
  readonly ecdh_pub: string;
  readonly session_pub: string;
}

export interface PairingText {
  readonly ciphertext: string;
}

export interface PairingChanged {
  readonly pairing_id: string;
  readonly status: "DEPOSITED" | "COMPLETED";
}

export interface Pairing {
  readonly pairing_id: string;
  readonly status: "PENDING" | "DEPOSITED" | "COMPLETED";
  readonly ecdh_pub: string | null;
  readonly session_pub: string | null;
}

export interface PairingResult {
  readonly pairing_id: string;
  readonly status: "PENDING" | "DEPOSITED" | "COMPLETED";
  readonly ciphertext: string | null;
}

export interface Logout {
  readonly device_key_deleted: boolean;
  readonly session_revoked: boolean;
}

export interface Tier {
  readonly upper_notional: string | null;
  readonly max_leverage: number;
  readonly imr_ppm: number;
  readonly mmr_ppm: number;
}

export interface Fee {
  readonly tier: number;
  readonly maker_fee_rate: string;
  readonly taker_fee_rate: string;
}

export interface Market {
  readonly market: string;
  readonly asset_id: number;
  readonly base: string;
  readonly price_decimals: number;
  readonly size_decimals: number;
  readonly tick_size: string;
  readonly lot_size: string;
  readonly min_size: string;
  readonly max_order_size: string;
  readonly min_notional: string;
  readonly impact_notional: string;
  readonly max_leverage: number;
  readonly tiers: readonly Tier[];
  readonly price_band_ppm: number;
  readonly max_slippage_ppm: number;
  readonly mark_book_ppm: number;
  readonly oracle_sources_min: number;
  readonly position_limit: string;
  readonly open_interest_limit: string;
  readonly fees: readonly Fee[];
  readonly funding_interval_s: number;
  readonly max_price: string;
  readonly state: "ACTIVE" | "POST_ONLY" | "REDUCE_ONLY" | "CANCEL_ONLY" | "HALTED" | "CLOSED";
  readonly effective_at_ns?: bigint;
  readonly next_tiers?: readonly Tier[];
}

export interface Markets {
  readonly markets: readonly Market[];
}

export interface Book {
  readonly market: string;
  readonly seq: bigint;
  readonly engine_seq: bigint;
  readonly time_ns: bigint;
  readonly bids: readonly (readonly string[])[];
  readonly asks: readonly (readonly string[])[];
}

export interface BookOrder {
  readonly handle: number;
  readonly side: "LONG" | "SHORT";
  readonly price: string;
  readonly size: string;
}

export interface BookOrders {
  readonly market: string;
  readonly seq: bigint;
  readonly engine_seq: bigint;
  readonly time_ns: bigint;
  readonly orders: readonly BookOrder[];
}

export interface Trade {
  readonly price: string;
  readonly size: string;
  readonly taker_side: "LONG" | "SHORT";
  readonly liquidation: boolean;
  readonly trade_seq: bigint;
  readonly sequence: bigint;
  readonly index: number;
  readonly time: number;
  readonly time_ns: bigint;
}

export interface Trades {
  readonly market: string;
  readonly seq: bigint;
  readonly trades: readonly Trade[];
  readonly next_before_sequence: bigint | null;
  readonly next_before_index: number | null;
}

export interface Candle {
  readonly interval: "1m" | "5m" | "15m" | "1h" | "4h" | "1d";
  readonly start_time: number;
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly volume: string;
  readonly notional: string;
  readonly trade_count: number;
}

export interface Candles {
  readonly market: string;
  readonly interval: "1m" | "5m" | "15m" | "1h" | "4h" | "1d";
  readonly candles: readonly Candle[];
}

export interface Ticker {
  readonly market: string;
  readonly seq: bigint;
  readonly last_price: string | null;
  readonly mark_price: string | null;
  readonly index_price: string | null;
  readonly bid_price: string | null;
  readonly ask_price: string | null;
  readonly open_24h: string | null;
  readonly high_24h: string | null;
  readonly low_24h: string | null;
  readonly volume_24h: string;
  readonly notional_24h: string;
  readonly open_interest: string;
}

export interface Tickers {
  readonly tickers: readonly Ticker[];
}

export interface FundingRate {
  readonly funding_rate: string;
  readonly index_price: string;
  readonly time: number;
  readonly time_ns: bigint;
  readonly sequence: bigint;
  readonly index: number;
}

export interface FundingRates {
  readonly market: string;
  readonly funding_rates: readonly FundingRate[];
  readonly next_before_sequence: bigint | null;
  readonly next_before_index: number | null;
}

export interface Liquidation {
  readonly side: "LONG" | "SHORT";
  readonly price: string;
  readonly size: string;
  readonly level: number;
  readonly sequence: bigint;
  readonly index: number;
  readonly time: number;
  readonly time_ns: bigint;
}

export interface Liquidations {
  readonly market: string;
  readonly seq: bigint;
  readonly liquidations: readonly Liquidation[];
  readonly next_before_sequence: bigint | null;
  readonly next_before_index: number | null;
}

export interface Mark {
  readonly market: string;
  readonly seq: bigint;
  readonly engine_seq: bigint;
  readonly time_ns: bigint;
  readonly mark_price: string | null;
  readonly index_price: string | null;
  readonly premium: string;
  readonly predicted_funding_rate: string;
  readonly valid: boolean;
  readonly book_term: string;
  readonly third_price: string | null;
  readonly clamp_ppm: number;
  readonly in_gap: boolean;
}

export interface Movement {
  readonly sequence: bigint;
  readonly index: number;
  readonly time: number;
  readonly time_ns: bigint;
  readonly kind:
    "trade" | "fee" | "funding" | "transfer" | "deposit" | "withdrawal" | "withdrawal_reverted" |
    "faucet" | "liquidation" | "adl" | "fund" | "settlement";
  readonly amount: string;
  readonly balance_after: string;
  readonly market?: string;
  readonly ref_id: string | null;
}

export interface CashRow {
  readonly sequence: bigint;
  readonly index: number;
  readonly time: number;
  readonly time_ns: bigint;
  readonly account_id: bigint;
  readonly subaccount_index: number;
  readonly portfolio_index: number;
  readonly kind:
    "trade" | "fee" | "funding" | "transfer" | "deposit" | "withdrawal" | "withdrawal_reverted" |
    "faucet" | "liquidation" | "adl" | "fund" | "settlement";
  readonly amount: string;
  readonly balance_after: string;
  readonly market?: string;
  readonly ref_id: string | null;
}

export interface CashHistory {
  readonly history: readonly CashRow[];
  readonly next_before_sequence: bigint | null;
  readonly next_before_index: number | null;
}

export interface Fund {
  readonly balance: string;
  readonly deficit: boolean;
  readonly history: readonly Movement[];
  readonly next_before_sequence: bigint | null;
  readonly next_before_index: number | null;
}

export interface Time {
  readonly time_ms: number;
  readonly time_ns: bigint;
}

export interface State {
  readonly state: "ready" | "draining" | "lagging" | "maintenance";
  readonly applied: bigint;
  readonly durable: bigint;
  readonly lag_ms: number;
  readonly history_from_sequence: bigint;
  readonly clock_gap_ns?: bigint;
  readonly maintenance_at_ns?: bigint;
  readonly insurance_fund_deficit?: boolean;
  readonly text?: string;
  readonly head?: string;
}

export interface Head {
  readonly head: string;
}

export interface Receipt {
  readonly receipt: string;
}

export interface Heads {
  readonly heads: readonly Head[];
}

export interface Frames {
  readonly first_frame: number;
  readonly last_frame: number;
  readonly last_sequence: bigint;
  readonly segment: number;
  readonly offset: number;
  readonly block_bytes: number;
  readonly boot: number;
  readonly first_length: number;
  readonly bytes: string;
}

export interface Sealed {
  readonly open_segment: number;
  readonly sealed: boolean;
}

export interface Handover {
  readonly node: string;
}

export interface Maintenance {
  readonly maintenance_at_ns?: bigint;
}

export interface Window {
  readonly past: number;
  readonly future: number;
}

export interface Passkey {
  readonly rp_id: string;
  readonly origins: readonly string[];
}

export interface Domain {
  readonly name: string;
  readonly version: string;
  readonly salt: string;
}

export interface FeeTier {
  readonly tier: number;
  readonly volume_14d: string;
}

export interface RequestType {
  readonly code: number;
  readonly name: string;
  readonly path: string | null;
}

export interface ReasonCode {
  readonly code: number;
  readonly name: string;
}

export interface Exchange {
  readonly exchange_id: string;
  readonly signing_public: string;
  readonly eip712_domain: Domain;
  readonly operator_domain: string;
  readonly rules_version: number;
  readonly epoch: number;
  readonly testnet: boolean;
  readonly durability: string;
  readonly request_id_window_ms: Window;
  readonly passkey?: Passkey;
  readonly limits: unknown;
  readonly fee_tiers: readonly FeeTier[];
  readonly request_types: readonly RequestType[];
  readonly statuses: readonly Status[];
  readonly reasons: readonly ReasonCode[];
}

export interface Latency {
  readonly since_ns: bigint;
  readonly stages: readonly LatencyStage[];
}

export interface LatencyStage {
  readonly stage: "verified" | "pushed" | "sequenced" | "matched" | "released" | "sent" | "read";
  readonly count: number;
  readonly sum_ns: bigint;
  readonly buckets: readonly (readonly number[])[];
}

export interface Limits {
  readonly limits: unknown;
  readonly rate_limits: boolean;
  readonly remaining?: Remaining;
  readonly slots?: Slots;
}

export interface Remaining {
  readonly public: number;
  readonly signature: number;
  readonly creation: number;
  readonly read?: number;
  readonly write?: number;
  readonly cancel?: number;
}

export interface TypedDataTypes {
  readonly types: unknown;
  readonly primaryType: string;
  readonly domain: Domain;
}

export interface TypedData {
  readonly types: unknown;
  readonly primaryType: string;
  readonly domain: Domain;
  readonly message: unknown;
}

export interface PreviewBody {
  readonly payload: string;
}

export interface Preview {
  readonly typed_data: TypedData;
  readonly domain_separator: string;
  readonly struct_hash: string;
  readonly digest: string;
}

export interface PayloadField {
  readonly offset: number;
  readonly size: number;
  readonly name: string;
  readonly kind: string;
  readonly hex: string;
  readonly value: string;
}

export interface PayloadCheck {
  readonly check: string;
  readonly ok: boolean;
  readonly code?: string;
  readonly detail?: string;
}

export interface PayloadMistake {
  readonly mistake: Mistake;
  readonly detail: string;
}

export interface PayloadReport {
  readonly request_type: number | null;
  readonly name: string | null;
  readonly request_id: string | null;
  readonly fields: readonly PayloadField[];
  readonly fields_error?: string;
  readonly digest: string | null;
  readonly checks: readonly PayloadCheck[];
  readonly mistakes: readonly PayloadMistake[];
  readonly proved: boolean;
}

export interface Withdrawal {
  readonly withdrawal_id: string;
  readonly account_id: bigint;
  readonly subaccount_index: number;
  readonly portfolio_index: number;
  readonly amount: string;
  readonly destination: string;
  readonly requested_at_ns: bigint;
  readonly status: "pending" | "settled" | "reverted";
  readonly sequence: bigint;
  readonly index: number;
}

export interface Withdrawals {
  readonly withdrawals: readonly Withdrawal[];
  readonly next_before_sequence: bigint | null;
  readonly next_before_index: number | null;
}

export interface Audit {
  readonly sequence: bigint;
  readonly markets: readonly unknown[];
  readonly totals: unknown;
  readonly i1: boolean;
  readonly i2: boolean;
  readonly i3: boolean;
  readonly i4: boolean;
  readonly i5: boolean;
  readonly i6: boolean;
  readonly i7: boolean;
  readonly i8: boolean;
  readonly i9: boolean;
  readonly i10: boolean;
  readonly solvency: unknown;
  readonly recount_differences: number;
}

export interface Live {
  readonly live: boolean;
}

export interface Ready {
  readonly ready: boolean;
  readonly reasons: readonly string[];
  readonly applied: bigint;
  readonly durable: bigint;
  readonly lag_ms: number;
  readonly clock_difference_ms: number;
  readonly replay_percent: number;
  readonly clock_gap_ns?: bigint;
}

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ProblemCode;
  readonly detail: string;
  readonly server_time_ms?: number;
  readonly request_type?: number;
  readonly parameter?: string;
  readonly field?: string;
  readonly max_bytes?: number;
  readonly retry_after_ms?: number;
  readonly lag_ms?: number;
}

export type Status =
  "request_completed" |
  "duplicate_request_id" |
  "request_dropped" |
  "retry_required" |
  "rejected_unauthorized" |
  "rejected_rate_limited" |
  "rejected_account_suspended" |
  "order_rejected_invalid" |
  "order_rejected_expired" |
  "order_rejected_internal" |
  "order_rejected_invalid_market" |
  "rejected_invalid_portfolio_id" |
  "rejected_invalid_price" |
  "rejected_invalid_size" |
  "rejected_size_zero" |
  "rejected_size_not_equal" |
  "rejected_order_not_found" |
  "rejected_invalid_uuid" |
  "rejected_mark_price_zero" |
  "rejected_invalid_order_flags" |
  "invalid_reduce_only_order" |
  "rejected_slippage_exceeds_maximum" |
  "rejected_self_transfer" |
  "self_trade_prevention" |
  "rejected_max_open_orders_exceeded" |
  "rejected_post_only_would_cross_book" |
  "rejected_market_not_found" |
  "rejected_market_halted" |
  "rejected_market_reduce_only" |
  "rejected_market_post_only" |
  "rejected_market_cancel_only" |
  "market_closed" |
  "insufficient_margin_to_place" |
  "insufficient_margin_to_trade" |
  "rejected_insufficient_free_equity" |
  "rejected_f_o_k_not_fully_filled_insufficient_margin" |
  "rejected_f_o_k_not_fully_filled_low_liquidity" |
  "rejected_max_conditional_orders_exceeded" |
  "rejected_trigger_already_satisfied" |
  "conditional_order_on_books" |
  "conditional_order_not_found" |
  "rejected_conditional_order_expired" |
  "rejected_invalid_trigger" |
  "master_key_added" |
  "master_key_removed" |
  "master_key_rejected_invalid" |
  "master_key_rejected_unauthorized" |
  "master_key_rejected_self_removal" |
  "master_key_rejected_last_key" |
  "session_created" |
  "session_revoked" |
  "session_rejected" |
  "session_rejected_max_sessions" |
  "account_created_with_session" |
  "creation_rejected" |
  "account_created_session_failed";

export type Mistake =
  "url_safe_base64" |
  "unpadded_base64" |
  "der_signature" |
  "wallet_signature" |
  "high_s" |
  "uncompressed_key" |
  "address_as_key" |
  "base64_signed" |
  "hex_signed" |
  "hash_signed" |
  "header_missing" |
  "padding_missing" |
  "big_endian" |
  "id_as_text" |
  "id_v4" |
  "time_unit" |
  "wrong_salt" |
  "domain_missing" |
  "personal_sign" |
  "payload_challenge" |
  "operator_domain";

export type ProblemCode =
  "malformed_request" |
  "malformed_payload" |
  "malformed_json" |
  "invalid_base64" |
  "request_id_not_v7" |
  "request_timestamp_out_of_window" |
  "request_type_not_allowed" |
  "unsupported_version" |
  "passkey_requires_json" |
  "invalid_parameter" |
  "invalid_market" |
  "invalid_signature" |
  "signature_type_mismatch" |
  "passkey_public_key_mismatch" |
  "passkey_type" |
  "passkey_challenge" |
  "passkey_origin" |
  "passkey_cross_origin" |
  "passkey_rp_id" |
  "passkey_user_presence" |
  "passkey_user_verification" |
  "invalid_api_key" |
  "invalid_device_key" |
  "invalid_token" |
  "subaccount_not_permitted" |
  "read_only_key" |
  "origin_not_allowed" |
  "host_not_allowed" |
  "not_leader" |
  "not_found" |
  "portfolio_not_found" |
  "order_not_found" |
  "account_not_found" |
  "request_not_found" |
  "method_not_allowed" |
  "request_timeout" |
  "portfolio_not_active" |
  "portfolio_not_empty" |
  "portfolio_not_closed" |
  "subaccount_not_active" |
  "insufficient_free_equity" |
  "faucet_limit_exceeded" |
  "limit_reached" |
  "pairing_already_used" |
  "pairing_not_deposited" |
  "pairing_expired" |
  "payload_too_large" |
  "unsupported_media_type" |
  "rate_limited" |
  "headers_too_large" |
  "internal_error" |
  "not_ready" |
  "outcome_unknown" |
  "too_many_connections";
