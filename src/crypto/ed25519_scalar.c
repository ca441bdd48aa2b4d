#include "crypto/ed25519_scalar.h"

const uint64_t ed25519_scalar_order[4] = { 0x5812631a5cf5d3ed, 0x14def9dea2f79cd6, 0,
                                           0x1000000000000000 };
const uint64_t ed25519_scalar_reciprocal[5] = { 0xed9ce5a30a2c131b, 0x2106215d086329a7,
                                                0xffffffffffffffeb, 0xffffffffffffffff, 0xf };

/* low = the lowest five words of q * L. */
static void multiply_order(uint64_t low[5], const uint64_t q[5])
{
    memset(low, 0, 5 * sizeof low[0]);
    for (unsigned i = 0; i < 5; i++) {
        uint64_t carry = 0;
        for (unsigned k = 0; k < 4 && i + k < 5; k++) {
            uint128 sum = (uint128)q[i] * ed25519_scalar_order[k] + low[i + k] + carry;
            low[i + k] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
        if (i == 0)
            low[4] = carry;
    }
}

/* a -= b over `count` words. True if b was larger. */
static bool subtract(uint64_t *a, const uint64_t *b, unsigned count)
{
    uint64_t borrow = 0;
    for (unsigned i = 0; i < count; i++) {
        uint128 difference = (uint128)a[i] - b[i] - borrow;
        a[i] = (uint64_t)difference;
        borrow = (uint64_t)(difference >> 64) & 1;
    }
    return borrow != 0;
}

/* Barrett's reduction (Handbook of Applied Cryptography, 14.42, with base 2^64 and k = 4): q =
 * floor(floor(x / 2^192) * reciprocal / 2^320) is floor(x / L) or at most 2 below it. So x - qL
 * lies in [0, 3L), below 2^256, and five words of both determine it. */
void ed25519_scalar_reduce(uint64_t reduced[4], const uint64_t x[8])
{
    uint64_t product[10] = { 0 };
    for (unsigned i = 0; i < 5; i++) {
        uint64_t carry = 0;
        for (unsigned k = 0; k < 5; k++) {
            uint128 sum = (uint128)x[3 + i] * ed25519_scalar_reciprocal[k] + product[i + k] + carry;
            product[i + k] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
        product[i + 5] = carry;
    }
    uint64_t multiple[5], rest[5];
    multiply_order(multiple, product + 5);
    memcpy(rest, x, sizeof rest);
    subtract(rest, multiple, 5);
    INVARIANT(rest[4] == 0);
    for (unsigned i = 0; i < 2; i++) {
        uint64_t less[4];
        memcpy(less, rest, sizeof less);
        if (!subtract(less, ed25519_scalar_order, 4))
            memcpy(rest, less, sizeof less);
    }
    memcpy(reduced, rest, 4 * sizeof reduced[0]);
}

bool ed25519_scalar_is_canonical(const uint8_t bytes[32])
{
    uint64_t words[4];
    memcpy(words, bytes, sizeof words);
    return subtract(words, ed25519_scalar_order, 4);
}
