// typescript_live.mjs FOLDER CASE WORDS... - clients/ts as it was compiled into FOLDER/dist, with a
// running perpd, a proxy or a stream that errs. Each line it prints is JSON; test_typescript_live.py
// compares.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";

const [folder, name, ...words] = process.argv.slice(2);
const perpd = await import(pathToFileURL(`${folder}/dist/index.js`).href);
const { readKey, readSecret } = await import(pathToFileURL(`${folder}/dist/node.js`).href);
const { WebSocket } = createRequire(`${folder}/`)("ws");
const { Amount } = perpd;

const say = (value) => console.log(perpd.formatJson(value));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function until(look) {
  while (!(await look())) await pause(5);
}

/** The name of the error that the promise ends with, and the error. */
async function failed(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return { name: "none" };
}

const signing = async (url, key, apiKey, more = {}) => perpd.connect(url,
  { key: await readKey(key), apiKey: await readSecret(apiKey), WebSocket, ...more });

/** A client of `url` whose stream is the one at `far`. */
async function withStream(url, far, options = {}, form = "text") {
  const ex = await perpd.connect(url, { WebSocket });
  const how = [`${far.replace("http", "ws")}/api/v1/stream`, { WebSocket, ...options }];
  return new perpd.Client(ex.session, form === "text" ? new perpd.Stream(...how)
    : new perpd.BinaryStream(...how, ex.session));
}

/** A class of WebSockets that remembers those it made. */
function remembered() {
  const made = [];
  return [class extends WebSocket {
    constructor(...given) {
      super(...given);
      made.push(this);
    }
  }, made];
}

