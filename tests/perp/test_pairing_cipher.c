/* What two devices exchange when they pair (docs/perp.md): only the key that it was sealed for
 * opens it, for this pairing, unchanged. */
#include "check.h"
#include "perp/request/pairing_cipher.h"

static const struct uuid pairing = { { 1, 0x98, 0xc0, 0xde, 0, 0, 0x70, 0, 0x80, [15] = 0xb1 } };
static const char text[] = "{\"account_id\":7}";

static void seals_for_one(void)
{
    struct pairing_key key, other;
    struct uuid another = pairing;
    uint8_t sealed[PAIRING_SEALED_MAX], opened[PAIRING_TEXT_MAX], longest[PAIRING_TEXT_MAX] = { 7 };

    CHECK(pairing_key_make(&key) && pairing_key_make(&other));
    size_t count = pairing_seal(key.point, &pairing, text, sizeof text, sealed);
    CHECK(count == PAIRING_POINT_BYTES + sizeof text + 16);
    CHECK(pairing_open(&key, &pairing, sealed, count, opened) == sizeof text);
    CHECK(memcmp(opened, text, sizeof text) == 0);
    CHECK(pairing_open(&other, &pairing, sealed, count, opened) == 0);
    another.bytes[15]++;
    CHECK(pairing_open(&key, &another, sealed, count, opened) == 0);
    for (size_t i = 0; i < count; i++) {
        sealed[i] ^= 1;
        CHECK(pairing_open(&key, &pairing, sealed, count, opened) == 0);
        sealed[i] ^= 1;
    }
    for (size_t cut = 0; cut < count; cut++)
        CHECK(pairing_open(&key, &pairing, sealed, cut, opened) == 0);
    size_t again = pairing_seal(key.point, &pairing, longest, sizeof longest, sealed);
    CHECK(again == PAIRING_SEALED_MAX);
    CHECK(pairing_open(&key, &pairing, sealed, again, opened) == sizeof longest);
    CHECK(memcmp(opened, longest, sizeof longest) == 0);
    other.point[64] ^= 1; /* no point of the curve */
    CHECK(pairing_seal(other.point, &pairing, text, sizeof text, sealed) == 0);
    pairing_key_free(&key);
    pairing_key_free(&other);
}

/* Every seal has a key of its own, so that the zero nonce is used once. */
static void seals_anew(void)
{
    struct pairing_key key;
    uint8_t first[PAIRING_SEALED_MAX], second[PAIRING_SEALED_MAX];

    CHECK(pairing_key_make(&key));
    size_t count = pairing_seal(key.point, &pairing, text, sizeof text, first);
    CHECK(pairing_seal(key.point, &pairing, text, sizeof text, second) == count);
    CHECK(memcmp(first, second, PAIRING_POINT_BYTES) != 0);
    CHECK(memcmp(first + PAIRING_POINT_BYTES, second + PAIRING_POINT_BYTES, sizeof text) != 0);
    pairing_key_free(&key);
}

int main(void)
{
    seals_for_one();
    seals_anew();
    return 0;
}
