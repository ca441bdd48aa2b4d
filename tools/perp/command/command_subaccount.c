/* command_subaccount.c - creates and closes subaccounts. */
#include "perp/command/command.h"
#include "perp/invocation/choice.h"

static bool fill_create(struct context *context, struct draft *draft)
{
    uint64_t account;
    struct uuid id;
    if (!context_id(context, &id) || !context_number(context, SETTING_account, INT64_MAX, &account))
        return false;
    draft_begin(draft, REQUEST_create_subaccount, SIGNATURE_SECP256K1, &id);
    draft_set(draft, "account_id", account);
    return true;
}

int command_subaccount_create(struct context *context)
{
    return context_submit(context, SETTING_master_key, SIGNATURE_SECP256K1, fill_create);
}

static bool fill_close(struct context *context, struct draft *draft)
{
    uint64_t account, index;
    struct uuid id;
    if (!choice_count(context, "INDEX", context->arguments->words[0], 0, INT32_MAX, &index) ||
        !context_id(context, &id) || !context_number(context, SETTING_account, INT64_MAX, &account))
        return false;
    draft_begin(draft, REQUEST_close_subaccount, SIGNATURE_SECP256K1, &id);
    draft_set(draft, "account_id", account);
    draft_set(draft, "subaccount_index", index);
    return true;
}

int command_subaccount_close(struct context *context)
{
    return context_submit(context, SETTING_master_key, SIGNATURE_SECP256K1, fill_close);
}
