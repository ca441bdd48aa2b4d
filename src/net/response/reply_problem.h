/* reply_problem.h - a problem that the follower found, as the client reads it. Any thread. */
#ifndef NET_RESPONSE_REPLY_PROBLEM_H
#define NET_RESPONSE_REPLY_PROBLEM_H

#include "base/query_message.h"
#include "net/http/problem_detail.h"

/* Fills *problem from a reply that is one. */
void reply_problem(struct problem_detail *problem, const struct reply *reply);

#endif
