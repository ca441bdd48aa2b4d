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
