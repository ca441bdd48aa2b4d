// console.mjs FILE VECTORS - what the console computes without a page: exact amounts, 64-bit integers in JSON,
// checksums, ladders. FILE is a module made of web/src/*.ts, VECTORS those of
// EIP-712. Prints the byte tables of all requests that it makes, then how many checks it made.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

globalThis.requestAnimationFrame = () => 0;
globalThis.location = { protocol: 'http:', host: 'a', origin: 'a' };
const made = await import(pathToFileURL(process.argv[2]).href);
const { parseBySource, parseByRewrite, writeJson, parseRaw, apiText, shown, shownText, percentText } = made;
const { crc32c, Book, Market, ladder } = made;
let checks = 0;
const same = (...values) => (checks++, assert.deepEqual(...values));

// A label that holds digits stays as it is; no integer passes through a double.
const text = '{"sequence":9007199254740993,"small":42,"time_ns":1755582431900112233,"minus":-9223372036854775808,' +
  '"label":"a 1755582431900112233 \\"9007199254740993,\\" b","rate":0.5,"list":[18446744073709551615]}';
const wanted = { sequence: 9007199254740993n, small: 42, time_ns: 1755582431900112233n, minus: -9223372036854775808n,
  label: 'a 1755582431900112233 "9007199254740993," b', rate: 0.5, list: [18446744073709551615n] };
for (const parse of [parseByRewrite, parseBySource]) {
  if (parse === parseBySource && parse('9007199254740993') !== 9007199254740993n) continue; // an older engine
  same(parse(text), wanted);
  same(writeJson(parse(text)), text);
}

same(parseByRewrite('[-12345678901234567,1234567890123456.5,0.12345678901234567890,1e5]'), [-12345678901234567n, 1234567890123456.5, 0.12345678901234568, 1e5]);
const started = performance.now();
assert.throws(() => parseByRewrite(`"${'\\"'.repeat(200_000)}`));
assert.ok(performance.now() - started < 5000); // 200,000 beginnings of texts, each looked at to the end, take longer

// Each digit of 10,000 amounts up to 2^63 is kept from text to text.
let seed = 12345n;
const random = () => (seed = (seed * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n));
for (let turn = 0; turn < 10_000; turn++) {
  const value = (random() >> 1n) * (turn % 2 ? 1n : -1n);
  const decimals = turn % 7;
  const api = apiText(value, decimals);
  same(parseRaw(api, decimals), value);
  const screen = shown(value, decimals);
  same(parseRaw(screen.replaceAll(',', '').replace('\u2212', '-'), decimals), value);
  same(shownText(api, decimals), screen);
}
same(parseRaw('1.2345', 3), null);
same(parseRaw('1.2340', 3), 1234n);
for (const bad of ['', '.', '1.', '.5', '1e5', '+1', '1,000', ' 1', '0x1', '\u0661']) same(parseRaw(bad, 6), null);
same(percentText('0.0000125'), '0.00125 %');
same(percentText('-0.12'), '\u221212.0000 %');

// The check value of CRC-32C.
same(crc32c('123456789'), 0xe3069283);

