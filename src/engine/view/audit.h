/* audit.h - recounts the money invariants I1 to I6 and I9 of R2 from the tables. Owned by the
 * engine. What a command does (I7, I8, I10) is watched by watch.h.
 *
 * Tests run it after every command; the follower runs it at checkpoints and for GET /audit. It
 * changes nothing.
 *
 * Bound. It visits every portfolio, holding and order once. */
#ifndef ENGINE_VIEW_AUDIT_H
#define ENGINE_VIEW_AUDIT_H

#include "base/compiler.h"
#include "base/row.h"

enum { AUDIT_MARKET_WORDS = 2 };

/* I7, I8 and I10: of what a command does (watch.h). */
enum { AUDIT_WATCHED = 1 << 6 | 1 << 7 | 1 << 9 };

struct engine;

/* The invariants that failed, and the markets in which they failed. It decides what is halted
 * (R2). */
struct audit_verdict {
    uint64_t markets[AUDIT_MARKET_WORDS]; /* bit k: I1, I4 to I7 or I10 failed in market k, its
                                             index in order of definition */
    uint16_t failed;                      /* bit k - 1: I<k> */
    bool of_all;                          /* I2, I3, I8, I9 or a sum of no single market failed */
};

/* Fills *row with every term of the invariants and with those that hold; those of watch.h count as
 * holding. `markets` is NULL or has
 * room for read_market_count rows, which are filled in ascending asset id. */
void audit_read(const struct engine *engine, struct row_audit *row,
                struct row_audit_market *markets);

/* True if I1 to I6 and I9 all hold. *verdict always gets the ones that failed. */
CC_MUST_USE bool audit_judge(const struct engine *engine, struct audit_verdict *verdict);

/* True if I1 to I6 and I9 all hold. */
CC_MUST_USE bool audit_holds(const struct engine *engine);

#endif
