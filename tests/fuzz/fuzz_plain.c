/* Bodies of plain JSON writes from strangers (json.md J3; wire.md W1): what is taken has members in
 * their bounds and texts that are one, what is refused says why. The first byte says which code. */
#include <stdlib.h>

#include "base/text.h"
#include "net/request/plain_body.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(uint16_t code, const struct pending_plain *plain)
{
    size_t count = strnlen(plain->name, sizeof plain->name);
    bool is_name = code == REQUEST_rename_portfolio;

    if (plain->leverage > INT32_MAX || plain->portfolio_index > INT32_MAX ||
        plain->subaccount_index > INT32_MAX || plain->amount > INT64_MAX ||
        (!is_name && count == sizeof plain->market))
        abort();
    for (size_t i = count; i < sizeof plain->name; i++)
        if (plain->name[i] != '\0')
            abort();
    if (is_name &&
        (count == 0 || !text_is_utf8(plain->name, count) || text_has_control(plain->name, count)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint16_t codes[] = { REQUEST_set_leverage, REQUEST_portfolio_close,
                                      REQUEST_portfolio_reopen, REQUEST_faucet_credit,
                                      REQUEST_rename_portfolio };
    struct pending_plain plain;
    struct problem_detail problem = { 0 };

    if (size == 0)
        return 0;
    /* A copy of the exact size: a read past its end is found. */
    uint16_t code = codes[data[0] % CC_COUNT(codes)];
    char *text = malloc(size > 1 ? size - 1 : 1);
    memcpy(text, data + 1, size - 1);
    if (plain_body_read(&plain, code, text, size - 1, &problem))
        look(code, &plain);
    else if (problem.code == PROBLEM_invalid_parameter ? problem.member == NULL
                                                       : problem.code != PROBLEM_malformed_json)
        abort();
    free(text);
    return 0;
}
