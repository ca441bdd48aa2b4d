#include "crypto/ed25519_field.h"

/* Carries once from limb 0 to limb 4 and from there to limb 0. */
static void carry_round(uint64_t limb[5])
{
    for (unsigned i = 0; i < 4; i++) {
        limb[i + 1] += limb[i] >> 51;
        limb[i] &= ED25519_FIELD_MASK;
    }
    limb[0] += 19 * (limb[4] >> 51);
    limb[4] &= ED25519_FIELD_MASK;
}

/* Loose limbs carry at most 8 out of limb 4, so after one round the value is below 2^255 + 19 * 9.
 * The second round leaves either no carry or a value below 19 * 10. Both are below 2^255, though
 * limb 0 may exceed 2^51. Such a value is at least p exactly when adding 19 reaches 2^255; its
 * residue is then that sum without bit 255. */
void ed25519_field_to_words(uint64_t words[4], const struct ed25519_field *a)
{
    uint64_t limb[5];
    memcpy(limb, a->limb, sizeof limb);
    carry_round(limb);
    carry_round(limb);
    uint64_t reaches = (limb[0] + 19) >> 51;
    for (unsigned i = 1; i < 5; i++)
        reaches = (limb[i] + reaches) >> 51;
    limb[0] += 19 * reaches;
    for (unsigned i = 0; i < 4; i++) {
        limb[i + 1] += limb[i] >> 51;
        limb[i] &= ED25519_FIELD_MASK;
    }
    limb[4] &= ED25519_FIELD_MASK;
    words[0] = limb[0] | limb[1] << 51;
    words[1] = limb[1] >> 13 | limb[2] << 38;
    words[2] = limb[2] >> 26 | limb[3] << 25;
    words[3] = limb[3] >> 39 | limb[4] << 12;
}

bool ed25519_field_equal(const struct ed25519_field *a, const struct ed25519_field *b)
{
    uint64_t x[4], y[4];
    ed25519_field_to_words(x, a);
    ed25519_field_to_words(y, b);
    return memcmp(x, y, sizeof x) == 0;
}

static void square_times(struct ed25519_field *out, const struct ed25519_field *a, unsigned times)
{
    struct ed25519_field power;
    ed25519_field_square(&power, a);
    for (unsigned i = 1; i < times; i++)
        ed25519_field_square(&power, &power);
    *out = power;
}

/* From ones = a^(2^j - 1): a^(2^k - 1) with k = 2j is ones^(2^j) times ones. */
static void append_ones(struct ed25519_field *out, const struct ed25519_field *ones, unsigned count,
                        const struct ed25519_field *more)
{
    struct ed25519_field shifted;
    square_times(&shifted, ones, count);
    ed25519_field_multiply(out, &shifted, more);
}

/* `ones250` = a^(2^250 - 1). */
static void power_chain(struct ed25519_field *ones250, const struct ed25519_field *a)
{
    struct ed25519_field a2, a9, a11, ones5, ones10, ones20, ones50, ones100;
    ed25519_field_square(&a2, a);
    square_times(&a9, &a2, 2);
    ed25519_field_multiply(&a9, &a9, a);
    ed25519_field_multiply(&a11, &a9, &a2);
    append_ones(&ones5, &a11, 1, &a9); /* 22 + 9 = 2^5 - 1 */
    append_ones(&ones10, &ones5, 5, &ones5);
    append_ones(&ones20, &ones10, 10, &ones10);
    append_ones(&ones50, &ones20, 20, &ones20);
    append_ones(&ones50, &ones50, 10, &ones10);
    append_ones(&ones100, &ones50, 50, &ones50);
    append_ones(ones250, &ones100, 100, &ones100);
    append_ones(ones250, ones250, 50, &ones50);
}

/* 2^252 - 3 = 4 (2^250 - 1) + 1. */
void ed25519_field_power_root(struct ed25519_field *out, const struct ed25519_field *a)
{
    struct ed25519_field ones250;
    power_chain(&ones250, a);
    append_ones(out, &ones250, 2, a);
}
