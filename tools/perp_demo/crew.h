/* crew.h - the child processes of the demo: started, listened to by lines, and ended for certain.
 *
 * Every child is in a process group of its own, so that Ctrl-C reaches the scene alone, and dies
 * with the scene however that ends (PR_SET_PDEATHSIG).
 *
 * Owner. The scene's thread. */
#ifndef PERP_DEMO_CREW_H
#define PERP_DEMO_CREW_H

#include <sys/types.h>

#include "base/compiler.h"

enum { CREW_NAME_MAX = 32, CREW_LINE_MAX = 512 };

struct crew_member {
    char name[CREW_NAME_MAX];
    pid_t pid;     /* 0: not running */
    int to, from;  /* its standard input and output, -1: closed */
    int exit_code; /* of an ended one; 128 + signal */
    char line[CREW_LINE_MAX];
    size_t line_count;
};

/* Starts argv[0] with the pipes; standard error goes to the file `log_path` (appended). `death` is
 * the signal it gets when the scene dies. 0 or -errno. */
CC_MUST_USE int crew_start(struct crew_member *member, const char *name, const char *const *argv,
                           const char *log_path, int death);

/* Writes a line. */
void crew_send(struct crew_member *member, const char *line);

typedef void crew_listener(void *context, struct crew_member *member, const char *line);

/* Waits at most timeout_ms for output of any member and hands over each whole line. A member whose
 * output ended is reaped. */
void crew_listen(struct crew_member *members, size_t count, int timeout_ms, crew_listener *listener,
                 void *context);

/* Closes its input, sends `signal` when not 0, waits at most timeout_ms, then kills. True when it
 * ended with exit code 0 without being killed. Listens to the others' lines no more. */
bool crew_end(struct crew_member *member, int signal, int timeout_ms);

#endif
