/* text_file.h - a text of the operator: a whole regular file.
 *
 * Wait.  Reads the file, but waits for no pipe: what is no regular file is refused.
 * Bound. TEXT_FILE_MAX bytes. */
#ifndef BASE_TEXT_FILE_H
#define BASE_TEXT_FILE_H

#include "base/compiler.h"

enum { TEXT_FILE_MAX = 1 << 20, TEXT_FILE_WHY = 80 };

/* The file, without a zero in it, as a string on the heap; *count is its length. NULL: `why` says
 * why not. */
CC_MUST_USE char *text_file_read(const char *path, size_t *count, char why[TEXT_FILE_WHY]);

#endif
