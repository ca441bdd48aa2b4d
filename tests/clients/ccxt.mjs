// ccxt.mjs FOLDER CCXT URL KEY API_KEY - the class of ccxt on a running perpd: FOLDER is the installed
// library, CCXT the module ccxt. Prints one JSON line a step.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

const [folder, module, url, key, apiKey] = process.argv.slice(2);
const { default: ccxt } = await import(pathToFileURL(module).href);
const { perpdOf } = await import(pathToFileURL(`${folder}/node_modules/perpd/dist/ccxt.js`).href);
const say = (...words) => console.log(JSON.stringify(words, (_, value) => typeof value === 'bigint' ? `${value}` : value));
const Perpd = perpdOf(ccxt);
const config = { privateKey: await readFile(key, 'utf8'), apiKey: (await readFile(apiKey, 'utf8')).trim(), urls: { api: url } };
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
const own = Object.getOwnPropertyNames(Perpd.prototype).filter((name) => /^(fetch|create|cancel|edit|set)[A-Z]/.test(name));
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
say('rate', rate.markPrice, rate.fundingTimestamp > rate.timestamp, await ex.fetchFundingRateHistory(BTC), await ex.fetchFundingHistory(BTC));
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

// An answer that is lost for longer than the time-out; the same call with its id executes once.
let [isLost, isSent] = [true, false];
const proxy = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
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
await Promise.all([ex.close(), far.close()]);
proxy.closeAllConnections();
proxy.close();
