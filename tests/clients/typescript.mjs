// typescript.mjs DIST VECTORS - clients/ts as it was compiled into DIST, against VECTORS, a folder
// of vectors. Prints what is wrong, one line each; the last line counts what was looked at.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

const [dist, folder] = process.argv.slice(2);
const perpd = await import(pathToFileURL(`${dist}/index.js`).href);
const { Amount, Ids, SessionKey, wire } = perpd;
const NAMES = new Map(Object.values(wire.REQUESTS).map((row) => [row.code, row.name]));
let looked = 0;

function same(what, got, want) {
  looked += 1;
  const [left, right] = [got, want].map((value) => perpd.formatJson(value) ?? "undefined");
  if (left !== right) console.log(`${what}: expected ${right}, got ${left}`);
}

function refused(what, kind, act) {
  looked += 1;
  try {
    act();
  } catch (error) {
    if (error instanceof kind) return;
    console.log(`${what}: ${error}`);
    return;
  }
  console.log(`${what}: nothing was thrown`);
}

const hex = (bytes) => Buffer.from(bytes).toString("hex");
const vectors = (name) => JSON.parse(readFileSync(`${folder}/${name}.json`, "utf8")).vectors;

// W3, W4: each body is read and packed again to the same bytes, and signed to the same envelope.
const ALL = ["ed25519", "eip712", "passkey"].flatMap(vectors);
const codeOf = (payload) => payload.readUInt16LE(2);
for (const vector of ALL) {
  const payload = Buffer.from(vector.payload_hex, "hex");
  const name = NAMES.get(codeOf(payload));
  if (vector.name === "create_session_unknown_scope") {
    refused(vector.name, RangeError, () => perpd.unpackBody(name, payload.subarray(24)));
    continue;
  }
  const body = perpd.unpackBody(name, payload.subarray(24));
  const id = perpd.idText(payload.subarray(8, 24));
  same(vector.name, hex(perpd.payloadOf(name, body, id, payload[1])), hex(payload));
  refused("too short", RangeError, () => perpd.unpackBody(name, payload.subarray(24, -8)));
  if (vector.seed !== undefined && vector.valid) {
    const key = await SessionKey.ofSeed(Buffer.from(vector.seed, "hex"));
    const { payload: text, public_key, signature } = vector.envelope;
    same(`${vector.name} signed`, JSON.parse(await perpd.envelopeOf(payload, key)),
      { payload: text, public_key, signature });
  }
}
for (const { name, valid, envelope } of vectors("ed25519")) {
  const [key, payload, signature] = ["public_key", "payload", "signature"]
    .map((member) => Buffer.from(envelope[member], "base64"));
  same(name, await perpd.verify(key, payload, signature), valid);
}
// W4: what a wallet shows, its digest, and the signature of the master key; those that are refused.
const { hashStruct } = await import(pathToFileURL(`${dist}/typed_data.js`).href);
const noble = pathToFileURL(`${dist}/../node_modules/@noble`).href;
const { secp256k1 } = await import(`${noble}/curves/secp256k1.js`);
for (const vector of vectors("eip712")) {
  const payload = Buffer.from(vector.payload_hex, "hex");
  const typed = perpd.typedDataOf(payload, vector.exchange_id);
  const digest = perpd.digestOf(typed);
  same(vector.name, secp256k1.verify(Buffer.from(vector.signature, "hex"), digest,
    Buffer.from(vector.public_key, "hex"), { prehash: false }), vector.valid);
  if (!vector.valid) continue;
  same(vector.name, Object.entries(typed).sort(), Object.entries(vector.typed_data).sort());
  same(vector.name, hex(hashStruct(typed, "EIP712Domain", typed.domain)), vector.domain_separator);
  same(vector.name, hex(hashStruct(typed, typed.primaryType, typed.message)), vector.struct_hash);
  same(vector.name, hex(digest), vector.digest);
  const master = new perpd.MasterKey(Buffer.from(vector.private_key, "hex"), vector.exchange_id);
  same(vector.name, JSON.parse(await perpd.envelopeOf(payload, master)), {
    payload: vector.envelope.payload, public_key: vector.envelope.public_key,
    signature: vector.envelope.signature });
}
for (const vector of vectors("passkey")) {
  const payload = Buffer.from(vector.payload_hex, "hex");
  same(vector.name, createHash("sha256").update(payload).digest("base64url"),
    vector.challenge_b64url);
}
refused("an order", RangeError, () => perpd.typedDataOf(
  Buffer.from(vectors("ed25519")[0].payload_hex, "hex"), "00".repeat(32)));
