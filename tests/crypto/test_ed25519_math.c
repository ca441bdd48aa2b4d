/* The arithmetic under Ed25519 (signatures.md, Tests): reduction modulo L against libsodium's,
 * and every constant and entry of a table against its definition. */
#include <sodium.h>

#include "check.h"
#include "crypto/ed25519.h"
#include "crypto/ed25519_base.h"
#include "crypto/ed25519_inverse.h"
#include "crypto/ed25519_point.h"
#include "crypto/ed25519_scalar.h"
#include "crypto/forge.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { REDUCTIONS = 20000, KEYS = 12 };
#else
enum { REDUCTIONS = 300000, KEYS = 100 };
#endif

static struct forge forge;

static const struct ed25519_field zero;
static const struct ed25519_field one = { { 1, 0, 0, 0, 0 } };

static void random_words(uint64_t *words, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        words[i] = forge_random(&forge, 0);
}

/* -------------------------------------------------------------- reduction */

static void check_reduction(const uint64_t x[8])
{
    uint64_t reduced[4];
    uint8_t bytes[64], want[32];
    memcpy(bytes, x, sizeof bytes);
    crypto_core_ed25519_scalar_reduce(want, bytes);
    ed25519_scalar_reduce(reduced, x);
    CHECK(memcmp(reduced, want, sizeof want) == 0);
    CHECK(ed25519_scalar_is_canonical(want));
}

/* x + n, modulo 2^512. */
static void add_small(uint64_t sum[8], const uint64_t x[8], int64_t n)
{
    int128 carry = n;
    for (unsigned i = 0; i < 8; i++) {
        carry += x[i];
        sum[i] = (uint64_t)carry;
        carry >>= 64;
    }
}

/* k L for 256 bits of k. */
static void multiply_order(uint64_t product[8], const uint64_t k[4])
{
    memset(product, 0, 8 * sizeof product[0]);
    for (unsigned i = 0; i < 4; i++) {
        uint128 carry = 0;
        for (unsigned j = 0; j < 4; j++) {
            carry += (uint128)k[i] * ed25519_scalar_order[j] + product[i + j];
            product[i + j] = (uint64_t)carry;
            carry >>= 64;
        }
        product[i + 4] = (uint64_t)carry;
    }
}

static void check_around_multiple(const uint64_t k[4])
{
    uint64_t product[8], near[8], reduced[4];
    multiply_order(product, k);
    for (int64_t n = -2; n <= 2; n++) {
        add_small(near, product, n);
        check_reduction(near);
    }
    ed25519_scalar_reduce(reduced, product);
    CHECK((reduced[0] | reduced[1] | reduced[2] | reduced[3]) == 0);
}

static void test_reduction(void)
{
    uint64_t x[8], k[4];
    memset(x, 0xff, sizeof x);
    check_reduction(x);
    for (uint64_t n = 0; n < 1000; n++)
        check_around_multiple((const uint64_t[4]){ n, 0, 0, 0 });
    for (unsigned bit = 0; bit < 256; bit++) { /* 2^n, 2^n - 1, and 2^256 - 2^n */
        uint64_t power[4] = { 0 };
        power[bit / 64] = UINT64_C(1) << (bit % 64);
        check_around_multiple(power);
        for (unsigned i = 0; i < 4; i++)
            k[i] = i < bit / 64 ? UINT64_MAX : i > bit / 64 ? 0 : power[i] - 1;
        check_around_multiple(k);
        for (unsigned i = 0; i < 4; i++)
            k[i] = ~k[i];
        check_around_multiple(k);
    }
    for (unsigned bit = 0; bit < 512; bit++) {
        memset(x, 0, sizeof x);
        x[bit / 64] = UINT64_C(1) << (bit % 64);
        check_reduction(x);
    }
    for (unsigned i = 0; i < REDUCTIONS; i++) {
        random_words(x, 8);
        check_reduction(x);
        random_words(k, 4);
        if (i % 16 == 0)
            check_around_multiple(k);
    }
}

static void test_canonical_scalars(void)
{
    for (int64_t n = -3; n <= 3; n++) {
        uint64_t order[8] = { 0 }, near[8];
        uint8_t bytes[32];
        memcpy(order, ed25519_scalar_order, sizeof ed25519_scalar_order);
        add_small(near, order, n);
        memcpy(bytes, near, sizeof bytes);
        CHECK(ed25519_scalar_is_canonical(bytes) == (n < 0));
    }
}

