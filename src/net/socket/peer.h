/* peer.h - the address at the other end of a connection, and lists of such addresses. Any thread.
 *
 * Bound. PEER_LIST_MAX addresses. */
#ifndef NET_SOCKET_PEER_H
#define NET_SOCKET_PEER_H

#include "base/compiler.h"

enum { PEER_LIST_MAX = 32, PEER_BYTES = 16, PEER_IPV4_BYTES = 4 };

/* An IPv6 address; an IPv4 address as ::ffff:a.b.c.d. */
struct peer {
    uint8_t bytes[PEER_BYTES];
};

struct peer_list {
    struct peer peers[PEER_LIST_MAX];
    uint32_t count;
};

struct peer peer_of_ipv4(const uint8_t bytes[PEER_IPV4_BYTES]);

/* The peer of a connected socket. False, and *peer is all zeros, if it has no such address. */
bool peer_of_socket(int file, struct peer *peer);

static inline bool peer_is_ipv4(const struct peer *peer)
{
    static const uint8_t mapped[PEER_BYTES - PEER_IPV4_BYTES] = { [10] = 0xff, [11] = 0xff };
    return memcmp(peer->bytes, mapped, sizeof mapped) == 0;
}

/* Fills the list from comma-separated addresses; an empty text gives an empty list. False if one is
 * no address, or if they are too many; the list is then undefined. */
CC_MUST_USE bool peer_list_read(struct peer_list *list, const char *text);

CC_MUST_USE bool peer_list_has(const struct peer_list *list, const struct peer *peer);

#endif
