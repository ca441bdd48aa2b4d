/* check.h - the two checks of every C test: print file, line and text, then exit 1. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(cond)                                                            \
    do {                                                                       \
        if (!(cond)) {                                                         \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #cond); \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

/* The row of a table names itself: it has `int line` and `const char *name`. */
#define CHECK_ROW(row, cond)                                                                       \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s:%d: row \"%s\": %s\n", __FILE__, (row)->line, (row)->name, #cond); \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#endif
