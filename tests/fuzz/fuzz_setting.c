/* Bodies of PUT /api/v1/leverage from strangers (interface.md, Leverage setting; wire.md W1): what
 * is taken has members in their bounds and a symbol that ends, what is refused says why. */
#include <stdlib.h>

#include "net/setting.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of the exact size: a read past its end is found. */
    char *text = malloc(size > 0 ? size : 1);
    struct pending_setting setting;
    struct mistake mistake = { 0 };

    memcpy(text, data, size);
    if (setting_read(&setting, text, size, &mistake)) {
        size_t count = strnlen(setting.market, sizeof setting.market);
        if (setting.leverage > INT32_MAX || setting.portfolio_index > INT32_MAX ||
            setting.subaccount_index > INT32_MAX || count == sizeof setting.market)
            abort();
        for (size_t i = count; i < sizeof setting.market; i++)
            if (setting.market[i] != '\0')
                abort();
    } else if (mistake.problem == PROBLEM_invalid_parameter
                   ? mistake.member == NULL
                   : mistake.problem != PROBLEM_malformed_json) {
        abort();
    }
    free(text);
    return 0;
}
