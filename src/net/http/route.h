/* route.h - which path and method lead where; signed paths come from the table of base/request.h.
 *
 * A code whose handler is not built has no route of its own: a path none of whose codes is built
 * does not exist (404). Pure, read-only after route_init.
 *
 * Bound. Paths are compared by length first; at most a handful share one. */
#ifndef NET_HTTP_ROUTE_H
#define NET_HTTP_ROUTE_H

#include "base/query_message.h"
#include "base/request.h"
#include "net/http/http.h"
#include "net/http/problem_detail.h"

enum route_kind {
    ROUTE_NONE,
    ROUTE_SIGNED, /* POST, envelope or frame */
    ROUTE_PLAIN,  /* a plain JSON write, X-API-KEY */
    ROUTE_QUERY,  /* GET, a read that the follower answers: `query` */
    ROUTE_TIME,   /* GET, public; this one and those below are answered by the net thread */
    ROUTE_STATUS,
    ROUTE_EXCHANGE,
    ROUTE_LIMITS, /* X-API-KEY if sent */
    ROUTE_EIP712,
    ROUTE_LIVEZ, /* GET, admin listener only */
    ROUTE_READYZ,
    ROUTE_METRICS,
};

enum { ROUTE_PATHS_MAX = 96, ROUTE_CODES_MAX = 16, ROUTE_ARGUMENT_MAX = 64 };

struct route_path {
    const char *path; /* static; of a path with an argument the part before it */
    uint16_t path_bytes;
    uint8_t kind;  /* enum route_kind */
    uint8_t query; /* enum query_kind, ROUTE_QUERY */
    uint8_t method;
    bool admin;
    uint16_t codes[ROUTE_CODES_MAX]; /* ROUTE_SIGNED: request types that are built; ROUTE_PLAIN: the
                                        one that it becomes */
    uint16_t code_count;
};

struct route_table {
    struct route_path paths[ROUTE_PATHS_MAX];
    uint16_t count;
};

/* A request's destination. */
struct route {
    uint8_t kind;                  /* enum route_kind */
    uint8_t query;                 /* enum query_kind, ROUTE_QUERY */
    const struct route_path *path; /* ROUTE_SIGNED, ROUTE_PLAIN, else NULL */
    char argument
        [ROUTE_ARGUMENT_MAX]; /* the {name} of the path, percent signs resolved, zero-ended */
    uint16_t argument_bytes;
};

/* `testnet`: the faucet's path exists (W7). */
void route_init(struct route_table *table, bool testnet);

/* Finds the route of a parsed head; `text` is the head's first byte. False with 404 or 405 in
 * *problem; *allow then names the method that the path has, or is NULL. */
CC_MUST_USE bool route_find(const struct route_table *table, const struct http_head *head,
                            const char *text, bool admin, struct route *route,
                            struct problem_detail *problem, const char **allow);

/* May this code be sent to this path. */
CC_MUST_USE bool route_has_code(const struct route_path *path, uint16_t code);

/* The value of query parameter `name`, percent signs and '+' resolved, in `value` (zero-ended,
 * capacity included). Gives its length; -1 when it is not there; -2 when it is there twice or not
 * well-formed; -3 when it is too long. */
CC_MUST_USE int route_parameter(const char *query, size_t count, const char *name, char *value,
                                size_t capacity);

#endif
