/* audit.h - the money invariants I1 to I6 of R2, recounted from the tables. Owned by the engine.
 *
 * After every command in tests, at checkpoints and for GET /audit by the follower.
 *
 * Bound. Every portfolio, holding and order once. */
#ifndef ENGINE_VIEW_AUDIT_H
#define ENGINE_VIEW_AUDIT_H

#include "base/compiler.h"
#include "base/row.h"

enum { AUDIT_MARKET_WORDS = 2 };

struct engine;

/* What failed, and whose it is: what a halt goes by (R2). */
struct audit_verdict {
    uint64_t markets[AUDIT_MARKET_WORDS]; /* bit k: I1, I4, I5 or I6 failed in market k, by its
                                             index in order of definition */
    uint8_t failed;                       /* bit k - 1: I<k> */
    bool of_all;                          /* I2, I3, or a sum that is no market's, failed */
};

/* Every term of the invariants and which of them hold. `markets`: room for read_market_count rows,
 * in ascending asset id, or NULL. */
void audit_read(const struct engine *engine, struct row_audit *row,
                struct row_audit_market *markets);

/* Whether I1 to I6 all hold; else *verdict says which do not. */
CC_MUST_USE bool audit_judge(const struct engine *engine, struct audit_verdict *verdict);

/* Whether I1 to I6 all hold. */
CC_MUST_USE bool audit_holds(const struct engine *engine);

#endif
