#include "base/uuid.h"

#include "base/hex.h"

/* Bytes of the five groups of the text, each but the first after a '-'. */
static const uint8_t group_bytes[] = { 4, 2, 2, 2, 6 };

bool uuid_parse(struct uuid *uuid, const char *text, size_t count)
{
    if (count != UUID_TEXT_BYTES)
        return false;
    struct uuid parsed;
    size_t at = 0;
    size_t byte = 0;
    for (size_t group = 0; group < CC_COUNT(group_bytes); group++) {
        if (group > 0 && text[at++] != '-')
            return false;
        size_t bytes = group_bytes[group];
        if (!hex_decode(parsed.bytes + byte, bytes, text + at, 2 * bytes))
            return false;
        byte += bytes;
        at += 2 * bytes;
    }
    *uuid = parsed;
    return true;
}

void uuid_format(const struct uuid *uuid, char text[UUID_TEXT_BYTES + 1])
{
    size_t at = 0;
    size_t byte = 0;
    for (size_t group = 0; group < CC_COUNT(group_bytes); group++) {
        if (group > 0)
            text[at++] = '-';
        hex_encode(text + at, uuid->bytes + byte, group_bytes[group]);
        at += 2u * group_bytes[group];
        byte += group_bytes[group];
    }
    INVARIANT(at == UUID_TEXT_BYTES);
}

static void store_big_endian(uint8_t *bytes, uint64_t value)
{
    cc_store64(bytes, __builtin_bswap64(value));
}

struct uuid uuid_engine(uint64_t t_ns, uint64_t sequence, uint32_t index)
{
    INVARIANT(index < UUID_ENGINE_INDEX_MAX);
    const uint64_t ns_per_ms = 1000 * 1000;
    uint64_t rand_a = (t_ns % ns_per_ms) * 4096 / ns_per_ms;
    uint64_t rand_b = (sequence & ((UINT64_C(1) << 40) - 1)) << 22 | index;
    struct uuid uuid;
    store_big_endian(uuid.bytes, t_ns / ns_per_ms << 16 | 0x7000 | rand_a);
    store_big_endian(uuid.bytes + 8, UINT64_C(1) << 63 | rand_b);
    return uuid;
}

struct uuid uuid_make_v7(uint64_t unix_ms, const uint8_t random[10])
{
    uint64_t rand_a = cc_load16(random) & 0xfffu;
    uint64_t rand_b = cc_load64(random + 2) & ((UINT64_C(1) << 62) - 1);
    struct uuid uuid;
    store_big_endian(uuid.bytes, unix_ms << 16 | 0x7000 | rand_a);
    store_big_endian(uuid.bytes + 8, UINT64_C(1) << 63 | rand_b);
    return uuid;
}
