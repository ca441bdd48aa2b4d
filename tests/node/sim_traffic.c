#include "sim_traffic.h"

#include <stdlib.h>

#include "base/mix.h"
#include "crypto/derive.h"

void traffic_init(struct traffic *traffic, uint64_t seed)
{
    memset(traffic, 0, sizeof *traffic);
    traffic->random = seed ^ 0x5851F42D4C957F2Du;
    traffic->index_raw = TRAFFIC_MID_RAW;
    traffic->sent = calloc(TRAFFIC_SENT_MAX, sizeof *traffic->sent);
    INVARIANT(traffic->sent != NULL);
    memset(traffic->operator_key, 0x11, sizeof traffic->operator_key);
    memset(traffic->oracle_key, 0x22, sizeof traffic->oracle_key);
    for (uint32_t i = 0; i < TRAFFIC_ACCOUNTS; i++) {
        struct traffic_account *account = &traffic->accounts[i];
        account->master[0] = 2;
        for (uint32_t k = 1; k < sizeof account->master; k++)
            account->master[k] = (uint8_t)traffic_random(traffic);
        for (uint32_t k = 0; k < sizeof account->session; k++)
            account->session[k] = (uint8_t)traffic_random(traffic);
        account->session[31] &= 0x3f; /* y far below p: canonical */
    }
}

void traffic_free(struct traffic *traffic)
{
    free(traffic->sent);
}

