#include "purse.h"

enum status purse_send(struct host *host, enum purse_signer signer, uint32_t n, uint16_t code,
                       const void *body, uint32_t body_bytes)
{
    uint8_t key[33] = { 0 };

    if (signer == PURSE_MASTER)
        host_master_key(n, key);
    else if (signer == PURSE_SESSION)
        host_session_key(n, key);
    else
        memcpy(key, host_operator_key, 32);
    struct host_request request = { .code = code,
                                    .flags = COMMAND_SESSION_KEY_VALID,
                                    .body = body,
                                    .body_bytes = body_bytes,
                                    .key = key,
                                    .key_bytes = signer == PURSE_MASTER ? 33 : 32 };
    return host_signed(host, &request);
}

enum status purse_send_as(struct host *host, uint32_t key, uint16_t code, const void *body,
                          uint32_t body_bytes)
{
    return purse_send(host, PURSE_SESSION, key, code, body, body_bytes);
}

void purse_session(struct host *host, uint32_t n, uint32_t key, uint8_t scope, int32_t pin)
{
    uint8_t body[56] = { 0 };

    cc_store64(body, n);
    host_session_key(key, body + 8);
    cc_store32(body + 48, (uint32_t)pin);
    body[52] = scope;
    CHECK(purse_send(host, PURSE_MASTER, n, REQUEST_create_session, body, sizeof body) ==
          STATUS_session_created);
}

static void put_place(uint8_t at[16], uint64_t account, struct purse_place place)
{
    cc_store64(at, account);
    cc_store32(at + 8, place.subaccount);
    cc_store32(at + 12, place.portfolio);
}

enum status purse_transfer(struct host *host, uint32_t n, struct purse_place from,
                           struct purse_place to, uint64_t amount)
{
    uint8_t body[40];

    put_place(body, n, from);
    put_place(body + 16, n, to);
    cc_store64(body + 32, amount);
    return purse_send(host, PURSE_SESSION, n, REQUEST_transfer, body, sizeof body);
}

enum status purse_withdraw(struct host *host, uint32_t n, struct purse_place from, uint64_t amount)
{
    uint8_t body[48] = { 0 };

    put_place(body, n, from);
    cc_store64(body + 16, amount);
    memset(body + 24, (int)(0xA0 + n), 20); /* destination */
    return purse_send(host, PURSE_SESSION, n, REQUEST_withdraw, body, sizeof body);
}

enum status purse_settle(struct host *host, const uint8_t id[16], uint8_t outcome)
{
    uint8_t body[24] = { 0 };

    memcpy(body, id, 16);
    body[16] = outcome;
    return purse_send(host, PURSE_OPERATOR, 0, REQUEST_withdrawal_settle, body, sizeof body);
}

enum status purse_deposit(struct host *host, uint32_t n, struct purse_place to, uint64_t amount)
{
    uint8_t body[56] = { 0 };

    put_place(body, n, to);
    cc_store64(body + 16, amount);
    cc_store64(body + 24, ++host->id_count);
    return purse_send(host, PURSE_OPERATOR, 0, REQUEST_deposit_credit, body, sizeof body);
}

enum status purse_subaccount(struct host *host, uint32_t n)
{
    uint8_t body[8];

    cc_store64(body, n);
    return purse_send(host, PURSE_MASTER, n, REQUEST_create_subaccount, body, sizeof body);
}

enum status purse_close_subaccount(struct host *host, uint32_t n, uint32_t subaccount)
{
    uint8_t body[16] = { 0 };

    cc_store64(body, n);
    cc_store32(body + 8, subaccount);
    return purse_send(host, PURSE_MASTER, n, REQUEST_close_subaccount, body, sizeof body);
}

enum status purse_portfolio(struct host *host, uint32_t n, uint32_t subaccount, const char *name)
{
    uint8_t body[48] = { 0 };

    cc_store64(body, n);
    cc_store32(body + 8, subaccount);
    CHECK(strlen(name) <= 32);
    memcpy(body + 16, name, strlen(name));
    return purse_send(host, PURSE_MASTER, n, REQUEST_create_portfolio, body, sizeof body);
}

enum status purse_close_account(struct host *host, uint32_t n)
{
    uint8_t body[8];

    cc_store64(body, n);
    return purse_send(host, PURSE_MASTER, n, REQUEST_close_account, body, sizeof body);
}

enum status purse_suspend(struct host *host, uint64_t account, bool suspended)
{
    uint8_t body[16] = { 0 };

    cc_store64(body, account);
    body[8] = suspended;
    return purse_send(host, PURSE_OPERATOR, 0, REQUEST_suspend_account, body, sizeof body);
}

enum status purse_key(struct host *host, uint16_t code, struct keys_id key, uint32_t n,
                      struct purse_place place, uint64_t amount)
{
    uint8_t body[40];

    memcpy(body, key.bytes, 16);
    put_place(body + 16, n, place);
    cc_store64(body + 32, amount);
    return host_unsigned(host, code, body, code == REQUEST_faucet_credit ? 40 : 32);
}

enum status purse_rename(struct host *host, struct keys_id key, uint32_t n,
                         struct purse_place place, const char *name)
{
    uint8_t body[64] = { 0 };

    memcpy(body, key.bytes, 16);
    put_place(body + 16, n, place);
    CHECK(strlen(name) <= 32);
    memcpy(body + 32, name, strlen(name));
    return host_unsigned(host, REQUEST_rename_portfolio, body, sizeof body);
}

struct portfolio *purse_at(const struct host *host, uint32_t n, struct purse_place place)
{
    uint32_t index = portfolio_find(host->engine, n, place.subaccount, place.portfolio);

    CHECK(index != PORTFOLIO_NONE);
    return state_portfolio(host->engine, index);
}

int64_t purse_cash(const struct host *host, uint32_t n, struct purse_place place)
{
    return purse_at(host, n, place)->cash;
}

struct effect_cash purse_row(const struct host *host, uint32_t k)
{
    const struct host_effect *effect = host_effect(host, EFFECT_cash, k);
    struct effect_cash body;

    CHECK(effect != NULL);
    memcpy(&body, effect->bytes, sizeof body);
    return body;
}

struct effect_account purse_told(const struct host *host, uint32_t k)
{
    const struct host_effect *effect = host_effect(host, EFFECT_account, k);
    struct effect_account body;

    CHECK(effect != NULL);
    memcpy(&body, effect->bytes, sizeof body);
    return body;
}
