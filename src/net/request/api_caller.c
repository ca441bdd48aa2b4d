#include "net/request/api_caller.h"

#include "base/base64.h"
#include "base/text.h"
#include "crypto/secret.h"
#include "net/request/bearer.h"
#include "net/request/leadership.h"

bool api_caller_is_live(const struct net_config *config, uint64_t unix_ns,
                        const struct keyring_key *key, struct keyring_row *row)
{
    const struct net_source *source = &config->source;
    if (!keyring_find(config->keyring, key, row))
        return false;
    if (row->expires_at_ns != 0 && row->expires_at_ns <= unix_ns)
        return false;
    /* Loaded now: the client may have read an answer that another thread has just released. */
    return row->state == KEYRING_LIVE || row->sequence > source->durable(source->context);
}

bool api_caller_refuse(const struct keyring_key *key, struct problem_detail *problem)
{
    if (key->kind == KEYRING_DEVICE)
        return problem_detail_set(problem, PROBLEM_invalid_device_key, NULL,
                                  "there is no live device key of this secret");
    return problem_detail_set(problem, PROBLEM_invalid_api_key, NULL,
                              "X-API-KEY names no live API key");
}

/* The hash of the secret whose Base64 this is. */
static bool hash_of(const struct net_config *config, const char *text, size_t count,
                    uint8_t hash[HASH_BYTES])
{
    uint8_t secret[SECRET_BYTES];
    bool good = base64_decode(secret, sizeof secret, text, count, NULL) == SECRET_BYTES;
    if (good)
        secret_hash(hash, config->secret_key, secret);
    secret_wipe(secret, sizeof secret);
    return good;
}

/* False, with not_ready in *problem, for a key that this node has never had and another one may
 * have: it does not lead, and what it has applied may not reach so far. */
static bool may_judge(const struct net_config *config, const struct keyring_key *key,
                      struct problem_detail *problem)
{
    struct net_standing standing = { 0 };
    struct keyring_row row;
    if (config->source.standing != NULL)
        config->source.standing(config->source.context, &standing);
    if (!standing.is_replica || keyring_find(config->keyring, key, &row))
        return true;
    return problem_detail_set(problem, PROBLEM_not_ready, leadership_awaited,
                              "this node of the cluster does not know the key, which may be new: "
                              "ask the leader or another node");
}

static bool find(const struct net_config *config, uint64_t unix_ns, enum keyring_kind kind,
                 const uint8_t hash[HASH_BYTES], struct keyring_row *row,
                 struct problem_detail *problem)
{
    struct keyring_key key = keyring_key(kind, 0, hash);
    return api_caller_is_live(config, unix_ns, &key, row) ||
           (may_judge(config, &key, problem) && api_caller_refuse(&key, problem));
}

bool api_caller_of_secret(const struct net_config *config, uint64_t unix_ns, enum keyring_kind kind,
                          const char *text, size_t count, struct keyring_row *row,
                          struct problem_detail *problem)
{
    uint8_t hash[HASH_BYTES];
    enum problem code =
        kind == KEYRING_DEVICE ? PROBLEM_invalid_device_key : PROBLEM_invalid_api_key;
    if (!hash_of(config, text, count, hash))
        return problem_detail_set(problem, code, NULL, "the key is not the Base64 of %d bytes",
                                  SECRET_BYTES);
    struct keyring_key key = keyring_key(kind, 0, hash);
    return api_caller_is_live(config, unix_ns, &key, row) ||
           (may_judge(config, &key, problem) &&
            problem_detail_set(problem, code, NULL, "there is no live key of this secret"));
}

/* The value of the cookie device_key; count 0: the header has none, an empty one, or two. */
static struct http_span device_cookie(const struct http_head *head, const char *text)
{
    static const char name[] = "device_key=";
    struct http_span found = { 0, 0 };
    bool is_found = false;
    uint32_t at = head->cookie.at, end = at + head->cookie.count;
    while (at < end) {
        while (at < end && (text[at] == ' ' || text[at] == ';'))
            at++;
        const char *stop = memchr(text + at, ';', end - at);
        uint32_t next = stop != NULL ? (uint32_t)(stop - text) : end;
        if (next - at >= sizeof name - 1 && memcmp(text + at, name, sizeof name - 1) == 0) {
            if (is_found)
                return (struct http_span){ 0, 0 };
            is_found = true;
            uint32_t value = at + sizeof name - 1;
            found = (struct http_span){ (uint16_t)value, (uint16_t)(next - value) };
        }
        at = next;
    }
    return found;
}

