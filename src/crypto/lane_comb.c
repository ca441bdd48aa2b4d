#include "crypto/lane_comb.h"

#ifdef LANE_WORD_AVAILABLE

#include "crypto/ed25519_base.h"
#include "crypto/ed25519_point.h"
#include "crypto/ed25519_scalar.h"

enum {
    MULTIPLE_BYTES = sizeof(struct ed25519_multiple),
    KEY_DIGITS = 64,
    BASE_DIGITS = ED25519_BASE_POSITIONS,
    STEPS_MAX = KEY_DIGITS + BASE_DIGITS,
    /* Two additions, about 300 ns, hide the latency of a line from memory. */
    PREFETCH_STEPS = 2,
};

static_assert(MULTIPLE_BYTES == 96, "address_of multiplies by shifts");

/* The additions in their order: the multiple of each lane and its sign. */
struct plan {
    alignas(64) uint64_t address[STEPS_MAX + PREFETCH_STEPS][LANES];
    lane_mask present[STEPS_MAX];  /* digit is not 0: there is a multiple to add */
    lane_mask negative[STEPS_MAX]; /* digit is below 0 */
    unsigned count;
};

/* Returns the index of each lane in its group of `spread`. */
static lane_word group_indexes(unsigned spread)
{
    lane_word lanes = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    return lane_and(lanes, lane_set(spread - 1));
}

/* Appends a step: digit d of each lane, of the position whose multiple 1 is at `first`. */
LANE_INLINE void append_step(struct plan *plan, lane_word first, lane_word digit)
{
    lane_word size = _mm512_abs_epi64(digit);
    lane_word offset = lane_add(lane_shift_left(size, 6), lane_shift_left(size, 5));
    _mm512_store_si512(plan->address[plan->count],
                       lane_sub(lane_add(first, offset), lane_set(MULTIPLE_BYTES)));
    plan->present[plan->count] = _mm512_test_epi64_mask(digit, digit);
    plan->negative[plan->count] = _mm512_movepi64_mask(digit);
    plan->count++;
}

/* Returns digit `digit` of `bits` bits in the first lane of a group; lane i reads further[i] bits
 * higher. The digits of a group lie in one word: at most 8 * 8 bits of base-256 digits, 16 * 4 bits
 * of base-16 digits. */
LANE_INLINE lane_word digits(const uint64_t words[4][LANES], unsigned digit, unsigned bits,
                             lane_word further)
{
    unsigned bit = digit * bits;
    lane_word word = _mm512_load_si512(words[bit / 64]);
    lane_word shift = lane_add(further, lane_set(bit % 64));
    uint64_t digit_mask = (UINT64_C(1) << bits) - 1;
    lane_word biased = lane_and(_mm512_srlv_epi64(word, shift), lane_set(digit_mask));
    return lane_sub(biased, lane_set(UINT64_C(1) << (bits - 1)));
}

/* Appends the steps of h (-A): `windows` rounds of positions / spread steps. The first round uses
 * the highest digit of every position; between two rounds the sum is multiplied by 16. */
static void plan_key(struct plan *plan, const struct lane_comb *comb)
{
    unsigned windows = KEY_DIGITS / comb->positions;
    lane_word index = group_indexes(comb->spread);
    lane_word stride = _mm512_load_si512(comb->stride);
    lane_word start =
        lane_add(_mm512_load_si512(comb->multiples), _mm512_mullo_epi64(index, stride));
    lane_word step = _mm512_mullo_epi64(stride, lane_set(comb->spread));
    lane_word further = _mm512_mullo_epi64(index, lane_set(4 * windows));
    for (unsigned window = windows; window-- > 0;) {
        lane_word first = start;
        for (unsigned position = 0; position < comb->positions; position += comb->spread) {
            append_step(plan, first, digits(comb->h, position * windows + window, 4, further));
            first = lane_add(first, step);
        }
    }
}

/* Appends the steps of s B. */
static void plan_base(struct plan *plan, const struct lane_comb *comb)
{
    const uint64_t stride = (uint64_t)ED25519_BASE_MULTIPLES * MULTIPLE_BYTES;
    lane_word index = group_indexes(comb->spread);
    lane_word first = lane_add(lane_set((uint64_t)(uintptr_t)ed25519_base),
                               _mm512_mullo_epi64(index, lane_set(stride)));
    lane_word further = lane_shift_left(index, 3);
    for (unsigned position = 0; position < BASE_DIGITS; position += comb->spread) {
        append_step(plan, first, digits(comb->s, position, 8, further));
        first = lane_add(first, lane_set(stride * comb->spread));
    }
}

/* Prefetches the multiples of a later step: 96 bytes are in two lines, since tables begin on a
 * line. The address of an absent multiple may be before its table: a prefetch does not fault. */
LANE_INLINE void prefetch(const uint64_t address[LANES])
{
    for (unsigned lane = 0; lane < LANES; lane++) {
        const char *multiple = (const char *)(uintptr_t)address[lane];
        _mm_prefetch(multiple, _MM_HINT_T0);
        _mm_prefetch(multiple + CC_CACHE_LINE, _MM_HINT_T0);
    }
}

