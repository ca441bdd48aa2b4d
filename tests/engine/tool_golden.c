/* tool_golden FILE - writes the image of the small state, in the versions that are written now, and
 * prints its hash: a new golden file when a section has got another version (golden/README.md). */
#include "base/hash.h"
#include "image_copy.h"
#include "rig.h"
#include "small_state.h"

int main(int count, char **arguments)
{
    static struct host host;
    static struct image_copy copy;
    uint8_t hash[HASH_BYTES];

    if (count != 2) {
        fprintf(stderr, "usage: tool_golden FILE\n");
        return 2;
    }
    small_state_open(&host);
    image_copy_take(&copy, host.engine);
    image_copy_save(&copy, arguments[1]);
    image_copy_hash(&copy, hash);
    for (uint32_t i = 0; i < sizeof hash; i++)
        printf("%02x", hash[i]);
    printf("\n");
    image_copy_free(&copy);
    host_close(&host);
    return 0;
}
