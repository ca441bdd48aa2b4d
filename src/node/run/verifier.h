/* verifier.h - how this start verifies Ed25519 signatures: the path, and the tables of keys.
 *
 * crypto.verify names the path. `auto` takes the first that the machine has and whose self-test
 * passes; any other word takes that one or refuses the start, so that nobody measures, or trusts,
 * something else than what he has named (docs/decisions/0070).
 *
 * Owner. The main thread, before others run. What is chosen, and what speaks against the others, is
 * logged here. */
#ifndef NODE_RUN_VERIFIER_H
#define NODE_RUN_VERIFIER_H

#include "node/run/node.h"

/* Chooses the path. 0, or the exit code of the process. */
CC_MUST_USE int verifier_choose(const struct config *options);

/* Makes node->key_tables and node->key_keeper, once the engine's options are known. 0 or -ENOMEM;
 * want of memory for the tables alone is no failure: keys are verified without. */
CC_MUST_USE int verifier_make(struct node *node);
void verifier_free(struct node *node);

#endif
