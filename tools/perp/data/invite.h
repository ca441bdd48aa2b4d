/* invite.h - the file with which an operator brings another machine into a cluster: ids and keys of
 * the exchange, which all its nodes have in common (replication.md, Invitation).
 *
 *   header 256 | the file signing.key | the file origin, if there is one
 *
 * It holds secrets: mode 0600, and only a file of that mode is read. It is refused after
 * INVITE_LIFE_NS; the keys in it do not end then.
 *
 * A function that returns false has printed an error and set the context's exit code.
 *
 * Owner. The command's thread. */
#ifndef PERP_DATA_INVITE_H
#define PERP_DATA_INVITE_H

#include "base/cluster_option.h"
#include "perp/data/data_directory.h"
#include "store/era.h"

#define INVITE_LIFE_NS (UINT64_C(24) * 3600 * 1000000000)

enum {
    INVITE_SIGNING_MAX = 4096,
    INVITE_ORIGIN_MAX = EXCHANGE_FILE_ERAS_MAX * ERA_ROW_BYTES,
};

struct invite {
    char cluster[CLUSTER_NAME_BYTES + 1];
    char node[CLUSTER_NODE_BYTES + 1]; /* that wrote it */
    uint64_t made_ns, expires_ns;      /* unix */
    uint32_t segment_bytes;
    struct exchange_file exchange; /* ids, keys, boot and epoch; no eras */
    uint8_t signing[INVITE_SIGNING_MAX], origin[INVITE_ORIGIN_MAX];
    uint32_t signing_bytes, origin_bytes;
};

/* Fills what the data directory knows; invite_wipe after it. */
CC_MUST_USE bool invite_take(struct context *context, const struct data_directory *directory,
                             struct invite *invite);

/* Writes a new file; nothing is left of it after a failure. */
CC_MUST_USE bool invite_write(struct context *context, const char *path,
                              const struct invite *invite);

/* Reads a file that is no older than its life; invite_wipe after it. */
CC_MUST_USE bool invite_read(struct context *context, const char *path, struct invite *invite);

void invite_wipe(struct invite *invite);

#endif
