/* secret_output.h - where a secret goes that the exchange shows once: --out, --save, or the answer.
 *
 * A function that returns false has printed an error on standard error and set `exit_code`. */
#ifndef PERP_INVOCATION_SECRET_OUTPUT_H
#define PERP_INVOCATION_SECRET_OUTPUT_H

#include "base/compiler.h"

struct context;

/* Before the request: --out names no existing file. Leaves the secret out of the answer shown if it
 * goes elsewhere. */
CC_MUST_USE bool secret_output_is_free(struct context *context);

/* After it: writes the secret to the file of --out and, with --save, as this setting into the
 * profile. A secret that cannot be kept is printed. "": nothing to keep, true. */
CC_MUST_USE bool secret_output_keep(struct context *context, uint32_t setting, const char *secret);

#endif
