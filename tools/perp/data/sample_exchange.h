/* sample_exchange.h - an exchange without a network, whose journal is a function of a seed: keys
 * and ids come from the seed, the time is a clock that this program moves, and each frame is
 * durable before the next command. Two runs write the same bytes.
 *
 *   signed drafts ──> core (node/run): matcher, journal, follower ──> data directory
 *
 * Frames are padded to 4,096 bytes whatever the device's block is.
 *
 * Owner. One thread. One at a time.
 * Bound. Memory: two engines of the default options. */
#ifndef PERP_DATA_SAMPLE_EXCHANGE_H
#define PERP_DATA_SAMPLE_EXCHANGE_H

#include "perp/request/draft.h"
#include "store/refusal.h"

enum { SAMPLE_ERROR_MAX = REFUSAL_TEXT_BYTES + 256, SAMPLE_HASH_BYTES = 32 };

/* 2025-08-19T05:47:11.232Z */
#define SAMPLE_BEGIN_NS UINT64_C(1755582431232000000)

struct sample_exchange;

/* What the matcher says of a command. */
struct sample_answer {
    uint16_t status;     /* enum status */
    uint64_t account_id; /* of an account that was made */
};

/* What the journal is at its end. */
struct sample_end {
    uint64_t sequence, frame;
    uint8_t frame_hash[SAMPLE_HASH_BYTES], effects_hash[SAMPLE_HASH_BYTES],
        image_hash[SAMPLE_HASH_BYTES];
};

/* Fills a key of the seed: the `number`th of those of a name. */
void sample_exchange_key(uint64_t seed, const char *name, uint64_t number, uint32_t curve,
                         struct key_file *key);

/* Makes a data directory at `path`, which must not exist, with the five markets of W10. NULL leaves
 * a sentence in `error`. */
CC_MUST_USE struct sample_exchange *sample_exchange_open(const char *path, uint64_t seed,
                                                         char error[SAMPLE_ERROR_MAX]);

/* The keys of operator and oracle, the text of the market records as GET /markets shows it, and the
 * exchange's id. They live as long as the exchange. */
const struct key_file *sample_exchange_operator(const struct sample_exchange *sample);
const struct key_file *sample_exchange_oracle(const struct sample_exchange *sample);
const char *sample_exchange_markets(const struct sample_exchange *sample);
const uint8_t *sample_exchange_id(const struct sample_exchange *sample);

/* Time goes on; it is the clock's from the next command. */
void sample_exchange_advance(struct sample_exchange *sample, uint64_t step_ns);
uint64_t sample_exchange_now_ns(const struct sample_exchange *sample);

/* Sequences a signed request as perpd does one whose signature it has verified, and gives the
 * matcher's answer. False leaves a sentence in `error`: the disk failed. */
CC_MUST_USE bool sample_exchange_apply(struct sample_exchange *sample, const struct draft *draft,
                                       struct sample_answer *answer, char error[SAMPLE_ERROR_MAX]);

/* A clean stop without a snapshot. False as above. */
CC_MUST_USE bool sample_exchange_stop(struct sample_exchange *sample, struct sample_end *end,
                                      char error[SAMPLE_ERROR_MAX]);

/* Frees everything, stopped or not; NULL is none. */
void sample_exchange_free(struct sample_exchange *sample);

#endif