const place = { account_id: 7n, subaccount_index: 0, portfolio_index: 0 };
const limit = { portfolio_id: place, price: 1_000_000n, quantity: -50_000n, expiry: 2n ** 64n - 1n,
  post_only: true, reduce_only: false, stp: "EXPIRE_TAKER", asset: 1 };
const limitBytes = perpd.packBody("place_limit_order", limit);
same("a limit order", perpd.unpackBody("place_limit_order", limitBytes), limit);
for (const [member, value, kind] of [["price", 1.5, TypeError], ["price", -1n, RangeError],
  ["price", 2n ** 64n, RangeError], ["quantity", 2n ** 63n, RangeError], ["stp", "NONE", RangeError],
  ["post_only", 1, TypeError], ["asset", 65536, RangeError], ["price", undefined, TypeError]]) {
  refused(`${member} ${value}`, kind,
    () => perpd.packBody("place_limit_order", { ...limit, [member]: value }));
}
limitBytes[43] = 1;
refused("a pad", RangeError, () => perpd.unpackBody("place_limit_order", limitBytes));
refused("a long text", RangeError, () => perpd.packBody("create_portfolio",
  { account_id: 1n, subaccount_index: 0, name: "é".repeat(17) }));
refused("a short key", RangeError, () => perpd.packBody("revoke_session",
  { account_id: 1n, session_pub: new Uint8Array(31) }));

// A key comes from the text of a file, and shows its secret nowhere.
const seed = Buffer.from(Array.from({ length: 32 }, (_, at) => at));
const text = `# A key.\ncurve = ed25519\nsecret = ${seed.toString("base64")}\nexchange = 00ff\n`;
const key = await SessionKey.ofText(text);
same("its public key", perpd.base64(key.publicKey), "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=");
same("its exchange", key.exchangeId, "00ff");
same("no secret", JSON.stringify(key).includes(seed.toString("base64")), false);

// Amounts: exact in every direction.
for (const [shown, raw, decimals, want] of [["0", 0n, 0, "0"], ["-0.0", 0n, 1, "0"],
  ["0.10", 10n, 2, "0.1"], ["-12", -12n, 0, "-12"], ["-0.000001", -1n, 6, "-0.000001"],
  ["9223372036854775807", 2n ** 63n - 1n, 0, "9223372036854775807"]]) {
  const amount = Amount.of(shown);
  same(shown, [amount.raw, amount.decimals, amount.toString()], [raw, decimals, want]);
}
let state = 18n;
for (let count = 0; count < 10_000; count += 1) {
  state = (state * 6364136223846793005n + 1442695040888963407n) % 2n ** 64n; // Knuth's MMIX
  const [raw, decimals] = [state - 2n ** 63n, count % 9];
  same("there and back", Amount.of(new Amount(raw, decimals).toString()).at(decimals), raw);
}
for (const wrong of ["", "1e5", "1.", ".5", "+1", " 1", "1_000", "٣", "1".repeat(41), "0x1"]) {
  refused(JSON.stringify(wrong), RangeError, () => Amount.of(wrong));
}
for (const wrong of [1.5, 0, null, true, undefined]) {
  refused(`${wrong}`, TypeError, () => Amount.of(wrong));
}
for (const [value, down, up] of [["100.74", "100.5", "101"], ["100.5", "100.5", "100.5"],
  ["-0.2", "-0.5", "0"], ["0.49", "0", "0.5"]]) {
  const rounded = ["down", "up"].map((way) => `${Amount.of(value).rounded(Amount.of("0.5"), way)}`);
  same(value, rounded, [down, up]);
}
same("10 bps below", `${Amount.of("100000.1").timesBps(-10n)}`, "99900.0999");
same("order", Amount.of("0.09").compare(Amount.of("0.1")), -1);
same("equal", Amount.of("1.50").equals(Amount.of("1.5")), true);
refused("too fine", RangeError, () => Amount.of("0.05").at(1));

// F8: the spellings that EIP-55 gives as examples; other letters are refused, with both.
const { Trading } = await import(pathToFileURL(`${dist}/trading.js`).href);
for (const right of ["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359", "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
  "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb"]) {
  const digits = right.slice(2);
  const raw = Uint8Array.from(Buffer.from(digits, "hex"));
  same(right, perpd.addressText(raw), right);
  for (const given of [right, digits, right.toLowerCase(), `0x${digits.toUpperCase()}`, raw])
    same(`${given}`, hex(perpd.addressOf(given)), hex(raw));
  const swapped = digits.replace(/[a-z]|[A-Z]/g, (one) =>
    one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase());
  for (const wrong of [`0x${swapped}`, `${right.slice(0, -1)}0`]) {
    const trading = new Trading({ place: null });
    const error = await trading.withdraw("1", wrong).catch((thrown) => thrown);
    const spelled = perpd.addressText(Uint8Array.from(Buffer.from(wrong.slice(2), "hex")));
    same(wrong, [error.constructor.name, error.given, error.right], ["WrongChecksum", wrong, spelled]);
    same("both are told", error.message.includes(wrong) && error.message.includes(spelled), true);
  }
}
for (const given of ["", "0x", `0x${"1".repeat(39)}`, `0x${"1".repeat(41)}`, ` 0x${"1".repeat(40)}`,
  `0x${"g".repeat(40)}`, new Uint8Array(19)])
  refused(`${given}`, RangeError, () => perpd.addressOf(given));

