/* asset_table.h - the files in the program, as tools/assets.cmake writes them from web/dist.
 *
 * It includes nothing of this tree, so that what is made needs nothing else. */
#ifndef NET_HTTP_ASSET_TABLE_H
#define NET_HTTP_ASSET_TABLE_H

#include <stdint.h>

enum asset_coding { ASSET_PLAIN, ASSET_GZIP, ASSET_BROTLI, ASSET_CODINGS };

struct asset_body {
    const uint8_t *bytes;
    uint32_t count;
};

struct asset {
    const char *name;
    const char *media; /* of Content-Type */
    const char *hash;  /* 16 hexadecimal digits of the SHA-256 of the plain bytes */
    struct asset_body bodies[ASSET_CODINGS];
};

/* What a build embeds; none when it was made without a console. */
extern const struct asset asset_table[];
extern const uint32_t asset_count;

#endif
