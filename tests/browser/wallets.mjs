// wallets.mjs URL - ethers and viem sign what perpd asks for: an account by the one, a session by
// each, an order by the session. Standard input: a list of payloads in Base64, of every code that a
// wallet signs; the digest that each library computes must be that of the preview.
import { createRequire } from "node:module";
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { readFileSync } from "node:fs";

const require = createRequire(process.env.PERPD_PACKAGES + "/");
const { Wallet, TypedDataEncoder, SigningKey } = require("ethers");
const { hashTypedData, hashDomain, recoverPublicKey } = require("viem");
const { generatePrivateKey, privateKeyToAccount } = require("viem/accounts");

const at = process.argv[2] + "/api/v1";
const equal = (row, got, want) => {
  if (got !== want) throw new Error(`${row}: expected ${want}, got ${got}`);
};
const answer = async (response) => ({ http: response.status, ...await response.json() });
const get = async (path) => answer(await fetch(at + path));
const post = async (path, body) => answer(await fetch(at + path, { method: "POST",
  body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }));
const base64 = (bytes) => Buffer.from(bytes).toString("base64");

function payloadOf(code, type, body) {
  const head = Buffer.alloc(24);
  head[0] = 1;
  head[1] = type;
  head.writeUInt16LE(code, 2);
  head.writeUIntBE(Date.now(), 8, 6);
  randomBytes(10).copy(head, 14);
  head[14] = 0x70 | (head[14] & 0x0f);
  head[16] = 0x80 | (head[16] & 0x3f);
  return Buffer.concat([head, body]);
}

function withoutDomain({ EIP712Domain, ...types }) { // ethers makes that one itself
  return types;
}

// The preview of a payload, after both libraries have come to its digest.
async function previewed(payload) {
  const code = payload.readUInt16LE(2);
  const shown = await post("/eip712/preview", { payload: base64(payload) });
  equal(`preview of ${code}`, shown.http, 200);
  const { domain, types, primaryType, message } = shown.typed_data;
  const asked = await get(`/eip712/${code}`);
  equal(`types of ${code}`, JSON.stringify([asked.types, asked.primaryType, asked.domain]),
    JSON.stringify([types, primaryType, domain]));
  equal(`${code}: ethers' primary type`, TypedDataEncoder.getPrimaryType(withoutDomain(types)),
    primaryType);
  equal(`${code}: ethers' domain`, TypedDataEncoder.hashDomain(domain),
    "0x" + shown.domain_separator);
  equal(`${code}: viem's domain`, hashDomain({ domain, types }), "0x" + shown.domain_separator);
  equal(`${code}: ethers' struct`, TypedDataEncoder.hashStruct(primaryType, withoutDomain(types),
    message), "0x" + shown.struct_hash);
  equal(`${code}: ethers' digest`, TypedDataEncoder.hash(domain, withoutDomain(types), message),
    "0x" + shown.digest);
  equal(`${code}: viem's digest`, hashTypedData({ domain, types, primaryType, message }),
    "0x" + shown.digest);
  equal(`${code}: the payload is in it`, message.payload, "0x" + payload.toString("hex"));
  return shown;
}

// Wallets give 65 bytes and an address: v is left out, the key is recovered from the signature.
const envelope = (payload, signature, key) => ({ payload: base64(payload),
  signature: base64(Buffer.from(signature.slice(2), "hex").subarray(0, 64)),
  public_key: base64(Buffer.from(SigningKey.computePublicKey(key, true).slice(2), "hex")) });

const ethersWallet = Wallet.createRandom();
async function byEthers(payload) {
  const { typed_data: data, digest } = await previewed(payload);
  const signature = await ethersWallet.signTypedData(data.domain, withoutDomain(data.types),
    data.message);
  return envelope(payload, signature, SigningKey.recoverPublicKey("0x" + digest, signature));
}

const viemWallet = privateKeyToAccount(generatePrivateKey());
async function byViem(payload) {
  const { typed_data: data, digest } = await previewed(payload);
  const signature = await viemWallet.signTypedData(data);
  return envelope(payload, signature, await recoverPublicKey({ hash: "0x" + digest, signature }));
}

function newSession() {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  return { public: Buffer.from(publicKey.export({ format: "jwk" }).x, "base64url"), privateKey };
}

async function trade(name, signed) {
  const first = newSession(), session = newSession();
  const account = Buffer.alloc(80);
  first.public.copy(account);
  const created = await post("/account/create", await signed(payloadOf(11, 1, account)));
  equal(`${name}: account`, created.message, "account_created_with_session");
  const body = Buffer.alloc(56);
  body.writeBigUInt64LE(BigInt(created.account_id));
  session.public.copy(body, 8);
  body.writeInt32LE(-1, 48);
  const made = await post("/auth/sessions/create", await signed(payloadOf(13, 1, body)));
  equal(`${name}: session`, made.message, "session_created");

  const bySession = (payload) => ({ payload: base64(payload), public_key: base64(session.public),
    signature: base64(sign(null, payload, session.privateKey)) });
  const key = Buffer.alloc(48);
  key.writeBigUInt64LE(BigInt(created.account_id));
  key.writeInt32LE(-1, 8);
  key[12] = 1; // READ_WRITE
  const { api_key: apiKey } = await post("/api-keys", bySession(payloadOf(34, 0, key)));
  const funded = await answer(await fetch(at + "/faucet", { method: "POST",
    headers: { "X-API-KEY": apiKey, "Content-Type": "application/json" },
    body: '{"subaccount_index":0,"portfolio_index":0,"amount":"10000"}' }));
  equal(`${name}: faucet`, funded.cash_balance, "10000");
  const order = Buffer.alloc(48);
  order.writeBigUInt64LE(BigInt(created.account_id));
  order.writeBigUInt64LE(990000n, 16);
  order.writeBigInt64LE(100n, 24);
  order.writeBigUInt64LE(2n ** 64n - 1n, 32);
  order.writeUInt16LE(1, 44);
  const placed = await post("/trading/order/place/limit", bySession(payloadOf(0, 0, order)));
  equal(`${name}: order`, placed.status, "request_completed");
}

await trade("ethers", byEthers);
await trade("viem", byViem);

// A wallet's signature as it comes is refused with a word about it.
const late = await byViem(payloadOf(15, 1, Buffer.alloc(8)));
late.signature = base64(Buffer.concat([Buffer.from(late.signature, "base64"), Buffer.of(27)]));
const refused = await post("/auth/sessions/revoke-all", late);
equal("65 bytes", /65/.test(refused.detail), true);

const payloads = JSON.parse(readFileSync(0, "utf8"));
for (const payload of payloads) {
  await previewed(Buffer.from(payload, "base64"));
}
console.log(`ethers and viem: accounts, sessions, orders; ${payloads.length} payloads`);
