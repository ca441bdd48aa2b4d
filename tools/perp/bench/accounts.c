#include "perp/bench/accounts.h"

#include <stdio.h>

/* Begins the request of one of a batch; gives the key that signs it. */
typedef const struct key_file *fill(struct rig *rig, struct rig_trader *trader,
                                    struct key_file *master, uint64_t usdc, struct draft *draft);

static struct uuid fresh_id(void)
{
    return rig_id(rig_now_ns() / 1000000);
}

static const struct key_file *fill_account(struct rig *rig, struct rig_trader *trader,
                                           struct key_file *master, uint64_t usdc,
                                           struct draft *draft)
{
    struct uuid id = fresh_id();

    (void)rig;
    (void)usdc;
    draft_begin(draft, REQUEST_create_account_secp256k1, SIGNATURE_SECP256K1, &id);
    draft_set_bytes(draft, "session_pub", trader->session.public_key, 32);
    return master;
}

static const struct key_file *fill_api_key(struct rig *rig, struct rig_trader *trader,
                                           struct key_file *master, uint64_t usdc,
                                           struct draft *draft)
{
    struct uuid id = fresh_id();

    (void)rig;
    (void)master;
    (void)usdc;
    draft_begin(draft, REQUEST_create_api_key, SIGNATURE_ED25519, &id);
    draft_set(draft, "account_id", trader->account_id);
    draft_set(draft, "subaccount_pin", UINT32_MAX);
    return &trader->session;
}

static const struct key_file *fill_deposit(struct rig *rig, struct rig_trader *trader,
                                           struct key_file *master, uint64_t usdc,
                                           struct draft *draft)
{
    struct draft_portfolio portfolio = { .account_id = trader->account_id };
    struct uuid id = fresh_id();
    uint8_t ref[32] = { 0 };

    (void)master;
    memcpy(ref, id.bytes, sizeof id.bytes);
    draft_begin(draft, REQUEST_deposit_credit, SIGNATURE_ED25519, &id);
    draft_set_portfolio(draft, "portfolio_id", &portfolio);
    draft_set(draft, "amount", usdc * 1000000);
    draft_set_bytes(draft, "external_ref", ref, sizeof ref);
    return &rig->operator_key;
}

struct batch {
    struct rig *rig;
    struct client *client;
    struct rig_trader *traders;
    struct key_file masters[ACCOUNTS_BATCH];
    uint32_t count;
    uint64_t usdc;
};

static bool queue_all(struct batch *batch, fill *fill_one)
{
    static uint8_t frame[REQUEST_FRAME_MAX];
    struct draft draft;

    for (uint32_t i = 0; i < batch->count; i++) {
        const struct key_file *key =
            fill_one(batch->rig, &batch->traders[i], &batch->masters[i], batch->usdc, &draft);
        if (!draft_sign(&draft, key, &batch->rig->eip712))
            return false;
        struct client_request request = { .method = "POST",
                                          .target = draft.path,
                                          .content_type = "application/octet-stream",
                                          .body = frame,
                                          .body_count = draft_frame(&draft, frame) };
        if (client_queue(batch->client, &request) != 0)
            return false;
    }
    return true;
}

/* Sends a request of each account of the batch and reads what became of them. */
static bool send_all(struct batch *batch, fill *fill_one, const char *what,
                     char error[ACCOUNTS_ERROR_MAX])
{
    if (client_connect(batch->client) != 0 || !queue_all(batch, fill_one)) {
        snprintf(error, ACCOUNTS_ERROR_MAX, "%s: %.180s", what, batch->client->error);
        return false;
    }
    for (uint32_t i = 0; i < batch->count; i++) {
        struct client_answer answer;
        struct outcome outcome;
        if (client_read(batch->client, &answer) != 0) {
            snprintf(error, ACCOUNTS_ERROR_MAX, "%s: %.180s", what, batch->client->error);
            return false;
        }
        outcome_read(&outcome, &answer);
        if (!outcome_is_done(&outcome)) {
            snprintf(error, ACCOUNTS_ERROR_MAX, "%s: the exchange answered %u %.60s %.60s", what,
                     outcome.http_status, outcome.word, outcome.reason);
            return false;
        }
        if (fill_one == fill_account)
            batch->traders[i].account_id = outcome.account_id;
        if (fill_one == fill_api_key)
            memcpy(batch->traders[i].api_key, outcome.secret, sizeof outcome.secret);
    }
    return true;
}

bool accounts_open(struct rig *rig, struct client *client, struct rig_trader *traders,
                   uint32_t count, uint64_t deposit_usdc, char error[ACCOUNTS_ERROR_MAX])
{
    static struct batch batch;

    for (uint32_t at = 0; at < count; at += batch.count) {
        batch = (struct batch){ .rig = rig,
                                .client = client,
                                .traders = traders + at,
                                .count = count - at < ACCOUNTS_BATCH ? count - at : ACCOUNTS_BATCH,
                                .usdc = deposit_usdc };
        for (uint32_t i = 0; i < batch.count; i++) {
            if (key_file_make(&batch.masters[i], SIGNATURE_SECP256K1) != 0 ||
                key_file_make(&batch.traders[i].session, SIGNATURE_ED25519) != 0) {
                snprintf(error, ACCOUNTS_ERROR_MAX, "keys could not be made");
                return false;
            }
        }
        if (!send_all(&batch, fill_account, "opening an account", error) ||
            !send_all(&batch, fill_api_key, "making an API key", error) ||
            !send_all(&batch, fill_deposit, "crediting an account", error))
            return false;
    }
    return true;
}
