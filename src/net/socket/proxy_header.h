/* proxy_header.h - the PROXY protocol, version 2: what a proxy in front of perpd says about its
 * client before the client's first byte. Pure. */
#ifndef NET_SOCKET_PROXY_HEADER_H
#define NET_SOCKET_PROXY_HEADER_H

#include "net/socket/peer.h"

enum { PROXY_HEADER_MAX = 4096 }; /* bytes, its type-length-value rows included */

/* Reads the header at the front of `bytes`. Returns its length, 0 if it is not complete yet, or -1
 * if it is none. *peer becomes the client that it names, and stays as it is for a header without
 * one (LOCAL, or an address that is not TCP over IP). */
CC_MUST_USE int proxy_header_read(const void *bytes, size_t count, struct peer *peer);

#endif
