/* response.h - the bytes of an HTTP response: status line, headers, body. Net thread.
 *
 * Every response has Date, X-Sequence and X-Server-Time-Ns, and but for 204 Content-Type and
 * Content-Length. X-Sequence is never below what was acknowledged before: of a read the sequence
 * that it shows, else what is durable now. 405 and OPTIONS have Allow.
 * Connection is sent if it is not the default of the HTTP version. */
#ifndef NET_RESPONSE_RESPONSE_H
#define NET_RESPONSE_RESPONSE_H

#include "net/response/shared_text.h"

enum {
    RESPONSE_SCRATCH_BYTES = 4 << 20, /* the longest body of an answer */
    RESPONSE_SENT_MAX = 1024,         /* answers of a turn whose `sent` stage is measured */
    RESPONSE_DATE_BYTES = 29,
};

struct response_writer {
    struct context *context;
    char *scratch; /* body of the answer being written */
    struct shared_texts texts;
    uint64_t written;     /* bytes written in this turn; protocol.c resets it */
    uint64_t date_second; /* the second of `date` */
    char date[RESPONSE_DATE_BYTES + 1];
    uint64_t sent_ticks[RESPONSE_SENT_MAX]; /* received_ticks of answers since response_mark_sent */
    uint32_t sent_count;
};

/* 0 or -ENOMEM. */
CC_MUST_USE int response_writer_init(struct response_writer *responses, struct context *context);
void response_writer_free(struct response_writer *responses);

/* Writes the response of a pending whose outcome is known. False if the output pool has no room:
 * nothing is written, and the pending is unchanged. */
CC_MUST_USE bool response_write(struct response_writer *responses, struct conn *conn,
                                struct pending *pending);

/* Writes the JSON of a signed request's answer, without anything around it: for streams. */
void response_write_op(const struct context *context, struct writer *writer,
                       const struct pending *pending);

/* The same as the binary acknowledgement (ACK_BINARY_BYTES) of a request that is answered so. */
void response_write_binary(const struct context *context, struct writer *writer,
                           const struct pending *pending);

/* Writes the interim response 100 Continue. False without room. */
CC_MUST_USE bool response_write_continue(struct response_writer *responses, struct conn *conn);

/* The responses written since the last call are with the kernel now: measures their `sent` stage.
 * */
void response_mark_sent(struct response_writer *responses);

#endif
