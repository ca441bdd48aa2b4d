#include "perp/request/client_rule.h"

#include <errno.h>
#include <unistd.h>

#include "perp/request/instant.h"
#include "perp/request/outcome.h"

#define RULE_NS UINT64_C(30000000000)

enum { PAUSE_FIRST_MS = 100, PAUSE_MAX_MS = 1000, TOLD_MAX = 3, HTTP_MISDIRECTED = 421 };

/* The answer says that this node did not take the request, and another may. */
static bool is_for_another(const struct client_answer *answer)
{
    struct outcome outcome;

    if (answer->status == HTTP_MISDIRECTED || answer->status == 503)
        return true;
    if (answer->status != 200 || answer->body_count > CLIENT_HEAD_MAX)
        return false;
    outcome_read(&outcome, answer);
    return outcome.kind == OUTCOME_REJECTED &&
           (outcome.status == STATUS_request_dropped || outcome.status == STATUS_retry_required);
}

int client_rule_call(struct client *client, const struct client_request *request, bool acts_once,
                     struct client_answer *answer)
{
    uint64_t end_ns = instant_monotonic_ns() + RULE_NS;
    uint32_t pause_ms = PAUSE_FIRST_MS;
    bool is_write = strcmp(request->method, "GET") != 0;

    for (uint32_t told = 0;;) {
        int error = client_call(client, request, answer);
        bool is_lost = error != 0 && error != -ENOMEM && error != -EMSGSIZE;
        bool is_unsent = error == -ECONNREFUSED || error == -EHOSTUNREACH;
        if (error != 0 && (!is_lost || (!acts_once && !is_unsent)))
            return error;
        if (error == 0 && (answer->status == 200 && !is_write))
            return 0;
        if (error == 0 && !is_for_another(answer))
            return 0;
        if (error == 0 && answer->status == HTTP_MISDIRECTED && told < TOLD_MAX &&
            client_follow(client, answer->leader)) {
            told++;
            continue;
        }
        if (!client_has_more(client) || instant_monotonic_ns() >= end_ns)
            return error;
        client_next(client);
        told = 0;
        usleep(pause_ms * 1000);
        pause_ms = 2 * pause_ms < PAUSE_MAX_MS ? 2 * pause_ms : PAUSE_MAX_MS;
    }
}
