/* assertion: the extra of a passkey's record (journal.md): lengths, bounds, what is refused. */
#include "base/assertion.h"
#include "check.h"

static uint8_t bytes[ASSERTION_BYTES_MAX + 1];

static size_t fill(uint16_t id, uint16_t authenticator, uint16_t client)
{
    const struct assertion sizes = { NULL, NULL, NULL, id, authenticator, client };
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7 + 1);
    assertion_write_header(bytes, &sizes);
    return 8u + id + authenticator + client;
}

static bool reads(uint16_t id, uint16_t authenticator, uint16_t client)
{
    struct assertion assertion;
    return assertion_read(&assertion, bytes, fill(id, authenticator, client));
}

int main(void)
{
    struct assertion assertion;
    size_t count = fill(20, 37, 134);
    CHECK(bytes[0] == 20 && bytes[1] == 0 && bytes[2] == 37 && bytes[4] == 134 && bytes[6] == 0);
    CHECK(assertion_read(&assertion, bytes, count));
    CHECK(assertion.credential_id == bytes + 8 && assertion.credential_id_bytes == 20);
    CHECK(assertion.authenticator_data == bytes + 28 && assertion.authenticator_data_bytes == 37);
    CHECK(assertion.client_data == bytes + 65 && assertion.client_data_bytes == 134);
    memcpy(bytes + 28 + 33, "\x01\x02\x03\x04", 4);
    CHECK(assertion_sign_count(&assertion) == 0x01020304); /* WebAuthn: big-endian */

    CHECK(!assertion_read(&assertion, bytes, count - 1));
    CHECK(!assertion_read(&assertion, bytes, count + 1));
    for (size_t short_count = 0; short_count < 8; short_count++)
        CHECK(!assertion_read(&assertion, bytes, short_count));
    bytes[6] = 1;
    CHECK(!assertion_read(&assertion, bytes, count));

    CHECK(reads(1, 37, 1) && reads(256, 1024, 2048));
    CHECK(!reads(0, 37, 1) && !reads(257, 37, 1));
    CHECK(!reads(1, 36, 1) && !reads(1, 1025, 1));
    CHECK(!reads(1, 37, 0) && !reads(1, 37, 2049));
    return 0;
}
