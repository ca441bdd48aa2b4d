/* cluster_option.h - the section [cluster] of the configuration, checked as a whole
 * (replication.md, A node). Pure but for the name of the host; at start only. */
#ifndef BASE_CLUSTER_OPTION_H
#define BASE_CLUSTER_OPTION_H

#include "base/config.h"

enum {
    CLUSTER_NAME_BYTES = 32,
    CLUSTER_NODE_BYTES = 16,
    CLUSTER_ENDPOINTS_MAX = 9,
    CLUSTER_ADDRESS_BYTES = 64, /* with its end */
    CLUSTER_VAULT_BYTES = 1024, /* likewise */
};

/* What the rows alone do not say. */
struct cluster_option {
    char node[CLUSTER_NODE_BYTES + 1];
    char endpoints[CLUSTER_ENDPOINTS_MAX][CLUSTER_ADDRESS_BYTES]; /* host:port */
    uint32_t endpoint_count;
    char vault[CLUSTER_VAULT_BYTES]; /* the folder of this cluster in the vault */
};

/* Whether this node is one of a cluster. */
static inline bool cluster_option_is_set(const struct config *config)
{
    return config_text(config, OPTION_cluster_name)[0] != '\0';
}

/* Whether the text is 1 to `most` of a-z, 0-9 and -: the name of a node or of a cluster. */
CC_MUST_USE bool cluster_option_is_name(const char *text, size_t most);

/* Reads the section. False with a sentence in `error`: a value out of its bounds, one without
 * cluster.name, a durability that a cluster does not have, or that needs one. */
CC_MUST_USE bool cluster_option_read(const struct config *config, struct cluster_option *out,
                                     char error[CONFIG_ERROR_MAX]);

#endif
