// A web page as a user of passkeys has it: the key is made by the browser, sessions are Ed25519
// keys of WebCrypto, and requests are packed from the layouts of docs/reference.md.
"use strict";
const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));
const bytesOf = (...parts) => new Uint8Array(parts.flatMap((part) => [...new Uint8Array(part)]));
const zeros = (count) => new Uint8Array(count);

function integer(value, size) { // little-endian; a negative one in two's complement
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt.asUintN(64, BigInt(value)), true);
  return new Uint8Array(view.buffer, 0, size);
}

function newId() {
  const id = crypto.getRandomValues(zeros(16));
  id.set(integer(Date.now(), 6).reverse());
  id[6] = 0x70 | (id[6] & 0x0f);
  id[8] = 0x80 | (id[8] & 0x3f);
  return id;
}

const idText = (id) => [...id].map((byte) => byte.toString(16).padStart(2, "0")).join("")
  .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");

const payloadOf = (code, type, body, id = newId()) =>
  bytesOf([1, type], integer(code, 2), zeros(4), id, body);

async function send(url, envelope) {
  const answer = await fetch(url, { method: "POST", body: JSON.stringify(envelope),
    headers: { "Content-Type": "application/json" } });
  return { http: answer.status, sequence: answer.headers.get("X-Sequence"),
    ...await answer.json() };
}

class Session { // Ed25519
  static async create() {
    const session = new Session();
    session.pair = await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
    session.public = await crypto.subtle.exportKey("raw", session.pair.publicKey);
    return session;
  }

  async send(url, code, body, id) {
    const payload = payloadOf(code, 0, body, id);
    const signature = await crypto.subtle.sign("Ed25519", this.pair.privateKey, payload);
    return send(url, { payload: base64(payload), public_key: base64(this.public),
      signature: base64(signature) });
  }
}

function rawSignature(der) { // r || s, 32 bytes each
  const bytes = new Uint8Array(der);
  const parts = [];
  for (let at = 2; at < bytes.length; at += 2 + bytes[at + 1]) {
    const value = bytes.slice(at + 2, at + 2 + bytes[at + 1]);
    parts.push(...zeros(Math.max(0, 32 - value.length)), ...value.slice(-32));
  }
  return new Uint8Array(parts);
}

class Passkey {
  // The authenticator keeps three credentials; "discouraged": it keeps none, the id holds the key.
  static async create(residentKey = "required", rpId = "localhost") {
    const credential = await navigator.credentials.create({ publicKey: {
      challenge: crypto.getRandomValues(zeros(32)), rp: { id: rpId, name: "perpd" },
      user: { id: crypto.getRandomValues(zeros(16)), name: "trader", displayName: "Trader" },
      pubKeyCredParams: [{ type: "public-key", alg: -7 }],
      authenticatorSelection: { residentKey, userVerification: "required" } } });
    const passkey = new Passkey();
    passkey.id = credential.rawId;
    const point = new Uint8Array(credential.response.getPublicKey()).slice(-65);
    passkey.public = bytesOf([2 | (point[64] & 1)], point.slice(1, 33));
    return passkey;
  }

  // change: (payload) => the challenge, where it is to be a wrong one
  async send(url, code, body, { withKey = true, verify = "required", change, id } = {}) {
    const payload = payloadOf(code, 2, body, id);
    const challenge = change ? change(payload) : await crypto.subtle.digest("SHA-256", payload);
    const { response } = await navigator.credentials.get({ publicKey: { challenge,
      allowCredentials: [{ type: "public-key", id: this.id }], userVerification: verify } });
    this.highS = rawSignature(response.signature)[32] >= 0x80;
    return send(url, { payload: base64(payload),
      signature: base64(rawSignature(response.signature)), credential_id: base64(this.id),
      authenticator_data: base64(response.authenticatorData),
      client_data_json: base64(response.clientDataJSON),
      ...withKey && { public_key: base64(this.public) } });
  }
}

const accountBody = (session) => bytesOf(session.public, zeros(8 + 32 + 8));
const sessionBody = (account, session) =>
  bytesOf(integer(account, 8), session.public, zeros(8), integer(-1, 4), zeros(4));
const credentialPart = (passkey, before) => { // length and id, zeros up to a multiple of 8
  const count = passkey.id.byteLength;
  return bytesOf(integer(count, 2), passkey.id, zeros((8 - (before + 2 + count) % 8) % 8));
};
const addPasskeyBody = (account, passkey) =>
  bytesOf(integer(account, 8), passkey.public, zeros(1), credentialPart(passkey, 42));
const addScopedPasskeyBody = (account, passkey) => // TRADING_ONLY, subaccount 0
  bytesOf(integer(account, 8), integer(0, 4), [1], zeros(3), passkey.public, zeros(1),
    credentialPart(passkey, 50));
const removeKeyBody = (account, passkey) =>
  bytesOf(integer(account, 8), passkey.public, zeros(7));
const scopedSessionBody = (account, session) =>
  bytesOf(integer(account, 8), session.public, zeros(8), integer(0, 4), [1], zeros(3));
const apiKeyBody = (account) => // READ_WRITE
  bytesOf(integer(account, 8), integer(-1, 4), [1], zeros(3), zeros(32));
const orderBody = (account, price, quantity) => bytesOf(integer(account, 8), zeros(8),
  integer(price, 8), integer(quantity, 8), integer(-1, 8), zeros(4), integer(1, 2), zeros(2));
