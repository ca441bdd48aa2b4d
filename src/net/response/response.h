/* response.h - the bytes of an answer: status line, headers, body, in request order. Net thread.
 *
 * Every answer carries Date, Content-Type and Content-Length; reads carry X-Sequence; 405 carries
 * Allow; Connection is said when it is not the default of the version. */
#ifndef NET_RESPONSE_RESPONSE_H
#define NET_RESPONSE_RESPONSE_H

#include "net/conn/context.h"

enum {
    RESPONSE_SCRATCH_BYTES = 4 << 20, /* the longest body of an answer */
    RESPONSE_SENT_MAX = 1024,         /* answers of a turn whose `sent` stage is stamped */
    RESPONSE_DATE_BYTES = 29,
};

struct response_writer {
    struct context *context;
    char *scratch;        /* body of the answer being written */
    uint64_t written;     /* bytes of answers so far; protocol.c clears it */
    uint64_t date_second; /* that `date` shows */
    char date[RESPONSE_DATE_BYTES + 1];
    uint64_t sent_ticks[RESPONSE_SENT_MAX]; /* received_ticks of answers since response_mark_sent */
    uint32_t sent_count;
};

/* 0 or -ENOMEM. */
CC_MUST_USE int response_writer_init(struct response_writer *responses, struct context *context);
void response_writer_free(struct response_writer *responses);

/* Writes the answer of a pending whose outcome is known. False when the output pool has no room:
 * nothing is written and the pending stays as it is. */
CC_MUST_USE bool response_write(struct response_writer *responses, struct conn *conn,
                                struct pending *pending);

/* The interim answer to `Expect: 100-continue`. False without room. */
CC_MUST_USE bool response_write_continue(struct response_writer *responses, struct conn *conn);

/* The answers written since the last call were handed to the kernel now. */
void response_mark_sent(struct response_writer *responses);

#endif
