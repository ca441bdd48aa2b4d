#include "crypto/ed25519_comb.h"

#include <sodium.h>

#include "crypto/ed25519_base.h"
#include "crypto/ed25519_inverse.h"
#include "crypto/ed25519_point.h"
#include "crypto/ed25519_scalar.h"

enum { AT_ONCE = 8 }; /* jobs that share an inversion */

/* digits = h = SHA-512(R, A, M) mod L, biased for digits base 16. The order of A is not L when A
 * has a part of small order, so h must be the residue itself, not another number of its class. */
static void hash_digits(uint64_t digits[4], const struct ed25519_job *job)
{
    crypto_hash_sha512_state state;
    uint64_t hash[crypto_hash_sha512_BYTES / 8];
    uint8_t bytes[crypto_hash_sha512_BYTES];
    crypto_hash_sha512_init(&state);
    crypto_hash_sha512_update(&state, job->signature, 32);
    crypto_hash_sha512_update(&state, job->key, ED25519_KEY_BYTES);
    crypto_hash_sha512_update(&state, job->message, job->message_bytes);
    crypto_hash_sha512_final(&state, bytes);
    memcpy(hash, bytes, sizeof hash);
    ed25519_scalar_reduce(digits, hash);
    ed25519_scalar_bias(digits, digits, ED25519_SCALAR_BIAS_4BIT);
}

/* Returns the index-th digit base 16, -8 .. 7, of biased digits. */
static inline int digit4(const uint64_t digits[4], unsigned index)
{
    return (int)(digits[index / 16] >> (4 * (index % 16)) & 15) - 8;
}

static inline unsigned magnitude(int digit)
{
    return (unsigned)(digit < 0 ? -digit : digit);
}

static void double_four_times(struct ed25519_point *sum)
{
    for (unsigned i = 0; i < 3; i++)
        ed25519_point_double(sum, sum, false);
    ed25519_point_double(sum, sum, true);
}

/* sum += [h](-A); sum is neutral before. Digit position * span + within weighs 16^(64 / positions *
 * position) * 16^within: the first factor is in the table, doublings between one `within` and the
 * next lower one make the second. */
static void add_key(struct ed25519_point *sum, const struct ed25519_table *table,
                    const uint64_t digits[4])
{
    unsigned span = 64 / table->positions;
    for (unsigned within = span; within-- > 0;) {
        if (within + 1 < span)
            double_four_times(sum);
        for (unsigned position = 0; position < table->positions; position++) {
            int digit = digit4(digits, position * span + within);
            if (digit != 0)
                ed25519_point_add_multiple(
                    sum,
                    &table->multiples[position * ED25519_TABLE_MULTIPLES + magnitude(digit) - 1],
                    digit < 0);
        }
    }
}

/* The same for a key without a table. False if the key encodes no point. */
static bool add_unknown_key(struct ed25519_point *sum, const uint8_t key[ED25519_KEY_BYTES],
                            const uint64_t digits[4])
{
    struct ed25519_point point, multiple;
    struct ed25519_addend multiples[ED25519_TABLE_MULTIPLES];
    if (!ed25519_point_decode(&point, key))
        return false;
    ed25519_point_negate(&point);
    multiple = point;
    ed25519_point_addend(&multiples[0], &point);
    for (unsigned i = 1; i < ED25519_TABLE_MULTIPLES; i++) {
        ed25519_point_add(&multiple, &multiple, &multiples[0], false);
        ed25519_point_addend(&multiples[i], &multiple);
    }
    for (unsigned index = 64; index-- > 0;) {
        if (index < 63)
            double_four_times(sum);
        int digit = digit4(digits, index);
        if (digit != 0)
            ed25519_point_add(sum, sum, &multiples[magnitude(digit) - 1], digit < 0);
    }
    return true;
}

/* sum += [S]B. */
static void add_base(struct ed25519_point *sum, const uint8_t scalar[32])
{
    uint64_t words[4];
    memcpy(words, scalar, sizeof words);
    ed25519_scalar_bias(words, words, ED25519_SCALAR_BIAS_8BIT);
    for (unsigned position = 0; position < ED25519_BASE_POSITIONS; position++) {
        int digit = (int)(words[position / 8] >> (8 * (position % 8)) & 255) - 128;
        if (digit != 0)
            ed25519_point_add_multiple(
                sum, &ed25519_base[position * ED25519_BASE_MULTIPLES + magnitude(digit) - 1],
                digit < 0);
    }
}

/* sum = [S]B + [h](-A). False when a check before the sum rejects the signature. A key that has a
 * table has passed these checks. */
static bool sum_up(struct ed25519_point *sum, const struct ed25519_job *job)
{
    const uint8_t *scalar = job->signature + 32;
    if (!ed25519_scalar_is_canonical(scalar) || ed25519_point_is_small_order(job->signature))
        return false;
    bool known = ed25519_table_serves(job->table, job->key);
    if (!known && (!ed25519_point_is_canonical(job->key) || ed25519_point_is_small_order(job->key)))
        return false;
    uint64_t digits[4];
    hash_digits(digits, job);
    ed25519_point_neutral(sum);
    if (known)
        add_key(sum, job->table, digits);
    else if (!add_unknown_key(sum, job->key, digits))
        return false;
    add_base(sum, scalar);
    return true;
}

/* Encodes the sums with one inversion for all (Montgomery's trick) and compares them with R. */
static uint64_t verify_some(const struct ed25519_job *jobs, unsigned count)
{
    struct ed25519_point sums[AT_ONCE];
    struct ed25519_field products[AT_ONCE + 1] = { { { 1, 0, 0, 0, 0 } } };
    unsigned index[AT_ONCE];
    unsigned left = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!sum_up(&sums[left], &jobs[i]))
            continue;
        ed25519_field_multiply(&products[left + 1], &products[left], &sums[left].z);
        index[left++] = i;
    }
    uint64_t good = 0;
    struct ed25519_field rest, inverse_z;
    ed25519_inverse(&rest, &products[left]);
    while (left-- > 0) {
        uint8_t encoding[32];
        ed25519_field_multiply(&inverse_z, &rest, &products[left]);
        ed25519_field_multiply(&rest, &rest, &sums[left].z);
        ed25519_point_encode(encoding, &sums[left], &inverse_z);
        if (memcmp(encoding, jobs[index[left]].signature, sizeof encoding) == 0)
            good |= UINT64_C(1) << index[left];
    }
    return good;
}

uint64_t ed25519_comb_verify(const struct ed25519_job *jobs, unsigned count)
{
    INVARIANT(count <= ED25519_BATCH_MAX);
    uint64_t good = 0;
    for (unsigned i = 0; i < count; i += AT_ONCE)
        good |= verify_some(jobs + i, count - i < AT_ONCE ? count - i : AT_ONCE) << i;
    return good;
}
