#include "crypto/ed25519_base.h"

#include "crypto/ed25519_inverse.h"
#include "crypto/ed25519_point.h"

alignas(ED25519_TABLE_ALIGN) struct ed25519_multiple
    ed25519_base[ED25519_BASE_POSITIONS * ED25519_BASE_MULTIPLES];

static bool filled;

/* point = the point of y = 4/5 with even x. */
static void generator(struct ed25519_point *point)
{
    const struct ed25519_field five = { { 5, 0, 0, 0, 0 } };
    const struct ed25519_field four = { { 4, 0, 0, 0, 0 } };
    struct ed25519_field y;
    uint64_t words[4];
    uint8_t encoding[32];
    ed25519_inverse(&y, &five);
    ed25519_field_multiply(&y, &y, &four);
    ed25519_field_to_words(words, &y);
    memcpy(encoding, words, sizeof encoding);
    bool on_curve = ed25519_point_decode(point, encoding);
    INVARIANT(on_curve);
}

void ed25519_base_init(void)
{
    if (filled)
        return;
    ed25519_point_init();
    struct ed25519_point point, sums[ED25519_POINT_MULTIPLES_MAX];
    generator(&point);
    struct ed25519_multiple *multiples = ed25519_base;
    for (unsigned position = 0; position < ED25519_BASE_POSITIONS; position++) {
        struct ed25519_addend addend;
        ed25519_point_addend(&addend, &point);
        ed25519_point_neutral(&sums[ED25519_POINT_MULTIPLES_MAX - 1]);
        for (unsigned i = 0; i < ED25519_BASE_MULTIPLES; i += ED25519_POINT_MULTIPLES_MAX) {
            const struct ed25519_point *last = &sums[ED25519_POINT_MULTIPLES_MAX - 1];
            for (unsigned k = 0; k < ED25519_POINT_MULTIPLES_MAX; k++) {
                ed25519_point_add(&sums[k], last, &addend, false);
                last = &sums[k];
            }
            ed25519_point_multiples(multiples, sums, ED25519_POINT_MULTIPLES_MAX);
            multiples += ED25519_POINT_MULTIPLES_MAX;
        }
        ed25519_point_double(&point, &sums[ED25519_POINT_MULTIPLES_MAX - 1], true); /* 256 times */
    }
    filled = true;
}
