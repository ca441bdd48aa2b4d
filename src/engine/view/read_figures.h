/* read_figures.h - figures of markets and of the exchange, for reads and the node: states, marks,
 * funding, the fund's cash.
 *
 * As in read.h, the thread that owns the engine calls these functions between commands, and they
 * change nothing. */
#ifndef ENGINE_VIEW_READ_FIGURES_H
#define ENGINE_VIEW_READ_FIGURES_H

#include "base/row.h"

struct engine;

/* Returns the state of the k-th market in ascending asset id. For a market with an oracle hold it
 * is the state after the hold (R5). */
uint8_t read_figures_state(const struct engine *engine, uint32_t k);

/* Shows mark, index and premium of the market with this zero-padded symbol. False: no market. */
CC_MUST_USE bool read_figures_mark(const struct engine *engine, const char symbol[32],
                                   struct row_mark *row);

/* Sets the cash of the insurance fund 0/0/0 and of the fee account (micro-USDC). */
void read_figures_house(const struct engine *engine, int64_t *fund, int64_t *fees);

/* Returns the number of items of deferred work. */
uint32_t read_figures_work(const struct engine *engine);

/* Returns the number of pending withdrawals. *amount gets their sum (micro-USDC). */
uint32_t read_figures_withdrawals(const struct engine *engine, int64_t *amount);

/* Sets the full hour (unix ns) and the index price of a market's last funding epoch. The asset
 * exists. */
void read_figures_epoch(const struct engine *engine, uint16_t asset_id, uint64_t *hour_ns,
                        uint64_t *index_price);

#endif
