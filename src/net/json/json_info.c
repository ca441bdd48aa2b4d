#include "net/json/json_info.h"

#include <stdlib.h>

#include "base/reason.h"
#include "base/status.h"
#include "crypto/operator_message.h"
#include "net/json/json_field.h"
#include "net/json/json_holding.h"
#include "net/json/json_typed_data.h"

void json_info_time(uint64_t unix_ns, struct writer *writer)
{
    WRITER_TEXT(writer, "{\"time_ms\":");
    writer_uint(writer, unix_ns / 1000000);
    WRITER_TEXT(writer, ",\"time_ns\":");
    writer_uint(writer, unix_ns);
    WRITER_TEXT(writer, "}");
}

void json_info_status(const struct net_facts *facts, const struct head_log *heads, bool draining,
                      struct writer *writer)
{
    uint8_t head[HEAD_LOG_BYTES];
    const char *state = "ready";
    if (draining || ((facts->not_ready & NET_NOT_ACCEPTING) != 0 && !facts->is_standby))
        state = "draining";
    else if ((facts->not_ready & NET_NOT_FOLLOWER) != 0)
        state = "lagging";
    else if (facts->maintains)
        state = "maintenance";
    WRITER_TEXT(writer, "{\"state\":\"");
    writer_text(writer, state);
    WRITER_TEXT(writer, "\",\"applied\":");
    writer_uint(writer, facts->applied);
    WRITER_TEXT(writer, ",\"durable\":");
    writer_uint(writer, facts->durable);
    WRITER_TEXT(writer, ",\"lag_ms\":");
    writer_uint(writer, facts->lag_ms);
    WRITER_TEXT(writer, ",\"history_from_sequence\":");
    writer_uint(writer, facts->history_from);
    if (facts->clock_gap_ns != 0) {
        WRITER_TEXT(writer, ",\"clock_gap_ns\":");
        writer_int(writer, facts->clock_gap_ns);
    }
    if (facts->maintenance_ns != 0) {
        WRITER_TEXT(writer, ",\"maintenance_at_ns\":");
        writer_uint(writer, facts->maintenance_ns);
    }
    if (facts->fund_deficit)
        WRITER_TEXT(writer, ",\"insurance_fund_deficit\":true");
    if (facts->profits_wait)
        WRITER_TEXT(writer, ",\"text\":\"profits are paid again when the insurance fund is whole; "
                            "deposits can be withdrawn\"");
    if (heads != NULL && head_log_newest(heads, 1, head) == 1) {
        WRITER_TEXT(writer, ",\"head\":");
        writer_base64(writer, head, sizeof head);
    }
    WRITER_TEXT(writer, "}");
}

static void write_limit(struct writer *writer, enum option option, uint64_t value)
{
    WRITER_TEXT(writer, ",\"");
    writer_text(writer, option_row(option)->name + sizeof "limits." - 1);
    WRITER_TEXT(writer, "\":");
    writer_uint(writer, value);
}

/* Every limits.* number in use: the engine's, then net's. Writes are so often halved. */
static void write_limits(const struct net_config *config, uint32_t halvings, struct writer *writer)
{
    static const char prefix[] = "limits.";
    const struct client_rate_limit *clients = config->client_limits;
    bool first = true;
    WRITER_TEXT(writer, "\"limits\":{");
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = option_row(i);
        if (!row->built || !row->engine || strncmp(row->name, prefix, sizeof prefix - 1) != 0)
            continue;
        if (!first)
            WRITER_TEXT(writer, ",");
        first = false;
        WRITER_TEXT(writer, "\"");
        writer_text(writer, row->name + sizeof prefix - 1);
        WRITER_TEXT(writer, "\":");
        writer_uint(writer, config->options->values[i]);
    }
    write_limit(writer, OPTION_limits_write_rate, config->write_rate >> halvings);
    write_limit(writer, OPTION_limits_write_burst, config->write_burst >> halvings);
    write_limit(writer, OPTION_limits_total_rate, config->total_rate);
    write_limit(writer, OPTION_limits_read_rate, clients[CLIENT_RATE_READ].rate);
    write_limit(writer, OPTION_limits_read_burst, clients[CLIENT_RATE_READ].burst);
    write_limit(writer, OPTION_limits_public_rate, clients[CLIENT_RATE_PUBLIC].rate);
    write_limit(writer, OPTION_limits_public_burst, clients[CLIENT_RATE_PUBLIC].burst);
    write_limit(writer, OPTION_limits_signature_rate, clients[CLIENT_RATE_SIGNATURE].rate);
    write_limit(writer, OPTION_limits_creation_rate, clients[CLIENT_RATE_CREATION].rate);
    write_limit(writer, OPTION_limits_creation_burst, clients[CLIENT_RATE_CREATION].burst);
    write_limit(writer, OPTION_limits_unfunded_burst, config->unfunded_burst);
    write_limit(writer, OPTION_limits_unknown_key_rate, config->unknown_key_rate);
    write_limit(writer, OPTION_limits_bad_signature_rate, config->bad_signature_rate);
    write_limit(writer, OPTION_limits_connections, config->connections);
    write_limit(writer, OPTION_limits_stream_connections, config->stream_connections);
    write_limit(writer, OPTION_limits_stream_subscriptions, config->stream_subscriptions);
    write_limit(writer, OPTION_limits_stream_backlog, config->stream_backlog);
    WRITER_TEXT(writer, ",\"rate_limits\":");
    writer_bool(writer, config->rate_limits);
    WRITER_TEXT(writer, "}");
}