/* The Origin, if there is one, is that of the Host: a scheme, then the same host and port. */
bool api_caller_is_own_page(const struct http_head *head, const char *text)
{
    const char *origin = text + head->origin.at;
    uint32_t count = head->origin.count;
    uint32_t scheme = count > 8 && memcmp(origin, "https://", 8) == 0  ? 8
                      : count > 7 && memcmp(origin, "http://", 7) == 0 ? 7
                                                                       : 0;
    if (head->is_foreign)
        return false;
    if (count == 0)
        return true;
    return scheme != 0 && count - scheme == head->host.count &&
           text_is_equal_folded(origin + scheme, text + head->host.at, head->host.count);
}

static bool find_cookie(const struct net_config *config, uint64_t unix_ns,
                        const struct http_head *head, const char *text, struct http_span value,
                        struct keyring_row *row, struct problem_detail *problem)
{
    uint8_t hash[HASH_BYTES];
    if (!api_caller_is_own_page(head, text))
        return problem_detail_set(problem, PROBLEM_origin_not_allowed, NULL,
                                  "a cookie is taken from pages of this origin alone; send "
                                  "X-API-KEY instead");
    if (!hash_of(config, text + value.at, value.count, hash))
        return problem_detail_set(problem, PROBLEM_invalid_device_key, NULL,
                                  "the cookie device_key is not the Base64 of %d bytes",
                                  SECRET_BYTES);
    return find(config, unix_ns, KEYRING_DEVICE, hash, row, problem);
}

bool api_caller_device_hash(const struct net_config *config, const struct http_head *head,
                            const char *text, uint8_t hash[HASH_BYTES],
                            struct problem_detail *problem)
{
    INVARIANT(head->has_device_key);
    if (hash_of(config, text + head->device_key.at, head->device_key.count, hash))
        return true;
    return problem_detail_set(problem, PROBLEM_invalid_device_key, NULL,
                              "X-DEVICE-KEY is not the Base64 of %d bytes", SECRET_BYTES);
}

bool api_caller_token_hash(const struct net_config *config, const struct http_head *head,
                           const char *text, uint8_t hash[HASH_BYTES],
                           struct problem_detail *problem)
{
    const struct http_span token = bearer_token(head, text);
    if (token.count > 0 && hash_of(config, text + token.at, token.count, hash))
        return true;
    return problem_detail_set(problem, PROBLEM_invalid_token, NULL,
                              "Authorization is not Bearer and the pairing's write_token");
}

bool api_caller_find(const struct net_config *config, uint64_t unix_ns,
                     const struct http_head *head, const char *text, enum api_caller_takes takes,
                     struct keyring_row *row, struct problem_detail *problem)
{
    uint8_t hash[HASH_BYTES];
    if (takes == API_CALLER_DEVICE_ALONE && !head->has_device_key)
        return problem_detail_set(problem, PROBLEM_invalid_device_key, NULL,
                                  "X-DEVICE-KEY is missing");
    if (takes == API_CALLER_DEVICE_ALONE ||
        (!head->has_api_key && takes == API_CALLER_DEVICE && head->has_device_key))
        return api_caller_device_hash(config, head, text, hash, problem) &&
               find(config, unix_ns, KEYRING_DEVICE, hash, row, problem);
    if (!head->has_api_key && takes == API_CALLER_COOKIE) {
        struct http_span value = device_cookie(head, text);
        if (value.count > 0)
            return find_cookie(config, unix_ns, head, text, value, row, problem);
    }
    if (!head->has_api_key)
        return problem_detail_set(problem, PROBLEM_invalid_api_key, NULL, "X-API-KEY is missing");
    if (!hash_of(config, text + head->api_key.at, head->api_key.count, hash))
        return problem_detail_set(problem, PROBLEM_invalid_api_key, NULL,
                                  "X-API-KEY is not the Base64 of %d bytes", SECRET_BYTES);
    return find(config, unix_ns, KEYRING_API, hash, row, problem);
}

bool api_caller_may_reach(int32_t pin, uint32_t subaccount_index, struct problem_detail *problem)
{
    if (pin == API_CALLER_NO_PIN || (uint32_t)pin == subaccount_index)
        return true;
    return problem_detail_set(problem, PROBLEM_subaccount_not_permitted, NULL,
                              "the key is pinned to subaccount %d", pin);
}
