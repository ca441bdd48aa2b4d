/* The field under Ed25519 (signatures.md, Tests): products and sums at the bounds of their
 * limbs, and the inverse against Fermat's. */
#include "check.h"
#include "crypto/ed25519_inverse.h"
#include "crypto/forge.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { INVERSES = 20000 };
#else
enum { INVERSES = 1000000 };
#endif

static struct forge forge = { .state = 3 };

static const struct ed25519_field zero;
static const struct ed25519_field one = { { 1, 0, 0, 0, 0 } };

/* ------------------------------------------------------------------- field */

/* What a product gives at most in a limb (ed25519_field.h, reduced). */
#define REDUCED_MAX ((UINT64_C(1) << 51) + (UINT64_C(1) << 13) - 1)

/* 512 bits modulo p, by 2^256 = 38, bit by bit in the end: slow and plain. */
static void residue(uint64_t words[4], const uint64_t wide[8])
{
    uint128 carry = 0;
    uint64_t sum[5];
    for (unsigned i = 0; i < 4; i++) {
        carry += (uint128)wide[i + 4] * 38 + wide[i];
        sum[i] = (uint64_t)carry;
        carry >>= 64;
    }
    sum[4] = (uint64_t)carry; /* at most 38 */
    for (;;) {                /* what is above bit 255 comes back 19 times */
        uint64_t high = sum[4] << 1 | sum[3] >> 63;
        sum[4] = 0;
        sum[3] &= INT64_MAX;
        carry = (uint128)high * 19;
        for (unsigned i = 0; i < 4; i++) {
            carry += sum[i];
            sum[i] = (uint64_t)carry;
            carry >>= 64;
        }
        if (high == 0)
            break;
    }
    bool beyond = sum[3] == INT64_MAX && sum[2] == UINT64_MAX && sum[1] == UINT64_MAX &&
                  sum[0] >= UINT64_MAX - 18;
    memcpy(words, sum, 4 * sizeof words[0]);
    if (beyond) {
        words[0] -= UINT64_MAX - 18;
        words[1] = words[2] = words[3] = 0;
    }
}

/* The value of limbs, whatever their size. */
static void limbs_residue(uint64_t words[4], const uint64_t limb[5])
{
    uint64_t wide[8] = { 0 };
    for (unsigned i = 5; i-- > 0;) {
        for (unsigned k = 0; k < 51; k++) {
            for (unsigned j = 7; j > 0; j--)
                wide[j] = wide[j] << 1 | wide[j - 1] >> 63;
            wide[0] <<= 1;
        }
        uint128 carry = limb[i];
        for (unsigned j = 0; j < 8; j++) {
            carry += wide[j];
            wide[j] = (uint64_t)carry;
            carry >>= 64;
        }
    }
    residue(words, wide);
}

static void check_product(const struct ed25519_field *a, const struct ed25519_field *b)
{
    uint64_t x[4], y[4], got[4], want[4], wide[8] = { 0 };
    limbs_residue(x, a->limb);
    limbs_residue(y, b->limb);
    ed25519_field_to_words(got, a);
    CHECK(memcmp(got, x, sizeof got) == 0);
    for (unsigned i = 0; i < 4; i++) {
        uint128 carry = 0;
        for (unsigned j = 0; j < 4; j++) {
            carry += (uint128)x[i] * y[j] + wide[i + j];
            wide[i + j] = (uint64_t)carry;
            carry >>= 64;
        }
        wide[i + 4] = (uint64_t)carry;
    }
    residue(want, wide);
    struct ed25519_field product;
    ed25519_field_multiply(&product, a, b);
    for (unsigned i = 0; i < 5; i++)
        CHECK(product.limb[i] <= REDUCED_MAX);
    limbs_residue(got, product.limb);
    CHECK(memcmp(got, want, sizeof got) == 0);
    if (a != b)
        return;
    ed25519_field_square(&product, a);
    for (unsigned i = 0; i < 5; i++)
        CHECK(product.limb[i] <= REDUCED_MAX);
    limbs_residue(got, product.limb);
    CHECK(memcmp(got, want, sizeof got) == 0);
}

/* Limbs 0 or at their bound, in every combination: column sums only grow with the limbs, so when
 * none overflows with all limbs at the bound, none does below it. */
static void test_products(void)
{
    static const uint64_t bounds[] = { 1, ED25519_FIELD_MASK, REDUCED_MAX,
                                       ED25519_FIELD_LIMB_MAX - 1 };
    for (unsigned bound = 0; bound < CC_COUNT(bounds); bound++)
        for (unsigned sets = 0; sets < 32 * 32; sets++) {
            struct ed25519_field a, b;
            for (unsigned i = 0; i < 5; i++) {
                a.limb[i] = (sets >> i & 1) != 0 ? bounds[bound] : 0;
                b.limb[i] = (sets >> (5 + i) & 1) != 0 ? bounds[bound] : 0;
            }
            check_product(&a, &b);
            check_product(&a, &a);
        }
    for (unsigned i = 0; i < 20000; i++) {
        struct ed25519_field a, b;
        for (unsigned k = 0; k < 5; k++) {
            a.limb[k] = forge_random(&forge, 0) % ED25519_FIELD_LIMB_MAX;
            b.limb[k] = forge_random(&forge, 0) % ED25519_FIELD_LIMB_MAX;
        }
        check_product(&a, &b);
        check_product(&a, &a);
    }
}

