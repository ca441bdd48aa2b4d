/* pipeline.h - the requests of a connection in flight: each outcome written in request order, and
 * reads released when the writes before them are answered. Net thread. */
#ifndef NET_RESPONSE_PIPELINE_H
#define NET_RESPONSE_PIPELINE_H

#include "net/response/read_send.h"
#include "net/response/response.h"

struct pipeline {
    struct context *context;
    struct read_sender reads;
    struct response_writer responses;
    uint32_t evicting; /* connection closed for room whose chunks are not back, or CONN_NONE */
};

/* 0 or -ENOMEM; pipeline_free in both cases. The pipeline is zeroed before. */
CC_MUST_USE int pipeline_init(struct pipeline *pipeline, struct context *context);
void pipeline_free(struct pipeline *pipeline);

/* The oldest requests of the connection may have their outcome: writes what can be written, sends
 * reads that may go now, lets the connection read on. */
void pipeline_advance(struct pipeline *pipeline, struct conn *conn);

/* Whatever held the connection back may be gone. */
void pipeline_resume(struct pipeline *pipeline, struct conn *conn);

/* The outcome of the request is known and in it: it is answered at its turn, or forgotten when its
 * connection is gone. */
void pipeline_finish(struct pipeline *pipeline, struct pending *pending);

/* Answers a request that is only refused, at its turn. `allow`: as in struct pending. */
void pipeline_refuse(struct pipeline *pipeline, struct conn *conn,
                     const struct problem_detail *problem, const char *allow);

/* Forgets the requests of a connection that is about to be released, and its unsent bytes. */
void pipeline_drop(struct pipeline *pipeline, struct conn *conn);

#endif
