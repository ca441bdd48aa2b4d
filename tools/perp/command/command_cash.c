/* command_cash.c - transfers, withdrawals and the faucet. */
#include <stdio.h>

#include "base/hex.h"
#include "crypto/keccak.h"
#include "perp/command/command.h"
#include "perp/invocation/choice.h"
#include "perp/print/report.h"

enum { ADDRESS_BYTES = 20, ADDRESS_DIGITS = 2 * ADDRESS_BYTES, BODY_MAX = 256 };

static int submit(struct context *context, bool (*fill)(struct context *, struct draft *, uint32_t))
{
    struct key_file key;
    struct outcome outcome;
    struct draft draft;
    if (!choice_signer(context, &key))
        return context->exit_code;
    int code = fill(context, &draft, key.curve) ? context_write(context, &draft, &key, &outcome)
                                                : context->exit_code;
    key_file_wipe(&key);
    return code;
}

/* SUBACCOUNT/PORTFOLIO of the account. */
static bool read_portfolio(struct context *context, const char *what, const char *text,
                           struct draft_portfolio *out)
{
    unsigned subaccount, portfolio;
    int end = 0;
    if (text[0] < '0' || text[0] > '9' ||
        sscanf(text, "%u/%u%n", &subaccount, &portfolio, &end) != 2 || text[end] != '\0')
        return context_fail(context, EXIT_CODE_usage,
                            "%s '%.40s' is no SUBACCOUNT/PORTFOLIO like 0/1", what, text);
    out->subaccount_index = subaccount;
    out->portfolio_index = portfolio;
    return true;
}

static bool fill_transfer(struct context *context, struct draft *draft, uint32_t curve)
{
    const char *const *words = context->arguments->words;
    struct draft_portfolio from, to;
    uint64_t amount;
    struct uuid id;
    if (!choice_amount(context, "AMOUNT", words[0], &amount) ||
        !context_number(context, SETTING_account, INT64_MAX, &from.account_id) ||
        !read_portfolio(context, "FROM", words[1], &from) ||
        !read_portfolio(context, "TO", words[2], &to) || !context_id(context, &id))
        return false;
    to.account_id = from.account_id;
    draft_begin(draft, REQUEST_transfer, curve, &id);
    draft_set_portfolio(draft, "from", &from);
    draft_set_portfolio(draft, "to", &to);
    draft_set(draft, "amount", amount);
    return true;
}

int command_cash_transfer(struct context *context)
{
    return submit(context, fill_transfer);
}

/* The spelling of EIP-55: a letter is large if its digit of the hash is above 7. */
static void spell_checksum(const uint8_t address[ADDRESS_BYTES], char text[ADDRESS_DIGITS + 1])
{
    uint8_t hash[KECCAK_BYTES];
    hex_encode(text, address, ADDRESS_BYTES);
    keccak_256(hash, text, ADDRESS_DIGITS);
    for (unsigned i = 0; i < ADDRESS_DIGITS; i++)
        if (text[i] >= 'a' && (hash[i / 2] >> (i % 2 == 0 ? 4 : 0) & 15) > 7)
            text[i] = (char)(text[i] - 'a' + 'A');
}

/* Digits in one case carry no checksum; in both they are EIP-55's spelling or a mistake. */
static bool read_address(struct context *context, const char *text, uint8_t address[ADDRESS_BYTES])
{
    const char *hex = strncmp(text, "0x", 2) == 0 ? text + 2 : text;
    char right[ADDRESS_DIGITS + 1];
    if (!hex_decode(address, ADDRESS_BYTES, hex, strlen(hex)))
        return context_fail(context, EXIT_CODE_usage,
                            "ADDRESS '%.60s' is no address: 40 hex digits, 0x before them or not",
                            text);
    spell_checksum(address, right);
    bool is_mixed = strpbrk(hex, "abcdef") != NULL && strpbrk(hex, "ABCDEF") != NULL;
    return !is_mixed || strcmp(hex, right) == 0 ||
           context_fail(context, EXIT_CODE_usage,
                        "ADDRESS %s has a wrong checksum (EIP-55); these digits are spelled 0x%s: "
                        "compare all of them with the address you mean",
                        text, right);
}

static bool fill_withdraw(struct context *context, struct draft *draft, uint32_t curve)
{
    const char *const *words = context->arguments->words;
    uint8_t address[ADDRESS_BYTES];
    struct draft_portfolio portfolio;
    uint64_t amount;
    struct uuid id;
    if (!choice_amount(context, "AMOUNT", words[0], &amount) ||
        !read_address(context, words[1], address) || !context_id(context, &id) ||
        !context_portfolio(context, &portfolio))
        return false;
    draft_begin(draft, REQUEST_withdraw, curve, &id);
    draft_set_portfolio(draft, "portfolio_id", &portfolio);
    draft_set(draft, "amount", amount);
    draft_set_bytes(draft, "destination", address, sizeof address);
    return true;
}

int command_cash_withdraw(struct context *context)
{
    return submit(context, fill_withdraw);
}

int command_cash_faucet(struct context *context)
{
    char body[BODY_MAX];
    struct client_answer answer;
    uint64_t amount, subaccount, portfolio;
    if (!choice_amount(context, "AMOUNT", context->arguments->words[0], &amount) ||
        !context_number(context, SETTING_subaccount, INT32_MAX, &subaccount) ||
        !context_number(context, SETTING_portfolio, INT32_MAX, &portfolio))
        return context->exit_code;
    snprintf(body, sizeof body,
             "{\"subaccount_index\":%llu,\"portfolio_index\":%llu,\"amount\":\"%.60s\"}",
             (unsigned long long)subaccount, (unsigned long long)portfolio,
             context->arguments->words[0]);
    if (!context_plain(context, "POST", "/api/v1/faucet", body, &answer))
        return context->exit_code;
    report_answer(stdout, answer.body, answer.body_count, context->arguments->json, NULL);
    return EXIT_CODE_accepted;
}
