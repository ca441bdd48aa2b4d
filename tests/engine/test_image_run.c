/* One fixed run of random commands has one outcome on every machine and in every build: the hash of
 * its image and that of its effects (journal.md) are pinned here. The program runs under the
 * sanitizers, in release and as clang makes it (clang_image_run, with the fuzz targets);
 * tests/checks/compilers.sh runs it as other compilers make it. One command more has another hash.
 *
 * Another outcome is another rules_version (roles.md, Configuration): raise
 * ENGINE_RULES_VERSION, and pin what the run gives then. */
#include "base/hash.h"
#include "traffic.h"

enum { COMMANDS = 20000 };

static_assert(ENGINE_RULES_VERSION == 7, "the hashes below are those of this version");

static const char image_hash[] = "57932632b77e4ab6d55ca7b0744941f73a12a2df264498769f9e70fc712c2557";
static const char effects_hash[] =
    "faba6fbf3424d9027aaf39ec3810e90a401dc93f9cd994e178fd86380d1bc885";

static struct traffic traffic;

static void check(const char *name, const uint8_t hash[HASH_BYTES], const char *pinned)
{
    char text[2 * HASH_BYTES + 1];

    for (unsigned i = 0; i < HASH_BYTES; i++)
        snprintf(text + 2 * (size_t)i, 3, "%02x", hash[i]);
    if (strcmp(text, pinned) != 0)
        fprintf(stderr, "%s is %s\n", name, text);
    CHECK(strcmp(text, pinned) == 0);
}

int main(void)
{
    uint64_t lanes[EFFECT_LANES];
    uint8_t image[HASH_BYTES], more[HASH_BYTES], hash[HASH_BYTES];

    traffic_open(&traffic, 4, 3, "engine.work_per_command=3\n");
    traffic.host.skip_audit = true;
    for (uint32_t i = 0; i < COMMANDS; i++)
        (void)traffic_command(&traffic);
    host_image_hash(&traffic.host, image);
    check("the image hash", image, image_hash);
    engine_effects_lanes(traffic.host.engine, lanes);
    hash_blake2b256(hash, (const uint8_t *)lanes, sizeof lanes);
    check("the effects hash", hash, effects_hash);

    /* The hashes are pinned for good reason: they see a command more. */
    (void)traffic_command(&traffic);
    host_image_hash(&traffic.host, more);
    CHECK(memcmp(image, more, HASH_BYTES) != 0);
    host_close(&traffic.host);
    return 0;
}