/* Digits read off the biased number: their sum, weighed, is the number. */
static void check_digits(const uint64_t x[4], unsigned bits, uint64_t bias)
{
    uint64_t biased[4], sum[8] = { 0 };
    ed25519_scalar_bias(biased, x, bias);
    for (unsigned i = 256 / bits; i-- > 0;) {
        int64_t digit =
            (int64_t)(biased[i * bits / 64] >> (i * bits % 64) & ((UINT64_C(1) << bits) - 1)) -
            (int64_t)(UINT64_C(1) << (bits - 1));
        for (unsigned k = 0; k < bits; k++) { /* sum = 2 sum */
            for (unsigned j = 7; j > 0; j--)
                sum[j] = sum[j] << 1 | sum[j - 1] >> 63;
            sum[0] <<= 1;
        }
        add_small(sum, sum, digit);
    }
    CHECK(memcmp(sum, x, 4 * sizeof x[0]) == 0);
    CHECK((sum[4] | sum[5] | sum[6] | sum[7]) == 0);
}

static void test_digits(void)
{
    uint64_t x[8] = { 0 };
    memcpy(x, ed25519_scalar_order, sizeof ed25519_scalar_order);
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t reduced[4];
        add_small(x, x, -1); /* first L - 1, the greatest there is; later random ones */
        ed25519_scalar_reduce(reduced, x);
        check_digits(reduced, 4, ED25519_SCALAR_BIAS_4BIT);
        check_digits(reduced, 8, ED25519_SCALAR_BIAS_8BIT);
        if (i > 20)
            random_words(x, 8);
    }
}

/* --------------------------------------------------------------- constants */

/* L = 2^252 + 27742317777372353535851937790883648493 (RFC 8032, 5.1), and its reciprocal by long
 * division. */
static void test_order(void)
{
    static const char decimal[] = "27742317777372353535851937790883648493";
    uint64_t order[4] = { 0 };
    for (const char *digit = decimal; *digit != '\0'; digit++) {
        uint128 carry = (uint128)(*digit - '0');
        for (unsigned i = 0; i < 4; i++) {
            carry += (uint128)order[i] * 10;
            order[i] = (uint64_t)carry;
            carry >>= 64;
        }
    }
    order[3] += UINT64_C(1) << 60;
    CHECK(memcmp(order, ed25519_scalar_order, sizeof order) == 0);

    uint64_t quotient[9] = { 0 }, rest[4] = { 0 };
    for (unsigned bit = 513; bit-- > 0;) { /* rest = 2 rest + bit; rest < L < 2^253 */
        for (unsigned i = 3; i > 0; i--)
            rest[i] = rest[i] << 1 | rest[i - 1] >> 63;
        rest[0] = rest[0] << 1 | (bit == 512);
        uint8_t bytes[32];
        memcpy(bytes, rest, sizeof bytes);
        if (ed25519_scalar_is_canonical(bytes))
            continue;
        int128 borrow = 0;
        for (unsigned i = 0; i < 4; i++) {
            borrow += (int128)rest[i] - order[i];
            rest[i] = (uint64_t)borrow;
            borrow >>= 64;
        }
        quotient[bit / 64] |= UINT64_C(1) << (bit % 64);
    }
    CHECK(memcmp(quotient, ed25519_scalar_reciprocal, sizeof ed25519_scalar_reciprocal) == 0);
    CHECK((quotient[5] | quotient[6] | quotient[7] | quotient[8]) == 0);
}

/* 121666 d = -121665; sqrt(-1)^2 = -1; no factor of these is 0. */
static void test_curve(void)
{
    const struct ed25519_curve *curve = &ed25519_point_curve;
    struct ed25519_field value, minus_one;
    ed25519_field_multiply(&value, &curve->d, &(struct ed25519_field){ { 121666, 0, 0, 0, 0 } });
    ed25519_field_add(&value, &value, &(struct ed25519_field){ { 121665, 0, 0, 0, 0 } });
    CHECK(ed25519_field_equal(&value, &zero));
    ed25519_field_add(&value, &curve->d, &curve->d);
    CHECK(ed25519_field_equal(&value, &curve->d2));
    ed25519_field_square(&value, &curve->sqrt_minus_one);
    ed25519_field_subtract(&minus_one, &zero, &one);
    CHECK(ed25519_field_equal(&value, &minus_one));
}

