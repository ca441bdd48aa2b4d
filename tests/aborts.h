/* aborts.h - proof that a call breaks an invariant: it runs in a child that must end by SIGABRT. */
#ifndef TESTS_ABORTS_H
#define TESTS_ABORTS_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* True if `run(context)` aborts, false if it returns. No other thread may run meanwhile. */
static inline bool aborts(void (*run)(void *context), void *context)
{
    const struct rlimit no_core = { 0, 0 };
    int status = 0;

    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        (void)setrlimit(RLIMIT_CORE, &no_core);
        if (freopen("/dev/null", "w", stderr) == NULL)
            _exit(2);
        (void)signal(SIGABRT, SIG_DFL);
        run(context);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("aborts");
        exit(1);
    }
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

#endif