const texts = (levels) => levels.map((level) => level.map(String));
const CASES = {
  async trading(url, key, apiKey) {
    const ex = await signing(url, key, apiKey);
    const market = await ex.market("BTC-PERP");
    const rest = async (order) => {
      const { order_status: status, price, remaining_size: left } = await ex.orderRecord(order.id);
      return [status, price, left];
    };
    const order = await ex.place(market, "buy", "0.01", "99000", { postOnly: true });
    say(["placed", await rest(order)]);
    await order.replace("99000.5", "0.02", { expectedRemaining: order.remaining });
    say(["replaced", await rest(order), String(order.price), String(order.remaining)]);
    say(["compare and set",
      (await failed(order.reduce("0.01", { expectedRemaining: "0.01" }))).status]);
    await order.reduce("0.005");
    say(["reduced", await rest(order)]);
    const trigger = await ex.placeTrigger(market, "sell", "0.01", "90000", "STOP_MARKET");
    say(["waits", await rest(trigger)]);
    await trigger.cancel();
    say(["cancelled", (await rest(trigger))[0]]);
    const [one, two, gone] = await ex.batch([
      { market, side: "buy", size: "0.01", price: "98000", postOnly: true },
      { market, side: "buy", size: "0.01", price: "9800000" }, order]);
    say(["of a batch", (await rest(one))[0], two.status, gone.status]);
    const taken = await ex.placeMarket(market, "buy", "0.01");
    say(["nothing to take", taken.status]);
    await ex.cancelAll(market);
    say(["all", (await rest(one))[0]]);
    for (const price of ["99000.05", "0.01"]) {
      const off = await failed(ex.place(market, "buy", "1", price));
      say([price, off.name, String(off.lower), String(off.upper)]);
    }
    say(["a number", (await failed(ex.place(market, "buy", 0.01, "99000"))).name]);
    say(["leverage", (await ex.setLeverage(market, 10)).leverage]);
    say(["lists", await ex.fills(), await ex.positions(market),
      (await ex.orders({ limit: 1 }))[0].id === taken.id]);
    const seen = perpd.formatJson(ex) + inspect(ex, { depth: 20, showHidden: true });
    say(["no secret", seen.includes(await readSecret(apiKey))]);
    ex.close();
  },

  async another(url, key, apiKey) {
    const seed = crypto.getRandomValues(new Uint8Array(32));
    const options = { apiKey: await readSecret(apiKey) };
    const bound = await perpd.SessionKey.ofSeed(seed, "ab".repeat(32));
    say(["bound", (await failed(perpd.connect(url, { ...options, key: bound }))).name]);
    const foreign = await perpd.SessionKey.ofSeed(seed);
    const ex = await perpd.connect(url, { ...options, key: foreign });
    say(["an unknown key", (await failed(ex.cancelAll())).message]);
    ex.close();
    say(["plain", (await failed(perpd.connect("http://192.0.2.1:1"))).name]);
    say(["a file for all", (await failed(readSecret(words[3]))).name]);
  },

  async master(url, secret, exchangeId, apiKey) {
    const key = new perpd.MasterKey(Buffer.from(secret, "hex"), exchangeId);
    const ex = await perpd.connect(url, { key, apiKey: await readSecret(apiKey) });
    say([(await ex.withdraw("1", `0x${"11".repeat(20)}`)).status,
      (await failed(ex.cancelAll())).name, inspect(key, { showHidden: true }).includes(secret)]);
    ex.close();
  },

  async retry(url, key, apiKey, count, atOnce) {
    const ex = await signing(url, key, apiKey, { timeoutMs: 2000 });
    const market = await ex.market("BTC-PERP");
    let next = 0;
    const worker = async () => {
      while (next < Number(count)) {
        const size = new Amount(BigInt(100 + next++), 5);
        try {
          const order = await ex.place(market, "buy", size, "98000", { postOnly: true });
          say([String(size), order.id, "request_completed"]);
        } catch (error) {
          say([String(size), error.requestId, error instanceof perpd.NotExecuted ? null :
            error.status ?? String(error)]);
        }
      }
    };
    await Promise.all(Array.from({ length: Number(atOnce) }, worker));
    ex.close();
  },

  async once(url, key, apiKey, count, from) {
    const ex = await signing(url, key, apiKey, { timeoutMs: 2000 });
    const market = await ex.market("BTC-PERP");
    await Promise.all(Array.from({ length: Number(count) }, async (_, at) => {
      const size = new Amount(BigInt(100 + Number(from) + at), 5);
      try {
        say([String(size), (await ex.place(market, "buy", size, "98000", { postOnly: true })).id,
          true]);
      } catch (error) {
        say([String(size), error.requestId, error instanceof perpd.NotExecuted ? false :
          String(error)]);
      }
    }));
    ex.close();
  },

  async pending(url, key, apiKey) {
    const heard = [];
    const ex = await signing(url, key, apiKey, { onIntent: (id) => heard.push(id) });
    const market = await ex.market("BTC-PERP");
    const late = await failed(ex.place(market, "buy", "0.01", "98000", { deadlineMs: 300 }));
    say([late.name, late.requestId === heard[0]]);
    const end = await late.request.outcome.catch((error) => error);
    say([end.name ?? end.status, late.requestId]);
    ex.close();
  },

  async found(url, key, apiKey, id) {
    const ex = await signing(url, key, apiKey);
    const outcome = await ex.outcome(id);
    const market = await ex.market("BTC-PERP");
    const again = await ex.place(market, "buy", "0.01", "98000", { requestId: id });
    say([outcome.status, outcome.isFirst, again.id === id, again.status,
      (await ex.orders({ status: "OPEN" })).length]);
    await ex.cancelAll();
    ex.close();
  },

  async faucet(url, key, apiKey) {
    const ex = await signing(url, key, apiKey);
    const equity = async () => Amount.of((await ex.balance()).equity);
    const before = await equity();
    const lost = await failed(ex.faucet("7"));
    say([lost.name, String((await equity()).minus(before))]);
    ex.close();
  },

  /** Many placements wait for the account's rate; its first orders are cancelled when a line of input says so. */
  async crowd(url, key, apiKey, placed, cancels) {
    const ex = await signing(url, key, apiKey);
    const market = await ex.market("BTC-PERP");
    const place = (price) => ex.place(market, "buy", "0.001", price, { postOnly: true });
    const orders = [];
    for (let count = 0; count < Number(cancels); count++) orders.push(await place("98000"));
    let ended = 0;
    for (let count = 0; count < Number(placed); count++)
      void place("97000").finally(() => ended++).catch(() => {});
    await new Promise((resolve) => process.stdin.once("data", resolve));
    for (const order of orders) say((await order.cancel()).status);
    say(ended < Number(placed) / 2);
    process.exit();
  },

  async clock(url, key, apiKey, wrongMs) {
    const rightMs = Date.now; // wrong from here on
    Date.now = () => rightMs() + Number(wrongMs);
    const ex = await signing(url, key, apiKey);
    const market = await ex.market("BTC-PERP");
    say((await ex.place(market, "buy", "0.01", "98000")).status);
    const { clock } = ex.session; // an offset that has become wrong: refused, and signed again
    const now = clock.monotonicMs();
    const right = clock.nowMs();
    clock.forget();
    clock.add(BigInt(Math.round(right + 60_000)) * 1_000_000n, now, now);
    say((await ex.place(market, "buy", "0.02", "98000")).status);
    await ex.cancelAll();
    ex.close();
  },

  /** Follows until the input ends; a line of input asks for what is shown. */
  async follow(url, form) {
    const ex = await perpd.connect(url, { WebSocket, binary: form === "binary" });
    const market = await ex.market("BTC-PERP");
    const stop = new AbortController();
    const how = { signal: stop.signal };
    const [trades, events] = [[], []];
    let book;
    const tasks = [(async () => {
      for await (const trade of ex.watchTrades(market, how)) trades.push(trade.tradeSeq);
    })(), (async () => {
      for await (const one of ex.watchBook(market, 10, how)) book = one;
    })(), (async () => {
      for await (const event of ex.watchEvents(how)) events.push(event.kind);
    })()];
    await until(() => events.filter((kind) => kind === "live").length === 2);
    say("live");
    for await (const _ of process.stdin) {
      say({ trades, seq: book?.seq ?? 0n, isLive: book?.isLive ?? false, faults: book?.faults ?? 0,
        bids: texts(book?.bids() ?? []), asks: texts(book?.asks() ?? []),
        reconnections: ex.stream.reconnections });
    }
    stop.abort();
    await Promise.all(tasks);
    say(["the stream is left", events.includes("gap")]);
    ex.close();
  },

  /** Follows the account until the input ends: "break" breaks its connection, a line asks for all. */
  async account(url, key, apiKey, form) {
    const [kind, made] = remembered();
    const ex = await signing(url, key, apiKey, { WebSocket: kind, binary: form === "binary" });
    const view = await ex.followAccount();
    const [seqs, stop] = [[], new AbortController()];
    const task = (async () => {
      for await (const one of ex.watchPrivate({ signal: stop.signal })) seqs.push(one.seq);
    })();
    say(view.seq);
    for await (const part of process.stdin) {
      if (String(part).startsWith("break")) made.at(-1).terminate();
      say({ isLive: view.isLive, seq: view.seq, seqs, cash: String(view.cash),
        orders: Object.fromEntries(view.orders), positions: Object.fromEntries(view.positions),
        breaks: ex.stream.reconnections });
    }
    stop.abort();
    await task;
    const market = await ex.market("BTC-PERP");
    const order = await ex.place(market, "buy", "0.001", "98000", { postOnly: true });
    await order.replace("98000.5", "0.002");
    await until(() => view.orders.get(order.id)?.price === "98000.5");
    const done = order.done();
    await ex.cancelAll(market);
    await done; // which may know it by REST
    await until(() => !view.orders.has(order.id));
    say(["it ended", order.status]);
    ex.close();
  },

  /** Follows all that one client can until the input ends; a line of input asks for what it has. */
  async restored(url, key, apiKey, form) {
    const ex = await signing(url, key, apiKey, { binary: form === "binary" });
    const market = await ex.market("BTC-PERP");
    const stop = new AbortController();
    const how = { signal: stop.signal };
    const [trades, seqs, events] = [[], [], []];
    const view = await ex.followAccount();
    let book;
    let ended = null;
    const tasks = [(async () => {
      for await (const { tradeSeq, price } of ex.watchTrades(market, how)) {
        trades.push([tradeSeq, String(price)]);
      }
    })(), (async () => {
      for await (const one of ex.watchBook(market, 10, how)) book = one;
    })(), (async () => {
      for await (const { kind, channel, detail } of ex.watchEvents(how)) {
        events.push([kind, channel, detail]);
      }
    })(), (async () => {
      for await (const { seq } of ex.watchPrivate(how)) seqs.push(seq);
    })().catch((error) => {
      ended = [error.name, error.message];
    })];
    for await (const _ of process.stdin) {
      say({ isLive: view.isLive && (book?.isLive ?? false), epoch: ex.stream.epoch, trades, seqs,
        events, ended, bids: (book?.bids() ?? []).map(([price]) => String(price)), seq: view.seq,
        orders: [...view.orders.values()].map(({ price }) => price).sort(), cash: String(view.cash) });
    }
    stop.abort();
    await Promise.all(tasks);
    ex.close();
  },

  async streamOrders(url, key, apiKey) {
    const [kind, made] = remembered();
    const ex = await signing(url, key, apiKey, { WebSocket: kind, streamOrders: true });
    const market = await ex.market("BTC-PERP");
    const { http } = ex.session;
    const [posts, real] = [[], http.request.bind(http)];
    http.request = (sending) => {
      posts.push(sending.method);
      return real(sending);
    };
    const count = () => posts.filter((method) => method === "POST").length;
    const order = await ex.place(market, "buy", "0.001", "98000", { postOnly: true });
    const refused = await failed(ex.place(market, "buy", "0.001", "9800000"));
    say(["over the stream", (await ex.orderRecord(order.id)).order_status, refused.status,
      (await order.cancel()).status, count()]);
    ex.session.overStream = async (...given) => {
      ex.session.overStream = (...words) => ex.stream.signed(...words);
      await ex.stream.signed(...given);
      throw new perpd.Lost("planted", true);
    };
    const again = await ex.place(market, "buy", "0.001", "98000", { postOnly: true });
    say(["once", again.outcome.isFirst, (await ex.orders({ market, status: "OPEN" })).length]);
    made.at(-1).terminate();
    await until(() => ex.stream.reconnections === 1);
    say(["over HTTP", (await again.cancel()).status, count()]);
    const answer = (status, code) => ({ status, headers: new Headers(), text: `{"code":"${code}"}`,
      sentMs: 0, gotMs: 0 });
    const doubtful = async (envelope, timeoutMs) => {
      await ex.session.nodes.post("/api/v1/trading/order/place/limit", envelope, timeoutMs);
      return answer(503, "outcome_unknown");
    };
    for (const [name, over] of [["elsewhere", async () => answer(421, "not_leader")],
      ["in doubt", doubtful]]) {
      const before = count();
      ex.session.overStream = over;
      const placed = await ex.place(market, "buy", "0.001", "98000", { postOnly: true });
      say([name, placed.outcome.isFirst, count() - before]);
      await placed.cancel();
    }
    ex.session.overStream = (...words) => ex.stream.signed(...words);
    const [events, stop] = [[], new AbortController()];
    const task = (async () => {
      for await (const { kind: what } of ex.watchEvents({ signal: stop.signal })) events.push(what);
    })();
    const arm = await ex.cancelOnDisconnect(10_000);
    const kept = await ex.place(market, "buy", "0.001", "98000", { postOnly: true });
    made.at(-1).terminate();
    await until(() => events.includes("armed"));
    await ex.keepOnDisconnect(arm);
    await ex.cancelOnDisconnect(0);
    say(["still there", (await kept.refresh()).status, kept.id]);
    stop.abort();
    await task;
    ex.close();
  },

  async arms(far) {
    const [kind, made] = remembered();
    const stream = new perpd.Stream(`${far.replace("http", "ws")}/api/v1/stream`,
      { WebSocket: kind, firstWaitMs: 10, apiKey: () => "a key" });
    stream.subscribe("mark", "BTC-PERP", () => ({ take() {}, lose() {}, fail() {} }));
    while (await stream.signed('{"a":1}', 1000) === undefined) await pause(10); // until it is logged in
    await stream.arm(new perpd.Arm(0, 1000));
    const events = stream.events();
    const next = events.next();
    made.at(-1).terminate();
    const kinds = [(await next).value.kind];
    while (kinds.at(-1) !== "armed") kinds.push((await events.next()).value.kind);
    say([made.length, (await failed(stream.arm(new perpd.Arm(0, 1000)))).code]);
    stream.close();
  },

  async nodes(standby, url, key, apiKey) {
    const ex = await signing(standby, key, apiKey);
    const market = await ex.market("BTC-PERP");
    const place = (client) => client.place(market, "buy", "0.001", "98000", { postOnly: true });
    const [one, two] = [await place(ex), await place(ex)];
    say([one.status, two.status, one.outcome.isFirst]);
    ex.close();
    const many = await signing(["http://127.0.0.1:1", standby, url], key, apiKey);
    say([(await place(many)).status, many.session.http.origin.url.origin,
      many.session.nodes.least(0n) >= one.outcome.sequence]);
    await many.cancelAll(market);
    many.close();
  },

  async reader(url, apiKey) {
    const ex = await perpd.connect(url, { apiKey, WebSocket });
    say([(await failed(ex.cancelOnDisconnect())).http === 403]);
    ex.close();
  },

  async absent(url) {
    const ex = await perpd.connect(url, { WebSocket, binary: true });
    const market = await ex.market("BTC-PERP");
    const mark = await failed(ex.watchMark(market).next());
    say([mark.name, mark.message.includes("binary: true")]);
    const depth = await failed(ex.watchBook(market, 7).next());
    say([depth.name, depth.http]);
    ex.close();
  },

  async faults(url, far, form) {
    const ex = await withStream(url, far, {}, form);
    const shown = [];
    for await (const book of ex.watchBook(await ex.market("BTC-PERP"), 10)) {
      shown.push([book.isLive, ...[book.bids(), book.asks()].map((side) =>
        side.map(([price]) => String(price)))]);
      if (book.seq === 5n) break;
    }
    say(shown);
    ex.close();
  },

  async silent(url, far) {
    const ex = await withStream(url, far, { silenceMs: 200, firstWaitMs: 10 });
    const market = await ex.market("BTC-PERP");
    const stop = new AbortController();
    const task = (async () => {
      for await (const mark of ex.watchMark(market, { signal: stop.signal })) say(mark);
    })();
    for await (const event of ex.watchEvents()) {
      if (event.kind === "stale") {
        say([event.channel, event.market]);
        break;
      }
    }
    await until(() => ex.stream.reconnections >= 3);
    stop.abort();
    await task;
    ex.close();
  },

  async refused(url, far) {
    const ex = await withStream(url, far);
    const marks = ex.watchMark(await ex.market("BTC-PERP"));
    const error = await failed(marks.next());
    say([error.name, error.code]);
    ex.close();
  },

  async overrun(url, far) {
    const ex = await withStream(url, far);
    const values = ex.watchTrades(await ex.market("BTC-PERP"), { room: 3 });
    const got = [(await values.next()).value.tradeSeq];
    await pause(Number(words[2]));
    let error = { name: "none" };
    while (error.name === "none") {
      error = await failed(values.next().then(({ value }) => got.push(value.tradeSeq)));
    }
    say([got, error.name]);
    ex.close();
  },
};
await CASES[name](...words);
