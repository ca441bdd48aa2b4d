#include "node/run/rates.h"

#include "base/log.h"
#include "base/message.h"
#include "base/node_exit.h"
#include "node/run/newcomer_room.h"

enum { WINDOW_MARGIN_MS = 10000, MS = 1000, ACCOUNT_PART = 3 /* of the duplicate set, at most */ };

enum { ADDRESS_PART = 8 /* of the accounts of unfunded ones, an address at once */ };

static uint32_t number(const struct config *options, enum option option)
{
    return (uint32_t)config_number(options, option);
}

/* The ids that requests of this rate bring while one of them is kept (W5). */
static uint64_t ids_of_window(const struct config *options, uint64_t rate)
{
    const uint64_t window_ms = (uint64_t)number(options, OPTION_exchange_clock_past_ms) +
                               number(options, OPTION_exchange_clock_future_ms) + WINDOW_MARGIN_MS;
    return window_ms * rate / MS;
}

static uint64_t ids_of_all(const struct config *options)
{
    return ids_of_window(options, number(options, OPTION_limits_total_rate));
}

/* Those of one account: its writes, and twice as many cancels, or all. */
static uint64_t ids_of_account(const struct config *options)
{
    const uint64_t rate = 3 * (uint64_t)number(options, OPTION_limits_write_rate);
    const uint64_t total = number(options, OPTION_limits_total_rate);
    return ids_of_window(options, rate < total ? rate : total);
}

/* What may come at once beside the rate: what the duplicate set has room for, at most the requests
 * of a second, at least one batch. */
static uint32_t total_burst(const struct config *options)
{
    uint64_t room = number(options, OPTION_limits_duplicate_slots) - ids_of_all(options);
    if (room > number(options, OPTION_limits_total_rate))
        room = number(options, OPTION_limits_total_rate);
    return room < MESSAGE_ITEMS_MAX ? MESSAGE_ITEMS_MAX : (uint32_t)room;
}

static void read_limits(const struct config *options,
                        struct client_rate_limit limits[CLIENT_RATE_KINDS])
{
    limits[CLIENT_RATE_PUBLIC] =
        (struct client_rate_limit){ number(options, OPTION_limits_public_rate),
                                    number(options, OPTION_limits_public_burst) };
    limits[CLIENT_RATE_SIGNATURE] =
        (struct client_rate_limit){ number(options, OPTION_limits_signature_rate),
                                    number(options, OPTION_limits_signature_rate) };
    limits[CLIENT_RATE_CREATION] =
        (struct client_rate_limit){ number(options, OPTION_limits_creation_rate),
                                    number(options, OPTION_limits_creation_burst) };
    limits[CLIENT_RATE_READ] =
        (struct client_rate_limit){ number(options, OPTION_limits_read_rate),
                                    number(options, OPTION_limits_read_burst) };
}

int rates_check(const struct config *options)
{
    const uint32_t slots = number(options, OPTION_limits_duplicate_slots);
    if (!config_switch(options, OPTION_limits_rate_limits))
        return 0;
    if (slots < ids_of_all(options)) {
        log_line(LOG_ERROR, "configuration",
                 "limits.duplicate_slots=%u is less than the %llu ids that limits.total_rate=%u "
                 "brings while an id is kept",
                 slots, (unsigned long long)ids_of_all(options),
                 number(options, OPTION_limits_total_rate));
        return NODE_EXIT_CONFIGURATION;
    }
    if (slots / ACCOUNT_PART < ids_of_account(options)) {
        log_line(LOG_ERROR, "configuration",
                 "a third of limits.duplicate_slots=%u is less than the %llu ids that "
                 "limits.write_rate=%u lets one account bring while an id is kept",
                 slots, (unsigned long long)ids_of_account(options),
                 number(options, OPTION_limits_write_rate));
        return NODE_EXIT_CONFIGURATION;
    }
    return 0;
}

/* The accounts that an address may make while an unfunded one lives (W8); 0: as many as it can. */
static uint32_t unfunded_burst(const struct config *options)
{
    uint32_t chosen = number(options, OPTION_limits_unfunded_burst);
    if (chosen != 0 || number(options, OPTION_limits_funding_small) == 0)
        return chosen;
    uint32_t part = (uint32_t)(newcomer_room_accounts(options) / ADDRESS_PART);
    return part != 0 ? part : 1;
}

int rates_make(struct node *node)
{
    const struct config *options = node->options;
    struct client_rate_limit limits[CLIENT_RATE_KINDS];

    if (!config_switch(options, OPTION_limits_rate_limits))
        return 0;
    const struct account_rate_limits accounts = {
        .accounts = number(options, OPTION_engine_accounts),
        .writes_s = number(options, OPTION_limits_write_rate),
        .burst = number(options, OPTION_limits_write_burst),
        .total_s = number(options, OPTION_limits_total_rate),
        .total_burst = total_burst(options),
    };
    read_limits(options, limits);
    int failed = account_rate_create(&node->account_rates, &accounts);
    node->core.config.account_rates = node->account_rates;
    node->core.config.id_grant = (uint32_t)ids_of_account(options); /* as rates_check */
    if (failed == 0)
        failed = client_rate_create(&node->client_rates, limits,
                                    mix_key_load(node->core.exchange.hash_key));
    if (failed == 0 && unfunded_burst(options) != 0)
        failed = newcomer_rate_create(&node->newcomer_rate, unfunded_burst(options),
                                      number(options, OPTION_limits_unfunded_life_s),
                                      mix_key_load(node->core.exchange.hash_key));
    return failed;
}

void rates_free(struct node *node)
{
    newcomer_rate_destroy(node->newcomer_rate);
    client_rate_destroy(node->client_rates);
    account_rate_destroy(node->account_rates);
}

void rates_configure(const struct node *node, struct net_config *config)
{
    const struct config *options = node->options;

    config->rate_limits = config_switch(options, OPTION_limits_rate_limits);
    config->account_rates = node->account_rates;
    config->client_rates = node->client_rates;
    config->newcomer_rate = node->newcomer_rate;
    config->unfunded_burst = unfunded_burst(options);
    config->write_rate = number(options, OPTION_limits_write_rate);
    config->write_burst = number(options, OPTION_limits_write_burst);
    config->total_rate = number(options, OPTION_limits_total_rate);
    config->unknown_key_rate = number(options, OPTION_limits_unknown_key_rate);
    config->bad_signature_rate = number(options, OPTION_limits_bad_signature_rate);
    read_limits(options, config->client_limits);
}
