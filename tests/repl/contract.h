/* contract.h - what every etcd behind the seam must do: the same cases for the simulated one and
 * for the client of a running etcd. */
#ifndef TESTS_REPL_CONTRACT_H
#define TESTS_REPL_CONTRACT_H

#include "repl/etcd_call.h"

struct contract {
    struct etcd *etcd;
    void (*pass)(struct contract *contract, uint64_t ms); /* time goes by; it may return earlier */
    const char *prefix;                                   /* of all keys */
};

/* Asks and waits for the answer: ends the test after 20 s without. */
struct etcd_done contract_ask(struct contract *contract, const struct etcd_request *request);

/* The key `prefix name`, in one of a few buffers that are used in turn. */
struct etcd_bytes contract_key(const struct contract *contract, const char *name);

/* One put without a condition. Its revision. */
int64_t contract_put(struct contract *contract, const char *name, const void *value, size_t count,
                     int64_t lease);

/* The row of a key; row_count 0: it is not there. */
struct etcd_done contract_get(struct contract *contract, const char *name);

/* Every case. */
void contract_run(struct contract *contract);

#endif
