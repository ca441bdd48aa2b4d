/* derive.h - the members of a command that the engine may not compute: hashes and key validity.
 *
 * The engine calls no hash (docs/ARCHITECTURE.md). Net fills these members of a live command. The
 * node fills them again from the record, for follower, recovery and replay. Both call this
 * function, so the two cannot differ. Any thread, no state. */
#ifndef CRYPTO_DERIVE_H
#define CRYPTO_DERIVE_H

#include "base/message.h"
#include "base/mix.h"

/* Fills duplicate_account, request_hash, target_hash, COMMAND_SESSION_KEY_VALID and
 * COMMAND_MASTER_KEY_VALID of a command whose code, kind, sizes and bytes are set. Other members
 * and flags do not change. A command that is unsigned, or whose body is shorter than an account id,
 * gets zeros and no flag.
 *
 * The hashes use the account of the duplicate set (wire.md W5): that of the body, or for account
 * creation and operator codes the first 8 bytes of BLAKE2b-256(public key) as a little-endian
 * number with bit 63 set. */
void derive_command(struct command *command, struct mix_key key);

#endif
