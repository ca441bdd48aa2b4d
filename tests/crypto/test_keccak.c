/* keccak: known Keccak-256 answers, and the sponge with SHA-3's padding byte against OpenSSL's
 * SHA3-256 at every length over four blocks. */
#include <openssl/evp.h>

#include "base/hex.h"
#include "check.h"
#include "crypto/keccak.h"

static const struct row {
    const char *text;
    const char *hash;
} rows[] = {
    /* Keccak team, KeccakCodePackage, ShortMsgKAT_256 length 0; Ethereum's well-known hashes. */
    { "", "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470" },
    { "abc", "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45" },
    { "testing", "5f16f4c7f149ac4f9510d9cf8cf384038ad348b3bcdc01915f95de12df9d1b02" },
    /* EIP-712's own Mail example: hash of its EIP712Domain type. */
    { "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)",
      "8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f" },
};

static void test_known(void)
{
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        uint8_t hash[KECCAK_BYTES];
        char text[2 * KECCAK_BYTES + 1];
        keccak_256(hash, rows[i].text, strlen(rows[i].text));
        hex_encode(text, hash, sizeof hash);
        CHECK(strcmp(text, rows[i].hash) == 0);
    }
}

static void test_against_openssl(void)
{
    uint8_t bytes[4 * KECCAK_RATE + 9];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 31 + 7);
    for (size_t count = 0; count <= sizeof bytes; count++) {
        uint8_t want[KECCAK_BYTES], got[KECCAK_BYTES];
        CHECK(EVP_Digest(bytes, count, want, NULL, EVP_sha3_256(), NULL) == 1);
        struct keccak_state state;
        keccak_begin(&state);
        for (size_t at = 0, piece = 1; at < count; at += piece, piece = piece * 2 % 61 + 1) {
            if (piece > count - at)
                piece = count - at;
            keccak_add(&state, bytes + at, piece);
        }
        keccak_end(&state, KECCAK_PAD_SHA3, got);
        CHECK(memcmp(got, want, sizeof got) == 0);
    }
}

int main(void)
{
    test_known();
    test_against_openssl();
    return 0;
}
