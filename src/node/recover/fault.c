#include "node/recover/fault.h"

#include <signal.h>
#include <unistd.h>

enum { STACK_BYTES = 64 * 1024 };

static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

static struct fault_mark *_Atomic watched;
static _Atomic pid_t matcher_thread;
static struct sigaction before[CC_COUNT(signals)];

/* Did the processor raise it, or this process itself; not someone's kill, nor a watchdog's. */
static bool is_our_own(const siginfo_t *info)
{
    return info->si_code > 0 || (info->si_code == SI_TKILL && info->si_pid == getpid());
}

static void on_fault(int number, siginfo_t *info, void *machine)
{
    /* relaxed: stored by this thread, or it is not the matcher's (pairs: fault_watch). */
    struct fault_mark *mark = atomic_load_explicit(&watched, memory_order_relaxed);
    pid_t owner = atomic_load_explicit(&matcher_thread, memory_order_relaxed);

    (void)machine;
    if (mark != NULL && owner == gettid() && is_our_own(info) &&
        atomic_load_explicit(&mark->applying, memory_order_relaxed) != 0)
        atomic_store_explicit(&mark->faulted, (uint64_t)number, memory_order_relaxed);
    for (size_t i = 0; i < CC_COUNT(signals); i++)
        if (signals[i] == number)
            (void)sigaction(number, &before[i], NULL);
    /* A faulting instruction faults again; a signal that was sent is sent again. */
    if (info->si_code <= 0)
        (void)raise(number);
}

/* An overflow of the stack is a fault too: its handler needs another one. */
static void lend_stack(void)
{
    static uint8_t memory[STACK_BYTES];
    stack_t stack = { .ss_sp = memory, .ss_size = sizeof memory };
    stack_t now;

    if (sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_DISABLE) == 0)
        return; /* a sanitizer's handler, which removes itself */
    int refused = sigaltstack(&stack, NULL);
    INVARIANT(refused == 0);
}

void fault_watch(struct fault_mark *mark)
{
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };

    if (atomic_load_explicit(&watched, memory_order_relaxed) == mark) /* own variable */
        return;
    atomic_store_explicit(&matcher_thread, gettid(), memory_order_relaxed);
    atomic_store_explicit(&watched, mark, memory_order_relaxed);
    lend_stack();
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < CC_COUNT(signals); i++) {
        int refused = sigaction(signals[i], &action, &before[i]);
        INVARIANT(refused == 0);
    }
}

void fault_unwatch(void)
{
    /* relaxed: the matcher's thread has ended, or is this one. */
    atomic_store_explicit(&watched, NULL, memory_order_relaxed);
}
