// money.mjs FILE PORT ACCOUNT KEY API_KEY - what the page's own code makes of typed amounts, sent to a running perpd: 10,000 up to
// 2^63, which perpd reads from the signed bytes (POST /debug/payload); and orders within the bounds of a market, read back.
// FILE is a module made of web/src/*.ts, KEY the session key as PKCS #8 in Base64. Prints how many checks it made.
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';

const [file, port, account, key, publicKey, apiKey] = process.argv.slice(2);
const { fetch } = globalThis;
globalThis.fetch = (path, init) => fetch(`http://localhost:${port}${path}`, init);
globalThis.requestAnimationFrame = () => 0;
globalThis.location = { protocol: 'http:', host: 'a', origin: 'a' };
const made = await import(pathToFileURL(file).href);
const signer = await crypto.subtle.importKey('pkcs8', Buffer.from(key, 'base64'), 'Ed25519', false, ['sign']);
let checks = 0;
const same = (...values) => (checks++, assert.deepEqual(...values));
let seed = 4711n;
const random = () => (seed = (seed * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n));
const upTo = (bits) => 1n + (random() >> (64n - BigInt(1n + (random() >> 33n) % BigInt(bits)))); // of each length alike

const typed = { kind: 'limit', atLimit: false, trigger: '', tif: 'GTC', lifeMs: 60_000, stp: 0, slippage: '', postOnly: true, reduceOnly: false, oco: '', changes: null };
async function send(order, market, path) {
  const judged = made.judgeOrder(order, market);
  same(judged.faults, []);
  const request = made.orderRequest(order, market, judged, BigInt(account));
  const payload = made.makePayload(request.name, 'session', request.values);
  const signature = made.base64(new Uint8Array(await crypto.subtle.sign('Ed25519', signer, payload.bytes)));
  const one = new made.Submission(payload, { payload: made.base64(payload.bytes), public_key: publicKey, signature }, path);
  await one.send();
  return one;
}
async function each(count, many, one) {
  for (let done = 0; done < count; done += many) await Promise.all(Array.from({ length: many }, (_, at) => one(done + at)));
}

const record = { market: 'X-PERP', base: 'X', asset_id: 1, price_decimals: 6, size_decimals: 5, tick_size: '0.000001', lot_size: '0.00001', min_notional: '0',
  max_order_size: '92233720368547.75807', price_band_ppm: 100_000, max_slippage_ppm: 50_000, fees: [{ taker_fee_rate: '0.00045' }] };
await each(5000, 50, async (turn) => { // two amounts each
  const [price, size] = [upTo(63), upTo(63) - 1n || 1n];
  const side = turn % 2 ? 'buy' : 'sell';
  const digits = (value, decimals) => made.shown(value, decimals).replaceAll(',', ''); // typed as it is shown
  const { answer } = await send({ ...typed, side, price: digits(price, 6), size: digits(size, 5) }, new made.Market(record), '/api/v1/debug/payload');
  same(answer.checks.filter((one) => one.check === 'signature').map((one) => one.ok), [true]);
  const read = Object.fromEntries(answer.fields.map(({ name, value, hex }) => [name, [value.split(' ')[0], hex]]));
  const bytes = (value) => Buffer.from(BigInt.asUintN(64, value).toString(16).padStart(16, '0'), 'hex').reverse().toString('hex');
  const quantity = side === 'buy' ? size : -size;
  same([read.price, read.quantity], [[String(price), bytes(price)], [String(quantity), bytes(quantity)]]);
});

// Orders of a real market, in turns that fit into an account; those that rest are read back as they were typed.
const { markets } = await made.get('/markets');
const market = new made.Market(markets.find((row) => row.market === 'BTC-PERP'));
for (let round = 0; round < 20; round++) {
  const wanted = new Map();
  await each(50, 10, async () => {
    const [price, size] = [990_000n - random() % 80_000n, 100n + upTo(20)];
    const order = { ...typed, side: 'buy', price: made.apiText(price, 1), size: made.apiText(size, 5) };
    const one = await send(order, market);
    same([one.state, one.status, one.answer.remaining_size], ['acknowledged', 'request_completed', order.size]);
    wanted.set(one.payload.id, [order.price, order.size, market.shownPrice(price), market.shownSize(size)]);
  });
  const rows = await made.get('/orders?status=OPEN&limit=100', apiKey);

  same(new Map(rows.map((row) => [row.id, [row.price, row.remaining_size, made.shownText(row.price, 1), made.shownText(row.remaining_size, 5)]]).sort()), new Map([...wanted].sort()));
  const all = made.makePayload('cancel_all_orders', 'session', { portfolio_id: made.portfolioBytes(BigInt(account)), asset: 0xffffn, side: 0n, include_conditional: true });
  const signature = made.base64(new Uint8Array(await crypto.subtle.sign('Ed25519', signer, all.bytes)));
  const gone = new made.Submission(all, { payload: made.base64(all.bytes), public_key: publicKey, signature });
  await gone.send();
  same(gone.status, 'request_completed');
}
console.log(checks);
