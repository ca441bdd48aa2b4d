/* market_file.h - the market records of an empty data directory: a file, or the defaults of W10.
 *
 * `{"markets":[record,...]}` (json.md J5). Each record's text becomes the body of one 1001, in
 * asset_id order. Read once at start, by the thread that starts the process. */
#ifndef NODE_RUN_MARKET_FILE_H
#define NODE_RUN_MARKET_FILE_H

#include "node/run/core.h"

enum { MARKET_FILE_MARKETS_MAX = 128, MARKET_FILE_BYTES_MAX = 1 << 20, MARKET_FILE_ERROR = 256 };

struct market_file {
    char *text; /* owns what the records point into */
    struct core_market markets[MARKET_FILE_MARKETS_MAX];
    uint32_t market_count;
    char error[MARKET_FILE_ERROR]; /* one line, when loading failed */
};

/* Reads `path`, or takes the five markets of wire.md W10 when it is "". False with `error` filled
 * when the file cannot be read or is not of the form; market_file_free in any case. */
CC_MUST_USE bool market_file_load(struct market_file *file, const char *path);
void market_file_free(struct market_file *file);

#endif
