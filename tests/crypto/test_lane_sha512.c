/* lane_sha512: equal to OpenSSL for every length of message from 0 to 4,096, with other lengths in
 * the other lanes, and for every number of inputs. */
#include <openssl/sha.h>

#include "base/cpu.h"
#include "check.h"
#include "crypto/lane_sha512.h"

enum { LANES = 8, BYTES_MAX = 4096 };

static uint8_t bytes[LANES][64 + BYTES_MAX]; /* r, key, message, one after the other */

static uint32_t draw(void)
{
    static uint32_t state = 1;
    state = state * 1664525 + 1013904223;
    return state >> 8;
}

static void check(const size_t lengths[LANES], unsigned count)
{
    struct lane_sha512_input inputs[LANES] = { 0 };
    for (unsigned i = 0; i < count; i++)
        inputs[i] =
            (struct lane_sha512_input){ bytes[i], bytes[i] + 32,
                                        lengths[i] == 0 ? NULL : bytes[i] + 64, lengths[i] };
    uint64_t hashes[LANES][8];
    lane_sha512(hashes, inputs, count);
    for (unsigned i = 0; i < count; i++) {
        uint8_t want[64];
        SHA512(bytes[i], 64 + lengths[i], want);
        CHECK(memcmp(hashes[i], want, sizeof want) == 0);
    }
}

int main(void)
{
    if (!cpu_has_lanes()) {
        puts("this machine has no AVX-512 IFMA");
        return 77;
    }
    for (unsigned lane = 0; lane < LANES; lane++)
        for (size_t i = 0; i < sizeof bytes[lane]; i++)
            bytes[lane][i] = (uint8_t)draw();
    /* Each length in some lane; the others go the other way, are near it, or are drawn. */
    for (size_t length = 0; length <= BYTES_MAX; length++) {
        size_t lengths[LANES];
        for (unsigned lane = 0; lane < LANES; lane++)
            lengths[lane] = draw() % (BYTES_MAX + 1);
        lengths[length % LANES] = length;
        lengths[(length + 3) % LANES] = BYTES_MAX - length;
        lengths[(length + 5) % LANES] = length / 2;
        check(lengths, LANES);
    }
    /* Short messages, where R and A are most of it, alone and with few others. */
    for (unsigned count = 1; count <= LANES; count++) {
        for (size_t length = 0; length < 520; length++) {
            size_t lengths[LANES];
            for (unsigned lane = 0; lane < LANES; lane++)
                lengths[lane] = lane == count - 1 ? length : draw() % 520;
            check(lengths, count);
        }
    }
    return 0;
}
