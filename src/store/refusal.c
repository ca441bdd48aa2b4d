#include "store/refusal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    int exit_code;
    const char *words;
} kinds[REFUSAL_COUNT] = {
#define X(name, code, text) [REFUSAL_##name] = { code, text },
    REFUSAL_LIST(X)
#undef X
};

void refusal_clear(struct refusal *refusal)
{
    memset(refusal, 0, sizeof *refusal);
}

enum refusal_kind refusal_set(struct refusal *refusal, enum refusal_kind kind, const char *format,
                              ...)
{
    va_list arguments;
    int used;

    INVARIANT(kind > REFUSAL_none && kind < REFUSAL_COUNT);
    refusal->kind = kind;
    used =
        snprintf(refusal->text, sizeof refusal->text, "the data directory %s: ", kinds[kind].words);
    INVARIANT(used > 0 && (size_t)used < sizeof refusal->text);
    va_start(arguments, format);
    (void)vsnprintf(refusal->text + used, sizeof refusal->text - (size_t)used, format, arguments);
    va_end(arguments);
    return kind;
}

enum refusal_kind refusal_machine(struct refusal *refusal, const char *what, int error)
{
    INVARIANT(error < 0);
    refusal->error = error;
    return refusal_set(refusal, REFUSAL_machine, "%s: %s", what, strerrordesc_np(-error));
}

int refusal_exit_code(enum refusal_kind kind)
{
    INVARIANT(kind >= REFUSAL_none && kind < REFUSAL_COUNT);
    return kinds[kind].exit_code;
}
