/* command_send.h - verified commands into the command ring, and the answers that come back.
 *
 * Order.  First in, first out.
 * Wait.   A job that finds no credit stays in its slot; after net.credit_wait_ms it is answered
 *         request_dropped.
 * Owner.  The net thread. */
#ifndef NET_COMMAND_COMMAND_SEND_H
#define NET_COMMAND_COMMAND_SEND_H

#include "net/command/job.h"

struct command_sender {
    struct job_table *jobs;
    uint32_t answer_credits; /* answers that the ring holds */
    uint32_t commands_out;   /* sent and not answered */
};

void command_send_init(struct command_sender *sender, struct job_table *jobs);

/* Pushes what may go, drops what waited too long. Gives the work done. */
uint32_t command_send_run(struct command_sender *sender);

/* Takes an answer of the matcher whose release_sequence is durable. */
void command_send_answer(struct command_sender *sender, const struct answer *answer);

/* The next credit wait that ends, clock_monotonic_ns; UINT64_MAX: none. */
uint64_t command_send_deadline_ns(const struct command_sender *sender);

/* Jobs that a turn could push. */
CC_MUST_USE bool command_send_has_work(const struct command_sender *sender);

#endif