// A book after random updates is what a plain map of levels says, grouped or not.
const market = new Market({ market: 'BTC-PERP', price_decimals: 1, size_decimals: 5, tick_size: '0.1', lot_size: '0.00001' });
const book = new Book(market);
const model = { bids: new Map(), asks: new Map() };
book.load({ bids: [], asks: [] });
for (let turn = 0; turn < 10_000; turn++) {
  const side = random() % 2n ? 'bids' : 'asks';
  const price = (side === 'bids' ? 10_000n : 10_200n) + (random() >> 40n) % 200n;
  const size = random() % 3n === 0n ? 0n : 1n + (random() >> 44n);
  book.update({ bids: [], asks: [], [side]: [[apiText(price, 1), apiText(size, 5)]] });
  if (size === 0n) model[side].delete(price);
  else model[side].set(price, size);
  if (turn % 500 !== 499) continue;
  const bids = [...model.bids].sort((a, b) => Number(b[0] - a[0]));
  const asks = [...model.asks].sort((a, b) => Number(a[0] - b[0]));
  same(book.bids.map((level) => [level.price, level.size]), bids);
  same(book.asks.map((level) => [level.price, level.size]), asks);
  const best = [...bids.slice(0, 25), ...asks.slice(0, 25)];
  same(book.crc(), crc32c(best.map(([at, of]) => `${apiText(at, 1)}:${apiText(of, 5)};`).join('')));
  for (const step of [1n, 10n, 100n, 1000n])
    for (const [name, levels] of [['bids', bids], ['asks', asks]]) {
      const groups = new Map();
      for (const [at, of] of levels) {
        const key = name === 'bids' ? (at / step) * step : ((at + step - 1n) / step) * step;
        groups.set(key, (groups.get(key) ?? 0n) + of);
      }
      const rungs = ladder(book, name, step, 500);
      same(rungs.map((rung) => [rung.price, rung.size]), [...groups]);
      same(rungs.at(-1)?.total, [...groups.values()].reduce((sum, one) => sum + one, 0n));
    }
}
// The last step of a book that may go on says so, unless its last price is the end of it.
const cut = new Book(market);
const steps = (depth, step) => {
  cut.load({ bids: [['100.5', '3'], ['100', '1'], ['99.5', '2']], asks: [['101', '1'], ['101.5', '1'], ['102', '2']] }, depth);
  return ['bids', 'asks'].map((side) => ladder(cut, side, step, 9).map((rung) => [rung.price, rung.size / 100_000n, rung.isPart]));
};
same(steps(3, 10n), [[[1000n, 4n, false], [990n, 2n, true]], [[1010n, 1n, false], [1020n, 3n, false]]]);
same(steps(3, 100n), [[[1000n, 4n, false], [900n, 2n, true]], [[1100n, 4n, true]]]);
same(steps(4, 100n), [[[1000n, 4n, false], [900n, 2n, false]], [[1100n, 4n, false]]]);
same(steps(3, 5n).flat().some((rung) => rung[2]), false);
// Fills of a candle are one mark a side; those before the first candle none.
const candles = new made.Candles(market, '1m', null);
candles.rows = [{ start: 60_000 }, { start: 120_000 }];
const fills = [[130_000, 'LONG', '0.5'], [125_000, 'SHORT', '0.1'], [121_000, 'LONG', '0.25'], [119_999, 'LONG', '1'], [59_999, 'LONG', '1']];
same(candles.marks(fills.map(([time, side, quantity]) => ({ time, side, quantity }))).map((one) => [one.start, one.isBuy, one.size]),
  [[60_000, true, 100_000n], [120_000, true, 75_000n], [120_000, false, 10_000n]]);
// Lines: at a price the depth is what rests at it or better; axes have round values.
const depth = made.depthLines(market, [{ price: 1000n, size: 100_000n }, { price: 990n, size: 50_000n }],
  [{ price: 1010n, size: 20_000n }, { price: 1030n, size: 20_000n }]);
same(depth.map(made.corners), [[[97.8, 1.5], [97.8, 1.5], [99, 1.5], [99, 1], [100, 1]], [[101, 0.2], [103, 0.2], [103, 0.4], [103.2, 0.4], [103.2, 0.4]]]);
// One order far away does not press the others together: of 21 bids the 19 nearest fix what is shown.
const near = Array.from({ length: 20 }, (_, at) => ({ price: 1000n - BigInt(at), size: 10_000n }));
const [buys, sells] = made.depthLines(market, [...near, { price: 500n, size: 1_000_000n }], [{ price: 1002n, size: 20_000n }]);
same([buys.points[0], buys.points.at(-1), buys.points.length], [[98, 2], [100, 0.1], 21]);
same(sells.points, [[100.2, 0.2], [102.2, 0.2]]);
// One level a side is a line of each.
same(made.depthLines(market, [{ price: 1000n, size: 10_000n }], [{ price: 1002n, size: 20_000n }]).map((line) => line.points),
  [[[99.9, 0.1], [100, 0.1]], [[100.2, 0.2], [100.3, 0.2]]]);
same(made.depthLines(market, [{ price: 980n, size: 1000n }], []).map((line) => line.points), [[[97.9, 0.01], [98, 0.01]], []]);
same(made.corners({ tone: 'dim', points: [[1, 2], [3, 4]] }), [[1, 2], [3, 4]]);
same(made.roundValues(3, 101, 5), [20, 40, 60, 80, 100]);
same(made.roundValues(0.02, 0.11, 9).map((one) => one.toFixed(2)), ['0.02', '0.03', '0.04', '0.05', '0.06', '0.07', '0.08', '0.09', '0.10', '0.11']);
same([made.roundValues(7, 7, 4), made.roundValues(0, 100, 0)], [[7], [0, 100]]);

// What is typed is taken as it is, or refused with the two values on the step around it.
const typed = { side: 'sell', kind: 'limit', atLimit: false, trigger: '', tif: 'GTC', lifeMs: 60_000, stp: 0, slippage: '', postOnly: false, reduceOnly: false, oco: '', changes: null };
const coarse = new made.Market({ market: 'X-PERP', base: 'X', asset_id: 7, price_decimals: 3, size_decimals: 3,
  tick_size: '0.025', lot_size: '0.01', min_notional: '1', max_order_size: '2000000', price_band_ppm: 100_001, max_slippage_ppm: 50_000,
  fees: [{ taker_fee_rate: '0.00045' }] });
