/* json_problem.h - a problem as JSON (json.md J8). Pure. */
#ifndef NET_JSON_JSON_PROBLEM_H
#define NET_JSON_JSON_PROBLEM_H

#include "net/http/problem_detail.h"
#include "net/http/writer.h"

/* The problem object with the extra members of its code. */
void json_problem(struct writer *writer, const struct problem_detail *problem);

#endif
