/* Bodies of plain JSON writes from strangers (json.md J3; wire.md W1): what is taken has members in
 * their bounds and texts that are one, what is refused says why. The first byte says which code;
 * from 0xf0 on, the body is one of POST /eip712/preview. */
#include <stdlib.h>

#include "base/text.h"
#include "net/request/plain_body.h"
#include "net/request/preview_body.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(uint16_t code, const struct pending_plain *plain)
{
    size_t count = strnlen(plain->name, sizeof plain->name);
    bool is_name = code == REQUEST_rename_portfolio;

    if (plain->leverage > INT32_MAX || plain->portfolio_index > INT32_MAX ||
        plain->subaccount_index > INT32_MAX || plain->amount > INT64_MAX)
        abort();
    for (size_t i = count; i < sizeof plain->name; i++)
        if (plain->name[i] != '\0')
            abort();
    if (is_name &&
        (count == 0 || !text_is_utf8(plain->name, count) || text_has_control(plain->name, count)))
        abort();
}

static void preview(const char *text, size_t count)
{
    static struct eip712 eip712;
    static const uint8_t exchange_id[32];
    uint8_t payload[REQUEST_PAYLOAD_MAX];
    size_t payload_bytes = 0;
    struct eip712_hashes hashes;
    struct problem_detail problem = { 0 };
    if (!eip712.signable[13])
        eip712_init(&eip712, exchange_id);
    if (count > REQUEST_ENVELOPE_MAX)
        return; /* refused before: 413 */
    bool read = preview_body_read(&eip712, text, count, payload, &payload_bytes, &hashes, &problem);
    if (read ? !eip712_is_signable(cc_load16(payload + 2)) || payload_bytes % 8 != 0
             : problem.code == PROBLEM_none)
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
    if (data[0] >= 0xf0)
        preview(text, size - 1);
    else if (plain_body_read(&plain, code, text, size - 1, &problem))
        look(code, &plain);
    else if (problem.code == PROBLEM_invalid_parameter ? problem.member == NULL
                                                       : problem.code != PROBLEM_malformed_json)
        abort();
    free(text);
    return 0;
}
