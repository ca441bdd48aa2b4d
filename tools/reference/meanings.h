/* meanings.h - one sentence for each status, reason and problem code of the tables in src/base. */
#ifndef REFERENCE_MEANINGS_H
#define REFERENCE_MEANINGS_H

#include "base/compiler.h"

/* What it means to a client, and what to do where that is not plain. NULL where this file has no
 * sentence yet: the document is then not made. Static storage. */
const char *meaning_of_status(uint32_t status);
const char *meaning_of_reason(uint32_t reason);
const char *meaning_of_problem(uint32_t problem);

/* False, after a line about each on standard error, when one of the tables lacks a sentence. */
CC_MUST_USE bool meanings_are_complete(void);

#endif
