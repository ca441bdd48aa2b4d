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

static const char image_hash[] = "7a284c30a161f691b68994d50641b5702bddea0368e1801d1a5a4cf6c102105c";
static const char effects_hash[] =
    "b0d503224382e1347cee7d63eb2c9c7b24afbb0d288b537b6b1072653d281f28";

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