/* The volumes of rules.md R6. */
static void write_fee_tiers(struct writer *writer)
{
    static const uint64_t volumes_usdc[] = {
        0, 5000000, 25000000, 100000000, 500000000, 2000000000
    };
    WRITER_TEXT(writer, ",\"fee_tiers\":[");
    for (unsigned i = 0; i < CC_COUNT(volumes_usdc); i++) {
        if (i > 0)
            WRITER_TEXT(writer, ",");
        WRITER_TEXT(writer, "{\"tier\":");
        writer_uint(writer, i);
        WRITER_TEXT(writer, ",\"volume_14d\":\"");
        writer_uint(writer, volumes_usdc[i]);
        WRITER_TEXT(writer, "\"}");
    }
    WRITER_TEXT(writer, "]");
}

static void write_request_types(struct writer *writer)
{
    size_t count;
    const struct request *requests = request_table(&count);
    bool first = true;
    WRITER_TEXT(writer, ",\"request_types\":[");
    for (size_t i = 0; i < count; i++) {
        if (!requests[i].built)
            continue;
        if (!first)
            WRITER_TEXT(writer, ",");
        first = false;
        WRITER_TEXT(writer, "{\"code\":");
        writer_uint(writer, requests[i].code);
        WRITER_TEXT(writer, ",\"name\":\"");
        writer_text(writer, requests[i].name);
        WRITER_TEXT(writer, "\",\"path\":");
        if (requests[i].path[0] == '\0') {
            WRITER_TEXT(writer, "null}");
        } else {
            writer_string(writer, requests[i].path, strlen(requests[i].path));
            WRITER_TEXT(writer, "}");
        }
    }
    WRITER_TEXT(writer, "]");
}

static void write_outcomes(struct writer *writer)
{
    WRITER_TEXT(writer, ",\"statuses\":[");
    for (unsigned i = 0; i < STATUS_COUNT; i++) {
        if (i > 0)
            WRITER_TEXT(writer, ",");
        WRITER_TEXT(writer, "\"");
        writer_text(writer, status_name(i));
        WRITER_TEXT(writer, "\"");
    }
    WRITER_TEXT(writer, "],\"reasons\":[");
    for (unsigned i = REASON_FIRST; i < REASON_END; i++) {
        if (i > REASON_FIRST)
            WRITER_TEXT(writer, ",");
        WRITER_TEXT(writer, "{\"code\":");
        writer_uint(writer, i);
        WRITER_TEXT(writer, ",\"name\":\"");
        writer_text(writer, reason_name(i));
        WRITER_TEXT(writer, "\"}");
    }
    WRITER_TEXT(writer, "]");
}

/* Absent without a relying party: no passkey is accepted then. */
static void write_passkey(const struct relying_party *party, struct writer *writer)
{
    if (party->origin_count == 0)
        return;
    WRITER_TEXT(writer, "\"passkey\":{\"rp_id\":");
    writer_string(writer, party->id, strlen(party->id));
    WRITER_TEXT(writer, ",\"origins\":[");
    for (uint32_t i = 0; i < party->origin_count; i++) {
        if (i > 0)
            WRITER_TEXT(writer, ",");
        writer_string(writer, party->origins[i], strlen(party->origins[i]));
    }
    WRITER_TEXT(writer, "]},");
}

