/* cluster_client.h - etcd as a node's configuration names it, for orders that need no node.
 *
 * A function that returns false has printed an error and set the context's exit code.
 *
 * Wait.  Each question at most 10 s.
 * Owner. The command's thread. cluster_client_close frees all of it, begun or not. */
#ifndef PERP_DATA_CLUSTER_CLIENT_H
#define PERP_DATA_CLUSTER_CLIENT_H

#include "base/cluster_option.h"
#include "perp/invocation/context.h"
#include "repl/etcd.h"

struct cluster_client {
    struct context *context;
    struct config config; /* perpd's, of this machine */
    struct cluster_option option;
    struct etcd *etcd;
};

/* Reads the configuration file `path`, which must be of a cluster. `client` is zero. */
CC_MUST_USE bool cluster_client_read(struct cluster_client *client, struct context *context,
                                     const char *path);

/* Begins to speak to etcd. */
CC_MUST_USE bool cluster_client_open(struct cluster_client *client);

/* Asks; anything but ETCD_OK is an error. */
CC_MUST_USE bool cluster_client_ask(struct cluster_client *client,
                                    const struct etcd_request *request, struct etcd_done *done);

void cluster_client_close(struct cluster_client *client);

#endif
