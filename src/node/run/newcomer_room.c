#include "node/run/newcomer_room.h"

#include "base/log.h"
#include "engine/state/share.h"

#define PPM UINT64_C(1000000)

/* Of a table's rows those that unfunded accounts have together. */
static uint64_t share(const struct config *options, enum option size)
{
    return config_number(options, size) * config_number(options, OPTION_limits_share_unfunded_ppm) /
           PPM;
}

static void check(const struct config *options, enum option size, uint64_t rows, uint64_t needed)
{
    if (rows >= needed)
        return;
    log_line(LOG_WARN, "configuration",
             "unfunded accounts can use up their rows of %s=%llu with %llu of the accounts that "
             "engine.accounts=%llu gives them: then newcomers are refused",
             option_row(size)->name, (unsigned long long)config_number(options, size),
             (unsigned long long)(share(options, OPTION_engine_accounts) * rows / needed),
             (unsigned long long)config_number(options, OPTION_engine_accounts));
}

uint64_t newcomer_room_accounts(const struct config *options)
{
    return share(options, OPTION_engine_accounts);
}

void newcomer_room_check(const struct config *options)
{
    const uint64_t accounts = newcomer_room_accounts(options);
    const uint64_t credentials = share(options, OPTION_engine_credentials);

    if (accounts == 0 || config_number(options, OPTION_limits_funding_small) == 0)
        return;
    /* The other half may go for further keys (share.h). */
    check(options, OPTION_engine_credentials, credentials - credentials / 2,
          accounts * SHARE_CREATION_CREDENTIALS);
    check(options, OPTION_engine_portfolios, share(options, OPTION_engine_portfolios),
          accounts * SHARE_UNFUNDED_PORTFOLIOS);
}
