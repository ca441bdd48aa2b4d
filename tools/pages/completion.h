/* completion.h - the tables that complete.bash completes by: commands, flags, places and options
 * as words of the shell. */
#ifndef PAGES_COMPLETION_H
#define PAGES_COMPLETION_H

#include <stdio.h>

void completion_write(FILE *out);

#endif
