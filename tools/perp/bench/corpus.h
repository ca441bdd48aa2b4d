/* corpus.h - requests that were signed before they are sent, each with the moment it is for.
 *
 * The file is made to be read by a script, too: lines of text, the requests between them as they
 * are sent.
 *
 *   perp-corpus 1 COUNT BEGIN_UNIX_MS RATE
 *   KIND DUE_US BYTES        a line for each request, then its BYTES bytes and a line break
 *
 * KIND is a word of CORPUS_KIND_LIST, DUE_US counts from BEGIN_UNIX_MS. The id of a request is
 * dated for that moment, and an exchange takes it within its window of ids only (wire.md W5).
 *
 * Owner. One thread. Requests live in the corpus until corpus_free.
 * Bound. CORPUS_REQUESTS_MAX requests. */
#ifndef PERP_BENCH_CORPUS_H
#define PERP_BENCH_CORPUS_H

#include "perp/bench/load.h"

/* clang-format off */
/*    kind     what it is */
#define CORPUS_KIND_LIST(X) \
    X(place,   "a limit order") \
    X(amend,   "a replacement of an order placed before") \
    X(cancel,  "a cancel of an order placed before") \
    X(market,  "a market order") \
    X(read,    "GET of an order placed before")
/* clang-format on */

enum corpus_kind {
#define X(name, help) CORPUS_##name,
    CORPUS_KIND_LIST(X)
#undef X
        CORPUS_KIND_COUNT
};

enum { CORPUS_REQUESTS_MAX = 2000000 };

struct corpus_item {
    uint64_t due_ns;
    size_t at; /* in `bytes` */
    uint32_t count;
    uint8_t kind;
};

struct corpus {
    struct corpus_item *items;
    uint32_t count, capacity;
    uint8_t *bytes;
    size_t used, room;
    uint64_t begin_unix_ms;
    double rate_per_s;
};

const char *corpus_kind_name(enum corpus_kind kind);

/* Appends a request. False without memory. */
CC_MUST_USE bool corpus_add(struct corpus *corpus, enum corpus_kind kind, uint64_t due_ns,
                            const void *bytes, size_t count);

/* The request as load.h sends it. */
void corpus_request(const struct corpus *corpus, uint32_t index, struct load_request *request);

/* Writes the file (mode 0600: its requests move money until their window is over). False with the
 * reason in `error`. */
CC_MUST_USE bool corpus_write(const struct corpus *corpus, const char *path, char error[256]);

/* Reads a file that corpus_write wrote. False with the reason, and the line of the fault, in
 * `error`; the corpus is then empty. */
CC_MUST_USE bool corpus_read(struct corpus *corpus, const char *path, char error[256]);

void corpus_free(struct corpus *corpus);

#endif
