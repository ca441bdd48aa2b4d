/* etcd_refusal.h - what a refusal of etcd means: a result of the seam, or another endpoint. */
#ifndef REPL_ETCD_REFUSAL_H
#define REPL_ETCD_REFUSAL_H

#include "repl/etcd.h"

/* Whether a retry would be refused again; `*result` is then what it was. `status` is a code of h2.h
 * or gRPC, `text` etcd's words. */
CC_MUST_USE bool etcd_refusal_is_final(int status, const char *text, enum etcd_result *result);

#endif
