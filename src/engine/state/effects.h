/* effects.h - what a command caused, emitted effect by effect (wire.md W3c); owned by the engine.
 *
 * An effect is a code and 48 bytes. It is folded into the running hash of the engine's image and
 * handed to the sink of the command, which may not fail. It is emitted while the record that it
 * speaks of is still in its table and already holds the new values.
 *
 * Order.  That of W3c: check-on-touch; the fills; the taker; what else the command caused; 2100;
 *         the units of deferred work.
 * Units.  Amounts micro-USDC, prices and sizes raw, times unix ns.
 * Owner.  A struct effect lives for the call of emit; the sink copies what it keeps. */
#ifndef ENGINE_STATE_EFFECTS_H
#define ENGINE_STATE_EFFECTS_H

#include "base/compiler.h"
#include "engine/state/effect_body.h"

struct engine;
struct command;

enum { EFFECT_BODY_BYTES = 48, EFFECT_WORDS = EFFECT_BODY_BYTES / 8, EFFECT_LANES = 8 };

#define EFFECT_NO_RECORD   UINT32_MAX
#define EFFECT_CONDITIONAL (UINT32_C(1) << 30) /* the record is one of the conditional orders */

enum { EFFECT_FIRST = 2100 };

#define EFFECT_BIT(code) (UINT32_C(1) << ((code)-EFFECT_FIRST))

/* clang-format off */
/*    name               code   record: index in the table of */
#define EFFECT_LIST(X) \
    X(answer,            2100) /* none */ \
    X(order_state,       2101) /* orders, or EFFECT_CONDITIONAL | conditionals; refused: none */ \
    X(fill,              2102) /* orders */ \
    X(position,          2103) /* holdings */ \
    X(cash,              2104) /* portfolios */ \
    X(funding_payment,   2105) /* holdings */ \
    X(book_level,        2106) /* markets */ \
    X(book_order,        2107) /* orders */ \
    X(trade,             2108) /* markets */ \
    X(mark,              2109) /* markets */ \
    X(funding_epoch,     2110) /* markets */ \
    X(market_state,      2111) /* markets */ \
    X(portfolio_state,   2112) /* portfolios */ \
    X(liquidation,       2113) /* holdings */ \
    X(trigger,           2114) /* conditionals */ \
    X(timer,             2115) /* orders, conditionals (EFFECT_CONDITIONAL), else portfolios */ \
    X(mmp,               2116) /* portfolios */ \
    X(fund,              2117) /* portfolios: 0 */ \
    X(credential,        2118) /* credentials */ \
    X(account,           2119) /* accounts, portfolios */ \
    X(withdrawal,        2120) /* portfolios */ \
    X(settlement,        2121) /* holdings */
/* clang-format on */

enum effect_code {
#define X(name, code) EFFECT_##name = (code),
    EFFECT_LIST(X)
#undef X
};

struct effect {
    uint16_t code;
    uint16_t asset_id; /* 0: none */
    uint32_t index;    /* among the effects of its command */
    uint64_t sequence;
    uint64_t t_ns;
    uint32_t record; /* index in the table of EFFECT_LIST, or EFFECT_NO_RECORD */
    uint8_t bytes[EFFECT_BODY_BYTES];
    const struct engine *engine;
    const struct command *command;
};

/* What an effect goes to; embed it first in the struct of the sink. Its functions may not fail. */
struct engine_sink {
    void (*emit)(struct engine_sink *sink, const struct effect *effect);
    /* An account is new, or its class (enum share_class) has changed, which is no effect; NULL:
     * nobody wants to know. */
    void (*classify)(struct engine_sink *sink, uint64_t account_id, uint32_t class);
    uint32_t ignores; /* bit (code - EFFECT_FIRST): folded into the hash, never given to emit */
};

/* The hash of journal.md (effects_hash) before its BLAKE2b. */
struct effects {
    uint64_t lanes[EFFECT_LANES];
    uint32_t count; /* of the command being applied */
    uint32_t wide;  /* 1: this machine folds rows in a register of 512 bits */
};

/* Finds out how this machine folds; the hash is the same. `effects` is all zero. */
void effects_init(struct effects *effects);

/* Stores eight bytes of a body at once, `low` first. Small fields that are stored one by one and
 * read back as a word would make the reader wait for each of the stores. */
static inline void effects_put(void *body, size_t at, uint32_t low, uint32_t high)
{
    cc_store64((uint8_t *)body + at, low | (uint64_t)high << 32);
}

#define EFFECT_LANE_FACTOR UINT64_C(0x9E3779B97F4A7C15)

enum { EFFECT_LANE_ROTATION = 29 };

static inline uint64_t effects_mix(uint64_t lane, uint64_t word)
{
    uint64_t mixed = lane ^ word;

    return (mixed << EFFECT_LANE_ROTATION | mixed >> (64 - EFFECT_LANE_ROTATION)) *
           EFFECT_LANE_FACTOR;
}

static inline void effects_fold_word(struct effects *effects, unsigned lane, uint64_t word)
{
    effects->lanes[lane] = effects_mix(effects->lanes[lane], word);
}

/* Folds an effect into the lanes. Gives its index among those of its command. */
static inline uint32_t effects_fold(struct effects *effects, enum effect_code code,
                                    uint64_t sequence, const void *body)
{
    uint32_t index = effects->count++;

    effects_fold_word(effects, 0, code | (uint64_t)index << 32);
    effects_fold_word(effects, 1, sequence);
    for (unsigned i = 0; i < EFFECT_WORDS; i++) {
        uint64_t word = cc_load64((const uint8_t *)body + 8 * i);
        CC_OPAQUE(word); /* the caller has just stored it word by word */
        effects_fold_word(effects, 2 + i, word);
    }
    return index;
}

/* Effects of one event that the sink ignores, which wait to be folded together: the lanes are
 * loaded and stored once for all of them. Nothing else is emitted until effects_fold_rows. A row is
 * a line with what each of the lanes folds. */
enum { EFFECTS_ROWS = 12 };
struct effects_row {
    uint64_t code_and_index;
    uint64_t sequence;
    uint64_t words[EFFECT_WORDS];
};
struct effects_rows {
    alignas(CC_CACHE_LINE) struct effects_row rows[EFFECTS_ROWS];
    struct effects_row *end;
    uint64_t next_index; /* of the next row among the effects of the command, in the upper half */
    uint64_t sequence;   /* of the command */
};

static_assert(sizeof(struct effects_row) == CC_CACHE_LINE, "a word for each lane");

/* Folds the rows, one at least, as effects_fold each of them. */
void effects_fold_rows(struct effects *effects, const struct effects_rows *rows);

/* Gives an effect that has been folded to the sink, which does not ignore its code. */
void effects_hand_over(struct engine *engine, enum effect_code code, uint32_t index,
                       uint32_t record, uint16_t asset_id, const void *body);

/* Folds the effect into the lanes and gives it to the sink of the running command. `body` is one of
 * effect_body.h (48 bytes). */
void effects_emit(struct engine *engine, enum effect_code code, uint32_t record, uint16_t asset_id,
                  const void *body);

#endif
