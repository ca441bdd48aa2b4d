/* Unsent bytes: what goes in comes out in order, whatever the pieces; the pool counts right. */
#include <sys/mman.h>

#include "check.h"
#include "net/conn/output.h"

enum { CONNECTIONS = 5, CHUNKS = 16 };

static uint64_t random_state = 88172645463325252u;

static uint32_t next_random(uint32_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32) % bound;
}

/* Byte `at` of the stream of a connection. */
static uint8_t expected(unsigned connection, uint64_t at)
{
    return (uint8_t)(at * 31 + connection * 97 + (at >> 8));
}

static void bytes_keep_their_order(void)
{
    static uint8_t buffer[3 * OUTPUT_CHUNK_BYTES];
    struct output_pool pool;
    struct output outputs[CONNECTIONS];
    uint64_t in[CONNECTIONS] = { 0 }, out[CONNECTIONS] = { 0 };
    CHECK(output_pool_init(&pool, CHUNKS * OUTPUT_CHUNK_BYTES) == 0);
    for (unsigned i = 0; i < CONNECTIONS; i++)
        output_init(&outputs[i]);
    for (unsigned round = 0; round < 20000; round++) {
        unsigned i = next_random(CONNECTIONS);
        if (next_random(2) == 0) {
            size_t count = next_random(next_random(4) == 0 ? sizeof buffer : 600);
            if (!output_fits(&pool, &outputs[i], count))
                continue;
            for (size_t k = 0; k < count; k++)
                buffer[k] = expected(i, in[i] + k);
            output_append(&pool, &outputs[i], buffer, count, round + 1);
            in[i] += count;
        } else {
            const uint8_t *bytes;
            size_t count = output_next(&pool, &outputs[i], &bytes);
            CHECK((count == 0) == (in[i] == out[i]));
            if (count == 0)
                continue;
            size_t part = 1 + next_random((uint32_t)count);
            for (size_t k = 0; k < part; k++)
                CHECK(bytes[k] == expected(i, out[i] + k));
            output_sent(&pool, &outputs[i], part);
            out[i] += part;
        }
        CHECK(outputs[i].bytes == in[i] - out[i]);
        CHECK((output_since_ns(&pool, &outputs[i]) == UINT64_MAX) == (in[i] == out[i]));
    }
    for (unsigned i = 0; i < CONNECTIONS; i++)
        output_clear(&pool, &outputs[i]);
    CHECK(pool.used == 0 && pool.touched <= CHUNKS);
    output_pool_free(&pool);
}

static void a_full_pool_says_so(void)
{
    static uint8_t buffer[OUTPUT_CHUNK_BYTES];
    struct output_pool pool;
    struct output first, second;
    CHECK(output_pool_init(&pool, 2 * OUTPUT_CHUNK_BYTES) == 0);
    output_init(&first);
    output_init(&second);
    output_append(&pool, &first, buffer, OUTPUT_CHUNK_BYTES - 1, 5);
    CHECK(output_fits(&pool, &first, OUTPUT_CHUNK_BYTES + 1));
    CHECK(!output_fits(&pool, &first, OUTPUT_CHUNK_BYTES + 2));
    CHECK(output_fits(&pool, &second, OUTPUT_CHUNK_BYTES));
    output_append(&pool, &second, buffer, 1, 6);
    CHECK(output_fits(&pool, &first, 1) && !output_fits(&pool, &first, 2));
    output_append(&pool, &second, buffer, 1, 7); /* to the same chunk */
    CHECK(output_since_ns(&pool, &first) == 5 && output_since_ns(&pool, &second) == 6);
    CHECK(output_newest_ns(&pool, &first) == 5 && output_newest_ns(&pool, &second) == 7);
    output_clear(&pool, &first);
    CHECK(output_newest_ns(&pool, &first) == 0);
    CHECK(output_fits(&pool, &second, 2 * OUTPUT_CHUNK_BYTES - 2));
    output_clear(&pool, &second);
    output_pool_free(&pool);
}

/* A chunk that held a secret is zero once it is given back; one that did not is left as it was. */
static void secrets_are_wiped(void)
{
    static const char plain[] = "plain", secret[] = "secret";
    static uint8_t filler[OUTPUT_CHUNK_BYTES];
    struct output_pool pool;
    struct output output;
    const uint8_t *bytes;

    CHECK(output_pool_init(&pool, CHUNKS * OUTPUT_CHUNK_BYTES) == 0);
    output_init(&output);
    memset(filler, 'x', sizeof filler);
    output_append(&pool, &output, filler, OUTPUT_CHUNK_BYTES, 1);
    output_append(&pool, &output, plain, sizeof plain, 1);
    output_append(&pool, &output, secret, sizeof secret, 1);
    output_mark_secret(&pool, &output, sizeof secret);
    CHECK(output_next(&pool, &output, &bytes) == OUTPUT_CHUNK_BYTES);
    const uint8_t *first = bytes;
    output_sent(&pool, &output, OUTPUT_CHUNK_BYTES);
    CHECK(first[0] == 'x' && first[OUTPUT_CHUNK_BYTES - 1] == 'x');
    CHECK(output_next(&pool, &output, &bytes) == sizeof plain + sizeof secret);
    CHECK(memcmp(bytes + sizeof plain, secret, sizeof secret) == 0);
    output_clear(&pool, &output); /* given back unsent */
    for (size_t k = 0; k < sizeof plain + sizeof secret; k++)
        CHECK(bytes[k] == 0);
    output_pool_free(&pool);
}

/* The memory of many chunks goes back to the kernel when they are free, and is used again. */
static void memory_goes_back(void)
{
    enum { MANY = 2 * OUTPUT_WARM_CHUNKS };
    static uint8_t filler[OUTPUT_CHUNK_BYTES];
    static unsigned char resident[MANY * OUTPUT_CHUNK_BYTES / 4096];
    struct output_pool pool;
    struct output outputs[8];

    CHECK(output_pool_init(&pool, (uint64_t)MANY * OUTPUT_CHUNK_BYTES) == 0);
    memset(filler, 'x', sizeof filler);
    for (int round = 0; round < 2; round++) {
        for (unsigned i = 0; i < CC_COUNT(outputs); i++)
            output_init(&outputs[i]);
        for (unsigned i = 0; i < MANY; i++)
            output_append(&pool, &outputs[i % CC_COUNT(outputs)], filler, sizeof filler, 1);
        CHECK(pool.used == MANY && pool.warm == 0);
        for (unsigned i = 0; i < CC_COUNT(outputs); i++)
            output_clear(&pool, &outputs[i]);
        CHECK(pool.used == 0 && pool.warm == OUTPUT_WARM_CHUNKS);
        size_t pages = 0;
        CHECK(mincore(pool.memory, sizeof resident * 4096, resident) == 0);
        for (size_t i = 0; i < sizeof resident; i++)
            pages += resident[i] & 1;
        CHECK(pages <= sizeof resident / 2);
    }
    output_pool_free(&pool);
}

int main(void)
{
    memory_goes_back();
    secrets_are_wiped();
    bytes_keep_their_order();
    a_full_pool_says_so();
    return 0;
}
