/* route.h - the destination of a path and method; signed paths come from the table of
 * base/request.h.
 *
 * A code without a handler has no route: if no code of a path is built, the path does not exist
 * (404). Pure, read-only after route_init.
 *
 * Bound. Paths are compared by length first; few have the same length. */
#ifndef NET_HTTP_ROUTE_H
#define NET_HTTP_ROUTE_H

#include "base/query_message.h"
#include "base/request.h"
#include "net/http/http.h"
#include "net/http/problem_detail.h"

enum route_kind {
    ROUTE_NONE,
    ROUTE_OPTIONS, /* OPTIONS on a path that exists */
    ROUTE_SIGNED,  /* POST, envelope or frame */
    ROUTE_PLAIN,   /* a plain JSON write, X-API-KEY */
    ROUTE_QUERY,   /* the follower answers it: `query`; GET, of pairings POST and PUT too */
    ROUTE_TIME,    /* GET, public; this one and those below are answered by the net thread */
    ROUTE_STATUS,
    ROUTE_EXCHANGE,
    ROUTE_LIMITS,  /* X-API-KEY if sent */
    ROUTE_LATENCY, /* on the admin listener; on the public one as net.latency says */
    ROUTE_EIP712,
    ROUTE_OPENAPI,
    ROUTE_ASYNCAPI,
    ROUTE_STREAM,  /* a WebSocket handshake */
    ROUTE_PREVIEW, /* POST, JSON */
    ROUTE_DEBUG,   /* POST, envelope or frame */
    ROUTE_PAGE,    /* GET, a page of the console */
    ROUTE_FILE,    /* GET, what a page loads; the argument is its name */
    ROUTE_LIVEZ,   /* GET, admin listener only */
    ROUTE_READYZ,
    ROUTE_METRICS,
    ROUTE_CLUSTER,  /* with the admin token, as the next */
    ROUTE_HANDOVER, /* POST, as the next */
    ROUTE_MAINTENANCE
};

#define ROUTE_LOGOUT_PATH "/api/v1/logout"

enum {
    ROUTE_PATHS_MAX = 96,
    ROUTE_CODES_MAX = 16,
    ROUTE_ARGUMENT_MAX = 64,
    ROUTE_PARAMETERS_MAX = 64
};

struct route_path {
    const char *path;   /* static; the part before the argument, if the path has one */
    const char *suffix; /* static; what follows the argument, "" for nothing */
    uint16_t path_bytes;
    uint8_t kind;  /* enum route_kind */
    uint8_t query; /* enum query_kind, ROUTE_QUERY */
    uint8_t method;
    bool admin;
    bool is_logout;                  /* code 14 ends a session by itself there (W6) */
    uint16_t codes[ROUTE_CODES_MAX]; /* ROUTE_SIGNED: its request types; ROUTE_PLAIN: its command */
    uint16_t code_count;
};

struct route_table {
    struct route_path paths[ROUTE_PATHS_MAX];
    uint16_t count;
};

/* A request's destination. */
struct route {
    uint8_t kind;                      /* enum route_kind */
    uint8_t query;                     /* enum query_kind, ROUTE_QUERY */
    const struct route_path *path;     /* ROUTE_SIGNED, ROUTE_PLAIN, else NULL */
    char argument[ROUTE_ARGUMENT_MAX]; /* the {name} of the path, decoded, zero-terminated */
    uint16_t argument_bytes;
};

/* What exists on some exchanges only. */
struct route_features {
    bool testnet; /* the faucet's path */
    bool debug;   /* /debug/payload (W7) */
    bool console; /* the pages of the public listener */
    bool latency; /* GET /latency of the public listener */
};

void route_init(struct route_table *table, struct route_features features);

/* Finds the route of a parsed head; `text` is the head's first byte. False with 404 or 405 in
 * *problem; *allow is then the list of the path's methods, or NULL. OPTIONS finds ROUTE_OPTIONS
 * and sets *allow too. */
CC_MUST_USE bool route_find(const struct route_table *table, const struct http_head *head,
                            const char *text, bool admin, struct route *route,
                            struct problem_detail *problem, const char **allow);

/* Returns what may follow the name of a market: "/book" and others; NULL from their number on.
 * Static storage. */
const char *route_market_part(unsigned number);

/* Whether the path takes the code. */
CC_MUST_USE bool route_has_code(const struct route_path *path, uint16_t code);

/* Writes the value of query parameter `name`, percent signs and '+' decoded, to `value`: at most
 * capacity - 1 bytes and a zero. Returns its length; -1 if it is absent; -2 if it comes twice or is
 * malformed; -3 if it is too long;
 * -4 if the query has more than ROUTE_PARAMETERS_MAX parameters. */
CC_MUST_USE int route_parameter(const char *query, size_t count, const char *name, char *value,
                                size_t capacity);

#endif
