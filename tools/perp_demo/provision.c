#include "perp_demo/provision.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/hex.h"
#include "base/json_scan.h"
#include "crypto/secret.h"
#include "perp/request/client_rule.h"
#include "perp/request/instant.h"
#include "perp/request/outcome.h"
#include "perp_demo/listing.h"

enum { MARKET_FILE_MAX = 16384, KEY_READ_WRITE = 1 };

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (!good)
        fprintf(stderr, "demo: cannot write %s: %s\n", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return good;
}

static bool make_key(struct key_file *key, uint32_t curve, const char *path)
{
    char error[KEY_FILE_ERROR_MAX];
    if (key_file_make(key, curve) == 0 && key_file_write(key, path, false, error))
        return true;
    fprintf(stderr, "demo: no key %s\n", path);
    return false;
}

static bool write_markets(const char *folder)
{
    char path[PROVISION_PATH_MAX + 64], text[MARKET_FILE_MAX];
    int at = snprintf(text, sizeof text, "{\"markets\":[");
    for (uint32_t i = 0; i < LISTING_MARKETS; i++) {
        at += snprintf(text + at, sizeof text - (size_t)at, "%s%s", i > 0 ? "," : "",
                       listing_at(i)->record);
        INVARIANT(at > 0 && (size_t)at < sizeof text - 8);
    }
    snprintf(text + at, sizeof text - (size_t)at, "]}\n");
    snprintf(path, sizeof path, "%s/markets.json", folder);
    return write_text(path, text);
}

bool provision_files(struct provision *provision, const char *folder)
{
    char path[PROVISION_PATH_MAX + 64];
    snprintf(provision->folder, sizeof provision->folder, "%s", folder);
    snprintf(path, sizeof path, "%s/operator.key", folder);
    if (!make_key(&provision->operator_key, SIGNATURE_ED25519, path))
        return false;
    snprintf(path, sizeof path, "%s/oracle.key", folder);
    if (!make_key(&provision->oracle_key, SIGNATURE_ED25519, path))
        return false;
    return write_markets(folder);
}

bool provision_greet(struct provision *provision, struct client *client)
{
    struct client_request request = { .method = "GET", .target = "/api/v1/exchange" };
    struct client_answer answer;
    struct json_member members[] = { JSON_MEMBER("exchange_id"), JSON_MEMBER("durability") };
    const struct json_member *exchange_id = &members[0], *durability = &members[1];
    uint8_t id[32];
    if (client_rule_call(client, &request, true, &answer) != 0) {
        fprintf(stderr, "demo: %s\n", client->error);
        return false;
    }
    if (answer.status != 200 ||
        json_scan_members(answer.body, answer.body_count, members, 2, NULL) != JSON_OK ||
        exchange_id->kind != JSON_STRING || durability->kind != JSON_STRING ||
        !hex_decode(id, sizeof id, exchange_id->value.text, exchange_id->value.count)) {
        fprintf(stderr, "demo: /api/v1/exchange answered %u without exchange_id or durability\n",
                answer.status);
        return false;
    }
    snprintf(provision->durability, sizeof provision->durability, "%.*s",
             (int)durability->value.count, durability->value.text);
    eip712_init(&provision->eip712, id);
    return true;
}

/* Sends a draft and demands that it is done. */
static bool perform(struct provision *provision, struct client *client, struct draft *draft,
                    const struct key_file *key, struct outcome *outcome)
{
    static char envelope[REQUEST_ENVELOPE_MAX];
    struct client_answer answer;
    if (!draft_sign(draft, key, &provision->eip712)) {
        fprintf(stderr, "demo: cannot sign %s\n", draft->request->name);
        return false;
    }
    struct client_request request = {
        .method = "POST",
        .target = draft->request->path,
        .content_type = "application/json",
        .body = envelope,
        .body_count = draft_envelope(draft, envelope),
    };
    if (client_call(client, &request, &answer) != 0) {
        fprintf(stderr, "demo: %s: %s\n", draft->request->name, client->error);
        return false;
    }
    outcome_read(outcome, &answer);
    if (outcome_is_done(outcome))
        return true;
    fprintf(stderr, "demo: %s: HTTP %u %s %s\n", draft->request->name, answer.status, outcome->word,
            outcome->detail);
    return false;
}

static bool fresh(struct uuid *id)
{
    return draft_fresh_id(id) == 0;
}

bool provision_prices(struct provision *provision, struct client *client)
{
    for (uint32_t i = 0; i < LISTING_MARKETS; i++) {
        struct draft draft;
        struct outcome outcome;
        struct uuid id;
        if (!fresh(&id))
            return false;
        draft_begin(&draft, REQUEST_oracle_price, SIGNATURE_ED25519, &id);
        draft_set(&draft, "publish_ts_ns", instant_now_ns());
        draft_set(&draft, "index_price", listing_at(i)->price);
        draft_set(&draft, "asset", i + 1);
        draft_set(&draft, "source_count", 1);
        if (!perform(provision, client, &draft, &provision->oracle_key, &outcome))
            return false;
    }
    return true;
}

