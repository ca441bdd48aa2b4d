/* samples.h - the index of each market at the full seconds of the last half hour at which it was
 * valid: what a market that closes is settled at (rules.md R9, how a market is settled). Owned by
 * the engine.
 *
 * Order.  A ring by second: a slot is used again 1,800 seconds later. An older sample in it is from
 *         before the half hour and counts nowhere, neither in a mean nor in an image.
 * Units.  Seconds t / 1 s, prices raw.
 * Bound.  SAMPLES_MAX slots a market; nothing here allocates. */
#ifndef ENGINE_STATE_SAMPLES_H
#define ENGINE_STATE_SAMPLES_H

#include "base/compiler.h"

enum { SAMPLES_MAX = 1800, SAMPLES_LEAST = 60, SAMPLES_REFERENCE = 60 };

struct sample {
    uint64_t second; /* 0: none yet */
    uint64_t price;
};

struct sample_table {
    struct sample *rows; /* [ENGINE_MARKETS_MAX][SAMPLES_MAX] */
};

/* A row of section 18: markets by definition, of one market oldest first. */
struct sample_row {
    uint32_t market;
    uint64_t second;
    uint64_t price;
};
#define SAMPLE_ROW_FIELDS(X) X(market) X(second) X(price)

struct engine;
struct image_read;
struct image_sink;

/* Returns the bytes that samples_init needs. */
size_t samples_bytes(void);

/* Prepares an empty table. `memory`: samples_bytes() zero bytes, 64-byte aligned,
 * which outlive it. */
void samples_init(struct sample_table *table, void *memory);

/* In a second of the market whose index is valid: keeps it. */
void samples_append(struct engine *engine, uint32_t market);

/* The floor of the mean of the half hour that ends at t; 0: fewer than `least` are known. */
CC_MUST_USE uint64_t samples_mean(const struct engine *engine, uint32_t market, uint32_t least);

/* R5: the median (of two the lower one) of the last SAMPLES_REFERENCE seconds, without those from
 * before the last price that a run or the operator has set; 0: there is none. */
CC_MUST_USE uint64_t samples_reference(const struct engine *engine, uint32_t market);

/* A run or the operator sets the market's price: samples so far count for no reference. */
void samples_begin_reference(struct engine *engine, uint32_t market);

/* Section 18 of the image, and back; the markets are there. */
void samples_image(const struct engine *engine, struct image_sink *sink);
CC_MUST_USE bool samples_load(struct engine *engine, struct image_read *read);

#endif
