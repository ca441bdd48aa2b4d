/* What the console says, in one place. */
import type { ChipState } from './stream';

export const CHIP: Record<ChipState, { word: string; icon: string; tone: string }> = {
  connecting: { word: 'Connecting', icon: '◌', tone: 'wait' },
  loading: { word: 'Loading', icon: '◌', tone: 'wait' },
  live: { word: 'Live', icon: '●', tone: 'good' },
  lagging: { word: 'Lagging', icon: '◐', tone: 'warn' },
  gap: { word: 'Gap', icon: '◇', tone: 'warn' },
  stale: { word: 'Stale', icon: '▲', tone: 'bad' },
  reconnecting: { word: 'Reconnecting', icon: '↻', tone: 'bad' },
  slow: { word: 'Too slow', icon: '↻', tone: 'bad' },
  draining: { word: 'Stopping', icon: '▲', tone: 'warn' },
};

/** A status, reason or problem code in words; one that is new shows itself. */
export function statusText(code: string): string {
  return STATUS[code] ?? code.replaceAll('_', ' ').toLowerCase();
}

const STATUS: Record<string, string> = {
  OPEN: 'it rests in the book',
  FILLED: 'all of it is filled',
  PARTIALLY_FILLED: 'a part is filled, the rest is in the book',
  CANCELED: 'what did not trade is cancelled',
  rejected_mark_price_zero: 'the market has no price yet',
  rejected_f_o_k_not_fully_filled_low_liquidity: 'not enough orders to fill all of it at once',
  rejected_f_o_k_not_fully_filled_insufficient_margin: 'not enough margin to fill all of it at once',
  rejected_post_only_would_cross_book: 'it would have traded at once, and is post only',
  insufficient_margin_to_place: 'not enough margin for this order',
  insufficient_margin_to_trade: 'not enough margin for this trade',
  rejected_order_not_found: 'the order is gone already',
  rejected_invalid_price: 'the price is outside what the market takes',
  invalid_reduce_only_order: 'there is no position that it would reduce',
  request_completed: 'done',
  duplicate_request_id: 'done before',
  no_answer: 'the exchange did not answer',
};

export const MARKET_STATE: Record<string, string> = {
  ACTIVE: 'active',
  HALTED: 'halted',
  REDUCE_ONLY: 'reduce only',
  POST_ONLY: 'post only',
  CANCEL_ONLY: 'cancel only',
  CLOSING: 'closing',
  CLOSED: 'closed',
};

/** Where a frame's data stands, by the state of its subscription. */
export const DATA_STATE: Record<string, string> = {
  loading: 'loading',
  live: 'live',
  gap: 'resuming after a gap',
  stale: 'stale',
};