for (let turn = 0; turn < 10_000; turn++) {
  const price = 1_000n + (random() >> 30n);
  const size = 1_000n + (random() >> 34n);
  const order = { ...typed, price: apiText(price, 3), size: apiText(size, 3) };
  const { faults, ...judged } = made.judgeOrder(order, coarse);
  const wanted = [['price', price, 25n], ['size', size, 10n]].filter(([, value, step]) => value % step !== 0n)
    .map(([field, value, step]) => [field, [value - (value % step), value - (value % step) + step].map((one) => apiText(one, 3))]);
  same(faults.map((fault) => [fault.field, fault.nearest]), wanted);
  if (wanted.length > 0) continue;
  same([judged.price, judged.size, judged.notional], [price, size, price * size]);
  const request = made.orderRequest(order, coarse, judged, 9n);
  const payload = made.makePayload(request.name, 'session', request.values);
  const rows = made.byteTable(payload);
  same(rows.map((row) => row.hex).join(''), made.hex(payload.bytes)); // each byte once, in order
  const shownAs = Object.fromEntries(rows.map((row) => [row.name, row.value]));
  same([shownAs.price, shownAs.quantity, shownAs.asset, shownAs.expiry, shownAs.request_type],
    [String(price), String(-size), '7', 'GTC', '0 place_limit_order']);
}
for (const text of ['', '-1', '1e3', '0', '1,000', '.5'])
  same(made.judgeOrder({ ...typed, price: '100', size: text }, coarse).faults[0].field, 'size');
same(made.judgeOrder({ ...typed, price: '100.0001', size: '1' }, coarse).faults[0].nearest, ['100', '100.025']);

// An order that waits: its kind by whether it has a limit, and on which side of the mark its trigger must be.
const fieldsOf = (order) => {
  const judged = made.judgeOrder(order, coarse);
  same(judged.faults, []);
  const { name, values } = made.orderRequest(order, coarse, judged, 9n);
  return Object.fromEntries(made.byteTable(made.makePayload(name, 'session', values)).map((row) => [row.name, row.value]));
};
coarse.mark = { mark_price: '100' };
for (const [side, kind, trigger, beyond] of [['buy', 'stop', '101', '99'], ['sell', 'stop', '99', '101'], ['buy', 'take', '99', '101'], ['sell', 'take', '101', '99']]) {
  const waiting = { ...typed, side, kind, trigger, price: '50', size: '1' };
  for (const met of [beyond, '100'])
    same(made.judgeOrder({ ...waiting, trigger: met }, coarse).faults.map((one) => one.field), ['trigger']);
  for (const atLimit of [false, true]) {
    const shownAs = fieldsOf({ ...waiting, atLimit, postOnly: true });
    same([shownAs.request_type, shownAs.trigger_price, shownAs.price, shownAs.quantity, shownAs.expiry, shownAs.trigger_source, shownAs.post_only],
      ['6 place_conditional_order', `${trigger}000`, atLimit ? '50000' : '0', side === 'buy' ? '1000' : '-1000', 'GTC', 'MARK', String(atLimit)]);
    same([shownAs.order_type, shownAs.live_tif], [{ stop: ['STOP_MARKET', 'STOP_LIMIT'], take: ['TAKE_PROFIT_MARKET', 'TAKE_PROFIT'] }[kind][Number(atLimit)],
      atLimit ? 'GTC' : 'IOC']);
  }
}

// What the exchange would refuse by the mark, the market's bounds and its state is said before it is sent. The band of 100,001
// millionths around 100: a buyer pays at most 110.0001, on a tick 110.000; a seller asks for at least 89.9999, on a tick 90.000.
for (const [side, price, nearest] of [['buy', '110', null], ['buy', '110.025', '110'], ['buy', '1', null], ['sell', '90', null], ['sell', '89.975', '90'], ['sell', '1000', null]])
  same(made.judgeOrder({ ...typed, side, price, size: '1' }, coarse).faults.map((one) => [one.field, one.nearest]), nearest === null ? [] : [['price', [nearest]]]);
