// ccxt.mjs FOLDER CCXT URL KEY API_KEY - the class of ccxt on a running perpd: FOLDER is the installed
// library, CCXT the module ccxt. Prints one JSON line a step.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [folder, module, url, key, apiKey] = process.argv.slice(2);
const { default: ccxt } = await import(pathToFileURL(module).href);
const { perpdOf } = await import(pathToFileURL(`${folder}/node_modules/perpd/dist/ccxt.js`).href);
const say = (...words) => console.log(JSON.stringify(words, (_, value) => typeof value === 'bigint' ? `${value}` : value));
const Perpd = perpdOf(ccxt);
const asked = []; // what was sent over streams
const config = { privateKey: await readFile(key, 'utf8'), apiKey: (await readFile(apiKey, 'utf8')).trim(), urls: { api: url },
  options: { WebSocket: class extends createRequire(`${folder}/examples/`)('ws').WebSocket {
    send(...words) {
      asked.push(String(words[0]));
      super.send(...words);
    }
  } } };
const ex = new Perpd(config);
const thrown = async (work) => {
  try {
    await work();
    return ['nothing'];
  } catch (error) {
    return [error.constructor.name, error];
  }
};
const BTC = 'BTC/USDC:USDC';

// Every flag that is true has its method, and each method of the class its flag.
const own = [];
for (let kind = Perpd; kind !== ccxt.Exchange; kind = Object.getPrototypeOf(kind)) own.push(...Object.getOwnPropertyNames(kind.prototype)
  .filter((name) => /^(fetch|create|cancel|edit|set|watch|unWatch|transfer|withdraw)([A-Z]|$)/.test(name)));
say('has', Object.keys(ex.has).filter((name) => ex.has[name] === true && !['swap', 'publicAPI', 'privateAPI'].includes(name))
  .every((name) => typeof ex[name] === 'function'), own.filter((name) => ex.has[name] !== true));
say('time', Math.abs(await ex.fetchTime() - Date.now()) < 60_000, (await ex.fetchStatus()).status);
await ex.loadMarkets();
const market = ex.market(BTC);
say('market', market.id, market.type, market.settle, market.precision, market.limits.leverage.max > 1, ex.symbols.length);
const placed = await ex.createOrder(BTC, 'limit', 'buy', 0.01, 99000.5, { postOnly: true });
say('placed', placed.status, placed.side, placed.price, placed.amount, placed.remaining, placed.symbol);
const read = await ex.fetchOrder(placed.id);
say('read', read.id === placed.id, read.status, read.price, read.timeInForce, read.type);
const edited = await ex.editOrder(placed.id, BTC, 'limit', 'buy', '0.02', '99000');
say('edited', edited.id === placed.id, edited.price, edited.remaining);
await ex.fetchOrder(placed.id); // what is read after it is as new as the last own request
say('open', (await ex.fetchOpenOrders(BTC)).map((one) => [one.id === placed.id, one.price, one.remaining]));
const off = await thrown(() => ex.createOrder(BTC, 'limit', 'buy', '0.01', 99000.05));
say('off the grid', off[0], /99000 and 99000\.1/.test(off[1].message));
say('refusals', ...(await Promise.all([
  () => ex.createOrder(BTC, 'limit', 'buy', '1', '100100', { postOnly: true }),
  () => ex.createOrder(BTC, 'limit', 'buy', '1', '99000', { leverage: 3 }),
  () => ex.createOrder(BTC, 'stop', 'buy', '1', '99000'),
  () => ex.fetchOrder('0198c0de-0000-7000-8000-0000000000a1'),
  () => new Perpd({ ...config, apiKey: 'a wrong key' }).fetchBalance(),
].map(thrown))).map(([name]) => name));
say('canceled', (await ex.cancelOrder(placed.id)).status, (await ex.fetchOrder(placed.id)).status);
const taken = await ex.createOrder(BTC, 'market', 'buy', '0.01');
say('taken', taken.status, taken.filled, taken.average, taken.type);
await ex.fetchOrder(taken.id);
const [fill] = (await ex.fetchMyTrades(BTC)).slice(-1);
say('fill', fill.order === taken.id, fill.side, fill.takerOrMaker, fill.amount, fill.price, fill.cost, fill.fee.currency);
const [position] = await ex.fetchPositions([BTC]);
say('position', position.side, position.contracts, position.entryPrice, position.marginMode);
const balance = await ex.fetchBalance();
say('balance', balance.USDC.total > 0, Math.abs(balance.USDC.total - balance.USDC.free - balance.USDC.used) < 1e-6);
const book = await ex.fetchOrderBook(BTC, 10);
say('book', book.symbol, book.asks[0], Number.isSafeInteger(book.nonce));
const ticker = await ex.fetchTicker(BTC);
say('ticker', ticker.symbol, ticker.last, ticker.ask, Object.keys(await ex.fetchTickers()).length === ex.symbols.length);
const [trade] = (await ex.fetchTrades(BTC, undefined, 1)).slice(-1);
say('trade', trade.side, trade.price, trade.amount, trade.cost);
let candle;
do [candle] = (await ex.fetchOHLCV(BTC, '1d', undefined, 1)).slice(-1);
while (candle === undefined);
say('candle', candle.length, candle[4]);
const rate = await ex.fetchFundingRate(BTC);
say('rate', rate.markPrice, rate.fundingTimestamp > rate.timestamp, (await ex.fetchFundingRateHistory(BTC)).length <= 1, (await ex.fetchFundingHistory(BTC)).length <= 1);
say('closed', (await ex.fetchClosedOrders(BTC)).at(-1).id === taken.id, (await ex.fetchCanceledOrders(BTC)).at(-1).id === placed.id,
  (await ex.fetchOrders(BTC, undefined, 5)).length > 1, (await ex.setLeverage(10, BTC)).info.leverage);
