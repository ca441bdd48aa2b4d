/* basics.h - what all signed requests have in common, for docs/reference.md. */
#ifndef REFERENCE_BASICS_H
#define REFERENCE_BASICS_H

/* Prints the chapter: header, numbers, times in force, envelopes, signed input, answers, reads. */
void basics_print(void);

#endif
