/* etcd.h - the etcd seam: everything perpd asks of etcd, real or simulated.
 *
 * An etcd is one client of one etcd cluster. Requests go out at once and are answered in any order.
 * The client chooses the endpoint: a request without an answer in `request_ms`, and each request in
 * flight when a connection ends, is sent again, byte for byte the same, to the next endpoint. A
 * compaction and a defragmentation take as long as they take.
 *
 *   repl thread                               etcd
 *   etcd_submit(request, tag) --------------> transaction, range, lease, watch ...
 *   etcd_reap(done[]) <---------------------- done { tag, result, rows }
 *
 * Order.  Nothing is promised between two requests in flight: a later one may land first. A
 *         transaction lands at most once only if its compares say so, for it may be sent twice.
 *         Rows of a watch come in the order of their revisions and none is left out; after a broken
 *         connection the rows of the newest revision may come again.
 * Wait.   submit, cancel and reap never block; wait does. Who sleeps elsewhere polls etcd_file for
 *         readability and calls etcd_reap then and at etcd_due at the latest: reap does the work.
 * Owner.  One thread. submit copies the request: nothing of it is kept. What etcd_done points to
 *         is valid until the next call of reap, wait or submit.
 * Errors. A refusal of etcd comes as the result of the request; submit answers -EAGAIN with
 *         ETCD_REQUESTS_MAX in flight, -EMSGSIZE above ETCD_REQUEST_BYTES, -ENOMEM.
 * Units.  Keys, values and counts are bytes; revisions, terms and ids are etcd's. */
#ifndef REPL_ETCD_H
#define REPL_ETCD_H

#include "base/compiler.h"

enum {
    ETCD_REQUESTS_MAX = 64, /* in flight, watches among them */
    ETCD_WATCHES_MAX = 4,
    ETCD_COMPARES_MAX = 4,
    ETCD_OPS_MAX = 4,    /* in each branch of a transaction */
    ETCD_ROWS_MAX = 256, /* of one answer; a watch goes on in the next */
    ETCD_MEMBERS_MAX = 9,
    ETCD_KEY_BYTES = 128,         /* longest key of a request; in a row it may be a stranger's */
    ETCD_REQUEST_BYTES = 1536000, /* longest request: etcd refuses above 1.5 MiB */
    ETCD_ANSWER_BYTES = 4 << 20,  /* longest answer: a longer one is ETCD_TOO_LARGE */
    ETCD_NAME_BYTES = 64,
    ETCD_TEXT_BYTES = 160 /* of a refusal, with its end */
};

enum etcd_kind {
    ETCD_TRANSACTION,
    ETCD_RANGE, /* linearizable: it sees what was acknowledged before it was asked */
    ETCD_WATCH, /* goes on until it is cancelled or its result is not ETCD_OK */
    ETCD_LEASE_GRANT,
    ETCD_LEASE_KEEP, /* ETCD_NO_LEASE when it has ended */
    ETCD_LEASE_REVOKE,
    ETCD_MEMBERS,
    ETCD_STATUS, /* of the member that answers */
    ETCD_COMPACT,
    ETCD_MOVE_LEADER, /* only etcd's leader does it: else ETCD_REFUSED */
    ETCD_DEFRAGMENT,  /* the member that answers, which stops meanwhile */
    ETCD_DISARM,      /* the alarm of a member that the quota is used up, if it has one */
    ETCD_KIND_COUNT
};

enum etcd_result {
    ETCD_OK,
    ETCD_LATE,      /* life_ns is over: whether it was done is unknown */
    ETCD_TOO_LARGE, /* the request, for etcd; or its answer, for ETCD_ANSWER_BYTES */
    ETCD_NO_SPACE,  /* the quota is used up */
    ETCD_DENIED,    /* permission or identity */
    ETCD_COMPACTED, /* revisions that were asked for are gone: compact_revision is the first left */
    ETCD_NO_LEASE,
    ETCD_REFUSED /* any other refusal that a retry does not change: `text` */
};

struct etcd_bytes {
    const void *bytes;
    size_t count;
};

enum etcd_target { ETCD_VERSION = 0, ETCD_CREATE_REVISION = 1, ETCD_MOD_REVISION = 2 };

/* "the number of this key equals": 0 of a key that is not there. */
struct etcd_compare {
    struct etcd_bytes key;
    enum etcd_target target;
    int64_t equals;
};

