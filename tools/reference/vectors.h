/* vectors.h - a worked signature of each type, computed from the code that verifies. */
#ifndef REFERENCE_VECTORS_H
#define REFERENCE_VECTORS_H

#include <stdbool.h>

/* Prints the section "Worked signatures". False when a signature does not verify. */
bool vectors_print(void);

#endif
