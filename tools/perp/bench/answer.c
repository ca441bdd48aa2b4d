#include "perp/bench/answer.h"

#include <stdlib.h>

#include "perp/request/binary_ack.h"

static const char HEAD_END[] = "\r\n\r\n";
static const char LENGTH[] = "\r\nContent-Length: ";
static const char LEADER[] = "\r\nX-Leader: ";
static const char BINARY[] = "\r\nContent-Type: application/octet-stream\r\n";

const char *answer_stage_name(enum answer_stage stage)
{
    static const char *const names[] = {
#define X(name) #name,
        ANSWER_STAGE_LIST(X)
#undef X
    };

    INVARIANT(stage < ANSWER_STAGE_COUNT);
    return names[stage];
}

size_t answer_bytes(const char *text, size_t count)
{
    const char *end = memmem(text, count, HEAD_END, sizeof HEAD_END - 1);

    if (end == NULL)
        return 0;
    size_t head = (size_t)(end - text) + sizeof HEAD_END - 1;
    const char *length = memmem(text, head, LENGTH, sizeof LENGTH - 1);
    size_t bytes = head + (length == NULL ? 0 : strtoul(length + sizeof LENGTH - 1, NULL, 10));
    return bytes <= count ? bytes : 0;
}

/* The string of a member of a flat JSON text; NULL: it has none. */
static const char *member(const char *body, size_t bytes, const char *name, size_t *count)
{
    const char *at = memmem(body, bytes, name, strlen(name));

    if (at == NULL)
        return NULL;
    at += strlen(name);
    const char *end = memchr(at, '"', bytes - (size_t)(at - body));
    if (end == NULL)
        return NULL;
    *count = (size_t)(end - at);
    return at;
}

static void take_stages(struct answer *answer, const char *body, size_t bytes)
{
    static const char *const names[] = {
#define X(name) "\"" #name "\":",
        ANSWER_STAGE_LIST(X)
#undef X
    };
    const char *end = body + bytes;
    const char *at = memmem(body, bytes, "\"timing_ns\":{", 13);

    for (size_t i = 0; at != NULL && i < ANSWER_STAGE_COUNT; i++) {
        const char *value = memmem(at, (size_t)(end - at), names[i], strlen(names[i]));
        if (value != NULL) {
            uint64_t ns = strtoull(value + strlen(names[i]), NULL, 10);
            answer->stage_ns[i] = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
        }
    }
}

static void take_binary(struct answer *answer, const char *body, size_t bytes,
                        const struct outcomes *outcomes)
{
    struct binary_ack ack;

    answer->outcome = outcomes->unreadable;
    if (!binary_ack_read(&ack, body, bytes) || ack.status >= STATUS_COUNT)
        return;
    answer->outcome = ack.status;
    answer->stage_ns[ANSWER_STAGE_verified] = ack.verify_ns;
    answer->stage_ns[ANSWER_STAGE_matched] = ack.match_ns;
}

void answer_read_body(struct answer *answer, uint16_t http, const char *body, size_t count,
                      struct outcomes *outcomes)
{
    size_t word_count = 0;
    const char *word =
        member(body, count, http == 200 ? "\"status\":\"" : "\"code\":\"", &word_count);

    *answer = (struct answer){ .http = http, .outcome = outcomes->unreadable };
    if (word != NULL)
        answer->outcome = outcomes_number(outcomes, word, word_count);
    if (http == 200)
        take_stages(answer, body, count);
}

/* An answer's text ends with a zero or with the next answer's head: both end a number. */
void answer_accept(struct answer *answer, const char *text, size_t bytes, bool is_read,
                   struct outcomes *outcomes)
{
    const char *end = memmem(text, bytes, HEAD_END, sizeof HEAD_END - 1);
    const char *body = end == NULL ? text + bytes : end + sizeof HEAD_END - 1;
    size_t count = bytes - (size_t)(body - text);
    bool is_http = bytes >= 13 && memcmp(text, "HTTP/1.1 ", 9) == 0;

    *answer = (struct answer){ .http = is_http ? (uint16_t)strtoul(text + 9, NULL, 10) : 0,
                               .outcome = outcomes->unreadable };
    if (answer->http == 200 && is_read) {
        answer->outcome = outcomes_number(outcomes, "read", 4);
        return;
    }
    if (memmem(text, bytes - count, BINARY, sizeof BINARY - 1) != NULL) {
        take_binary(answer, body, count, outcomes);
        return;
    }
    answer_read_body(answer, answer->http, body, count, outcomes);
}

bool answer_is_open(const struct answer *answer)
{
    return answer->http == 421 || answer->http == 503 ||
           (answer->http == 200 && (answer->outcome == STATUS_request_dropped ||
                                    answer->outcome == STATUS_retry_required));
}

void answer_read_leader(const char *text, size_t bytes, char leader[ANSWER_LEADER_MAX])
{
    const char *at = memmem(text, bytes, LEADER, sizeof LEADER - 1);
    size_t count = 0;

    if (at != NULL) {
        at += sizeof LEADER - 1;
        const char *end = memchr(at, '\r', bytes - (size_t)(at - text));
        count = end == NULL ? 0 : (size_t)(end - at);
    }
    if (count >= ANSWER_LEADER_MAX)
        count = 0;
    memcpy(leader, count == 0 ? "" : at, count);
    leader[count] = '\0';
}

uint64_t answer_read_sequence(const char *text, size_t bytes)
{
    static const char name[] = "\"sequence\":";
    const char *end = memmem(text, bytes, HEAD_END, sizeof HEAD_END - 1);
    struct binary_ack ack;

    if (end == NULL)
        return 0;
    const char *body = end + sizeof HEAD_END - 1;
    size_t count = bytes - (size_t)(body - text);
    if (memmem(text, bytes - count, BINARY, sizeof BINARY - 1) != NULL)
        return binary_ack_read(&ack, body, count) ? ack.sequence : 0;
    const char *at = memmem(body, count, name, sizeof name - 1);
    return at == NULL ? 0 : strtoull(at + sizeof name - 1, NULL, 10);
}

void answer_read_original(struct answer *answer, const char *text, size_t bytes,
                          struct outcomes *outcomes)
{
    size_t count = 0;

    if (answer->http != 200 || answer->outcome != STATUS_duplicate_request_id)
        return;
    const char *word = member(text, bytes, "\"original_status\":\"", &count);
    if (word != NULL)
        answer->outcome = outcomes_number(outcomes, word, count);
}
