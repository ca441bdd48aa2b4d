#include "crypto/ed25519_table.h"

#include <errno.h>

#include "crypto/ed25519_point.h"

static_assert(ED25519_POINT_MULTIPLES_MAX % ED25519_TABLE_MULTIPLES == 0,
              "whole positions a batch");

/* multiples[i] = (i + 1) point; then point = 2^bits point (bits > 3). */
static void fill_position(struct ed25519_point multiples[ED25519_TABLE_MULTIPLES],
                          struct ed25519_point *point, unsigned bits)
{
    struct ed25519_addend addend;
    ed25519_point_addend(&addend, point);
    multiples[0] = *point;
    for (unsigned i = 1; i < ED25519_TABLE_MULTIPLES; i++)
        ed25519_point_add(&multiples[i], &multiples[i - 1], &addend, false);
    ed25519_point_double(point, &multiples[ED25519_TABLE_MULTIPLES - 1], false);
    for (unsigned i = 5; i < bits; i++)
        ed25519_point_double(point, point, false);
    ed25519_point_double(point, point, true);
}

int ed25519_table_build(struct ed25519_multiple *multiples, uint32_t positions,
                        const uint8_t key[32])
{
    INVARIANT(positions == ED25519_TABLE_POSITIONS || positions == ED25519_TABLE_POSITIONS_SMALL);
    INVARIANT((uintptr_t)multiples % ED25519_TABLE_ALIGN == 0);
    enum { AT_ONCE = ED25519_POINT_MULTIPLES_MAX / ED25519_TABLE_MULTIPLES };
    struct ed25519_point point, points[ED25519_POINT_MULTIPLES_MAX];
    if (!ed25519_point_is_canonical(key) || ed25519_point_is_small_order(key) ||
        !ed25519_point_decode(&point, key))
        return -EINVAL;
    ed25519_point_negate(&point);
    for (uint32_t first = 0; first < positions; first += AT_ONCE) {
        for (uint32_t i = 0; i < AT_ONCE; i++)
            fill_position(points + (size_t)i * ED25519_TABLE_MULTIPLES, &point, 256 / positions);
        ed25519_point_multiples(multiples + (size_t)first * ED25519_TABLE_MULTIPLES, points,
                                ED25519_POINT_MULTIPLES_MAX);
    }
    return 0;
}
