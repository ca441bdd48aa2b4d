/* tables.h - the tables as one JSON document, for programs that make clients and documents. */
#ifndef REFERENCE_TABLES_H
#define REFERENCE_TABLES_H

#include <stdio.h>

/* Writes `requests`, `batch_item`, `statuses`, `reasons`, `operator_rules`, `problems`, `kinds`,
 * `limits`, `mistakes` and `routes`. */
void tables_write(FILE *out);

#endif
