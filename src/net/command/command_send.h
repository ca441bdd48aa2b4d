/* command_send.h - pushes verified commands into the command ring, and handles their answers.
 *
 * Order.  First in, first out. While jobs wait for credits addresses have them in turn, the jobs of
 *         one are in their order.
 * Wait.   A job without a credit stays in its slot; after net.credit_wait_ms it is refused with
 *         request_dropped. The last eighth of the credits is for cancels, reductions and operators.
 * Owner.  The net thread. */
#ifndef NET_COMMAND_COMMAND_SEND_H
#define NET_COMMAND_COMMAND_SEND_H

#include "net/command/job.h"

enum { COMMAND_CREDITS_KEPT = 8 }; /* one in so many */

struct command_sender {
    struct job_table *jobs;
    uint32_t answer_credits; /* answers that the ring holds */
    uint32_t commands_out;   /* commands sent and not answered */
    uint64_t gave_up_ns;     /* when it last looked for some to give up; 0: never */
};

void command_send_init(struct command_sender *sender, struct job_table *jobs);

/* Pushes what may go and refuses what waited too long. Returns the work done. */
uint32_t command_send_run(struct command_sender *sender);

/* Handles an answer of the matcher whose release_sequence is durable. */
void command_send_answer(struct command_sender *sender, const struct answer *answer);

/* Answers what was sent and has no answer with outcome_unknown: the leader gave up
 * (replication.md, A node). Looks each 20 ms. Returns the number. */
uint32_t command_send_give_up(struct command_sender *sender);

/* Whether a cancel can be sent now, and before those that wait for a credit there is none. */
CC_MUST_USE bool command_send_has_room(const struct command_sender *sender);

/* The earliest end of a wait for a credit, clock_monotonic_ns; UINT64_MAX: none. */
uint64_t command_send_deadline_ns(const struct command_sender *sender);

/* Whether a turn could push a job. */
CC_MUST_USE bool command_send_has_work(const struct command_sender *sender);

#endif
