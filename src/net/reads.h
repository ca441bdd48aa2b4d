/* reads.h - accepts reads: for the follower, or to be answered by the net thread. Net thread. */
#ifndef NET_READS_H
#define NET_READS_H

#include "net/response/pipeline.h"

/* Accepts one read with a complete head, and body where its path takes one; it becomes a pending of
 * the connection. */
void reads_accept(struct pipeline *pipeline, struct conn *conn, const char *head_text,
                  const char *body, size_t body_bytes);

/* Accepts one request with a body that the net thread answers itself; likewise. */
void reads_accept_body(struct pipeline *pipeline, struct conn *conn, const char *body,
                       size_t count);

/* Sends reads that waited for a credit, refuses those that waited too long. Returns the work done.
 * */
uint32_t reads_run(struct pipeline *pipeline);

/* Handles a reply of the follower. */
void reads_reply(struct pipeline *pipeline, const struct reply *reply);

#endif
