// A class for users of ccxt: `const Perpd = perpdOf(ccxt)`. ccxt is the caller's, so this library needs
// no other package.

import { moreOf } from "./ccxt_more.js";
import { restOf } from "./ccxt_rest.js";
import type { Ccxt, PerpdExchange } from "./ccxt_shape.js";
import { watchOf } from "./ccxt_watch.js";

export type { Ccxt, CcxtExchange, PerpdExchange } from "./ccxt_shape.js";

/** The class of this ccxt. Config: apiKey, privateKey (the text of a session's key file, or the Base64 of
 * its seed), urls.api, options.subaccount, options.portfolio, options.allowPlain, options.streamOrders
 * (signed requests go over the stream), options.WebSocket (a class of them; Node 20 has none of its own). */
export function perpdOf(ccxt: Ccxt): new (config?: object) => PerpdExchange {
  return watchOf(ccxt, moreOf(ccxt, restOf(ccxt)));
}
