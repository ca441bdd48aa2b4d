/* relying_party: the options of WebAuthn, their defaults on a testnet, and each refusal. */
#include <stdio.h>

#include "base/relying_party.h"
#include "check.h"

static struct relying_party party;
static char error[RELYING_PARTY_ERROR_BYTES];

static bool read(const char *id, const char *origins)
{
    return relying_party_read(&party, id, origins, false, error);
}

static bool says(const char *words)
{
    return strstr(error, words) != NULL;
}

static void test_good(void)
{
    CHECK(read("", "") && party.id[0] == '\0' && party.origin_count == 0);
    CHECK(read("perps.example", "https://perps.example"));
    CHECK(strcmp(party.id, "perps.example") == 0 && party.origin_count == 1);
    CHECK(strcmp(party.origins[0], "https://perps.example") == 0);
    CHECK(read("perps.example", "https://app.perps.example:8443,https://perps.example:1"));
    CHECK(party.origin_count == 2);
    CHECK(strcmp(party.origins[0], "https://app.perps.example:8443") == 0);
    CHECK(strcmp(party.origins[1], "https://perps.example:1") == 0);
    CHECK(relying_party_read(&party, "localhost", "http://localhost:8080", true, error));
    CHECK(!relying_party_read(&party, "com", "https://perps.com", true, error));
    CHECK(read("a-1.x2", "https://a-1.x2:65535"));
}

/* An exchange on localhost is a testnet: the id is shared by all of a machine. */
static void test_testnet(void)
{
    CHECK(relying_party_read(&party, "", "", true, error));
    CHECK(strcmp(party.id, "localhost") == 0 && party.origin_count == 1);
    CHECK(strcmp(party.origins[0], "http://localhost:8080") == 0);
    CHECK(relying_party_read(&party, "", "http://localhost:18080", true, error));
    CHECK(strcmp(party.origins[0], "http://localhost:18080") == 0 && party.origin_count == 1);
    CHECK(relying_party_read(&party, "perps.example", "https://perps.example", true, error));
    CHECK(!relying_party_read(&party, "perps.example", "", true, error));
    CHECK(!read("localhost", "http://localhost:8080") && says("exchange.testnet"));
}

static void test_refusals(void)
{
    static const char *const ids[] = { ".x",     "x.",          "a..b",  "-a.b",      "a-.b",
                                       "a.b-",   "A.b",         "a_b.c", "127.0.0.1", "[::1]",
                                       "a.b:80", "https://a.b", "a b.c", "com",       "perps" };
    static const char *const origins[] = {
        "perps.example",
        "ftp://perps.example",
        "http://perps.example",
        "https://perps.example/",
        "https://perps.example/app",
        "https://perps.example:443",
        "https://perps.example:0",
        "https://perps.example:080",
        "https://perps.example:65536",
        "https://perps.example:",
        "https://perps.example:8o",
        "https://PERPS.example",
        "https://user@perps.example",
        "https://other.example",
        "https://perps.example.evil.example",
        "https://evilperps.example",
        "https://",
        "https://perps.example,",
        ",https://perps.example",
        "https://perps.example, https://perps.example",
        "*",
    };
    for (size_t i = 0; i < CC_COUNT(ids); i++)
        CHECK(!read(ids[i], "https://perps.example") && says("exchange.passkey_rp_id"));
    for (size_t i = 0; i < CC_COUNT(origins); i++)
        CHECK(!read("perps.example", origins[i]) && says("exchange.passkey_origins"));
    CHECK(!read("perps.example", "") && says("exchange.passkey_origins"));
    CHECK(!read("", "https://perps.example") && says("exchange.passkey_rp_id"));
    CHECK(!relying_party_read(&party, "", "http://localhost:80", true, error));
}

/* 16 origins, ids of 253 bytes in labels of 63. */
static void test_bounds(void)
{
    char list[17 * 32] = "https://perps.example", name[300], origin[400];
    for (unsigned i = 1; i < 16; i++)
        strcat(list, ",https://perps.example");
    CHECK(read("perps.example", list) && party.origin_count == 16);
    strcat(list, ",https://perps.example");
    CHECK(!read("perps.example", list) && says("too many"));

    memset(name, 'a', sizeof name);
    for (unsigned i = 63; i < sizeof name; i += 64)
        name[i] = '.';
    name[253] = '\0';
    snprintf(origin, sizeof origin, "https://%s:65535", name);
    CHECK(read(name, origin) && strcmp(party.origins[0], origin) == 0);
    name[253] = 'a';
    name[254] = '\0';
    CHECK(!read(name, "https://perps.example"));
    memset(name, 'a', 64);
    name[64] = '\0';
    CHECK(!read(name, "https://perps.example"));
    name[63] = '\0';
    memcpy(name + 63, ".b", 3);
    snprintf(origin, sizeof origin, "https://%s", name);
    CHECK(read(name, origin));
}

int main(void)
{
    test_good();
    test_testnet();
    test_refusals();
    test_bounds();
    return 0;
}
