/* book_command.h - one command of the book benchmarks, for our book and for the baseline.
 *
 * Units. Prices in ticks, quantities in lots; numbers count the commands of a load from 1. */
#ifndef BENCH_BOOK_COMMAND_H
#define BENCH_BOOK_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum book_command_op { BOOK_NEW, BOOK_CANCEL, BOOK_REDUCE, BOOK_REPLACE };

struct book_command {
    uint8_t op;
    uint8_t side; /* 0 buys, 1 sells */
    uint16_t book;
    uint32_t price;
    uint32_t quantity; /* BOOK_REDUCE: by how much */
    uint32_t number;
    uint64_t id[2];     /* of the request, and of BOOK_NEW also of the order */
    uint64_t target[2]; /* other kinds: id of the order */
    uint64_t hash;      /* of id, keyed */
    uint64_t target_hash;
};

/* The trades of a run: equal runs have equal hashes. */
struct book_trades {
    uint64_t count;
    uint64_t hash;
};

static inline void book_trade(struct book_trades *trades, uint64_t maker, uint64_t taker,
                              uint64_t price, uint64_t quantity)
{
    uint64_t hash = (trades->hash ^ (maker << 32 | taker)) * 0x9E3779B97F4A7C15u;

    hash ^= hash >> 29;
    trades->hash = (hash ^ (price << 32 | quantity)) * 0xD6E8FEB86659FD93u;
    trades->count++;
}

/* The baseline, in shim.cc: a std::map of std::list per side, and a std::unordered_map of ids. */
struct baseline_book;

struct baseline_book *baseline_book_make(uint32_t book_count, uint32_t order_count);
void baseline_book_free(struct baseline_book *book);
void baseline_book_apply(struct baseline_book *book, const struct book_command *commands,
                         uint64_t command_count);
struct book_trades baseline_book_trades(const struct baseline_book *book);

#ifdef __cplusplus
}
#endif

#endif
