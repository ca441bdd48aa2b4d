/* etcd_sim_net.h - the messages between the clients of a simulated etcd and its keys.
 *
 * Requests and replies arrive in any order; the parts of one watch arrive in theirs, as on a
 * connection. A part that is lost is a connection that broke. */
#ifndef TESTS_SUPPORT_SIM_ETCD_SIM_NET_H
#define TESTS_SUPPORT_SIM_ETCD_SIM_NET_H

#include "support/sim/etcd_sim.h"
#include "support/sim/etcd_sim_store.h"

enum { ETCD_SIM_CLIENTS_MAX = 16 };

/* A request with bytes of its own, shared by its copies. */
struct etcd_sim_request {
    struct etcd_request request;
    struct etcd_transaction transaction;
    struct etcd_compare compares[ETCD_COMPARES_MAX];
    struct etcd_op then[ETCD_OPS_MAX], otherwise[ETCD_OPS_MAX];
    uint8_t *bytes; /* of keys and values */
    uint32_t users;
};

struct etcd_sim_message {
    uint64_t due_ns, number;
    uint32_t client;     /* 0: of one that is gone */
    uint64_t connection; /* of the client, when it was sent */
    uint64_t order;      /* of the request */
    bool is_reply, breaks_connection;
    struct etcd_sim_request *request;
    struct etcd_done done;
    struct etcd_sim_rows rows;
};

struct etcd_sim_watcher {
    uint32_t client;
    uint64_t connection, order;
    struct etcd_sim_request *range; /* key and end: a copy of their bytes */
    int64_t next_revision;
    size_t skip; /* rows of that revision that went already */
    uint64_t last_due_ns;
};

struct etcd_sim {
    uint64_t now_ns, random, request_ns, numbers;
    struct etcd_sim_faults faults;
    bool has_leader;
    enum etcd_result refusal;
    struct etcd_sim_store store;
    struct etcd_sim_message *messages;
    size_t message_count, message_room;
    struct etcd_sim_watcher *watchers;
    size_t watcher_count, watcher_room;
    struct etcd_sim_client *clients[ETCD_SIM_CLIENTS_MAX];
    uint32_t client_count, client_ids;
    etcd_sim_observe *observe;
    void *context;
    int64_t observed;
};

/* 0..limit-1. */
uint64_t etcd_sim_net_random(struct etcd_sim *sim, uint64_t limit);

/* Puts a message under way as it is, without a fault. */
void etcd_sim_net_add(struct etcd_sim *sim, const struct etcd_sim_message *message);
void etcd_sim_net_free(struct etcd_sim_message *message);

/* Sends a request or a reply, which it takes over, with what may happen to it. */
void etcd_sim_net_send(struct etcd_sim *sim, struct etcd_sim_message *message);
void etcd_sim_net_reply(struct etcd_sim *sim, struct etcd_sim_message *message);

/* A watch begins; what has changed goes to the watches; each ends as by compaction. */
void etcd_sim_net_watch(struct etcd_sim *sim, const struct etcd_sim_message *message);
void etcd_sim_net_feed(struct etcd_sim *sim);
void etcd_sim_net_break_watches(struct etcd_sim *sim);
/* The watches of a connection are gone, or one of them (order), or all of a client (SIZE_MAX). */
void etcd_sim_net_forget(struct etcd_sim *sim, uint32_t client, uint64_t order);

/* A reply has come to its client, which takes it over. */
void etcd_sim_net_deliver(struct etcd_sim *sim, struct etcd_sim_message *message);

#endif