same(made.judgeOrder({ ...typed, price: '100', size: '2000000.01' }, coarse).faults.map((one) => [one.field, one.nearest]), [['size', ['2000000']]]);
const atMarket = { ...typed, kind: 'market', size: '1' };
for (const [slippage, raw, nearest] of [['', 0n, null], ['0.5', 5_000n, null], ['5', 50_000n, null], ['0.0001', 1n, null], ['5.0001', null, ['5']], ['0', null, []], ['0.00001', null, []], ['x', null, []]]) {
  const judged = made.judgeOrder({ ...atMarket, slippage }, coarse);
  same(judged.faults.map((one) => [one.field, one.nearest]), raw === null ? [['slippage', nearest]] : []);
  if (raw !== null) same(fieldsOf({ ...atMarket, slippage }).max_slippage_ppm, String(raw));
}
for (const [stp, name] of ['EXPIRE_TAKER', 'EXPIRE_MAKER', 'EXPIRE_BOTH', 'DECREMENT'].entries()) {
  same(fieldsOf({ ...typed, price: '100', size: '1', stp }).stp, name);
  same(fieldsOf({ ...atMarket, stp }).stp, name);
}
for (const [tif, expiry] of [['GTC', 'GTC'], ['IOC', 'IOC'], ['FOK', 'FOK']]) same(fieldsOf({ ...typed, price: '100', size: '1', tif }).expiry, expiry);
const before = BigInt(Date.now());
const until = BigInt(fieldsOf({ ...typed, price: '100', size: '1', tif: 'GTT' }).expiry) / 1_000_000n; // a minute
same([until >= before + 59_000n, until <= before + 70_000n], [true, true]);
same(fieldsOf({ ...typed, kind: 'stop', atLimit: true, trigger: '99', price: '98', size: '1', tif: 'GTT' }).live_tif, 'GTC'); // once it has fired it knows no time
const [plain, makes, reduces] = [{}, { postOnly: true }, { reduceOnly: true }].map((more) => ({ ...typed, ...more }));
for (const [state, orders] of Object.entries({ ACTIVE: [plain, makes, reduces, atMarket], POST_ONLY: [makes], REDUCE_ONLY: [reduces], CANCEL_ONLY: [], HALTED: [], CLOSED: [] })) {
  coarse.state = state;
  for (const order of [plain, makes, reduces, atMarket]) same(made.marketObstacle(order, coarse, 'x') === null, orders.includes(order));
}

// A part of the free margin: 1,000 USDC at 20 times and a fee of 450 millionths buy 198.216 at 100, 198.21 on a lot; a fifth of a lot is none.
const rich = (percent, free = '1000', more = {}) => made.sizeOfFree({ ...typed, price: '100', ...more }, coarse, free, 20, percent);
same([rich(100n), rich(50n), rich(25n, '1000', { kind: 'market', price: '' })], ['198.21', '99.1', '49.55']);
same([rich(100n, '0.01'), rich(100n, '-5'), rich(100n, '1000', { price: '' }), rich(100n, '1000', { price: 'x' })], [null, null, null, null]);
same([made.usualLeverage({ record: { max_leverage: 50 } }), made.usualLeverage({ record: { max_leverage: 5 } })], [20, 5]);

// What a market did in 24 hours, in hundredths of a percent.
for (const [open, mark, change] of [['100', '101.5', 150n], ['100', '99.999', 0n], ['200', '150', -2500n], [null, '150', null], ['100', null, 1000n]]) {
  coarse.ticker = { open_24h: open, last_price: '110', notional_24h: '0' };
  coarse.mark = { mark_price: mark };
  same(coarse.change, change);
}
coarse.mark = { mark_price: '100' };

// A changed order keeps what is not changed, and its place if its price stays and it does not grow.
const resting = { id: '0198c0de-029c-71cb-8000-00049c000001', price: '100.5', remaining_size: '2', expires_at: 1755582431900112233n, stp: 'EXPIRE_BOTH' };
for (const [price, size, keeps] of [['100.5', '2', true], ['100.5', '1.5', true], ['100.5', '2.01', false], ['100.475', '1', false], ['100.525', '2', false]]) {
  const order = { ...typed, price, size, postOnly: true, changes: resting };
  same(made.keepsPlace(order, coarse, made.judgeOrder(order, coarse)), keeps);
  const shownAs = fieldsOf(order);
  same([shownAs.request_type, shownAs.order_id, shownAs.price, shownAs.quantity, shownAs.expiry, shownAs.stp, shownAs.post_only, shownAs.expected_remaining],
    ['2 order_replacement', resting.id, String(made.parseRaw(price, 3)), String(-made.parseRaw(size, 3)), '1755582431900112233', 'EXPIRE_BOTH', 'true', '2000']);
}

