// An account from nothing: a master key opens it, a session key may then trade for it, and an API key
// reads.

import { PerpdError } from "./errors.js";
import type { MasterKey } from "./master.js";
import { Session } from "./session.js";
import type { SessionKey } from "./sign.js";

const DAY_NS = 86_400_000_000_000n;
const NS_PER_MS = 1_000_000n;
const WHOLE_ACCOUNT = -1;
const TRIES = 2;

/** What was opened. The exchange shows the API key, a secret, once. */
export interface Opened {
  readonly accountId: bigint;
  readonly apiKey: string;
}

export interface Opening {
  readonly days?: number;
  readonly label?: string;
  readonly allowPlain?: boolean;
  readonly timeoutMs?: number;
}

/** Opens an account of `master`, lets `session` trade for it for so many days, and makes an API key that
 * reads and sets. Both secrets stay with the caller: who loses that of `master` loses the account.
 * Rejected: the key has an account already (`creation_rejected`), or the exchange takes none now.
 * Problem, Lost: what became of it is not known; a call with the same keys tells an account that is
 * there by `creation_rejected`. Where the answer with the API key is lost another one is made, once;
 * PerpdError: that is lost too. */
export async function openAccount(address: string | readonly string[], master: MasterKey,
  session: SessionKey, { days = 7, label = "", allowPlain = false, timeoutMs = 10_000 }: Opening = {})
  : Promise<Opened> {
  const made = new Session(typeof address === "string" ? [address] : address, { key: master,
    subaccount: 0, portfolio: 0, allowPlain, timeoutMs, onIntent: () => undefined });
  try {
    await made.open();
    const { sender, clock } = made;
    const opened = await sender.result(await sender.begin("create_account_secp256k1", {
      session_pub: session.publicKey, label, session_scope: "TRADING_ONLY",
      session_expires_at: BigInt(Math.floor(clock.nowMs())) * NS_PER_MS + BigInt(days) * DAY_NS }));
    const accountId = BigInt(String(opened.answer["account_id"]));
    for (let count = 0; count < TRIES; count += 1) { // the answer to a repetition shows no key
      const shown = await sender.result(await sender.begin("create_api_key", {
        account_id: accountId, subaccount_pin: WHOLE_ACCOUNT, scope: "READ_WRITE", label }));
      const apiKey = shown.answer["api_key"];
      if (typeof apiKey === "string") return { accountId, apiKey };
    }
    throw new PerpdError(`account ${accountId} is open; the answers with its API keys were lost`);
  } finally {
    made.close();
  }
}
