/* market_file.h - the market records of an empty data directory: from a file, or the defaults of
 * W10.
 *
 * `{"markets":[record,...]}` (json.md J5). The text of each record becomes the body of one 1001, in
 * asset_id order. The main thread reads it once at start. */
#ifndef NODE_RUN_MARKET_FILE_H
#define NODE_RUN_MARKET_FILE_H

#include "base/text_file.h"
#include "node/run/core.h"

enum {
    MARKET_FILE_MARKETS_MAX = 128,
    MARKET_FILE_BYTES_MAX = TEXT_FILE_MAX,
    MARKET_FILE_ERROR = 320,
};

struct market_file {
    char *text; /* the records point into it */
    struct core_market markets[MARKET_FILE_MARKETS_MAX];
    uint32_t market_count;
    char error[MARKET_FILE_ERROR]; /* one line, when loading failed */
};

/* Reads `path`; "" means the five markets of wire.md W10. False, with `error` filled, if the file
 * cannot be read or has another form. Call market_file_free in any case. */
CC_MUST_USE bool market_file_load(struct market_file *file, const char *path);
void market_file_free(struct market_file *file);

#endif
