/* listener.h - a listening TCP socket for an `address:port` of the configuration. */
#ifndef NET_SOCKET_LISTENER_H
#define NET_SOCKET_LISTENER_H

#include "base/compiler.h"

enum {
    LISTENER_HOST_MAX = 64,
    LISTENER_BACKLOG = 4096,
    /* Of each connection accepted. A multishot receive empties the socket in one go, so that this
     * bounds what a client can make the kernel hand over before its reading is paused. */
    LISTENER_RECEIVE_BYTES = 65536,
};

struct listener {
    int file; /* -1: none */
    uint16_t port;
    char host[LISTENER_HOST_MAX]; /* as in a URL: "127.0.0.1", "[::1]" */
};

/* Binds and listens. IPv6 addresses are in brackets; port 0 means any free port; accepted sockets
 * have TCP_NODELAY. `shared`: listener_join may follow. 0, or -errno (-EINVAL: the text is no
 * address:port; -EADDRINUSE also if another process of this program shares the port). */
CC_MUST_USE int listener_open(struct listener *listener, const char *address, bool shared);

/* Opens one more socket on the port of `first`. The kernel distributes new connections among them.
 * */
CC_MUST_USE int listener_join(struct listener *listener, const struct listener *first);
void listener_close(struct listener *listener);

#endif
