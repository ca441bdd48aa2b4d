/* Passkeys: the master keys that the browser keeps. It signs the SHA-256 of a payload. */
import { type Bytes, base64, joinBytes } from './bytes';
import type { Payload } from './payload';

const COORDINATE_BYTES = 32;
const ES256 = -7;

export type Passkey = { id: Bytes; publicKey: Bytes | null };

/** Asks the browser for a new passkey of this site. */
export async function createPasskey(rpId: string, name: string): Promise<Passkey> {
  const credential = (await navigator.credentials.create({
    publicKey: {
      rp: { id: rpId, name: 'perpd' },
      user: { id: crypto.getRandomValues(new Uint8Array(16)), name, displayName: name },
      challenge: crypto.getRandomValues(new Uint8Array(32)),
      pubKeyCredParams: [{ type: 'public-key', alg: ES256 }],
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    },
  })) as PublicKeyCredential;
  const response = credential.response as AuthenticatorAttestationResponse;
  const point = new Uint8Array(response.getPublicKey()!).slice(-2 * COORDINATE_BYTES);
  const compressed = joinBytes([2 | (point[2 * COORDINATE_BYTES - 1] & 1)], point.slice(0, COORDINATE_BYTES));
  return { id: new Uint8Array(credential.rawId), publicKey: compressed };
}

/** The 64 bytes r and s of a signature in DER, each padded to 32 bytes. */
export function rawSignature(der: ArrayBuffer): Bytes {
  const bytes = new Uint8Array(der);
  const parts: Uint8Array[] = [];
  for (let at = 2; at < bytes.length; at += 2 + bytes[at + 1]) {
    const value = bytes.slice(at + 2, at + 2 + bytes[at + 1]).slice(-COORDINATE_BYTES);
    parts.push(new Uint8Array(COORDINATE_BYTES - value.length), value);
  }
  return joinBytes(...parts);
}

/** Signs with this passkey, or with the one that the user chooses. Gives the envelope and which it was. */
export async function signByPasskey(rpId: string, passkey: Passkey | null, payload: Payload): Promise<{ envelope: object; id: Bytes }> {
  const challenge = await crypto.subtle.digest('SHA-256', payload.bytes);
  const credential = (await navigator.credentials.get({
    publicKey: {
      rpId, challenge, userVerification: 'required',
      allowCredentials: passkey === null ? [] : [{ type: 'public-key', id: passkey.id }],
    },
  })) as PublicKeyCredential;
  const response = credential.response as AuthenticatorAssertionResponse;
  const envelope = {
    payload: base64(payload.bytes),
    signature: base64(rawSignature(response.signature)),
    credential_id: base64(credential.rawId),
    authenticator_data: base64(response.authenticatorData),
    client_data_json: base64(response.clientDataJSON),
    ...(passkey?.publicKey && { public_key: base64(passkey.publicKey) }),
  };
  return { envelope, id: new Uint8Array(credential.rawId) };
}