void json_info_exchange(const struct net_config *config, struct writer *writer)
{
    const uint64_t *values = config->options->values;
    WRITER_TEXT(writer, "{\"exchange_id\":");
    writer_hex(writer, config->exchange_id, sizeof config->exchange_id);
    WRITER_TEXT(writer, ",\"signing_public\":");
    writer_base64(writer, config->signing_public, sizeof config->signing_public);
    WRITER_TEXT(writer, ",\"eip712_domain\":");
    json_typed_data_domain(config, writer);
    WRITER_TEXT(writer, ",\"operator_domain\":\"" OPERATOR_DOMAIN "\",\"rules_version\":");
    writer_uint(writer, config->rules_version);
    WRITER_TEXT(writer, ",\"epoch\":");
    writer_uint(writer, config->epoch);
    WRITER_TEXT(writer, ",\"testnet\":");
    writer_bool(writer, values[OPTION_exchange_testnet] != 0);
    WRITER_TEXT(writer, ",\"durability\":");
    writer_string(writer, config->durability, strlen(config->durability));
    WRITER_TEXT(writer, ",\"request_id_window_ms\":{\"past\":");
    writer_uint(writer, values[OPTION_exchange_clock_past_ms]);
    WRITER_TEXT(writer, ",\"future\":");
    writer_uint(writer, values[OPTION_exchange_clock_future_ms]);
    WRITER_TEXT(writer, "},");
    write_passkey(&config->relying_party, writer);
    write_limits(config, 0, writer);
    write_fee_tiers(writer);
    write_request_types(writer);
    write_outcomes(writer);
    WRITER_TEXT(writer, "}");
}

static void write_left(struct writer *writer, const char *name, uint64_t tokens)
{
    WRITER_TEXT(writer, ",\"");
    writer_text(writer, name);
    WRITER_TEXT(writer, "\":");
    writer_uint(writer, tokens);
}

/* What the address and, with a key, its account may still do. */
static void write_remaining(const struct net_config *config, const struct json_info_caller *caller,
                            uint64_t now_ns, struct writer *writer)
{
    const struct client_rate *clients = config->client_rates;
    const struct account_rate *accounts = config->account_rates;
    WRITER_TEXT(writer, ",\"remaining\":{\"public\":");
    writer_uint(writer,
                client_rate_state(clients, CLIENT_RATE_PUBLIC, caller->address, now_ns).remaining);
    write_left(
        writer, "signature",
        client_rate_state(clients, CLIENT_RATE_SIGNATURE, caller->address, now_ns).remaining);
    uint32_t at_once =
        client_rate_state(clients, CLIENT_RATE_CREATION, caller->address, now_ns).remaining;
    uint32_t lasting = newcomer_rate_remaining(config->newcomer_rate, caller->address, now_ns);
    write_left(writer, "creation", at_once < lasting ? at_once : lasting);
    if (caller->key != NULL) {
        const uint64_t key = client_rate_of_key(caller->key);
        const uint64_t id = caller->account->account_id;
        write_left(writer, "read",
                   client_rate_state(clients, CLIENT_RATE_READ, key, now_ns).remaining);
        write_left(writer, "write",
                   account_rate_remaining(accounts, id, ACCOUNT_RATE_WRITE, now_ns));
        write_left(writer, "cancel",
                   account_rate_remaining(accounts, id, ACCOUNT_RATE_CANCEL, now_ns));
    }
    WRITER_TEXT(writer, "}");
}

void json_info_limits(const struct net_config *config, const struct json_info_caller *caller,
                      uint64_t now_ns, struct writer *writer)
{
    WRITER_TEXT(writer, "{");
    write_limits(config, account_rate_halvings(config->account_rates), writer);
    WRITER_TEXT(writer, ",\"rate_limits\":");
    writer_bool(writer, config->rate_limits);
    if (config->client_rates != NULL)
        write_remaining(config, caller, now_ns, writer);
    if (caller->account != NULL)
        json_holding_slots(writer, caller->account);
    WRITER_TEXT(writer, "}");
}
