/* audit.h - the money invariants I1 to I6 of R2, recounted from the tables. Owned by the engine.
 *
 * After every command in tests, at checkpoints and for GET /audit by the follower.
 *
 * Bound. Every portfolio, holding and order once. */
#ifndef ENGINE_AUDIT_H
#define ENGINE_AUDIT_H

#include "base/cc.h"
#include "base/row.h"

struct engine;

/* Every term of the invariants and which of them hold. `markets`: room for read_market_count rows,
 * in ascending asset id, or NULL. */
void audit_read(const struct engine *engine, struct row_audit *row,
                struct row_audit_market *markets);

/* Whether I1 to I6 all hold. */
CC_MUST_USE bool audit_holds(const struct engine *engine);

#endif
