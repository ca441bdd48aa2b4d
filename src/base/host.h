/* host.h - names of hosts: the addresses that perpd listens on, the Host headers that it accepts.
 *
 * A host is a DNS name, an IPv4 address, or an IPv6 address in brackets. Pure; any thread.
 *
 * Owner. A list points into the texts that it was made from; they must outlive it.
 * Bound. HOST_LIST_MAX hosts of at most HOST_BYTES_MAX bytes. */
#ifndef BASE_HOST_H
#define BASE_HOST_H

#include "base/compiler.h"

enum {
    HOST_LIST_MAX = 32,
    HOST_BYTES_MAX = 255,
};

struct host_name {
    const char *text;
    uint32_t count; /* bytes */
};

struct host_list {
    struct host_name hosts[HOST_LIST_MAX];
    uint32_t count;
};

/* Appends the hosts of a comma-separated text. False if one is empty, too long, has a port or a
 * byte that no host has, or if they are too many; the list is then undefined. */
CC_MUST_USE bool host_list_add(struct host_list *list, const char *text);

/* Appends the host of "host:port". False as above, or without a port; nothing is then appended. */
bool host_list_add_address(struct host_list *list, const char *address);

/* Whether the list has the host of a Host header or of a URL. Letters compare without case; a port
 * is not compared. */
CC_MUST_USE bool host_list_has(const struct host_list *list, const char *text, size_t count);

/* Whether this is "host:port", with a port of 0 to 65535. What the host is, is not looked at. */
CC_MUST_USE bool host_has_port(const char *address);

/* Whether "host:port" is an address of this machine alone: 127.x.x.x, [::1] or localhost. */
CC_MUST_USE bool host_is_loopback(const char *address);

/* Whether "host:port" means every address of this machine: zeros in any spelling. */
CC_MUST_USE bool host_is_wildcard(const char *address);

#endif