const asks = (await ex.fetchBidsAsks([BTC]))[BTC];
say('asks', asks.ask, (await ex.fetchMarkPrices([BTC]))[BTC].markPrice, (await ex.fetchOpenInterest(BTC)).openInterestAmount > 0);
const [single] = (await ex.fetchL3OrderBook(BTC)).asks;
say('one by one', single.slice(0, 2), typeof single[2], (await ex.fetchAccounts()).map(({ id }) => id), (await ex.fetchTradingFee(BTC)).taker > 0);
const [older, newer] = await ex.fetchLedger('USDC', undefined, 2);
say('ledger', Math.abs(newer.before - older.after) < 1e-6, newer.currency, Object.keys(await ex.fetchFundingRates()).length === ex.symbols.length);
const waiting = [await ex.createTriggerOrder(BTC, 'market', 'sell', '0.01', undefined, '90000'),
  await ex.createStopLossOrder(BTC, 'limit', 'sell', '0.01', '89000', '90000', { reduceOnly: true }),
  await ex.createTakeProfitOrder(BTC, 'limit', 'sell', '0.01', '110000', '110000')];
say('they wait', ...(await Promise.all(waiting.map(({ id }) => ex.fetchOrder(id)))).map(({ info }) => info.order_type));
say('no trigger, or two', ...(await Promise.all([{ triggerPrice: 0 }, { stopLossPrice: '-1' },
  { triggerPrice: '90000', stopLossPrice: '90000' }, { triggerPrice: 0, takeProfitPrice: '110000' },
].map((params) => thrown(() => ex.createOrder(BTC, 'market', 'sell', '0.01', undefined, params))))).map(([name]) => name));
const failed = await thrown(() => ex.cancelOrders(['0198c0de-0000-7000-8000-0000000000a1', ...waiting.slice(1).map(({ id }) => id)]));
say('but one', failed[0], ...(await Promise.all(waiting.map(({ id }) => ex.fetchOrder(id)))).map(({ status }) => status));
say('of them', ...(await ex.cancelOrders([waiting[0].id])).map(({ status }) => status));
say('dead-man', (await ex.cancelAllOrdersAfter(60_000)).info.status, (await ex.cancelAllOrdersAfter(0)).info.status);
const only = await ex.createPostOnlyOrder(BTC, 'limit', 'buy', '0.01', '98500');
say('post only', only.postOnly, (await ex.cancelOrder(only.id)).status, await thrown(() => ex.closePosition('ETH/USDC:USDC')).then(([name]) => name));

// Money, batches, exits.
const tiers = (await ex.fetchLeverageTiers([BTC]))[BTC];
say('tiers', JSON.stringify(tiers.map((one) => [one.maxLeverage, one.maintenanceMarginRate * 1e6, `${one.maxNotional ?? null}`])) ===
  JSON.stringify(market.info.tiers.map((one) => [one.max_leverage, one.mmr_ppm, `${one.upper_notional}`])), Object.keys(await ex.fetchCurrencies()));