/* The encoding of [L]P: of small order, for the group has 8 L points. */
static bool small_part(uint8_t encoding[32], const uint8_t of[32])
{
    struct ed25519_point point, sum;
    struct ed25519_addend addend;
    struct ed25519_field inverse;
    if (!ed25519_point_decode(&point, of))
        return false;
    ed25519_point_addend(&addend, &point);
    ed25519_point_neutral(&sum);
    for (unsigned bit = 253; bit-- > 0;) {
        ed25519_point_double(&sum, &sum, true);
        if ((ed25519_scalar_order[bit / 64] >> (bit % 64) & 1) != 0)
            ed25519_point_add(&sum, &sum, &addend, false);
    }
    ed25519_inverse(&inverse, &sum.z);
    ed25519_point_encode(encoding, &sum, &inverse);
    return true;
}

/* The encodings that ed25519_point_is_small_order knows are those that [L]P gives and those with
 * the same y modulo p, with either sign bit; their neighbours are not among them. */
static void test_small_orders(void)
{
    uint8_t found[8][32];
    unsigned count = 0;
    for (unsigned y = 2; y < 200; y++) {
        uint8_t small[32];
        if (!small_part(small, (const uint8_t[32]){ (uint8_t)y }))
            continue;
        unsigned same = 0;
        while (same < count && memcmp(found[same], small, sizeof small) != 0)
            same++;
        if (same == count) {
            CHECK(count < 8);
            memcpy(found[count++], small, sizeof small);
        }
        CHECK(!ed25519_point_is_small_order((const uint8_t[32]){ (uint8_t)y }));
    }
    CHECK(count == 8);
    for (unsigned i = 0; i < count; i++) {
        for (int step = -1; step <= 1; step++) {
            uint8_t near[32];
            memcpy(near, found[i], sizeof near);
            near[0] = (uint8_t)(near[0] + step);
            /* 0 and 1 are neighbours, and so are p - 1 and the p and p + 1 below. */
            bool small = step == 0 || (found[i][0] == 0 && step == 1) ||
                         (found[i][0] == 1 && step == -1) || (found[i][0] == 0xec && step == 1);
            CHECK(ed25519_point_is_small_order(near) == small);
            near[31] ^= 0x80;
            CHECK(ed25519_point_is_small_order(near) == small);
        }
    }
    for (unsigned n = 0; n < 20; n++) { /* p - 1 + n */
        uint8_t y[32];
        memset(y, 0xff, sizeof y);
        y[0] = (uint8_t)(0xec + n);
        y[31] = 0x7f;
        CHECK(ed25519_point_is_small_order(y) == (n < 3));
        CHECK(ed25519_point_is_canonical(y) == (n == 0));
    }
}

/* ------------------------------------------------------------------ tables */

/* The encoding of an entry, which must lie on the curve and carry the right product. */
static void encode_entry(uint8_t encoding[32], const struct ed25519_multiple *entry)
{
    const struct ed25519_curve *curve = &ed25519_point_curve;
    const struct ed25519_field two = { { 2, 0, 0, 0, 0 } };
    struct ed25519_field minus, plus, product, half, x, y, xx, yy, left, right;
    ed25519_field_from_words(&minus, entry->y_minus_x);
    ed25519_field_from_words(&plus, entry->y_plus_x);
    ed25519_field_from_words(&product, entry->xy2d);
    ed25519_inverse(&half, &two);
    ed25519_field_subtract(&x, &plus, &minus);
    ed25519_field_multiply(&x, &x, &half);
    ed25519_field_add(&y, &plus, &minus);
    ed25519_field_multiply(&y, &y, &half);

    ed25519_field_square(&xx, &x);
    ed25519_field_square(&yy, &y);
    ed25519_field_subtract(&left, &yy, &xx); /* y^2 - x^2 = 1 + d x^2 y^2 */
    ed25519_field_multiply(&right, &xx, &yy);
    ed25519_field_multiply(&right, &right, &curve->d);
    ed25519_field_add(&right, &right, &one);
    CHECK(ed25519_field_equal(&left, &right));
    ed25519_field_multiply(&left, &x, &y);
    ed25519_field_multiply(&left, &left, &curve->d2);
    CHECK(ed25519_field_equal(&left, &product));

    const uint64_t *words[] = { entry->y_minus_x, entry->y_plus_x, entry->xy2d };
    for (unsigned i = 0; i < CC_COUNT(words); i++) {
        uint8_t bytes[32];
        memcpy(bytes, words[i], sizeof bytes);
        CHECK((bytes[31] & 0x80) == 0 && ed25519_point_is_canonical(bytes));
    }
    const struct ed25519_point point = { .x = x, .y = y };
    ed25519_point_encode(encoding, &point, &one);
}

