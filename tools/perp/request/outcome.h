/* outcome.h - the outcome of one signed write: accepted, rejected, duplicate, or a problem.
 *
 * Reads the three forms (json.md J4, J8): RequestAck, success style, problem object.
 *
 * Owner. One thread; no allocation. */
#ifndef PERP_REQUEST_OUTCOME_H
#define PERP_REQUEST_OUTCOME_H

#include "base/status.h"
#include "perp/request/client.h"

enum { OUTCOME_TEXT_MAX = 64, OUTCOME_DETAIL_MAX = 256 };

enum outcome_kind {
    OUTCOME_ACCEPTED,   /* done now */
    OUTCOME_REJECTED,   /* answered, not done */
    OUTCOME_DUPLICATE,  /* this id was executed before; `original` is the outcome */
    OUTCOME_PROBLEM,    /* an HTTP error with a problem object */
    OUTCOME_UNREADABLE, /* none of the three forms */
};

struct outcome {
    enum outcome_kind kind;
    uint32_t http_status;
    uint32_t status;   /* enum status; STATUS_COUNT: not one of the list */
    uint32_t original; /* duplicates: enum status, else STATUS_COUNT */
    uint64_t sequence; /* 0: none */
    uint64_t processed_at_ns;
    uint64_t original_processed_at_ns; /* duplicates, else 0 */
    uint64_t account_id;               /* 11: the new account, else 0 */
    char word[OUTCOME_TEXT_MAX];       /* the status or problem code as sent */
    char reason[OUTCOME_TEXT_MAX];     /* "" when none */
    char detail[OUTCOME_DETAIL_MAX]; /* of a problem, or the rule of a refused operator code; cut */
    char parameter[OUTCOME_TEXT_MAX]; /* the field or parameter that it names */
    char secret[OUTCOME_TEXT_MAX];    /* 33: the device key, 34: the API key; else "" */
    bool is_device_key;
    uint64_t server_time_ms; /* of request_timestamp_out_of_window, else 0 */
};

/* Did the request, now or when it was first sent, have its effect. */
bool outcome_is_done(const struct outcome *outcome);

void outcome_read(struct outcome *outcome, const struct client_answer *answer);

/* A hint for people about a status or problem code; NULL if the word is clear. */
const char *outcome_hint(const char *word);

#endif
