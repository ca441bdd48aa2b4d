/* image_parts.h - the set of sections of an image: each once, each of a version that has a reader.
 * Pure. */
#ifndef ENGINE_IMAGE_IMAGE_PARTS_H
#define ENGINE_IMAGE_IMAGE_PARTS_H

#include "base/request.h"
#include "engine/image/image.h"
#include "engine/image/image_load.h"
#include "engine/table/image_read.h"

/* clang-format off */
/* The readers of every version that was ever written, in the order of loading: a row comes after
 * the rows that it names. A reader stays for ever; tests/engine/golden has an image of each.
 *    section         version  reader */
#define IMAGE_PARTS_READERS(X) \
    X(configuration,  1,       load_configuration) \
    X(engine,         1,       load_engine) \
    X(engine,         2,       load_engine) \
    X(engine,         3,       load_engine) \
    X(engine,         4,       load_engine) \
    X(accounts,       1,       account_load) \
    X(accounts,       2,       account_load) \
    X(accounts,       3,       account_load) \
    X(accounts,       4,       account_load) \
    X(accounts,       5,       account_load) \
    X(accounts,       6,       account_load) \
    X(accounts,       7,       account_load) \
    X(subaccounts,    1,       subaccount_load) \
    X(subaccounts,    2,       subaccount_load) \
    X(portfolios,     1,       portfolio_load) \
    X(portfolios,     2,       portfolio_load) \
    X(portfolios,     3,       portfolio_load) \
    X(portfolios,     4,       portfolio_load) \
    X(markets,        1,       market_load) \
    X(markets,        2,       market_load) \
    X(markets,        3,       market_load) \
    X(markets,        4,       market_load) \
    X(markets,        5,       market_load) \
    X(samples,        1,       samples_load) \
    X(credentials,    1,       credential_load) \
    X(passkeys,       1,       passkey_load) \
    X(leverages,      1,       leverage_load) \
    X(mmps,           1,       mmp_load) \
    X(arms,           1,       disconnect_load) \
    X(holdings,       1,       holding_load) \
    X(holdings,       2,       holding_load) \
    X(orders,         1,       order_load) \
    X(orders,         2,       order_load) \
    X(orders,         3,       order_load) \
    X(orders,         4,       order_load) \
    X(conditionals,   1,       conditional_load) \
    X(deposits,       1,       deposit_load) \
    X(withdrawals,    1,       withdrawal_load) \
    X(duplicates,     1,       load_duplicates) \
    X(liquidation,    1,       liquidation_load) \
    X(liquidation,    2,       liquidation_load) \
    X(work,           1,       work_load) \
    X(work,           2,       work_load) \
    X(work,           3,       work_load) \
    X(work,           4,       work_load)
/* clang-format on */

/* The sections by code; [0] is not used. NULL: the image is older than the section. Its reader is
 * still called, with version 0 and no bytes. */
struct image_parts {
    const struct image_part *by_code[IMAGE_SECTION_END];
};

/* Sorts the parts by code; `sorted` points to them. False: a section is missing, doubled, unknown
 * or of an unknown version, and *problem says which. */
CC_MUST_USE bool image_parts_sort(struct image_parts *sorted, const struct image_part *parts,
                                  uint32_t part_count, struct image_problem *problem);

/* The configuration section: its body, and the options in it. */
struct image_configuration {
    uint32_t configuration_bytes;
    uint8_t configuration[REQUEST_BODY_MAX];
    struct option_engine options;
};

/* Reads the configuration section. False: it is not one whole row, or its body does not parse;
 * read->wrong says why. */
CC_MUST_USE bool image_parts_configuration(struct image_read *read,
                                           struct image_configuration *row);

/* Returns a reader at the begin of a section. */
static inline struct image_read image_parts_read(const struct image_parts *sorted, uint32_t code)
{
    const struct image_part *part = sorted->by_code[code];

    if (part == NULL)
        return (struct image_read){ 0 };
    return (struct image_read){
        .at = part->bytes,
        .left = part->byte_count,
        .version = part->version,
    };
}

/* Fills *problem. Returns false. */
static inline bool image_parts_refuse(struct image_problem *problem, uint32_t section, uint64_t row,
                                      const char *text)
{
    *problem = (struct image_problem){ .section = section, .row = row, .text = text };
    return false;
}

#endif