/* Entries are multiples 1 .. `multiples` of `first` (an encoding), and of 2^shift times it, and so
 * on; each sum is libsodium's. */
static void check_table(const struct ed25519_multiple *entries, unsigned positions,
                        unsigned multiples, unsigned shift, const uint8_t first[32])
{
    uint8_t unit[32], want[32], got[32];
    memcpy(unit, first, sizeof unit);
    for (unsigned position = 0; position < positions; position++) {
        memcpy(want, unit, sizeof want);
        for (unsigned i = 0; i < multiples; i++) {
            encode_entry(got, &entries[position * multiples + i]);
            CHECK(memcmp(got, want, sizeof got) == 0);
            CHECK(crypto_core_ed25519_add(want, want, unit) == 0);
        }
        for (unsigned i = 0; i < shift; i++)
            CHECK(crypto_core_ed25519_add(unit, unit, unit) == 0);
    }
}

static void test_base_table(void)
{
    uint8_t base[32];
    CHECK(crypto_scalarmult_ed25519_base_noclamp(base, (const uint8_t[32]){ 1 }) == 0);
    check_table(ed25519_base, ED25519_BASE_POSITIONS, ED25519_BASE_MULTIPLES, 8, base);
}

static void check_key_tables(const uint8_t key[32])
{
    static alignas(ED25519_TABLE_ALIGN) struct ed25519_multiple
        entries[ED25519_TABLE_POSITIONS * ED25519_TABLE_MULTIPLES + 1];
    static const uint32_t sizes[] = { ED25519_TABLE_POSITIONS, ED25519_TABLE_POSITIONS_SMALL };
    uint8_t negative[32], guard[sizeof entries[0]];
    memcpy(negative, key, sizeof negative);
    negative[31] ^= 0x80;
    for (unsigned i = 0; i < CC_COUNT(sizes); i++) {
        memset(entries, 0xa5, sizeof entries);
        memset(guard, 0xa5, sizeof guard);
        CHECK(ed25519_table_build(entries, sizes[i], key) == 0);
        check_table(entries, sizes[i], ED25519_TABLE_MULTIPLES, 256 / sizes[i], negative);
        CHECK(memcmp(&entries[sizes[i] * ED25519_TABLE_MULTIPLES], guard, sizeof guard) == 0);
    }
}

static void test_key_tables(void)
{
    for (unsigned i = 0; i < KEYS; i++) {
        if (i % FORGE_KEYS == 0)
            forge_init(&forge, 100 + i);
        check_key_tables(forge.keys[(i * 7) % FORGE_KEYS]); /* of mixed order too */
    }
}

/* A key that can never sign has no table, and the memory stays as it was. */
static void test_unlawful_keys(void)
{
    static alignas(ED25519_TABLE_ALIGN) struct ed25519_multiple
        entries[ED25519_TABLE_POSITIONS * ED25519_TABLE_MULTIPLES];
    static struct ed25519_multiple before[ED25519_TABLE_POSITIONS * ED25519_TABLE_MULTIPLES];
    static const uint8_t keys[][32] = {
        { 0 }, { 1 }, { 2 }, { [31] = 0x80 }, { 1, [31] = 0x80 }, /* 2: no point of the curve */
    };
    memset(entries, 0xa5, sizeof entries);
    memset(before, 0xa5, sizeof before);
    for (unsigned i = 0; i < CC_COUNT(keys); i++)
        CHECK(ed25519_table_build(entries, ED25519_TABLE_POSITIONS, keys[i]) < 0);
    for (unsigned n = 0; n < 20; n++) { /* p - 1 + n: small order or not canonical */
        uint8_t key[32];
        memset(key, 0xff, sizeof key);
        key[0] = (uint8_t)(0xec + n);
        CHECK(ed25519_table_build(entries, ED25519_TABLE_POSITIONS, key) < 0);
        key[31] = 0x7f;
        CHECK(ed25519_table_build(entries, ED25519_TABLE_POSITIONS, key) < 0);
    }
    CHECK(memcmp(entries, before, sizeof entries) == 0);
}

int main(void)
{
    CHECK(ed25519_init(ED25519_LANES) == 0 && signer_init() == 0);
    forge_init(&forge, 3);
    test_reduction();
    test_canonical_scalars();
    test_digits();
    test_order();
    test_curve();
    test_small_orders();
    test_base_table();
    test_key_tables();
    test_unlawful_keys();
    return 0;
}
