/* connections.h - the connections of a load: all to one address, or each to a machine of a list,
 * first to the one that leads (replication.md, A node).
 *
 * Owner. One thread.
 * Wait.  A machine of a list that does not answer is waited for 1 s. */
#ifndef PERP_BENCH_CONNECTIONS_H
#define PERP_BENCH_CONNECTIONS_H

#include "perp/bench/rig.h"

struct connections {
    const struct rig *rig; /* its address is the leader's */
    const char *list;      /* NULL: one address */
    bool is_stream;
    uint32_t count;
    struct client *clients; /* made by connections_open */
    int *files;             /* theirs, not blocking */
};

/* Opens all. NULL, or what is wrong. */
CC_MUST_USE const char *connections_open(struct connections *connections);

/* Closes and opens each; of a list at a machine that is there. NULL, or what is wrong. */
CC_MUST_USE const char *connections_open_again(struct connections *connections);

/* Goes on to the leader that was told (host:port), else (NULL, or text that is none) to the next
 * machine of the list. Gives the file; -1: nobody is there. */
int connections_next(struct connections *connections, uint32_t number, const char *leader);

/* Closes and frees all of it. */
void connections_close(struct connections *connections);

/* Asks the machines of a list in turn, at most 30 s, which of them leads. False, with the reason in
 * `error`. */
CC_MUST_USE bool connections_find_leader(const char *list, char url[RIG_URL_BYTES],
                                         char error[CLIENT_ERROR_MAX]);

#endif