/* Returns word n of the multiples at `address`; lanes that are not present get `neutral`. */
LANE_INLINE lane_word gather(lane_word neutral, lane_mask present, lane_word address, unsigned n)
{
    lane_word at = lane_add(address, lane_set(8 * n));
    return _mm512_mask_i64gather_epi64(neutral, present, at, NULL, 1);
}

/* Loads the multiple of each lane for a step. Exchanging y - x with y + x and negating 2dxy negates
 * a point. An absent multiple is the identity: y - x = y + x = 1. */
LANE_INLINE void load_multiple(struct lane_multiple *multiple, const struct plan *plan,
                               unsigned step)
{
    const unsigned half = offsetof(struct ed25519_multiple, y_plus_x);
    lane_mask present = plan->present[step];
    lane_mask negative = plan->negative[step];
    lane_word address = _mm512_load_si512(plan->address[step]);
    lane_word other = lane_add(address, lane_set(half));
    lane_word minus = lane_choose(negative, address, other);
    lane_word plus = lane_choose(negative, other, address);
    lane_word zero = lane_set(0);
    lane_word words[3][4];
    for (unsigned n = 0; n < 4; n++) {
        lane_word neutral = lane_set(n == 0 ? 1 : 0);
        words[0][n] = gather(neutral, present, minus, n);
        words[1][n] = gather(neutral, present, plus, n);
        words[2][n] = gather(zero, present, address, n + 8);
    }
    multiple->y_minus_x = lane_field_unpack(words[0]);
    multiple->y_plus_x = lane_field_unpack(words[1]);
    multiple->xy2d = lane_field_negate_some(negative, lane_field_unpack(words[2]));
}

static_assert(offsetof(struct ed25519_multiple, xy2d) == 64,
              "load_multiple reads it as words 8..11");

/* Runs the steps from `step` on, and multiplies by 16 before every `round`-th of the first `rounds`
 * rounds. */
static void run(struct lane_point *sum, const struct plan *plan, unsigned step, unsigned round,
                unsigned rounds)
{
    unsigned next = round;
    for (; step < plan->count; step++) {
        if (step == next && rounds > 1) {
            lane_point_times_16(sum);
            next += round;
            rounds--;
        }
        prefetch(plan->address[step + PREFETCH_STEPS]);
        struct lane_multiple multiple;
        load_multiple(&multiple, plan, step);
        lane_point_add_multiple(sum, &multiple);
    }
}

/* Runs the first step: the sum is its multiple. */
static void begin(struct lane_point *sum, const struct plan *plan)
{
    for (unsigned step = 0; step <= PREFETCH_STEPS; step++)
        prefetch(plan->address[step]);
    struct lane_field d2 = lane_field_set(ed25519_point_curve.d2.limb);
    struct lane_multiple multiple;
    load_multiple(&multiple, plan, 0);
    lane_point_from_multiple(sum, &multiple, &d2);
}

/* Gives the prefetches of the last steps an address; any valid one will do. */
static void end_plan(struct plan *plan)
{
    for (unsigned i = 0; i < PREFETCH_STEPS; i++)
        memcpy(plan->address[plan->count + i], plan->address[0], sizeof plan->address[0]);
}

/* Every lane of a group gets the sum of the group. */
static void merge(struct lane_point *sum, unsigned spread)
{
    lane_word lanes = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    struct lane_field d2 = lane_field_set(ed25519_point_curve.d2.limb);
    for (unsigned distance = 1; distance < spread; distance *= 2) {
        lane_word partner = _mm512_xor_si512(lanes, lane_set(distance));
        struct lane_summand mine;
        lane_point_summand(&mine, sum, &d2);
        struct lane_summand other;
        for (unsigned i = 0; i < 5; i++) {
            other.y_minus_x.limb[i] = _mm512_permutexvar_epi64(partner, mine.y_minus_x.limb[i]);
            other.y_plus_x.limb[i] = _mm512_permutexvar_epi64(partner, mine.y_plus_x.limb[i]);
            other.z2.limb[i] = _mm512_permutexvar_epi64(partner, mine.z2.limb[i]);
            other.t2d.limb[i] = _mm512_permutexvar_epi64(partner, mine.t2d.limb[i]);
        }
        lane_point_add(sum, &other);
    }
}

void lane_comb_sum(struct lane_point *sum, const struct lane_comb *comb)
{
    INVARIANT(comb->positions % comb->spread == 0);
    INVARIANT(comb->spread == 1 || comb->positions == ED25519_TABLE_POSITIONS);
    struct plan plan;
    plan.count = 0;
    plan_key(&plan, comb);
    plan_base(&plan, comb);
    end_plan(&plan);
    begin(sum, &plan);
    run(sum, &plan, 1, comb->positions / comb->spread, KEY_DIGITS / comb->positions);
    if (comb->spread > 1)
        merge(sum, comb->spread);
}

void lane_comb_add_base(struct lane_point *sum, const struct lane_comb *comb)
{
    INVARIANT(comb->spread == 1);
    struct plan plan;
    plan.count = 0;
    plan_base(&plan, comb);
    end_plan(&plan);
    run(sum, &plan, 0, BASE_DIGITS, 1);
}

#endif