// What is ahead of an order is the sum of the sizes before it in its queue, whatever happens there.
const { Queue } = made;
for (const count of [40, 2500]) { // the second has more than a snapshot
  const queue = new Queue(market);
  const lines = { LONG: new Map(), SHORT: new Map() }; // prices to queues of [handle, size], first in first
  let handle = 9_007_199_254_740_990n;
  const prices = { LONG: 10_000n, SHORT: 10_200n };
  const pick = (many) => Number((random() >> 33n) % BigInt(many));
  const add = (side, size = 1n + (random() >> 44n)) => {
    const price = prices[side] + BigInt(pick(40)) * (side === 'LONG' ? -1n : 1n);
    if (!lines[side].has(price)) lines[side].set(price, []);
    lines[side].get(price).push([++handle, size]);
    return { action: 'add', side, price, handle, size };
  };
  for (let at = 0; at < count; at++) add(at % 2 ? 'LONG' : 'SHORT');
  const best = (side) => [...lines[side]].sort((a, b) => Number(side === 'LONG' ? b[0] - a[0] : a[0] - b[0]))
    .flatMap(([price, line]) => line.map(([one, size]) => ({ handle: one, side, price, size })));
  const wire = (row) => ({ ...row, price: apiText(row.price, 1), size: apiText(row.size, 5) });
  const snapshot = [...best('LONG').slice(0, 1000), ...best('SHORT').slice(0, 1000)];
  queue.load({ orders: snapshot.map(wire) });
  const known = (side, price, one) => {
    const end = count > 2000 ? snapshot.filter((row) => row.side === side).at(-1) : null;
    return end === null || (price === end.price ? one <= end.handle : (price > end.price) === (side === 'LONG'));
  };
  for (let turn = 0; turn < 3000; turn++) {
    const side = random() % 2n ? 'LONG' : 'SHORT';
    const kind = pick(4);
    const full = [...lines[side]].filter(([, line]) => line.length > 0);
    if (kind === 0 || full.length === 0) queue.update(wire(add(side)));
    else {
      const [price, line] = full[pick(full.length)];
      const at = kind === 1 ? 0 : pick(line.length); // an execution takes the first
      const [one, size] = line[at];
      const left = kind === 2 || random() % 3n === 0n ? 0n : (size * BigInt(pick(100))) / 100n;
      if (left === 0n) line.splice(at, 1);
      else line[at][1] = left;
      queue.update(wire({ action: ['', 'execute', 'delete', 'reduce'][kind], side, price, handle: one, size: left }));
    }
    if (turn % 100 !== 99) continue;
    for (const each of ['LONG', 'SHORT'])
      for (const [price, line] of lines[each])
        line.forEach(([one], at) => same(queue.ahead(one),
          known(each, price, one) ? line.slice(0, at).reduce((sum, [, size]) => sum + size, 0n) : null));
  }
  same(queue.ahead(null), null);
}

// A percentile is the least value that its share of all does not exceed; of too few it is none.
for (const [count, none] of [[19, 4], [20, 3], [99, 3], [100, 2], [999, 2], [1000, 1], [1500, 1]]) {
  const log = new made.Latency();
  for (let at = 0; at < count; at++) {
    const verified = 1 + Number(random() % 900n);
    const timing = { verified, sequenced: verified + 10, matched: verified + 20, ack: verified + 1000 };
    log.add(`id${at}`, 'place_limit_order', timing, 0.002 + Number(random() % 1000n) / 1e6);
  }
  same(log.samples.length, Math.min(count, 1000));
  same(log.samples.at(-1).id, `id${count - 1}`);
  for (const name of Object.keys(made.MEASURES)) {
    const values = log.samples.map((one) => (name === 'network' ? one.roundTrip - one.ack : one[name]));
    const wanted = [[1, 2], [9, 10], [99, 100], [999, 1000]].map(([part, whole]) =>
      values.length < (10 * whole) / (whole - part) ? null : values.filter((value) =>
        values.filter((other) => other <= value).length * whole >= part * values.length).reduce((a, b) => Math.min(a, b)));
    same(made.QUANTILES.map((one) => made.percentile(log.sorted(name), one)), wanted);
    same(wanted.filter((one) => one === null).length, none);
  }
  same(log.csv.split('\n').length, log.samples.length + 2);
}

// A stage's quantile over a window is the upper bound of the bucket in which it lies, of what was counted in it.
for (let round = 0; round < 20; round++) {
  const stages = new made.Stages();
  const values = []; // [second, value]
  const upper = (value) => Math.ceil((value + 1) / 16) * 16 - 1;
  for (let second = 0; second <= 100; second++) {
    for (let count = Number((random() >> 40n) % 30n); count > 0; count--) values.push([second, Number((random() >> 40n) % 1000n)]);
    const buckets = new Map();
    for (const [, value] of values) buckets.set(upper(value), (buckets.get(upper(value)) ?? 0) + 1);
    const rows = [...buckets].sort(([a], [b]) => a - b);
    stages.readings.push(made.readingOf({ since_ns: 5n, stages: [{ stage: 'sent', count: values.length, sum_ns: 0, buckets: rows }] }, 1000 * second));
    for (const window of made.WINDOWS) {
      const inside = values.filter(([at]) => window === 0 || at > second - window).map(([, value]) => upper(value)).sort((a, b) => a - b);
      const isWhole = window === 0 || second >= window;
      same(stages.count('sent', window), isWhole ? inside.length : null);
      same([500, 900, 990].map((share) => stages.quantile('sent', window, share)), [500, 900, 990].map((share) =>
        !isWhole || inside.length < 10_000 / (1000 - share) ? null : inside[Math.ceil((inside.length * share) / 1000) - 1]));
    }
  }
  stages.readings.push(made.readingOf({ since_ns: 6n, stages: [{ stage: 'sent', count: 1, sum_ns: 0, buckets: [[9, 1]] }] }, 101_000));
  same([stages.count('sent', 10), stages.count('sent', 0)], [null, 1]); // the exchange began again
}

