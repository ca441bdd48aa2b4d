/* sheet.h - the result of a whole run: one JSON object, and the same as lines for people.
 *
 *   {"run": .., "settings": {..}, "exchange": {..}, "machine": {..}, "passes": [..],
 *    "median": {..}, "knee": {..}, "valid": .., "command": ..}
 *
 * Owner. One thread. */
#ifndef PERP_BENCH_SHEET_H
#define PERP_BENCH_SHEET_H

#include "perp/bench/trial.h"

/* Begins the object of a run; the caller owns it. */
json_t *sheet_begin(struct trial *trial);

/* Ends it: medians of the passes, the knee of a ramp, whether it is valid. The passes become the
 * object's. Returns whether it is valid and something was accepted. */
CC_MUST_USE bool sheet_end(json_t *sheet, json_t *passes, bool is_ramp);

/* Writes the lines for people. */
void sheet_show(FILE *out, const json_t *sheet);

/* The figure of a path of names separated by dots. False: it is null or not there. */
CC_MUST_USE bool sheet_number(const json_t *object, const char *path, double *value);

#endif