/* splitmix64 (Steele, Lea, Flood 2014). */
uint64_t traffic_random(struct traffic *traffic)
{
    uint64_t z = traffic->random += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static struct traffic_sent *entry(struct traffic *traffic)
{
    if (traffic->sent_count == TRAFFIC_SENT_MAX)
        return NULL;
    struct traffic_sent *sent = &traffic->sent[traffic->sent_count];
    memset(sent, 0, sizeof *sent);
    traffic_command(sent)->token = traffic->sent_count++;
    return sent;
}

/* A signed command around `body`. The signature is not looked at behind the network. */
static struct traffic_sent *compose(struct traffic *traffic, uint16_t code, const uint8_t *body,
                                    uint32_t body_bytes, const uint8_t *key, uint32_t key_bytes,
                                    uint64_t now_ns)
{
    struct traffic_sent *sent = entry(traffic);
    uint8_t random[10];
    if (sent == NULL)
        return NULL;

    struct command *command = traffic_command(sent);
    uint64_t low = traffic_random(traffic), high = traffic_random(traffic);
    memcpy(random, &low, 8);
    memcpy(random + 8, &high, 2);
    struct uuid id = uuid_make_v7(now_ns / 1000000, random);

    command->code = code;
    command->kind = COMMAND_SIGNED;
    command->payload_bytes = (uint16_t)(REQUEST_BODY_AT + body_bytes);
    command->key_bytes = (uint16_t)key_bytes;
    command->extra_bytes = code == REQUEST_create_api_key ? SECRET_HASH_BYTES : 0;
    uint8_t *to = command->bytes;
    to[0] = REQUEST_VERSION;
    to[1] = key_bytes == 33 ? SIGNATURE_SECP256K1 : SIGNATURE_ED25519;
    cc_store16(to + 2, code);
    memcpy(to + REQUEST_HEADER_BYTES, id.bytes, sizeof id.bytes);
    memcpy(to + REQUEST_BODY_AT, body, body_bytes);
    memcpy(to + command->payload_bytes, key, key_bytes);
    if (command->extra_bytes != 0)
        memcpy(to + command->payload_bytes + key_bytes + SIGNATURE_BYTES, id.bytes,
               sizeof id.bytes);
    INVARIANT(command_bytes(command) <= TRAFFIC_COMMAND_BYTES);
    command->slot_count =
        (uint16_t)command_slots(command_bytes(command) - (uint32_t)sizeof *command);
    derive_command(command, traffic->key);
    if (code == REQUEST_place_limit_order) /* what was filled is compared with the fills read */
        command->flags |= COMMAND_WANTS_EVIDENCE;
    return sent;
}

static struct traffic_sent *create_account(struct traffic *traffic, struct traffic_account *account,
                                           uint64_t now_ns)
{
    uint8_t body[80] = { 0 };
    memcpy(body, account->session, sizeof account->session);
    account->created = true;
    return compose(traffic, REQUEST_create_account_secp256k1, body, sizeof body, account->master,
                   sizeof account->master, now_ns);
}

static struct traffic_sent *deposit(struct traffic *traffic, struct traffic_account *account,
                                    uint64_t now_ns)
{
    uint8_t body[56] = { 0 };
    cc_store64(body, account->id);
    cc_store64(body + 16, UINT64_C(1000000) * 1000000); /* 1 m USDC */
    cc_store64(body + 24, ++traffic->deposits);
    account->funded = true;
    return compose(traffic, REQUEST_deposit_credit, body, sizeof body, traffic->operator_key, 32,
                   now_ns);
}

static struct traffic_sent *oracle(struct traffic *traffic, uint64_t now_ns)
{
    uint8_t body[24] = { 0 };
    traffic->index_raw += traffic_below(traffic, 2001);
    traffic->index_raw -= 1000;
    cc_store64(body, now_ns);
    cc_store64(body + 8, traffic->index_raw);
    cc_store16(body + 16, TRAFFIC_ASSET);
    cc_store16(body + 20, 1);
    traffic->published_ns = now_ns;
    return compose(traffic, REQUEST_oracle_price, body, sizeof body, traffic->oracle_key, 32,
                   now_ns);
}

static struct traffic_sent *place(struct traffic *traffic, const struct traffic_account *account,
                                  uint64_t now_ns)
{
    uint8_t body[48] = { 0 };
    uint64_t kind = traffic_below(traffic, 16);
    int64_t quantity = (int64_t)(1000 + traffic_below(traffic, 100000));
    uint64_t expiry = UINT64_MAX;

    if (kind == 0)
        expiry = 0; /* IOC */
    else if (kind == 1)
        expiry = 1; /* FOK */
    else if (kind <= 4)
        expiry = now_ns + UINT64_C(1000000) * (1 + traffic_below(traffic, 3000)); /* GTT */
    cc_store64(body, account->id);
    cc_store64(body + 16, traffic->index_raw - 200 + traffic_below(traffic, 400));
    cc_store64(body + 24, (uint64_t)((traffic_random(traffic) & 1) != 0 ? quantity : -quantity));
    cc_store64(body + 32, expiry);
    body[40] = kind == 5;
    body[41] = kind == 6;
    body[42] = (uint8_t)traffic_below(traffic, 4);
    cc_store16(body + 44, TRAFFIC_ASSET);
    return compose(traffic, REQUEST_place_limit_order, body, sizeof body, account->session, 32,
                   now_ns);
}

/* Cancels an order that this client has placed, whatever has become of it. */
static struct traffic_sent *cancel(struct traffic *traffic, const struct traffic_account *account,
                                   uint64_t now_ns)
{
    uint8_t body[40] = { 0 };
    uint32_t newest = traffic->sent_count < 200 ? traffic->sent_count : 200;
    struct traffic_sent *target =
        &traffic->sent[traffic->sent_count - 1 - traffic_below(traffic, newest)];

    cc_store64(body, account->id);
    memcpy(body + 16, command_request_id(traffic_command(target)), 16);
    cc_store16(body + 32, TRAFFIC_ASSET);
    return compose(traffic, REQUEST_order_cancel, body, sizeof body, account->session, 32, now_ns);
}

static struct traffic_sent *cancel_all(struct traffic *traffic,
                                       const struct traffic_account *account, uint64_t now_ns)
{
    uint8_t body[24] = { 0 };
    cc_store64(body, account->id);
    cc_store32(body + 12, UINT32_MAX);
    cc_store16(body + 16, UINT16_MAX);
    body[20] = (uint8_t)traffic_below(traffic, 3);
    return compose(traffic, REQUEST_cancel_all_orders, body, sizeof body, account->session, 32,
                   now_ns);
}

static struct traffic_sent *api_key(struct traffic *traffic, const struct traffic_account *account,
                                    uint64_t now_ns)
{
    uint8_t body[48] = { 0 };
    cc_store64(body, account->id);
    cc_store32(body + 8, UINT32_MAX); /* no pin */
    return compose(traffic, REQUEST_create_api_key, body, sizeof body, account->session, 32,
                   now_ns);
}

static struct traffic_sent *session(struct traffic *traffic, const struct traffic_account *account,
                                    uint64_t now_ns)
{
    uint8_t body[56] = { 0 };
    cc_store64(body, account->id);
    for (uint32_t k = 8; k < 40; k++)
        body[k] = (uint8_t)traffic_random(traffic);
    body[39] &= 0x3f;
    cc_store32(body + 48, UINT32_MAX); /* no pin */
    return compose(traffic, REQUEST_create_session, body, sizeof body, account->master, 33, now_ns);
}

/* The same bytes once more: what a client does after a time-out. */
static struct traffic_sent *retry(struct traffic *traffic)
{
    uint32_t newest = traffic->sent_count < 100 ? traffic->sent_count : 100;
    uint32_t original = traffic->sent_count - 1 - (uint32_t)traffic_below(traffic, newest);
    struct traffic_sent *sent = entry(traffic);
    if (sent == NULL)
        return NULL;
    while (traffic->sent[original].is_retry)
        original = traffic->sent[original].original;
    uint64_t token = traffic_command(sent)->token;
    memcpy(sent->bytes, traffic->sent[original].bytes, sizeof sent->bytes);
    traffic_command(sent)->token = token;
    sent->is_retry = true;
    sent->original = original;
    return sent;
}

struct traffic_sent *traffic_next(struct traffic *traffic, uint64_t now_ns)
{
    struct traffic_account *account = &traffic->accounts[traffic_below(traffic, TRAFFIC_ACCOUNTS)];
    uint64_t pick = traffic_below(traffic, 100);

    if (traffic->sent_count > 20 && pick < 6)
        return retry(traffic);
    if (pick < 12 || traffic->published_ns == 0)
        return oracle(traffic, now_ns);
    if (!account->created)
        return create_account(traffic, account, now_ns);
    if (account->id == 0)
        return oracle(traffic, now_ns);
    if (!account->funded || pick == 12)
        return deposit(traffic, account, now_ns);
    if (pick == 13)
        return api_key(traffic, account, now_ns);
    if (pick == 14)
        return session(traffic, account, now_ns);
    if (pick == 15)
        return cancel_all(traffic, account, now_ns);
    if (pick < 36)
        return cancel(traffic, account, now_ns);
    return place(traffic, account, now_ns);
}

void traffic_learn(struct traffic *traffic, const struct traffic_sent *sent)
{
    const struct command *command = (const struct command *)(const void *)sent->bytes;
    if (command->code != REQUEST_create_account_secp256k1 ||
        (sent->answer.members & ANSWER_HAS_ACCOUNT) == 0)
        return;
    for (uint32_t i = 0; i < TRAFFIC_ACCOUNTS; i++) {
        struct traffic_account *account = &traffic->accounts[i];
        if (memcmp(account->master, command_key(command), sizeof account->master) == 0)
            account->id = sent->answer.account_id;
    }
}
