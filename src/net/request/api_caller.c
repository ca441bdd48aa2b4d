#include "net/request/api_caller.h"

#include "base/base64.h"
#include "crypto/secret.h"

bool api_caller_is_live(const struct net_config *config, uint64_t unix_ns,
                        const struct keyring_key *key, struct keyring_row *entry)
{
    const struct net_source *source = &config->source;
    if (!keyring_find(config->keyring, key, entry))
        return false;
    if (entry->expires_at_ns != 0 && entry->expires_at_ns <= unix_ns)
        return false;
    /* Loaded now: the client may have read an answer that another thread has just released. */
    return entry->state == KEYRING_LIVE || entry->sequence > source->durable(source->context);
}

bool api_caller_refuse(struct problem_detail *problem)
{
    return problem_detail_set(problem, PROBLEM_invalid_api_key, NULL,
                              "X-API-KEY names no live API key");
}

bool api_caller_find(const struct net_config *config, uint64_t unix_ns,
                     const struct http_head *head, const char *text, struct keyring_row *entry,
                     struct problem_detail *problem)
{
    uint8_t secret[SECRET_BYTES];
    uint8_t hash[HASH_BYTES];
    if (!head->has_api_key)
        return problem_detail_set(problem, PROBLEM_invalid_api_key, NULL, "X-API-KEY is missing");
    ptrdiff_t count =
        base64_decode(secret, sizeof secret, text + head->api_key.at, head->api_key.count, NULL);
    if (count != SECRET_BYTES)
        return problem_detail_set(problem, PROBLEM_invalid_api_key, NULL,
                                  "X-API-KEY is not the Base64 of %d bytes", SECRET_BYTES);
    secret_hash(hash, config->secret_key, secret);
    secret_wipe(secret, sizeof secret);
    struct keyring_key key = keyring_key(KEYRING_API, 0, hash);
    return api_caller_is_live(config, unix_ns, &key, entry) || api_caller_refuse(problem);
}

bool api_caller_may_reach(int32_t pin, uint32_t subaccount_index, struct problem_detail *problem)
{
    if (pin == API_CALLER_NO_PIN || (uint32_t)pin == subaccount_index)
        return true;
    return problem_detail_set(problem, PROBLEM_subaccount_not_permitted, NULL,
                              "the API key is pinned to subaccount %d", pin);
}
