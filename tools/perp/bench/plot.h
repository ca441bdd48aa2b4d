/* plot.h - the pictures of a run: data files and a script of gnuplot's in the folder of results,
 * and the SVG files that gnuplot makes of them where it is installed.
 *
 *   percentiles.svg   latency and service by percentile
 *   timeline.svg      latency of each second of due moments
 *   stages.svg        where the time of an answer goes in the server
 *   knee.svg          latency over rate, of a ramp
 *
 * Owner. One thread. */
#ifndef PERP_BENCH_PLOT_H
#define PERP_BENCH_PLOT_H

#include <jansson.h>

#include "base/compiler.h"

/* Writes plot.gp and its data for a whole result into a folder that has latency.hgrm and
 * service.hgrm. False with the reason in `error`. */
CC_MUST_USE bool plot_write(const json_t *sheet, const char *folder, char error[256]);

/* Runs gnuplot in the folder. False with the reason in `error`: it is not installed, or failed. */
CC_MUST_USE bool plot_run(const char *folder, char error[256]);

#endif