static void check_loose(const struct ed25519_field *a)
{
    for (unsigned i = 0; i < 5; i++)
        CHECK(a->limb[i] < ED25519_FIELD_LIMB_MAX);
}

/* The sums that the formulas of ed25519_point.c take of products, with products at their extremes:
 * none falls below 0 (it would be far beyond the bound) and none reaches the bound of a product. */
static void test_sums(void)
{
    struct ed25519_field most, sum, difference, twice;
    for (unsigned i = 0; i < 5; i++)
        most.limb[i] = REDUCED_MAX;
    for (unsigned low = 0; low < 2; low++) {
        const struct ed25519_field *a = low != 0 ? &zero : &most;
        for (unsigned high = 0; high < 2; high++) {
            const struct ed25519_field *b = high != 0 ? &zero : &most;
            ed25519_field_add(&sum, a, b);
            check_loose(&sum);
            ed25519_field_subtract(&difference, a, b);
            check_loose(&difference);
            ed25519_field_subtract_wide(&twice, a, &sum); /* 2XY of a doubling */
            check_loose(&twice);
            ed25519_field_add(&sum, &most, &most); /* 2 Z^2 less a difference, and 2Z -+ C */
            ed25519_field_subtract_wide(&twice, &sum, &difference);
            check_loose(&twice);
            ed25519_field_subtract_wide(&twice, &zero, &difference);
            check_loose(&twice);
            ed25519_field_subtract(&twice, &sum, b);
            check_loose(&twice);
            ed25519_field_add(&twice, &sum, b);
            check_loose(&twice);
        }
    }
}

/* ----------------------------------------------------------------- inverse */

/* out = a^(p-2) = 1/a, bit by bit: p - 2 = 2^255 - 21 has ones above bit 4, and 01011 below. */
static void power_inverse(struct ed25519_field *out, const struct ed25519_field *a)
{
    *out = one;
    for (int bit = 254; bit >= 0; bit--) {
        ed25519_field_multiply(out, out, out);
        if (bit >= 5 || bit == 3 || bit <= 1)
            ed25519_field_multiply(out, out, a);
    }
}

static void check_inverse(const struct ed25519_field *x)
{
    struct ed25519_field inverse, fermat, product;
    ed25519_inverse(&inverse, x);
    power_inverse(&fermat, x);
    CHECK(ed25519_field_equal(&inverse, &fermat));
    ed25519_field_multiply(&product, &inverse, x);
    CHECK(ed25519_field_equal(&product, ed25519_field_equal(x, &zero) ? &zero : &one));
    for (unsigned i = 0; i < 5; i++)
        CHECK(inverse.limb[i] <= ED25519_FIELD_MASK);
}

/* 0 .. 1000, p - 20 .. p + 18 (the last are 0 .. 18 again), powers of two, limbs at their bound,
 * and random ones. */
static void test_inverse(void)
{
    struct ed25519_field x;
    for (uint64_t i = 0; i <= 1000; i++)
        check_inverse(&(struct ed25519_field){ { i, 0, 0, 0, 0 } });
    for (uint64_t i = 0; i < 39; i++) {
        const uint64_t words[4] = { UINT64_MAX - 38 + i, UINT64_MAX, UINT64_MAX, INT64_MAX };
        ed25519_field_from_words(&x, words);
        check_inverse(&x);
    }
    for (unsigned bit = 0; bit < 255; bit++) {
        uint64_t words[4] = { 0 };
        words[bit / 64] = UINT64_C(1) << (bit % 64);
        ed25519_field_from_words(&x, words);
        check_inverse(&x);
        struct ed25519_field negative;
        ed25519_field_subtract(&negative, &zero, &x);
        check_inverse(&negative);
    }
    for (unsigned set = 0; set < 32; set++) {
        for (unsigned i = 0; i < 5; i++)
            x.limb[i] = (set >> i & 1) != 0 ? ED25519_FIELD_LIMB_MAX - 1 : 0;
        check_inverse(&x);
    }
    for (unsigned i = 0; i < INVERSES; i++) {
        uint64_t words[4];
        for (unsigned k = 0; k < 4; k++)
            words[k] = forge_random(&forge, 0);
        ed25519_field_from_words(&x, words);
        check_inverse(&x);
    }
}

int main(void)
{
    test_products();
    test_sums();
    test_inverse();
    return 0;
}
