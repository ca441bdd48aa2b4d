/* choice.h - flag values of a few forms, read with messages that say what would be right. */
#ifndef PERP_CHOICE_H
#define PERP_CHOICE_H

#include "perp/context.h"

/* The place of a flag's value in the names of a body field (either case); `missing` when the flag
 * was not given. */
CC_MUST_USE bool choice_enum(struct context *context, uint32_t flag, uint32_t code,
                             const char *field, uint64_t missing, uint64_t *value);

/* --pin: a subaccount, or -1 without the flag, as the wire has it. */
CC_MUST_USE bool choice_pin(struct context *context, uint64_t *value);

/* --expires in ns; 0 without the flag. */
CC_MUST_USE bool choice_expires(struct context *context, uint64_t *ns);

/* --label: "" without the flag; at most 32 bytes of UTF-8 without control characters. */
CC_MUST_USE bool choice_label(struct context *context, const char **label);

/* A whole number of minimum..maximum; `missing` without the flag. */
CC_MUST_USE bool choice_number(struct context *context, uint32_t flag, uint64_t minimum,
                               uint64_t maximum, uint64_t missing, uint64_t *value);

#endif
