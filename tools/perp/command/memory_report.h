/* memory_report.h - what the memory of a running perpd is for: `perp doctor --memory`. */
#ifndef PERP_COMMAND_MEMORY_REPORT_H
#define PERP_COMMAND_MEMORY_REPORT_H

#include "perp/command/command.h"

/* Reads /metrics at --admin-url and shows a row for each part of base/region.h, then one of the
 * rest of the process, of what no file backs. Returns the exit code, after a printed error: usage
 * without --admin-url, connection without an answer, problem with one that does not tell it. */
int memory_report(struct context *context);

#endif
