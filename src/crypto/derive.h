/* derive.h - what a command carries that the engine may not compute: hashes and key validity.
 *
 * The engine calls no hash (docs/ARCHITECTURE.md). Net fills these members of a live command,
 * the node fills them again from the record for follower, recovery and replay: one function, so the
 * two cannot differ. Any thread, no state. */
#ifndef CRYPTO_DERIVE_H
#define CRYPTO_DERIVE_H

#include "base/message.h"
#include "base/mix.h"

/* Fills duplicate_account, request_hash, target_hash and COMMAND_SESSION_KEY_VALID of a command
 * whose code, kind, sizes and bytes are set. Other members and flags stay as they are.
 *
 * The account of the hashes is the one the duplicate set uses (wire.md W5): the account of the
 * body, or for account creation and operator codes the first 8 bytes of BLAKE2b-256(public key) as
 * a little-endian number with bit 63 set. */
void derive_command(struct command *command, struct mix_key key);

/* That number of a public key. */
uint64_t derive_duplicate_account(const uint8_t *key, uint32_t key_bytes);

#endif
