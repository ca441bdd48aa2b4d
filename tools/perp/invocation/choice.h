/* choice.h - reads flag values and words of common forms; a wrong one gets a message that says
 * which values are right. */
#ifndef PERP_INVOCATION_CHOICE_H
#define PERP_INVOCATION_CHOICE_H

#include "perp/invocation/context.h"

/* The place of a flag's value in the names of a body field (either case); `missing` when the flag
 * was not given. */
CC_MUST_USE bool choice_enum(struct context *context, uint32_t flag, uint32_t code,
                             const char *field, uint64_t missing, uint64_t *value);

/* A word's place in the names of a body field (either case). */
CC_MUST_USE bool choice_name(struct context *context, const char *text, uint32_t code,
                             const char *field, uint64_t *value);

/* buy or sell, also long or short; `what` names the word in messages. */
CC_MUST_USE bool choice_side(struct context *context, const char *what, const char *text,
                             bool *sell);

/* --tif as the wire's expiry; GTC without the flag. */
CC_MUST_USE bool choice_expiry(struct context *context, uint64_t *expiry);

/* The key that --signer names: the session's without it, or the master's. */
CC_MUST_USE bool choice_signer(struct context *context, struct key_file *key);

/* A word that is an amount of USDC above 0; `what` names it in messages. */
CC_MUST_USE bool choice_amount(struct context *context, const char *what, const char *text,
                               uint64_t *micro_usdc);

/* A word that must be a whole number of minimum..maximum; `what` names it in messages. */
CC_MUST_USE bool choice_count(struct context *context, const char *what, const char *text,
                              uint64_t minimum, uint64_t maximum, uint64_t *value);

/* A word or flag that must be a sequence of at least `minimum`. */
CC_MUST_USE bool choice_sequence(struct context *context, const char *text, int64_t minimum,
                                 uint64_t *sequence);

/* --max-slippage in ppm; 0, the market's own, without the flag. */
CC_MUST_USE bool choice_slippage(struct context *context, uint64_t *ppm);

/* A word that must be a UUID; `what` names it in messages. */
CC_MUST_USE bool choice_uuid(struct context *context, const char *what, const char *text,
                             struct uuid *id);

/* A flag's value as size or price of the command's market; `missing` without the flag. */
CC_MUST_USE bool choice_size(struct context *context, uint32_t flag, int64_t missing, int64_t *raw);
CC_MUST_USE bool choice_price(struct context *context, uint32_t flag, int64_t missing,
                              int64_t *raw);

/* The name of a market, fit to be a part of a path or a query. */
CC_MUST_USE bool choice_market(struct context *context, const char *market);

/* --pin: a subaccount, or -1 without the flag, as the wire has it. */
CC_MUST_USE bool choice_pin(struct context *context, uint64_t *value);

/* --expires in ns; 0 without the flag. */
CC_MUST_USE bool choice_expires(struct context *context, uint64_t *ns);

/* --label: "" without the flag; at most 32 bytes of UTF-8 without control characters. */
CC_MUST_USE bool choice_label(struct context *context, const char **label);

/* --interval in milliseconds; `missing` without the flag. */
CC_MUST_USE bool choice_interval(struct context *context, int64_t missing_ms, int64_t *interval_ms);

/* A whole number of minimum..maximum; `missing` without the flag. */
CC_MUST_USE bool choice_number(struct context *context, uint32_t flag, uint64_t minimum,
                               uint64_t maximum, uint64_t missing, uint64_t *value);

#endif