enum etcd_verb { ETCD_PUT, ETCD_DELETE, ETCD_GET };

/* One operation. `end` empty: the key alone; else all keys from `key` on, below `end`. */
struct etcd_op {
    enum etcd_verb verb;
    struct etcd_bytes key, end;
    struct etcd_bytes value; /* put */
    int64_t lease;           /* put; 0: none */
    uint32_t limit;          /* get; 0: ETCD_ROWS_MAX */
};

/* If all compares hold, `then`, else `otherwise`; all at one revision. etcd refuses a branch that
 * puts a key twice, or puts a key that it deletes. */
struct etcd_transaction {
    const struct etcd_compare *compares;
    const struct etcd_op *then, *otherwise;
    uint32_t compare_count, then_count, otherwise_count;
};

/* A request; members that its kind does not name are ignored. */
struct etcd_request {
    enum etcd_kind kind;
    uint64_t life_ns;                           /* ETCD_LATE after it; 0: asked until answered */
    const struct etcd_transaction *transaction; /* TRANSACTION */
    struct etcd_bytes key, end;                 /* RANGE, WATCH, as in struct etcd_op */
    int64_t revision; /* RANGE: as of (0: now). WATCH: from it on (0: from now). COMPACT */
    uint32_t limit;   /* RANGE: rows, 0: ETCD_ROWS_MAX */
    int64_t lease;    /* LEASE_KEEP, LEASE_REVOKE */
    int64_t ttl_s;    /* LEASE_GRANT */
    uint64_t member;  /* MOVE_LEADER, DISARM */
    bool is_whole;    /* COMPACT: answered when the pages are free */
};

/* A key as it stands; of a watch an event: `is_delete` has key and mod_revision only. */
struct etcd_row {
    struct etcd_bytes key, value;
    int64_t create_revision, mod_revision, version, lease;
    uint32_t op; /* the operation of the branch that it answers */
    bool is_delete;
};

struct etcd_member {
    uint64_t id;
    char name[ETCD_NAME_BYTES];       /* empty until the member has started */
    char client_url[ETCD_NAME_BYTES]; /* the first of its client addresses, or empty */
    bool is_learner;
};

struct etcd_status {
    uint64_t member, leader; /* leader 0: none is known */
    uint64_t raft_term;
    int64_t db_bytes, db_used_bytes;
    bool is_full; /* some member has the alarm that the quota is used up */
    char version[ETCD_NAME_BYTES];
};

struct etcd_done {
    uint64_t tag;
    enum etcd_kind kind;
    enum etcd_result result;
    bool succeeded;   /* transaction: the compares held */
    bool more;        /* range: the limit left rows off. watch: more rows of this revision follow */
    bool is_resent;   /* it was sent more than once */
    int64_t revision; /* of the store when it was answered; of a watch, not of its rows */
    int64_t compact_revision;
    int64_t lease, ttl_s; /* LEASE_GRANT, LEASE_KEEP */
    const struct etcd_row *rows;
    uint32_t row_count; /* 0 of a watch: it is set; again after a broken connection */
    const struct etcd_member *members;
    uint32_t member_count;
    const struct etcd_status *status;
    const char *text; /* why, when the result is not ETCD_OK; never NULL */
};

/* What metrics and `perp cluster status` show of the connection. */
struct etcd_health {
    bool is_connected;
    uint32_t endpoint;    /* the one in use, or tried next */
    uint64_t connections; /* made since the start */
    uint64_t resent;      /* requests that were sent again */
    const char *text;     /* why the last connection ended; never NULL; valid until the next call */
};

struct etcd;

struct etcd_ops {
    int (*submit)(struct etcd *etcd, const struct etcd_request *request, uint64_t tag);
    bool (*cancel)(struct etcd *etcd, uint64_t tag);
    int (*reap)(struct etcd *etcd, struct etcd_done *done, int done_max);
    int (*wait)(struct etcd *etcd, int wake_file, uint64_t timeout_ns);
    int (*file)(struct etcd *etcd);
    uint64_t (*due)(struct etcd *etcd);
    void (*health)(struct etcd *etcd, struct etcd_health *health);
    void (*close)(struct etcd *etcd);
};

/* The common head of every etcd, real or simulated; etcd_call.h is the only user. */
struct etcd {
    const struct etcd_ops *ops;
};

#endif
