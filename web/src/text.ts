/* What the console says, in one place. */
import type { ChipState } from './stream';
import type { Refusal } from './subscription';

export const CHIP: Record<ChipState, { word: string; icon: string; tone: string }> = {
  connecting: { word: 'Connecting', icon: '◌', tone: 'wait' },
  loading: { word: 'Loading', icon: '◌', tone: 'wait' },
  live: { word: 'Live', icon: '●', tone: 'good' },
  lagging: { word: 'Lagging', icon: '◐', tone: 'warn' },
  gap: { word: 'Gap', icon: '◇', tone: 'warn' },
  stale: { word: 'Stale', icon: '▲', tone: 'bad' },
  reconnecting: { word: 'Reconnecting', icon: '↻', tone: 'bad' },
  slow: { word: 'Too slow', icon: '↻', tone: 'bad' },
  partial: { word: 'Incomplete', icon: '◑', tone: 'warn' },
  draining: { word: 'Stopping', icon: '▲', tone: 'warn' },
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
  refused: 'refused',
};

/** A code in words; the code itself until what acts for an account, which has the words, is there. */
export const words = { status: (code: string): string => code };

/** What a reader may do about a subscription that the exchange refuses. */
export function refusalAdvice({ code, parameter }: Refusal): string {
  if (parameter === 'channel')
    return 'The page follows as much as the exchange gives to one connection: the operator may raise limits.stream_subscriptions.';
  if (code === 'invalid_parameter') return 'The exchange may know other markets now: reload the page.';
  if (code === 'invalid_api_key') return 'Forget this device and sign in again.';
  return 'It is asked for again by itself.';
}
