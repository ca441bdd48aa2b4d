/* read_figures.h - views of what the engine keeps of markets and of the exchange itself, for reads
 * and for the node: states, marks, funding, the fund's cash.
 *
 * As read.h: called between commands by the thread that owns the engine; nothing is changed. */
#ifndef ENGINE_VIEW_READ_FIGURES_H
#define ENGINE_VIEW_READ_FIGURES_H

#include "base/row.h"

struct engine;

/* The state that the k-th market in ascending asset id has, or returns to when its hold ends
 * (R5). */
uint8_t read_figures_state(const struct engine *engine, uint32_t k);

/* False: no market of that zero-padded symbol. */
CC_MUST_USE bool read_figures_mark(const struct engine *engine, const char symbol[32],
                                   struct row_mark *row);

/* Cash of the insurance fund 0/0/0 and of the fee account. */
void read_figures_house(const struct engine *engine, int64_t *fund, int64_t *fees);

/* Items of deferred work that wait. */
uint32_t read_figures_work(const struct engine *engine);

/* Withdrawals that are pending, and what they come to (micro-USDC). */
uint32_t read_figures_withdrawals(const struct engine *engine, int64_t *amount);

/* Of a market's funding epoch: its full hour (unix ns) and index. The asset exists. */
void read_figures_epoch(const struct engine *engine, uint16_t asset_id, uint64_t *hour_ns,
                        uint64_t *index_price);

#endif