const kept = await ex.fetchPosition(BTC);
say('held', (await ex.fetchLeverage(BTC)).longLeverage === kept.info.leverage, kept.contracts, (await ex.fetchADLRank(BTC)).rank === kept.info.adl_quantile);
const gone = await ex.withdraw('USDC', '1.5', `0x${'11'.repeat(20)}`);
let left;
do left = (await ex.fetchWithdrawals('USDC')).find(({ id }) => id === gone.id);
while (left === undefined); // reads may still lag
say('money', left.amount, gone.status, left.status ?? 'not known', (await ex.fetchDeposits()).length > 0, (await ex.fetchTransfers()).length);
say('refused', ...(await Promise.all([() => ex.transfer('BTC', 1, '0', '1'), () => ex.transfer('USDC', 1, '7', '1'), () => ex.transfer('USDC', 1, '0', ''),
  () => ex.withdraw('USDC', '1', `0x${'11'.repeat(20)}`, 'a tag'), () => ex.withdraw('USDC', '1', `0x${'11'.repeat(20)}`, undefined, { network: 'one' }),
  () => ex.editOrder(placed.id, BTC, 'limit', 'buy', '1', '1', { postOnly: true }), () => ex.createOrder(BTC, 'limit', 'sell', '1', '1', { reduceOnly: 'true' }),
  () => ex.watchTickers([]), () => ex.createOrderWithTakeProfitAndStopLoss(BTC, 'limit', 'buy', '0.01', '97000', '120000'),
  () => ex.createOrderWithTakeProfitAndStopLoss(BTC, 'limit', 'buy', '0.01', '97000', '120000', 80000.05), () => ex.setMarginMode('isolated', BTC),
  () => ex.setPositionMode(true), () => ex.fetchDepositAddress('USDC'), () => ex.fetchLeverage('ETH/USDC:USDC')].map(thrown))).map(([name]) => name));
const rows = await ex.createOrders(['98000', '9800000', '98000.1'].map((price) => (
  { symbol: BTC, type: 'limit', side: 'buy', amount: '0.01', price, params: { postOnly: true } })));
const entry = await ex.createOrderWithTakeProfitAndStopLoss(BTC, 'limit', 'buy', '0.01', '97000', '120000', '80000');
const exits = (await ex.fetchOpenOrders(BTC)).filter(({ info }) => info.order_status === 'UNTRIGGERED');
say('batch and exits', rows.map(({ status }) => status), exits.map(({ info }) => [info.order_type, info.trigger_price, info.side]).sort());
await ex.cancelOrders([entry, rows[0], rows[2], ...exits].map(({ id }) => id));

// What is watched is what the reads show, each trade once.
const buy = (size) => ex.createOrder(BTC, 'market', 'buy', size);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const made = [];
const until = async (wait) => {
  let isDone = false;
  wait = wait.finally(() => isDone = true);
  for (; !isDone; await pause(100)) made.push((await buy('0.001')).id);
  return wait;
};
const [seen, [passed], tops, told, bars, [ordered], [filled], funds, [grown]] = await until(Promise.all([ex.watchOrderBook(BTC, 10), ex.watchTrades(BTC),
  ex.watchBidsAsks([BTC]), ex.watchTicker(BTC), ex.watchOHLCV(BTC, '1d'), ex.watchOrders(BTC), ex.watchMyTrades(BTC), ex.watchBalance(), ex.watchPositions([BTC])]));
say('watched', seen.asks[0][0], seen.bids, passed.side, passed.price, tops[BTC].ask, told.ask, bars.at(-1)[4]);
say('own', made.includes(ordered.id), made.includes(filled.order), funds.USDC.total > 0, grown.symbol, grown.side);
await ex.unWatchTrades(BTC);
await until(ex.watchTrades(BTC));
const both = [ex.watchTrades(BTC), ex.watchTrades(BTC)];
for (const size of ['0.002', '0.003', '0.004']) await buy(size);
const sizes = (await Promise.all(both)).map(([{ amount }]) => amount);
const isSame = sizes[0] === sizes[1];
while (sizes.at(-1) !== 0.004) sizes.push((await ex.watchTrades(BTC))[0].amount);
const last = ex.watchTrades(BTC);
await pause(50);
await ex.unWatchTrades(BTC);
say('each once', isSame, sizes.slice(-3), (await thrown(() => last))[0]);
const ETH = 'ETH/USDC:USDC';
await ex.watchBidsAsks([ETH]);
const count = asked.length;
await ex.unWatchBidsAsks([ETH]); // where no call waits
const many = await ex.createOrders(Array.from({ length: 12 }, (_, at) => ({ symbol: BTC, type: 'limit', side: 'buy', amount: '0.001', price: `${90000 + at}` })));
await ex.unWatchOrderBook(BTC);
while ((await ex.watchOrderBook(BTC, 10)).bids.length < 10);
const ten = ex.watchOrderBook(BTC, 10);
await pause(0);
while ((await ex.watchOrderBook(BTC, 50)).bids.length < 12);
say('left and deeper', asked.slice(count).some((text) => /unsubscribe/.test(text) && /bbo/.test(text)), (await ten).bids.length);
await ex.cancelOrders(many.map(({ id }) => id));
const over = await ex.createOrderWs(BTC, 'limit', 'buy', '0.01', '98000', { postOnly: true });
const moved = await ex.editOrderWs(over.id, BTC, 'limit', 'buy', '0.02', '98000.1');
say('over the stream', moved.id === over.id, moved.price, moved.remaining, (await ex.cancelOrderWs(over.id)).status, (await ex.fetchOrder(over.id)).status);

