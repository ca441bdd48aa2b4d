// account_from_scratch.js URL FOLDER - makes a master key and a session key in FOLDER, opens an account
// with them on a test exchange, takes test money, places an order and cancels it.
import process from "node:process";
import { access, writeFile } from "node:fs/promises";
import { connect, MasterKey, openAccount, SessionKey } from "perpd";
import { WebSocket } from "ws"; // Node 22 has its own

/** A file that nobody else may read. */
async function keep(path: string, text: string): Promise<void> {
  await writeFile(path, `${text}\n`, { mode: 0o600, flag: "wx" });
}

/** A new secret, kept before it owns anything. */
async function made(path: string): Promise<Uint8Array> {
  const secret = crypto.getRandomValues(new Uint8Array(32));
  await keep(path, btoa(String.fromCharCode(...secret)));
  return secret;
}

const [url = "", folder = ""] = process.argv.slice(2);
for (const file of ["master.key", "session.key", "reads.api"]) { // before anything is made
  const isThere = await access(`${folder}/${file}`).then(() => true, () => false);
  if (isThere) throw new Error(`${folder}/${file} is there already, and may own money`);
}
const reader = await connect(url, { WebSocket });
const { exchange_id: exchangeId } = await reader.exchange();
reader.close();
const master = new MasterKey(await made(`${folder}/master.key`), exchangeId);
const session = await SessionKey.ofSeed(await made(`${folder}/session.key`));
const opened = await openAccount(url, master, session, { label: "from scratch" });
await keep(`${folder}/reads.api`, opened.apiKey);
const ex = await connect(url, { key: session, apiKey: opened.apiKey, WebSocket });
await ex.faucet("10000");
const market = await ex.market("BTC-PERP");
const price = market.roundPrice((await ex.mark(market)).price.timesBps(-500n), "down");
const order = await ex.place(market, "buy", "0.01", price, { postOnly: true });
console.log(`${opened.accountId} ${order.status}`);
await order.cancel();
ex.close();
