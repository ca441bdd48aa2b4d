/* Actions of the operator as a command of perp to copy, and the bytes that it will sign. No key is on this page. */
import { integerBytes, joinBytes, uuidBytes } from './bytes';
import { type Payload, makePayload } from './payload';

export const STATES = ['ACTIVE', 'POST_ONLY', 'REDUCE_ONLY', 'CANCEL_ONLY', 'HALTED', 'CLOSED'] as const;

export const ACTIONS = {
  market_state: 'state of a market',
  halt_all: 'state of all markets',
  withdrawal_settle: 'a withdrawal',
  suspend_account: 'suspend or resume an account',
  operator_cancel: 'cancel orders',
} as const;
export type ActionName = keyof typeof ACTIONS;

/** What was typed and chosen; fields that an action does not have do not count. */
export type Action = {
  name: ActionName; market: string; state: string; withdrawal: string; outcome: 'settle' | 'revert';
  account: string; isSuspended: boolean; whose: string; order: string; keyFile: string; url: string; isForced: boolean;
};

/** A market by its name, with the number that is signed. */
export type MarketId = { market: string; asset: bigint };

export type Composed = { command: string; payload: Payload } | { fault: string };

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ALL = 0xffffffffn;
const U64 = 1n << 64n;
const WHOSE = /^(\d{1,20})(?:\/(\d{1,10})(?:\/(\d{1,10}))?)?$/;

/** A word for the shell. */
const word = (text: string) => (/^[\w./:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** The portfolios that orders are cancelled of: an account, a subaccount or a portfolio. */
function portfolios(text: string): Uint8Array | null {
  const found = WHOSE.exec(text);
  if (found === null || BigInt(found[1]) >= U64) return null;
  const [subaccount, portfolio] = [found[2], found[3]].map((one) => (one === undefined ? ALL : BigInt(one)));
  if (found[2] !== undefined && subaccount >= ALL) return null;
  if (found[3] !== undefined && portfolio >= ALL) return null;
  return joinBytes(integerBytes(BigInt(found[1]), 8), integerBytes(subaccount, 4), integerBytes(portfolio, 4));
}

function parts(action: Action, markets: readonly MarketId[]): { words: string[]; payload: () => Payload } | string {
  const market = markets.find((one) => one.market === action.market);
  const state = BigInt(STATES.indexOf(action.state as (typeof STATES)[number]));
  switch (action.name) {
    case 'market_state':
      if (market === undefined) return 'Choose a market.';
      return {
        words: ['market', 'state', action.market, action.state, ...(action.isForced ? ['--force'] : [])],
        payload: () => makePayload('market_state', 'session', { asset: market.asset, state, force: action.isForced }),
      };
    case 'halt_all':
      if (action.state === 'CLOSED') return 'CLOSED is for one market at a time.';
      return { words: ['market', 'halt-all', action.state], payload: () => makePayload('halt_all', 'session', { state }) };
    case 'withdrawal_settle':
      if (!UUID.test(action.withdrawal)) return 'Give the id of a withdrawal: the list of Money has them.';
      return {
        words: ['withdrawal', action.outcome, action.withdrawal],
        payload: () => makePayload('withdrawal_settle', 'session', { withdrawal_id: uuidBytes(action.withdrawal), outcome: action.outcome === 'settle' ? 0n : 1n }),
      };
    case 'suspend_account':
      if (!/^\d{1,20}$/.test(action.account) || BigInt(action.account) >= U64) return 'Give the number of an account.';
      return {
        words: [action.isSuspended ? 'suspend' : 'resume', action.account],
        payload: () => makePayload('suspend_account', 'session', { account_id: BigInt(action.account), suspended: action.isSuspended }),
      };
    case 'operator_cancel': {
      const whose = portfolios(action.whose);
      if (whose === null) return 'Give an account, a subaccount or a portfolio: 7, 7/0 or 7/0/1.';
      if (action.order !== '' && !UUID.test(action.order)) return 'The id of the order is a UUID.';
      if (action.order !== '' && market === undefined) return 'An order has a market: choose it.';
      return {
        words: ['operator', 'cancel', action.whose, ...(market === undefined ? [] : [action.market]), ...(action.order === '' ? [] : [action.order])],
        payload: () => makePayload('operator_cancel', 'session', {
          portfolio_id: whose, asset: market?.asset ?? 0xffffn, order_id: action.order === '' ? new Uint8Array(16) : uuidBytes(action.order),
        }),
      };
    }
  }
}

/** The command and its bytes, or what is missing. The id in the bytes is one of now; perp makes its own. */
export function compose(action: Action, markets: readonly MarketId[]): Composed {
  const found = parts(action, markets);
  if (typeof found === 'string') return { fault: found };
  if (action.keyFile.trim() === '') return { fault: 'Give the file of the operator\u2019s key.' };
  const words = ['perp', ...found.words, '--operator-key', action.keyFile.trim(), '--url', action.url.trim()];
  return { command: words.map(word).join(' '), payload: found.payload() };
}
