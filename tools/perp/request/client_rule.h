/* client_rule.h - one request to an exchange of several machines (replication.md, A node).
 *
 * The same bytes go to the leader that a node tells (421), else to the next address of the list,
 * 100 ms to 1 s apart, until an answer finishes them or 30 s are over: no answer, 503,
 * request_dropped and retry_required finish nothing, and 421 was not executed. A signed request
 * acts once, however often it arrives (wire.md W5).
 *
 * Wait.   As client_call, for 30 s and one answer more with a list of addresses.
 * Owner.  One thread. */
#ifndef PERP_REQUEST_CLIENT_RULE_H
#define PERP_REQUEST_CLIENT_RULE_H

#include "perp/request/client.h"

/* As client_call. `acts_once`: it may be sent again after an answer was lost: a read or a signed
 * request; another one is then not. With one address only a leader that is told is followed. */
CC_MUST_USE int client_rule_call(struct client *client, const struct client_request *request,
                                 bool acts_once, struct client_answer *answer);

#endif