static bool open_account(struct provision *provision, struct client *client,
                         struct provision_account *account, const struct key_file *session)
{
    char path[PROVISION_PATH_MAX + 64];
    struct key_file master;
    struct outcome outcome;
    struct draft draft;
    struct uuid id;
    snprintf(path, sizeof path, "%s/%s.master", provision->folder, account->name);
    if (!make_key(&master, SIGNATURE_SECP256K1, path) || !fresh(&id))
        return false;
    draft_begin(&draft, REQUEST_create_account_secp256k1, SIGNATURE_SECP256K1, &id);
    draft_set_bytes(&draft, "session_pub", session->public_key, session->public_bytes);
    draft_set_bytes(&draft, "label", account->name, strlen(account->name));
    bool good = perform(provision, client, &draft, &master, &outcome);
    account->account_id = outcome.account_id;
    key_file_wipe(&master);
    return good;
}

static bool make_api_key(struct provision *provision, struct client *client,
                         struct provision_account *account, const struct key_file *session)
{
    struct outcome outcome;
    struct draft draft;
    struct uuid id;
    if (!fresh(&id))
        return false;
    draft_begin(&draft, REQUEST_create_api_key, SIGNATURE_ED25519, &id);
    draft_set(&draft, "account_id", account->account_id);
    draft_set(&draft, "subaccount_pin", UINT32_MAX);
    draft_set(&draft, "scope", KEY_READ_WRITE);
    draft_set_bytes(&draft, "label", account->name, strlen(account->name));
    if (!perform(provision, client, &draft, session, &outcome))
        return false;
    snprintf(account->api_key, sizeof account->api_key, "%s", outcome.secret);
    return write_text(account->api_key_path, outcome.secret);
}

static bool deposit(struct provision *provision, struct client *client,
                    const struct provision_account *account)
{
    struct draft_portfolio portfolio = { .account_id = account->account_id };
    struct outcome outcome;
    struct draft draft;
    struct uuid id;
    uint8_t ref[32];
    if (!fresh(&id) || secret_random(ref, sizeof ref) != 0)
        return false;
    draft_begin(&draft, REQUEST_deposit_credit, SIGNATURE_ED25519, &id);
    draft_set_portfolio(&draft, "portfolio_id", &portfolio);
    draft_set(&draft, "amount", (uint64_t)account->deposit);
    draft_set_bytes(&draft, "external_ref", ref, sizeof ref);
    return perform(provision, client, &draft, &provision->operator_key, &outcome);
}

bool provision_account(struct provision *provision, struct client *client, const char *name,
                       int64_t amount, struct provision_account *account)
{
    struct key_file session;
    *account = (struct provision_account){ .deposit = amount };
    snprintf(account->name, sizeof account->name, "%s", name);
    snprintf(account->key_path, sizeof account->key_path, "%s/%s.session", provision->folder, name);
    snprintf(account->api_key_path, sizeof account->api_key_path, "%s/%s.api", provision->folder,
             name);
    bool good = make_key(&session, SIGNATURE_ED25519, account->key_path) &&
                open_account(provision, client, account, &session) &&
                make_api_key(provision, client, account, &session) &&
                deposit(provision, client, account);
    key_file_wipe(&session);
    return good;
}

bool provision_leverage(struct client *client, const struct provision_account *account,
                        uint32_t leverage)
{
    for (uint32_t i = 0; i < LISTING_MARKETS; i++) {
        char body[128];
        int count = snprintf(body, sizeof body,
                             "{\"subaccount_index\":0,\"portfolio_index\":0,\"market\":\"%s\","
                             "\"leverage\":%u}",
                             listing_at(i)->market, leverage);
        struct client_request request = { .method = "PUT",
                                          .target = "/api/v1/leverage",
                                          .api_key = account->api_key,
                                          .content_type = "application/json",
                                          .body = body,
                                          .body_count = (size_t)count };
        struct client_answer answer;
        if (client_call(client, &request, &answer) != 0) {
            fprintf(stderr, "demo: leverage: %s\n", client->error);
            return false;
        }
        if (answer.status != 200) {
            fprintf(stderr, "demo: leverage %s: HTTP %u %.*s\n", body, answer.status,
                    (int)answer.body_count, answer.body);
            return false;
        }
    }
    return true;
}

bool provision_profile(const struct provision *provision, const char *url,
                       const struct provision_account *account, const char *path)
{
    char text[6 * (PROVISION_PATH_MAX + 96)];
    snprintf(text, sizeof text,
             "# perp acts as the account '%s' of this demo, and as its operator and oracle.\n"
             "[default]\nurl = %s\naccount = %llu\nsession_key = %s\nmaster_key = %s/%s.master\n"
             "api_key = @%s\noperator_key = %s/operator.key\noracle_key = %s/oracle.key\n",
             account->name, url, (unsigned long long)account->account_id, account->key_path,
             provision->folder, account->name, account->api_key_path, provision->folder,
             provision->folder);
    return write_text(path, text);
}
