/* envelope_json: the one pass over the form that clients send against the strict reader: whatever
 * the body, the two take the same ones and read the same bytes (wire.md W1, W3; json.md J8). */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "net/request/base64_run.h"
#include "net/request/envelope.h"

/* The Ed25519 vector of wire.md W4. */
#define PAYLOAD                                                                         \
    "\"payload\":\"AQAAAAAAAAABmMDeAABwAIAAAAAAAAChBwAAAAAAAAAAAAAAAAAAAEBCDwAAAAAAsDz" \
    "//////////////////wEAAAABAAAA\""
#define SIGNATURE                                                                      \
    "\"signature\":\"MDOYaB3LoxeAoDfi7JgBluJZrLngl/B9omH1yjEviFMI8tE0wk7OT9K6zlbyBIMv" \
    "hPkZf+laJJf8P6HNe9gDAg==\""
#define KEY       "\"public_key\":\"A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=\""
#define SPACE     " \t\r\n"
#define BODY      "{" PAYLOAD "," SIGNATURE "," KEY "}"
#define SHORT_KEY "\"public_key\":\"A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMQ==\"" /* 31 bytes */

static bool agree(const char *text, size_t count)
{
    static uint8_t got_space[ENVELOPE_SPACE], want_space[ENVELOPE_SPACE];
    struct envelope got = { 0 }, want = { 0 };
    struct problem_detail got_mistake, want_mistake;
    char *body = malloc(count + 1); /* the address sanitizer sees its end */

    memset(&got_mistake, 0, sizeof got_mistake);
    memset(&want_mistake, 0, sizeof want_mistake);
    memcpy(body, text, count);
    bool wanted = envelope_json_strict(&want, body, count, want_space, &want_mistake);
    CHECK(envelope_json(&got, body, count, got_space, &got_mistake) == wanted);
    free(body);
    if (!wanted) {
        CHECK(memcmp(&got_mistake, &want_mistake, sizeof got_mistake) == 0);
        return false;
    }
    CHECK(got.payload_bytes == want.payload_bytes && got.key_bytes == want.key_bytes);
    CHECK(got.passkey == want.passkey && got.key == got.payload + got.payload_bytes);
    CHECK(got.signature == got.key + got.key_bytes);
    CHECK(memcmp(got.payload, want.payload, got.payload_bytes + got.key_bytes + 64) == 0);
    return true;
}

static const struct row {
    int line;
    const char *name, *body;
    bool taken;
} rows[] = {
#define R(name, body, taken)        \
    {                               \
        __LINE__, name, body, taken \
    }
    R("as clients send it", BODY, true),
    R("another order", "{" KEY "," PAYLOAD "," SIGNATURE "}", true),
    R("a third order", "{" SIGNATURE "," KEY "," PAYLOAD "}", true),
    R("white space", SPACE "{" SPACE PAYLOAD SPACE "," SPACE SIGNATURE "," KEY SPACE "}" SPACE,
      true),
    R("white space around the colon",
      "{" PAYLOAD "," SIGNATURE
      ",\"public_key\" :\t\"A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=\"}",
      true),
    R("a member more", "{" PAYLOAD "," SIGNATURE "," KEY ",\"more\":[1,{}]}", true),
    R("an escape in a value",
      "{" PAYLOAD "," SIGNATURE
      ",\"public_key\":\"A6EHv\\/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=\"}",
      true),
    R("an escape in a name",
      "{" PAYLOAD "," SIGNATURE
      ",\"public\\u005fkey\":\"A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=\"}",
      true),
    R("twice", "{" PAYLOAD "," SIGNATURE "," KEY "," KEY "}", false),
    R("no key", "{" PAYLOAD "," SIGNATURE "}", false),
    R("a key of 31 bytes", "{" PAYLOAD "," SIGNATURE "," SHORT_KEY "}", false),
    R("a comma more", "{" PAYLOAD "," SIGNATURE "," KEY ",}", false),
    R("something behind", BODY "x", false),
    R("space in a value", "{" PAYLOAD "," SIGNATURE ",\"public_key\":\"A6EH \"}", false),
    R("space before the quote", "{" PAYLOAD "," SIGNATURE ",\"public_key\":\"A6EH\n\"}", false),
    R("nothing", "", false),
    R("no object", "[]", false),
};

static void test_rows(void)
{
    for (size_t i = 0; i < CC_COUNT(rows); i++)
        CHECK_ROW(&rows[i], agree(rows[i].body, strlen(rows[i].body)) == rows[i].taken);
}

/* The body cut at every place, and with every byte at every place. */
static void test_mutations(void)
{
    char body[sizeof BODY];
    size_t taken = 0;
    memcpy(body, BODY, sizeof body);
    for (size_t count = 0; count < sizeof body - 1; count++)
        CHECK(!agree(body, count));
    for (size_t at = 0; at < sizeof body - 1; at++) {
        char was = body[at];
        for (unsigned byte = 0; byte < 256; byte++) {
            body[at] = (char)byte;
            taken += agree(body, sizeof body - 1);
        }
        body[at] = was;
    }
    CHECK(taken > 64 * 64); /* other characters of the alphabet are taken */
}

int main(void)
{
    for (enum cpu_level level = CPU_SCALAR; level <= cpu_level(); level++) {
        base64_run_choose(level);
        test_rows();
        test_mutations();
        printf("%s: agrees\n", cpu_level_name(level));
    }
    return 0;
}
