/* etcd_channel.h - the requests of an etcd_real in flight, and the one connection they are on.
 *
 * A request has a slot from submit to the reap after its answer. The channel connects, sends, and
 * starts every request again on the next endpoint when the connection fails; what an answer means
 * is etcd_real.c's. */
#ifndef REPL_ETCD_CHANNEL_H
#define REPL_ETCD_CHANNEL_H

#include "repl/etcd_real.h"
#include "repl/h2.h"

struct etcd_slot {
    bool is_used, is_sent; /* is_sent: on the open connection */
    bool is_delivered;     /* goes at the next reap */
    enum etcd_kind kind;
    uint64_t tag, order, sent_ns, late_ns; /* late_ns 0: never */
    uint32_t sends;
    uint8_t *room; /* the request with its prefix, at the end of it */
    const uint8_t *request;
    size_t request_bytes;
    struct h2_message *message; /* whose rows are lent */
    size_t from;                /* of it: where the rest begins */
    bool is_standing;           /* watch: it was answered, so it has no deadline */
    int64_t next_revision;
    uint8_t key[ETCD_KEY_BYTES], end[ETCD_KEY_BYTES];
    struct etcd_bytes key_bytes, end_bytes;
};

struct etcd_channel {
    struct link_tls *tls; /* NULL: plain */
    struct link_endpoint endpoints[ETCD_REAL_ENDPOINTS_MAX];
    uint32_t endpoint_count, endpoint;
    uint64_t request_ns;
    int epoll;
    uint32_t interest; /* of epoll; 0: the connection is not in it */
    struct link link;
    struct h2 *h2;                                   /* NULL: no connection */
    uint64_t opened_ns, retry_ns, heard_ns, ping_ns; /* ping_ns 0: none is under way */
    uint32_t failures;                               /* since a connection that lasted */
    uint64_t connections, resent;
    uint8_t *out;
    size_t out_count, out_sent, out_room;
    bool has_unread; /* bytes of the connection: they wait for the next turn */
    struct etcd_slot slots[H2_CALLS_MAX];
    char why[ETCD_TEXT_BYTES]; /* the last connection ended */
};

/* Fills a zeroed channel. 0 or -errno; etcd_channel_close is due in any case. */
CC_MUST_USE int etcd_channel_open(struct etcd_channel *channel,
                                  const struct etcd_real_config *config, char why[ETCD_TEXT_BYTES]);
void etcd_channel_close(struct etcd_channel *channel);

/* CLOCK_MONOTONIC. */
CC_MUST_USE uint64_t etcd_channel_now(void);

/* Connects, starts, sends and receives as far as nothing blocks, and looks at deadlines. */
void etcd_channel_turn(struct etcd_channel *channel);

/* Starts and sends what waits, if there is a connection. */
void etcd_channel_send(struct etcd_channel *channel);

/* Ends the connection: what is in flight goes to the next endpoint. */
void etcd_channel_fail(struct etcd_channel *channel, const char *why);

/* Whether the slot's call is on the open connection. */
CC_MUST_USE bool etcd_channel_is_sent(const struct etcd_channel *channel,
                                      const struct etcd_slot *slot);

/* Ends a request. */
void etcd_channel_free(struct etcd_channel *channel, struct etcd_slot *slot);

/* When a turn is due: CLOCK_MONOTONIC, UINT64_MAX: never. */
CC_MUST_USE uint64_t etcd_channel_due(const struct etcd_channel *channel);

#endif
