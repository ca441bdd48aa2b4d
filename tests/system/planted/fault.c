/* fault.c - an engine that breaks on chosen commands: linked into a perpd in front of the real
 * engine_apply and engine_peek (-Wl,--wrap), so that perpd itself has no way to be broken on
 * request.
 *
 * The price of a limit order chooses what happens; FAULTY_CODE in the environment names a request
 * type of which the first command breaks an invariant. Commands that are applied again, by recovery
 * or follower, never break.
 *
 * With FAULTY_STATE = both:PRICE an order of that price is applied with another quantity; with
 * once:PRICE only where it is applied first: by the matcher of a leader. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/message.h"
#include "engine/engine.h"

enum { PRICE_AT = 16, SLOW_S = 3 }; /* W3, code 0 */

enum fault_price {
    BREAKS_INVARIANT = 7771,
    READS_NOWHERE = 7772,
    DIVIDES_BY_ZERO = 7773,
    TRAPS = 7774,
    OVERFLOWS_STACK = 7775,
    IS_SLOW = 7776,
    OTHER_THREAD_ABORTS = 7777,
    PEEK_BREAKS = 7778,
};

enum { QUANTITY_AT = 24 }; /* W3, code 0 */

void __real_engine_apply(struct engine *engine, const struct command *command,
                         struct engine_sink *sink, struct engine_result *result);
void __wrap_engine_apply(struct engine *engine, const struct command *command,
                         struct engine_sink *sink, struct engine_result *result);

bool __real_engine_peek(const struct engine *engine, const struct command *command, uint64_t t_ns,
                        struct engine_result *result);
bool __wrap_engine_peek(const struct engine *engine, const struct command *command, uint64_t t_ns,
                        struct engine_result *result);

/* What a sanitizer would report before the processor does, is done in assembly. */
static void read_nowhere(void)
{
    uint64_t value;
    __asm__ volatile("movq (%1), %0" : "=r"(value) : "r"(UINT64_C(8)) : "memory");
}

static void divide_by_zero(void)
{
    __asm__ volatile("xorl %%edx, %%edx; movl $1, %%eax; xorl %%ecx, %%ecx; divl %%ecx"
                     :
                     :
                     : "eax", "ecx", "edx", "cc");
}

static void overflow_stack(void)
{
    __asm__ volatile("1: pushq %%rax; jmp 1b" : : : "memory");
}

static void *abort_there(void *unused)
{
    (void)unused;
    abort();
}

static void break_by_price(uint64_t price)
{
    pthread_t thread;

    switch (price) {
    case BREAKS_INVARIANT:
        INVARIANT(!"planted");
    case READS_NOWHERE:
        read_nowhere();
        return;
    case DIVIDES_BY_ZERO:
        divide_by_zero();
        return;
    case TRAPS:
        __asm__ volatile("ud2");
        return;
    case OVERFLOWS_STACK:
        overflow_stack();
        return;
    case IS_SLOW:
        sleep(SLOW_S);
        return;
    case OTHER_THREAD_ABORTS:
        if (pthread_create(&thread, NULL, abort_there, NULL) == 0)
            sleep(SLOW_S);
        return;
    default:
        return;
    }
}

static uint64_t price_of(const struct command *command)
{
    if (command->code != REQUEST_place_limit_order)
        return 0;
    return cc_load64(command_body(command) + PRICE_AT);
}

/* A fault on the matcher's thread while nothing is applied. */
bool __wrap_engine_peek(const struct engine *engine, const struct command *command, uint64_t t_ns,
                        struct engine_result *result)
{
    INVARIANT(price_of(command) != PEEK_BREAKS);
    return __real_engine_peek(engine, command, t_ns, result);
}

static bool state_differs(const struct command *command)
{
    const char *where = getenv("FAULTY_STATE");

    if (where == NULL || strlen(where) < 5 || price_of(command) != strtoull(where + 5, NULL, 10))
        return false;
    return where[0] == 'b' || (command->flags & COMMAND_REPLAYED) == 0;
}

/* Applies it with twice the quantity; the record keeps what was signed. */
static void apply_otherwise(struct engine *engine, const struct command *command,
                            struct engine_sink *sink, struct engine_result *result)
{
    uint8_t *quantity = (uint8_t *)(uintptr_t)command_body(command) + QUANTITY_AT;
    uint64_t signed_quantity = cc_load64(quantity);

    cc_store64(quantity, 2 * signed_quantity);
    __real_engine_apply(engine, command, sink, result);
    cc_store64(quantity, signed_quantity);
}

void __wrap_engine_apply(struct engine *engine, const struct command *command,
                         struct engine_sink *sink, struct engine_result *result)
{
    const char *code = getenv("FAULTY_CODE");

    if (state_differs(command)) {
        apply_otherwise(engine, command, sink, result);
        return;
    }

    if ((command->flags & COMMAND_REPLAYED) == 0) {
        INVARIANT(code == NULL || (unsigned long)command->code != strtoul(code, NULL, 10));
        break_by_price(price_of(command));
    }
    __real_engine_apply(engine, command, sink, result);
}
