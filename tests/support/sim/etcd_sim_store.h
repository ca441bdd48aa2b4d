/* etcd_sim_store.h - the keys of a simulated etcd: their revisions, versions and leases.
 *
 * One change is one revision, whatever number of keys it has. */
#ifndef TESTS_SUPPORT_SIM_ETCD_SIM_STORE_H
#define TESTS_SUPPORT_SIM_ETCD_SIM_STORE_H

#include "repl/etcd.h"

/* A key as one revision left it. Owned by the store until compaction. */
struct etcd_sim_version {
    struct etcd_row row; /* of a delete: key and mod_revision */
    bool is_newest;
};

struct etcd_sim_lease {
    int64_t id, ttl_s;
    uint64_t end_ns;
};

struct etcd_sim_store {
    int64_t revision, compacted;   /* revisions below `compacted` are gone */
    struct etcd_sim_version **log; /* by revision */
    size_t log_count, log_room;
    struct etcd_sim_version **keys; /* the newest of each key that is there, by key */
    size_t key_count, key_room;
    struct etcd_sim_lease *leases;
    size_t lease_count, lease_room;
    int64_t lease_ids;
    bool is_full;     /* nothing is put, no lease granted */
    uint64_t late_ns; /* leases end so much after their time */
};

/* Rows of an answer, with bytes of their own. */
struct etcd_sim_rows {
    struct etcd_row *rows;
    uint32_t count, room;
    bool more;
};

void etcd_sim_store_init(struct etcd_sim_store *store);
void etcd_sim_store_free(struct etcd_sim_store *store);

/* Executes a request; `rows` gets what it reads, `done` result, revision, numbers and a text. */
void etcd_sim_store_do(struct etcd_sim_store *store, const struct etcd_request *request,
                       uint64_t now_ns, struct etcd_sim_rows *rows, struct etcd_done *done);

/* Ends a lease with its keys. False: there is none. */
bool etcd_sim_store_end_lease(struct etcd_sim_store *store, int64_t lease);

/* Ends what is over; true if there was one. */
bool etcd_sim_store_expire(struct etcd_sim_store *store, uint64_t now_ns);

/* When the next lease ends; UINT64_MAX: none. */
uint64_t etcd_sim_store_next_end(const struct etcd_sim_store *store);

/* Every lease has its whole time again, as after a change of etcd's leader. */
void etcd_sim_store_renew_all(struct etcd_sim_store *store, uint64_t now_ns);

void etcd_sim_store_compact(struct etcd_sim_store *store, int64_t revision);

/* The newest row of a key; NULL: it is not there. */
const struct etcd_row *etcd_sim_store_get(const struct etcd_sim_store *store,
                                          struct etcd_bytes key);

/* Appends a copy of a row. */
void etcd_sim_store_add_row(struct etcd_sim_rows *rows, const struct etcd_row *row, uint32_t op);
void etcd_sim_store_free_rows(struct etcd_sim_rows *rows);

/* Whether the key is `from`, or in [from, end) if `end` is not empty. */
bool etcd_sim_store_is_in(struct etcd_bytes key, struct etcd_bytes from, struct etcd_bytes end);

#endif
