/* pipeline.h - HTTP pipelining: the answers of a connection in the order of its requests, and its
 * held reads sent when the writes before them are answered. Net thread. */
#ifndef NET_RESPONSE_PIPELINE_H
#define NET_RESPONSE_PIPELINE_H

#include "net/response/read_send.h"
#include "net/response/response.h"

struct pipeline {
    struct context *context;
    struct read_sender reads;
    struct response_writer responses;
    uint32_t evicting; /* connection closed for room, until its chunks are free; or CONN_NONE */
};

/* 0 or -ENOMEM; call pipeline_free in both cases. The pipeline must be all zeros before. */
CC_MUST_USE int pipeline_init(struct pipeline *pipeline, struct context *context);
void pipeline_free(struct pipeline *pipeline);

/* An outcome of the connection may be known: writes what can be written, sends reads that may go
 * now, and lets the connection continue. */
void pipeline_advance(struct pipeline *pipeline, struct conn *conn);

/* The connection may continue: something that it waited for may be over. */
void pipeline_resume(struct pipeline *pipeline, struct conn *conn);

/* The outcome of the request is known and stored in it. It is answered in its order, or freed if
 * its connection has closed. */
void pipeline_finish(struct pipeline *pipeline, struct pending *pending);

/* Answers a new request with a problem, in its order, and charges its address for it (charge.h).
 * `allow`: as in struct pending. */
void pipeline_refuse(struct pipeline *pipeline, struct conn *conn,
                     const struct problem_detail *problem, const char *allow);

/* The connection found no room in the output pool: it tries again in a later turn, and of
 * the address with the most unsent bytes the connection whose are the oldest is closed. */
void pipeline_starve(struct pipeline *pipeline, struct conn *starved);

/* Frees the oldest request of a stream and what its outcome holds. */
void pipeline_remove_first(struct pipeline *pipeline, struct conn *conn);

/* Drops the requests and the unsent bytes of a connection that is about to be closed. */
void pipeline_drop(struct pipeline *pipeline, struct conn *conn);

#endif
