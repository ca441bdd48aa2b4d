/* verifier.h - how this start verifies Ed25519 signatures: the path, and the tables of keys.
 *
 * crypto.verify names the path. `auto` is the first path that the machine has and whose self-test
 * passes. Any other word selects that path or refuses the start, so that nobody measures or trusts
 * another one by mistake (docs/decisions/0070).
 *
 * Owner. The main thread, before others run. The choice, and the reasons against the other paths,
 * are logged here. */
#ifndef NODE_RUN_VERIFIER_H
#define NODE_RUN_VERIFIER_H

#include "node/run/node.h"

/* Chooses the path. 0 or the exit code of the process. */
CC_MUST_USE int verifier_choose(const struct config *options);

/* Makes node->key_tables and node->key_keeper, once the engine's options are known. 0 or -ENOMEM.
 * Lack of memory for the tables alone is no failure: keys are then verified without them. */
CC_MUST_USE int verifier_make(struct node *node);
void verifier_free(struct node *node);

#endif