// What an account has, by reads and events in any order of arrival, is what the newest events say.
for (let round = 0; round < 200; round++) {
  const events = [];
  const orders = new Map();
  const fills = [];
  for (let sequence = 1n; sequence <= 40n; sequence++) {
    const id = `o${(random() >> 40n) % 8n}`;
    const before = orders.get(id);
    const row = before ?? { id, sequence, index: 0 };
    const order_status = ['OPEN', 'PARTIALLY_FILLED', 'UNTRIGGERED', 'CANCELED', 'FILLED'][Number((random() >> 40n) % 5n)];
    const order = { ...row, order_status, updated_at_ns: 1_700_000_000_000_000_000n + sequence, event: 'order' };
    orders.set(id, order);
    events.push({ sequence, data: order, lists: structuredClone([...orders.values()]), fills: [...fills] });
    if (order_status !== 'FILLED') continue;
    const fill = { id: `f${sequence}`, sequence, index: 0, event: 'fill' };
    fills.push(fill);
    events.push({ sequence, data: fill, lists: structuredClone([...orders.values()]), fills: [...fills] });
  }
  const ledger = new made.Ledger();
  // The page hears from some event on; each of its reads shows another moment after that one.
  const from = Number((random() >> 40n) % BigInt(events.length));
  const later = () => events[from + Number((random() >> 40n) % BigInt(events.length - from))];
  const states = ['OPEN', 'PARTIALLY_FILLED', 'UNTRIGGERED'].map((status) => ({ status, seen: later() }));
  const rows = states.map(({ status, seen }) => ({ sequence: seen.sequence, rows: seen.lists.filter((one) => one.order_status === status) }));
  // Nothing shown may be older than the oldest of the reads.
  const oldest = states.map(({ seen }) => seen).reduce((a, b) => (a.sequence < b.sequence ? a : b));
  const floor = new Map(oldest.lists.map((one) => [one.id, one.updated_at_ns]));
  const past = later();
  const loaded = from + Number((random() >> 40n) % BigInt(events.length - from));
  ledger.begin();
  events.slice(from + 1).forEach(({ sequence, data }, at) => {
    if (from + 1 + at === loaded + 1) ledger.load(rows, { sequence: past.sequence, rows: past.fills }, { sequence: 0n, rows: [] });
    ledger.event(sequence, data);
    if (!ledger.isWaiting) same(ledger.orders.filter((one) => one.updated_at_ns < floor.get(one.id)), []);
  });
  if (loaded + 1 >= events.length) ledger.load(rows, { sequence: past.sequence, rows: past.fills }, { sequence: 0n, rows: [] });
  const newest = (all) => [...all].sort((a, b) => Number(b.sequence - a.sequence)).map((one) => [one.id, one.order_status]);
  same(newest(ledger.orders), newest([...orders.values()].filter((one) => /OPEN|PARTIALLY_FILLED|UNTRIGGERED/.test(one.order_status))));
  same(ledger.orders.map((one) => one.id), newest(ledger.orders).map(([id]) => id));
  same(ledger.fills.map((one) => one.id), newest(fills).map(([id]) => id));
}

// Typed data of every vector, made from its bytes alone, and its digest.
const { REQUESTS } = made;
const vectors = JSON.parse(readFileSync(process.argv[3], 'utf8')).vectors.filter((one) => one.valid);
const canTell = (request) => request.fields.every((field) => !['credential', 'length', 'items'].includes(field.kind));
let told = 0;
for (const vector of vectors) {
  const request = Object.values(REQUESTS).find((one) => one.code === vector.request_type);
  if (!canTell(request)) continue;
  told++;
  const payload = { request, id: vector.request_id, bytes: made.fromHex(vector.payload_hex) };
  const typed = made.typedData(payload, vector.exchange_id);
  same(typed, vector.typed_data);
  same(made.hex(made.typedDigest(typed)), vector.digest);
  same(made.timeOf(payload), BigInt(Date.parse(vector.typed_data.message.signedAt)));
}
same(told >= 15, true);

