// sending.mjs - when the Sender of clients/ts sends, with a `post` of the test: what a call that has
// ended leaves behind.

const PAST_MS = 30_000;
const ORDER = { portfolio_id: { account_id: 7n, subaccount_index: 0, portfolio_index: 0 },
  quantity: 100n, max_slippage_ppm: 0, asset: 0, reduce_only: false, stp: "EXPIRE_TAKER" };
const OFTEN = { limits: { write_rate: 10, write_burst: 2 }, rate_limits: true,
  remaining: { write: 2, cancel: 4 } };

export const answer = (members, status = 200) => ({ status, headers: new Headers(),
  text: JSON.stringify(members), sentMs: 0, gotMs: 0 });
export const after = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
const DONE = answer({ status: "request_completed", sequence: 1 });
const LIMITED = answer({ status: "rejected_rate_limited", retry_after_ms: 300 });
const STALE = answer({ code: "request_timestamp_out_of_window" }, 400);

/** A Sender whose sendings are given the answers in turn, the last one again and again; `sent` has the
 * ids. */
export async function sending({ Sender, Buckets }, answers, how = {}) {
  const [left, sent] = [[...answers], []];
  const buckets = new Buckets(how.look ?? (async () => how.shown ?? OFTEN));
  await buckets.refresh();
  const post = async (_path, envelope) => {
    const raw = Buffer.from(JSON.parse(envelope).payload, "base64").subarray(8, 24).toString("hex");
    sent.push(raw.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"));
    return await (left.length > 1 ? left.shift() : left[0]);
  };
  const signer = { signatureType: 0, publicKey: new Uint8Array(32),
    sign: async () => new Uint8Array(64) };
  const sender = new Sender(post, 10_000, { nowMs: how.nowMs ?? Date.now }, signer, PAST_MS, {
    look: async () => ({ ...answer({}, 404), headers: new Headers({ "x-sequence": "10" }) }),
    proof: async () => [10n ** 30n, 5n], resync: async () => undefined, onIntent: () => undefined,
    buckets });
  return { sender, sent, buckets,
    begin: (beginning = {}, name = "place_market_order", body = ORDER) =>
      sender.begin(name, body, beginning) };
}

/** The name of what it throws, else the status of the outcome. */
export const said = (promise) => promise.then(({ status }) => status, ({ name }) => name);

/** A request that nobody can have executed ends with its call, and is never sent; one that is on its
 * way has the id that its caller was told, to the end. */
export async function endedCalls(modules, same) {
  const here = await sending(modules, [DONE]);
  here.buckets.refused("place_market_order", 500);
  const stop = new AbortController();
  const late = [said(here.sender.result(await here.begin(), { deadlineMs: 20 })),
    said(here.sender.result(await here.begin(), { signal: stop.signal }))];
  await after(20);
  stop.abort();
  same("no turn", await Promise.all(late), ["NotExecuted", "NotExecuted"]);
  const kept = await here.begin();
  same("the next", await said(here.sender.result(kept)), "request_completed");
  await after(200);
  same("sent", here.sent, [kept.id]);
  const refused = await sending(modules, [LIMITED]);
  same("behind a refusal", await said(refused.sender.result(await refused.begin(),
    { deadlineMs: 50 })), "NotExecuted");
  await after(400);
  same("sent once", refused.sent.length, 1);
  for (const [last, want] of [[STALE, "Problem"], [DONE, "request_completed"]]) {
    let come;
    const way = await sending(modules, [new Promise((resolve) => { come = resolve; })]);
    const request = await way.begin();
    const { id } = request;
    same("on its way", await said(way.sender.result(request, { deadlineMs: 20 })), "OutcomePending");
    come(last);
    same("the end", await said(request.outcome), want);
    same("one id", way.sent, [id]);
  }
}

/** A call whose signal was aborted before it sends nothing; who has left the queue holds no turn in
 * it. */
export async function leaves(modules, same) {
  const here = await sending(modules, [DONE]);
  const trading = new modules.Trading({ sender: here.sender, place: ORDER.portfolio_id });
  same("aborted before", await said(trading.scheduleCancelAll(1n, { signal: AbortSignal.abort() })),
    "NotExecuted");
  await after(50);
  same("not sent", here.sent, []);
  const { signal } = new AbortController();
  const slow = new modules.Buckets(async () => ({ limits: { write_rate: 1, write_burst: 100 },
    rate_limits: true, remaining: { write: 1, cancel: 1 } }));
  await slow.refresh();
  const gone = new AbortController();
  const first = slow.take("order_batch", 64, signal, gone.signal);
  const next = slow.take("place_limit_order", 1, signal).then(() => "goes");
  await after(20);
  gone.abort();
  same("behind it", await Promise.race([next, after(4000).then(() => "waits")]), "goes");
  await first;
}

/** What no exchange says, of limits or of a pause, is told as an answer that was lost. */
export async function malformed(modules, same) {
  const limits = { write_rate: 10, write_burst: 2 };
  for (const shown of [null, 7, {}, { limits: null }, { limits: { ...limits, write_rate: "x" } },
    { limits: { ...limits, write_burst: -1 } }, { limits, remaining: { write: null } }]) {
    const buckets = new modules.Buckets(async () => shown);
    same(JSON.stringify(shown), await said(buckets.refresh()), "Lost");
  }
  for (const later of ["x", -1, null, {}]) {
    let now = Date.now();
    const here = await sending(modules, [answer({ status: "rejected_rate_limited",
      retry_after_ms: later }), answer({ code: "no" }, 400)], { nowMs: () => now });
    const request = await here.begin();
    await after(100);
    now += PAST_MS;
    same(`after ${later}`, await said(request.outcome), "NotExecuted"); // by proof
  }
}

/** The dead-man is sent while placements wait. */
export async function deadMan(modules, same) {
  const here = await sending(modules, [DONE]);
  here.buckets.refused("place_market_order", 1e9);
  const waits = await here.begin();
  const dead = await here.begin({}, "schedule_cancel_all",
    { portfolio_id: ORDER.portfolio_id, deadline_ns: 1n });
  same("the dead-man", await said(here.sender.result(dead, { deadlineMs: 5000 })),
    "request_completed");
  same("alone", here.sent, [dead.id]);
  here.sender.close();
  same("closed", await said(waits.outcome), "Closed");
}

/** A GET /limits that hangs holds no cancel: it goes when its token is there. */
export async function looks(modules, same) {
  const asked = [];
  let nowMs = 0;
  const buckets = new modules.Buckets(() => {
    asked.push(nowMs);
    return asked.length === 1 ? Promise.resolve(OFTEN) : new Promise(() => undefined);
  }, () => performance.now() + nowMs);
  await buckets.refresh();
  nowMs = 1e6;
  buckets.refused("order_cancel", 100);
  const { signal } = new AbortController();
  const taken = buckets.take("order_cancel", 1, signal).then(() => "taken");
  same("a cancel", await taken, "taken");
  same("asked", asked, [0, 1e6]);
}

/** What has ids of its own is not sent when they have become too old: nobody has seen it. */
export async function ownIds(modules, same) {
  let now = Date.now();
  const here = await sending(modules, [DONE], { nowMs: () => now });
  const requestId = here.sender.newId();
  now += PAST_MS;
  const late = await here.begin({ requestId, isNew: true, hasOwnIds: true });
  same("too old", [await said(late.outcome), here.sent.length], ["NotExecuted", 0]);
}
