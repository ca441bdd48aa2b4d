/* json_info.h - reads that the net thread answers itself: time, status, exchange, limits (json.md
 * J6). Net thread. */
#ifndef NET_JSON_JSON_INFO_H
#define NET_JSON_JSON_INFO_H

#include "base/row.h"
#include "net/conn/net_config.h"
#include "net/http/writer.h"

void json_info_time(uint64_t unix_ns, struct writer *writer);

/* State and sequences of this process, and the newest signed head, if the log has one (NULL: none
 * are made), as in the `status` channel (J9). */
void json_info_status(const struct net_facts *facts, const struct head_log *heads, bool draining,
                      struct writer *writer);

/* The exchange: options, limits, request types with a handler, statuses, reasons. */
void json_info_exchange(const struct net_config *config, struct writer *writer);

/* Who asks for the limits. */
struct json_info_caller {
    uint64_t address;
    const uint8_t *key;                /* keyed hash of the API key's secret; NULL: none was sent */
    const struct row_account *account; /* with a key, else NULL */
};

/* The limits of /exchange, what the caller has left of the rates at `now_ns` (clock_monotonic_ns),
 * and with a key the slots of its account. */
void json_info_limits(const struct net_config *config, const struct json_info_caller *caller,
                      uint64_t now_ns, struct writer *writer);

#endif