// An answer that is lost for longer than the time-out; the same call with its id executes once.
let [isLost, isSent, onPost] = [true, false, () => undefined];
const proxy = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  if (request.method === 'POST') onPost(request.url);
  const { host, connection, ...headers } = request.headers;
  const answer = await fetch(url + request.url, { method: request.method, headers, body: parts.length > 0 ? Buffer.concat(parts) : undefined });
  isSent ||= request.method === 'POST';
  if (isSent && isLost) return; // executed, and never answered
  const head = Object.fromEntries([...answer.headers].filter(([name]) => name.startsWith('x-') || name === 'content-type'));
  response.writeHead(answer.status, head).end(Buffer.from(await answer.arrayBuffer()));
});
await new Promise((done) => proxy.listen(0, '127.0.0.1', done));
const far = new Perpd({ ...config, urls: { api: `http://127.0.0.1:${proxy.address().port}` }, timeout: 1500 });
const late = await thrown(() => far.createOrder(BTC, 'limit', 'buy', '0.03', '98000'));
isLost = false;
far.timeout = 30_000;
const again = await far.createOrder(BTC, 'limit', 'buy', '0.03', '98000', { requestId: late[1].requestId });
await far.fetchOrder(again.id);
say('late', late[0], again.id === late[1].requestId, (await ex.fetchOpenOrders(BTC)).filter((one) => one.price === 98000).length);
await ex.cancelAllOrders(BTC);
await ex.fetchOrder(again.id);
say('none', await ex.fetchOpenOrders(BTC));
const calls = [(params) => far.withdraw('USDC', '2.25', `0x${'11'.repeat(20)}`, undefined, params),
  (params) => far.createOrders(['98000', '98001'].map((price) => ({ symbol: BTC, type: 'limit', side: 'buy', amount: '0.01', price })), params)];
const repeats = [];
for (const call of calls) {
  [isLost, isSent, far.timeout] = [true, false, 300];
  const [name, error] = await thrown(() => call({}));
  [isLost, far.timeout] = [false, 30_000];
  repeats.push([name, await call({ requestId: error.requestId })]);
}
await far.fetchOrder(repeats[1][1][0].id);
let leftOnce;
do leftOnce = (await ex.fetchWithdrawals()).filter(({ amount }) => amount === 2.25);
while (leftOnce.length === 0);
say('each once more', repeats.map(([name]) => name), leftOnce.map(({ id }) => id === repeats[0][1].id), (await ex.fetchOpenOrders(BTC)).length);
await far.cancelAllOrders(BTC);
let exitsSent = 0;
onPost = (path) => {
  exitsSent += path.includes('conditional');
  far.timeout = exitsSent > 0 ? 300 : 30_000; // of the exit that comes next
  isLost = exitsSent > 1;
};
const [failure, broken] = await thrown(() => far.createOrderWithTakeProfitAndStopLoss(BTC, 'limit', 'buy', '0.01', '97000', '120000', '80000'));
[onPost, isLost, far.timeout] = [() => undefined, false, 30_000];
const whole = await far.createOrderWithTakeProfitAndStopLoss(BTC, 'limit', 'buy', '0.01', '97000', '120000', '80000', { requestId: broken.requestId });
await far.fetchOrder(whole.id);
let after;
do after = await ex.fetchOpenOrders(BTC);
while (after.length < 3);
say('exits once', failure, broken.order.id === broken.requestId, whole.id === broken.requestId, after.map(({ info }) => info.order_type).sort());
await far.cancelAllOrders(BTC);
await Promise.all([ex.close(), far.close()]);
proxy.closeAllConnections();
proxy.close();