// W5: ids of the time that is told, strictly rising.
for (const vector of vectors("uuid7")) {
  same(vector.name, perpd.idText(Buffer.from(vector.hex, "hex")), vector.text);
  same(vector.name, perpd.idTimeMs(vector.text), vector.unix_ms);
}
let now = 1_755_582_431_232;
const ids = new Ids(() => now);
const made = Array.from({ length: 10_000 }, () => ids.next());
now -= 60_000;
made.push(ids.next());
same("rising", made, [...new Set(made)].sort());
same("version and variant", made.every((id) => /^.{14}7.{4}[89ab]/.test(id)), true);
same("the time", perpd.idTimeMs(made[0]), 1_755_582_431_232);
same("following", [1, 3].map((number) => perpd.followingId("0198c0de-1234-7abc-8000-000000000001", number)),
  ["0198c0de-1234-7abc-9e37-79b97f4a7c16", "0198c0de-1234-7abc-9aa6-6d2c7ddf7440"]);

// J1: integers of 64 bits, and digits inside of texts.
const json = '{"time_ns":1755582431240112233,"sequence":7,"size":"1","label":"1234567890123456789 ' +
  '\\"9007199254740993","list":[18446744073709551615,5],"x":-9223372036854775808,"n":null}';
const parsed = perpd.parseJson(json);
same("wide", [parsed.time_ns, parsed.sequence, parsed.list[0], parsed.x],
  [1755582431240112233n, 7n, 2n ** 64n - 1n, -(2n ** 63n)]);
same("a sequence", typeof parsed.sequence, "bigint");
same("a text", parsed.label, '1234567890123456789 "9007199254740993');
same("narrow", parsed.list[1], 5);
same("and back", perpd.formatJson(parsed), json);
same("fractions", perpd.parseJson("[0.12345678901234567,1234567890123456.5,12345678901234567e1]"),
  [0.12345678901234567, 1234567890123456.5, 12345678901234567e1]);
// What takes a time that grows with the square of its length would not end here.
for (const hostile of [`${"7".repeat(2e6)}.`, '"\\'.repeat(1e6), "[".repeat(2e6)]) {
  refused("hostile JSON", Error, () => perpd.parseJson(hostile));
}

// An answer that never ends is given up when it is longer than any may be.
{
  const { Http, Origin } = await import(pathToFileURL(`${dist}/http.js`).href);
  const endless = createServer((_, response) => {
    const go = () => { while (!response.destroyed && response.write(Buffer.alloc(1 << 20, " "))); };
    response.on("drain", go);
    go();
  }).listen(0, "127.0.0.1");
  await once(endless, "listening");
  const far = new Http(new Origin(`http://127.0.0.1:${endless.address().port}`), 60_000,
    () => undefined, () => performance.now());
  const said = await far.request({ method: "GET", target: "/" }).then(() => "", String);
  same("endless", said.includes("more than 64 MiB"), true);
  endless.closeAllConnections();
  endless.close();
}

// J9: 1,000 frames of a book, with gaps, wrong checksums, conflation and a lag (book_vectors.py).
const { Book, Fault } = await import(pathToFileURL(`${dist}/book.js`).href);
const whole = perpd.parseJson(readFileSync(`${folder}/book.json`, "utf8"));
const book = new Book({ priceDecimals: whole.price_decimals, sizeDecimals: whole.size_decimals },
  whole.depth);
const met = { ok: 0, gap: 0, fault: 0 };
for (const [number, { frame, expect, crc }] of whole.steps.entries()) {
  met[expect] += 1;
  same(`${number}: in order`, frame.type === "snapshot" || frame.prev_seq === book.seq,
    expect !== "gap");
  if (expect === "gap") book.discard();
  else if (expect === "fault") refused(`${number}: fault`, Fault, () => book.apply(frame));
  else book.apply(frame);
  same(`${number}: live`, book.isLive, expect === "ok");
  if (expect === "ok") same(`${number}: crc`, book.crc(), crc);
}
same("steps", met, { ok: 959, gap: 21, fault: 20 });

