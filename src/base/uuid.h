/* uuid.h - 128-bit identifiers: text form, UUIDv7 check, and the ids that the engine makes.
 *
 * A client chooses request ids and order ids as UUIDv7 (wire.md W5). Ids of fills, sessions and the
 * like are UUIDv7 that the engine derives from time, sequence and index (rules.md R3), so replay
 * makes the same ids. Everything here is pure: any thread, and the engine.
 *
 * Units. `bytes` are in the order of the text and of the wire. */
#ifndef BASE_UUID_H
#define BASE_UUID_H

#include "base/compiler.h"

enum {
    UUID_BYTES = 16,
    UUID_TEXT_BYTES = 36,            /* without a closing zero */
    UUID_ENGINE_INDEX_MAX = 1 << 22, /* ids of one command, exclusive (R3: 22 bits) */
};

struct uuid {
    uint8_t bytes[UUID_BYTES];
};

static_assert(sizeof(struct uuid) == UUID_BYTES, "a uuid is its 16 bytes");

static inline bool uuid_equal(const struct uuid *a, const struct uuid *b)
{
    return ((cc_load64(a->bytes) ^ cc_load64(b->bytes)) |
            (cc_load64(a->bytes + 8) ^ cc_load64(b->bytes + 8))) == 0;
}

static inline bool uuid_is_zero(const struct uuid *uuid)
{
    return (cc_load64(uuid->bytes) | cc_load64(uuid->bytes + 8)) == 0;
}

/* True if the high nibble of byte 6 is 7 and the two top bits of byte 8 are 10 (W5). */
static inline bool uuid_is_v7(const struct uuid *uuid)
{
    return (uuid->bytes[6] & 0xf0) == 0x70 && (uuid->bytes[8] & 0xc0) == 0x80;
}

/* Returns the 48-bit unix time in milliseconds of a UUIDv7; the first six bytes of any other id. */
static inline uint64_t uuid_time_ms(const struct uuid *uuid)
{
    return __builtin_bswap64(cc_load64(uuid->bytes)) >> 16;
}

/* True if the time of a UUIDv7 is within now - past .. now + future, both ends included (W5). */
static inline bool uuid_in_window(const struct uuid *uuid, uint64_t now_ms, uint64_t past_ms,
                                  uint64_t future_ms)
{
    uint64_t id_ms = uuid_time_ms(uuid);
    return id_ms >= now_ms ? id_ms - now_ms <= future_ms : now_ms - id_ms <= past_ms;
}

static inline void uuid_load(struct uuid *uuid, const void *bytes)
{
    memcpy(uuid->bytes, bytes, UUID_BYTES);
}

/* Parses the canonical 8-4-4-4-12 text, either case, with nothing around it. On false `uuid` is
 * unchanged. */
CC_MUST_USE bool uuid_parse(struct uuid *uuid, const char *text, size_t count);

/* Writes the 36 lower-case characters and a closing zero. */
void uuid_format(const struct uuid *uuid, char text[UUID_TEXT_BYTES + 1]);

/* Returns the engine's id number `index` of the command `sequence` at time t (R3): 48 bits of
 * milliseconds, rand_a = floor(4096 * ns within the millisecond / 1e6), rand_b = (sequence mod
 * 2^40) << 22 | index. `index` is below UUID_ENGINE_INDEX_MAX. */
struct uuid uuid_engine(uint64_t t_ns, uint64_t sequence, uint32_t index);

/* Returns a new UUIDv7 of a client: `random` supplies the 74 bits besides time and version. */
struct uuid uuid_make_v7(uint64_t unix_ms, const uint8_t random[10]);

#endif