// Addresses: the checksum of EIP-55's own examples, and each capital letter of one changed.
for (const good of ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0x52908400098527886E0F7030069857D2E4169EE7', '0xde709f2102306220921060314715629080e2fb77']) same(made.isAddress(good), true);
for (const bad of ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe', '5aaeb6053f3e94c9b9a09f33669435e7ef1beaed'])
  same(made.isAddress(bad), false);
same(made.withdrawFault({ amount: '1', destination: '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed' }), null);
for (const amount of ['0.999999', '1.0000001', '1e3', '-5', '']) same(made.withdrawFault({ amount, destination: '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed' }) === null, false);

// An answer that does not come, or not whole, is none after 10 s.
const { fetch } = globalThis, { timeout } = AbortSignal;
AbortSignal.timeout = (ms) => (same(ms, 10_000), AbortSignal.abort());
for (const text of [(signal) => Promise.reject(signal.reason), () => Promise.resolve('{}')]) {
  globalThis.fetch = async (_path, { signal }) => ({ ok: true, headers: new Headers(), text: () => text(signal) });
  same(await made.ask('/a').then(({ body }) => body, ({ code, status }) => [code, status]), text.length === 1 ? ['no_answer', 0] : {});
}
Object.assign(globalThis, { fetch });
AbortSignal.timeout = timeout;

// What was read behind a list goes with the row that it was read behind.
const listed = (...ids) => ids.map((id) => ({ id }));
const read = { behind: 'c', rows: listed('c', 'b', 'a'), isWhole: true };
same(made.behindKept(read, listed('e', 'd', 'c')), { ...read, rows: listed('b', 'a') });
same(made.behindKept(read, listed('g', 'f', 'e')), { behind: null, rows: [], isWhole: false });

// An order's command names its portfolio; perp has no words for parts of a millisecond.
const command = (expiry) => made.orderCommand('place_limit_order', { quantity: 100_000n, price: 1_000_000n, expiry, stp: 0n }, market, 7n);
for (const [expiry, words] of [[0n, 'IOC'], [1n, 'FOK'], [0xffffffffffffffffn, 'GTC'], [1_755_582_431_232_000_000n, 'GTT:2025-08-19T05:47:11.232Z']])
  same(command(expiry), `perp order BTC-PERP buy 1 100000 --tif ${words} --account 7 --subaccount 0 --portfolio 0 --url a`);
same(command(1_755_582_431_232_000_001n), undefined);

// The dead-man: one word after another, each of what is wanted by then; what was not acknowledged is not shown as armed or
// disarmed; nothing is said for an account that has left.
const turn = () => new Promise((done) => setTimeout(done));
{
  const words = [];
  const trader = { credentials: { account: 7n }, sign: async (name, { deadline_ns }) => {
    const word = { isOn: deadline_ns > 0n, isDone: false, status: 'unknown', send: () => new Promise((done) => (word.end = (isDone) => done(void (word.isDone = isDone)))) };
    words.push(word);
    return word;
  } };
  const arming = (trader.arming = new made.Arming(trader));
  const isHeld = () => arming.deadline > Date.now() + 1000 * made.DEAD_MAN_S / 2;
  const said = async (...wanted) => (await turn(), same(words.map((one) => one.isOn), wanted));
  const ends = async (isDone, ...wanted) => (words.at(-1).end(isDone), await said(...wanted));
  arming.setDeadMan(true);
  await said(true);
  same(isHeld(), false);
  for (const isOn of [false, true, false]) arming.setDeadMan(isOn);
  await said(true);
  await ends(true, true, false);
  same(isHeld(), true);
  await ends(false, true, false);
  same([isHeld(), arming.problem], [true, 'unknown']);
  arming.setDeadMan(true);
  await said(true, false, true);
  await ends(true, true, false, true);
  arming.look();
  await said(true, false, true);
  const { now } = performance;
  performance.now = () => now.call(performance) + 16_000;
  arming.look();
  performance.now = now;
  await said(true, false, true, true);
  await ends(true, true, false, true, true);
  arming.setDeadMan(false);
  await said(true, false, true, true, false);
  await ends(true, true, false, true, true, false);
  same([arming.deadline, arming.problem], [0, null]);
  arming.setDeadMan(true);
  trader.credentials = null;
  trader.arming = new made.Arming(trader);
  await said(true, false, true, true, false);
}

// The arm of a connection: what is wanted is said on each until it is acknowledged that nothing is armed; after a refusal
// that goes by it is asked again, the login before it; after one that lasts what the exchange holds is what is wanted.
{
  const sockets = [];
  globalThis.WebSocket = class {
    static OPEN = 1;
    readyState = 1;
    sent = [];
    constructor() { sockets.push(this); }
    send(op) { this.sent.push(JSON.parse(op)); }
  };
  Object.assign(globalThis, { window: globalThis, addEventListener() {}, document: { addEventListener() {} } });
  let watch;
  const { setInterval } = globalThis;
  globalThis.setInterval = (one) => (watch = one);
  const stream = new made.Stream();
  stream.start();
  globalThis.setInterval = setInterval;
  let arm_id;
  const refused = [];
  stream.onRefusedLogin = ({ code }) => refused.push(code);
  const said = (isWanted, isArmed, ...wanted) => {
    const ops = sockets.at(-1).sent.splice(0).filter(({ op }) => op !== 'subscribe');
    arm_id = ops.find((one) => one.arm_id)?.arm_id ?? arm_id;
    same([stream.isArmWanted, stream.isArmed, ...ops.map((one) => one.enabled ?? one.op)], [isWanted, isArmed, ...wanted]);
  };
  const answers = (enabled, op = 'cancel_on_disconnect') => sockets.at(-1).onmessage({ data: JSON.stringify(
    { op, ...(typeof enabled === 'string' ? { problem: { code: enabled } } : { arm_id, enabled }) }) });
  const again = () => (sockets.at(-1).onclose({ code: 1006 }), stream.retry());
  sockets[0].onopen();
  stream.login('key');
  said(false, false, 'login');
  stream.arm(true, 5000);
  said(true, null, true);
  answers(true);
  said(true, true);
  again();
  stream.arm(false, 5000);
  said(false, null);
  sockets.at(-1).onopen();
  said(false, null, 'login', false);
  answers('rate_limited');
  watch();
  said(false, null, 'login', false);
  answers(false);
  watch();
  said(false, false);
  again();
  sockets.at(-1).onopen();
  said(false, false, 'login');
  answers('not_ready', 'login');
  same(refused, []);
  stream.arm(true, 5000);
  said(true, null, true);
  answers('invalid_api_key'); // refused for good: off
  watch();
  said(false, false, 'login');
  stream.arm(true, 5000);
  said(true, null, true);
  stream.arm(false, 5000);
  answers(true);
  said(false, true, false);
  stream.arm(true, 5000);
  answers(false);
  said(true, false, true);
  answers(true);
  said(true, true);
  stream.arm(false, 5000);
  answers('invalid_parameter');
  answers('invalid_api_key', 'login');
  watch();
  same(refused, ['invalid_api_key']);
  said(true, true, false);
  again();
  sockets.at(-1).onopen();
  said(true, null, 'login', true);
}

// Every request that the page makes, by every key that signs it.
const portfolio_id = made.portfolioBytes(7n), key = new Uint8Array(32).fill(5), order_id = made.uuidBytes('0198c0de-0000-7000-8000-0000000000a1');
const asked = [
  ['place_limit_order', 'session', { portfolio_id, asset: 3n, quantity: -5n, reduce_only: true, stp: 0n, price: 1_000_000n, expiry: 1n, post_only: false }],
  ['place_market_order', 'session', { portfolio_id, asset: 3n, quantity: 5n, reduce_only: false, stp: 0n, max_slippage_ppm: 0n }],
  ['order_cancel', 'session', { portfolio_id, asset: 3n, order_id }], ['conditional_order_cancel', 'session', { portfolio_id, asset: 3n, order_id }],
  ['cancel_all_orders', 'session', { portfolio_id, asset: 0xffffn, side: 0n, include_conditional: true }],
  ['revoke_session', 'session', { account_id: 7n, session_pub: key }],
  ...['passkey', 'secp256k1'].flatMap((signer) => [
    [`create_account_${signer}`, signer, { session_pub: key, session_expires_at: 1_755_582_431_900_112_233n, label: 'a b', session_scope: 1n }],
    ['create_session', signer, { account_id: 7n, session_pub: key, expires_at: 1_755_582_431_900_112_233n, subaccount_pin: -1n, scope: 1n }],
    ['find_account', signer, {}], ['create_api_key', signer, { account_id: 7n, subaccount_pin: -1n, scope: 1n, label: 'console 2026-11-27' }],
    ['revoke_api_key', signer, { account_id: 7n, api_key_id: order_id }],
    ['withdraw', signer, { portfolio_id, amount: 1_250_000_001n, destination: key.slice(0, 20) }],
  ]),
];
// What is pasted is named byte by byte, in each form; what is wrong is told with its byte.
const placed = made.makePayload('place_limit_order', 'session', asked[0][2]);
const raw = made.hex(placed.bytes), changed = (at, value) => raw.slice(0, 2 * at) + value + raw.slice(2 * at + 2);
for (const text of [raw, `0x${raw.toUpperCase()}`, made.base64(placed.bytes), ` ${made.base64(placed.bytes)}\n`,
  JSON.stringify({ payload: made.base64(placed.bytes), public_key: 'x' })]) same(made.decode(text), { rows: made.byteTable(placed), wrong: null });
const fault = (text) => made.decode(text).wrong;
same([fault(''), fault('{"a":1}').at, fault('?').at], [null, null, null]);
for (const [at, text] of [[0, changed(0, '02')], [1, changed(1, '03')], [2, changed(3, 'ff')], [6, changed(6, '01')], [14, changed(14, '40')],
  [16, changed(16, '00')], [64, changed(64, '02')], [67, changed(67, '01')], [71, raw.slice(0, -2)], [72, `${raw}00`], [23, raw.slice(0, 46)], [24, raw.slice(0, 48)]])
  same(fault(text).at, at);
console.log(JSON.stringify(asked.map(([name, signer, values]) => {
  const payload = made.makePayload(name, signer, values);
  return { name, payload: made.base64(payload.bytes), rows: made.byteTable(payload) };
})));
console.log(checks);
