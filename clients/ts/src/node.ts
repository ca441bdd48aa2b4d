// For Node alone: secrets in files.

import { readFile, stat } from "node:fs/promises";

import { PerpdError } from "./errors.js";
import { SessionKey } from "./sign.js";

const OTHERS = 0o077;

/** The text of a secret. The file must be open to nobody but its owner; PerpdError. */
export async function readSecret(path: string): Promise<string> {
  const { mode } = await stat(path);
  if ((mode & OTHERS) !== 0) {
    throw new PerpdError(`${path} holds a secret and is open to others: chmod 600 ${path}`);
  }
  return (await readFile(path, "utf8")).trim();
}

/** The key of a file that `perp keys new ed25519` writes. */
export async function readKey(path: string): Promise<SessionKey> {
  return SessionKey.ofText(await readSecret(path));
}