// W9, Binary messages: what each says, with what a newer exchange adds; what is none.
const { Malformed, readMessage } = perpd.binary;
const kinds = { frames: 0, acks: 0, refused: 0 };
const sorted = (one) => Object.fromEntries(Object.entries(one).sort().map(([name, value]) =>
  [name, value instanceof Uint8Array ? hex(value) : value]));
const shown = (one) => ("data" in one ? { ...one, data: one.data.map(sorted) } : one);
for (const { name, hex: digits, message: want } of
  perpd.parseJson(readFileSync(`${folder}/stream_binary.json`, "utf8")).vectors) {
  const raw = new Uint8Array(Buffer.from(digits, "hex"));
  kinds[want === undefined ? "refused" : "data" in want ? "frames" : "acks"] += 1;
  if (want === undefined) {
    refused(name, Malformed, () => readMessage(raw));
    continue;
  }
  const got = readMessage(raw);
  same(name, shown(got), shown(want));
  for (let cut = 0; cut < raw.length; cut += 1) {
    if (cut >= 48 && cut % 8 === 0) continue;
    refused(`${name}: ${cut}`, Malformed, () => readMessage(raw.slice(0, cut)));
  }
}
same("messages", kinds, { frames: 32, acks: 2, refused: 14 });

// A code that is newer than the library is a text; an order in such a state is open. An order shows its
// newest event; one that comes late changes nothing.
const { eventOf } = await import(pathToFileURL(`${dist}/binary_private.js`).href);
const btc = { name: "BTC-PERP", priceDecimals: 1, sizeDecimals: 5 };
const newer = eventOf({ template: 4, order_id: "1", status: 9, side: 1, remaining: 1n, filled: 0n,
  price: 5n }, btc);
const order = new perpd.Order({}, "1", btc, "sell", null, Amount.of("1"));
order.hear(newer, 4n);
same("a newer state", [newer.order_status, newer.side, order.isOpen], ["UNKNOWN_9", "SHORT", true]);
for (const [at, status, want] of [[7n, "FILLED", "FILLED"], [5n, "OPEN", "FILLED"],
  [8n, "CANCELED", "CANCELED"]]) {
  order.hear({ order_status: status, remaining_size: "0", filled_size: "0" }, at);
  same(`after ${at}`, order.status, want);
}
// W8: a request waits for its token rather than be refused; a cancel waits for none of a placement.
const { Buckets } = await import(pathToFileURL(`${dist}/buckets.js`).href);
{
  const limits = { limits: { write_rate: 1000, write_burst: 2 }, rate_limits: true };
  const [begun, took] = [performance.now(), {}];
  const kept = new Buckets(async () => limits);
  const { signal } = new AbortController();
  const take = async (name, cost, label) => {
    await kept.take(name, cost, signal);
    took[label] = performance.now() - begun;
  };
  await kept.refresh();
  kept.refused("place_limit_order", 200); // the exchange has a token in 200 ms
  await Promise.all([take("place_limit_order", 1, "first"), take("order_batch", 9, "batch"),
    take("place_limit_order", 1, "last"), take("order_cancel", 1, "cancel")]);
  same("what waits", [took.cancel < took.first, took.first >= 198, took.batch >= took.first,
    took.last >= 207], [true, true, true, true]); // the batch owes nine of 1,000 a second
  let nowMs = 0;
  const still = new Buckets(async () => ({ limits: { write_rate: 1000, write_burst: 4 },
    rate_limits: true }), () => nowMs);
  await still.refresh();
  for (const cost of [3, 9]) { // 60 ms after a refusal its batch goes
    nowMs += 1e4;
    still.refused("order_batch", 60, cost);
    nowMs += 60;
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 1000).unref();
    same("after a refusal", await still.take("order_batch", cost, stop.signal)
      .then(() => "goes", () => "waits"), "goes");
  }
  const free = new Buckets(async () => ({ ...limits, rate_limits: false }));
  await free.refresh();
  for (let count = 0; count < 10; count += 1) await free.take("order_batch", 64, signal);
}
// A call that has ended leaves no order behind that would be sent later, or twice.
const { Sender } = await import(pathToFileURL(`${dist}/requests.js`).href);
const { deadMan, endedCalls, leaves, looks, malformed, ownIds }
  = await import(new URL("sending.mjs", import.meta.url).href);
await endedCalls({ Sender, Buckets }, same);
await deadMan({ Sender, Buckets }, same);
await looks({ Sender, Buckets }, same);
await ownIds({ Sender, Buckets }, same);
await leaves({ Sender, Buckets, Trading }, same);
await malformed({ Sender, Buckets }, same);
console.log(looked);
