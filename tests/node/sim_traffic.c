#include "sim_traffic.h"

#include <stdlib.h>

#include "crypto/derive.h"

enum { RECENT = 200, CANCEL_TRIES = 6 };

enum { CANCEL_ONLY = 3 }; /* a market state (wire.md, Enum codes) */

void traffic_init(struct traffic *traffic, uint64_t seed)
{
    uint8_t seed_bytes[SIGNER_SEED_BYTES];

    memset(traffic, 0, sizeof *traffic);
    traffic->random = seed ^ 0x5851F42D4C957F2Du;
    traffic->index_raw = TRAFFIC_MID_RAW;
    traffic->sent = calloc(TRAFFIC_SENT_MAX, sizeof *traffic->sent);
    INVARIANT(traffic->sent != NULL);
    memset(seed_bytes, 0x11, sizeof seed_bytes);
    signer_ed25519(&traffic->operator, seed_bytes);
    memset(seed_bytes, 0x22, sizeof seed_bytes);
    signer_ed25519(&traffic->oracle, seed_bytes);
    for (uint32_t i = 0; i < TRAFFIC_ACCOUNTS; i++) {
        struct traffic_account *account = &traffic->accounts[i];
        for (uint32_t k = 0; k < sizeof account->secret; k++)
            account->secret[k] = (uint8_t)traffic_random(traffic);
        account->secret[0] = 1; /* far below the group's order */
        bool made = signer_secp256k1_key(account->secret, account->master);
        INVARIANT(made);
        account->newest_revoked = TRAFFIC_NONE;
    }
}

void traffic_free(struct traffic *traffic)
{
    free(traffic->sent);
}

uint64_t traffic_random(struct traffic *traffic)
{
    uint64_t z = traffic->random += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static struct traffic_sent *deposit(struct traffic *traffic, struct traffic_account *account,
                                    uint64_t now_ns)
{
    uint8_t body[56] = { 0 };
    cc_store64(body, account->id);
    cc_store64(body + 16, UINT64_C(1000000) * 1000000); /* 1 m USDC */
    cc_store64(body + 24, ++traffic->deposits);
    account->funded = true;
    return traffic_compose(traffic, REQUEST_deposit_credit, body, sizeof body,
                           traffic->operator.key, 32, now_ns);
}

static struct traffic_sent *oracle(struct traffic *traffic, uint64_t now_ns)
{
    uint8_t body[24] = { 0 };
    if (traffic->rules)
        traffic_move_index(traffic);
    traffic->index_raw += traffic_below(traffic, 2001);
    traffic->index_raw -= 1000;
    cc_store64(body, now_ns);
    cc_store64(body + 8, traffic->index_raw);
    cc_store16(body + 16, TRAFFIC_ASSET);
    cc_store16(body + 20, 1);
    traffic->published_ns = now_ns;
    return traffic_compose(traffic, REQUEST_oracle_price, body, sizeof body, traffic->oracle.key,
                           32, now_ns);
}

/* The operator opens the market, mostly: a full disk has made it CANCEL_ONLY (roles.md,
 * Journal). Now and then it is put into another state, or all are. */
static struct traffic_sent *market_state(struct traffic *traffic, uint64_t now_ns)
{
    uint8_t state = traffic_below(traffic, 12) == 0 ? (uint8_t)traffic_below(traffic, 5) : 0;
    uint8_t body[8] = { 0 };

    if (traffic_below(traffic, 40) == 0) {
        body[0] = CANCEL_ONLY;
        return traffic_compose(traffic, REQUEST_halt_all, body, sizeof body, traffic->operator.key,
                               32, now_ns);
    }
    cc_store16(body, TRAFFIC_ASSET);
    body[4] = state;
    return traffic_compose(traffic, REQUEST_market_state, body, sizeof body, traffic->operator.key,
                           32, now_ns);
}

struct traffic_sent *traffic_by_session(struct traffic *traffic, struct traffic_account *account,
                                        uint16_t code, const uint8_t *body, uint32_t body_bytes,
                                        uint64_t now_ns)
{
    uint16_t by = traffic_signer(traffic, account);
    if (by == TRAFFIC_NONE)
        return traffic_session(traffic, account, now_ns);
    const struct traffic_credential *session = &traffic->credentials[by];
    struct traffic_sent *sent =
        traffic_compose(traffic, code, body, body_bytes, session->signer.key, 32, now_ns);
    if (sent == NULL)
        return NULL;
    sent->account = session->account;
    sent->signed_by = by;
    sent->was_live = session->made != 0;
    sent->revoke_known = session->revoked != 0;
    return sent;
}

static uint64_t random_expiry(struct traffic *traffic, uint64_t kind, uint64_t now_ns)
{
    if (kind <= 1)
        return kind; /* IOC, FOK */
    if (kind <= 4)
        return now_ns + UINT64_C(1000000) * (1 + traffic_below(traffic, 3000));
    return UINT64_MAX;
}

static uint64_t random_quantity(struct traffic *traffic)
{
    int64_t quantity = (int64_t)(1000 + traffic_below(traffic, 100000));
    return (uint64_t)((traffic_random(traffic) & 1) != 0 ? quantity : -quantity);
}

static struct traffic_sent *place(struct traffic *traffic, struct traffic_account *account,
                                  uint64_t now_ns)
{
    uint8_t body[48] = { 0 };
    uint64_t kind = traffic_below(traffic, 16);

    cc_store64(body, account->id);
    if (account->portfolios != 0 && traffic_below(traffic, 2) == 0)
        cc_store32(body + 12, (uint32_t)traffic_below(traffic, account->portfolios + 1));
    cc_store64(body + 16, traffic->index_raw - 200 + traffic_below(traffic, 400));
    cc_store64(body + 24, random_quantity(traffic));
    cc_store64(body + 32, random_expiry(traffic, kind, now_ns));
    body[40] = kind == 5;
    body[41] = kind == 6;
    body[42] = (uint8_t)traffic_below(traffic, 4);
    cc_store16(body + 44, TRAFFIC_ASSET);
    return traffic_by_session(traffic, account, REQUEST_place_limit_order, body, sizeof body,
                              now_ns);
}

static struct traffic_sent *place_market(struct traffic *traffic, struct traffic_account *account,
                                         uint64_t now_ns)
{
    uint8_t body[40] = { 0 };

    cc_store64(body, account->id);
    cc_store64(body + 16, random_quantity(traffic));
    cc_store16(body + 28, TRAFFIC_ASSET);
    body[32] = traffic_below(traffic, 4) == 0;
    return traffic_by_session(traffic, account, REQUEST_place_market_order, body, sizeof body,
                              now_ns);
}

/* A recent request of this account, an order if one is found soon. */
static struct traffic_sent *some_order(struct traffic *traffic,
                                       const struct traffic_account *account)
{
    uint32_t newest = traffic->sent_count < RECENT ? traffic->sent_count : RECENT;
    struct traffic_sent *target = NULL;

    for (int i = 0; i < CANCEL_TRIES; i++) {
        target = &traffic->sent[traffic->sent_count - 1 - traffic_below(traffic, newest)];
        if (&traffic->accounts[target->account] == account && !target->ended &&
            traffic_command(target)->code == REQUEST_place_limit_order)
            break;
    }
    return target;
}

/* Where the id of a request stands; an unsigned one has none. */
static const uint8_t *target_id(struct traffic_sent *target)
{
    static const uint8_t none[16];
    const uint8_t *id = command_request_id(traffic_command(target));
    return id == NULL ? none : id;
}

static struct traffic_sent *change(struct traffic *traffic, struct traffic_account *account,
                                   uint16_t code, uint64_t now_ns)
{
    struct traffic_sent *target = some_order(traffic, account);
    uint8_t body[72] = { 0 };

    cc_store64(body, account->id);
    if (traffic_command(target)->code == REQUEST_place_limit_order)
        memcpy(body + 8, command_body(traffic_command(target)) + 8, 8); /* its portfolio */
    memcpy(body + 16, target_id(target), 16);
    if (code == REQUEST_order_cancel) {
        cc_store16(body + 32, TRAFFIC_ASSET);
        return traffic_by_session(traffic, account, code, body, 40, now_ns);
    }
    if (code == REQUEST_order_reduction) {
        cc_store64(body + 32, 1000 + traffic_below(traffic, 20000));
        cc_store16(body + 48, TRAFFIC_ASSET);
        return traffic_by_session(traffic, account, code, body, 56, now_ns);
    }
    cc_store64(body + 32, traffic->index_raw - 200 + traffic_below(traffic, 400));
    cc_store64(body + 40, random_quantity(traffic));
    cc_store64(body + 48, UINT64_MAX);
    cc_store16(body + 60, TRAFFIC_ASSET);
    return traffic_by_session(traffic, account, code, body, 72, now_ns);
}

static struct traffic_sent *cancel_all(struct traffic *traffic, struct traffic_account *account,
                                       uint64_t now_ns)
{
    uint8_t body[24] = { 0 };
    cc_store64(body, account->id);
    cc_store32(body + 12, UINT32_MAX);
    cc_store16(body + 16, UINT16_MAX);
    body[20] = (uint8_t)traffic_below(traffic, 3);
    return traffic_by_session(traffic, account, REQUEST_cancel_all_orders, body, sizeof body,
                              now_ns);
}

/* The same bytes once more, on whatever link: what a client does after a time-out. */
static struct traffic_sent *retry(struct traffic *traffic, uint32_t original, uint64_t now_ns)
{
    if (traffic_command(&traffic->sent[original])->kind == COMMAND_UNSIGNED ||
        traffic->sent_count == TRAFFIC_SENT_MAX)
        return oracle(traffic, now_ns);
    struct traffic_sent *sent = &traffic->sent[traffic->sent_count];
    const struct traffic_sent *first = &traffic->sent[original];
    *sent = (struct traffic_sent){
        .account = first->account,
        .is_retry = true,
        .signed_by = first->signed_by,
        .makes = first->makes,
        .ends = first->ends,
        .original = original,
    };
    memcpy(sent->bytes, first->bytes, sizeof sent->bytes);
    traffic_command(sent)->token = traffic->sent_count++;
    if (sent->signed_by != TRAFFIC_NONE) {
        sent->was_live = traffic->credentials[sent->signed_by].made != 0;
        sent->revoke_known = traffic->credentials[sent->signed_by].revoked != 0;
    }
    return sent;
}

static struct traffic_sent *retry_any(struct traffic *traffic, uint64_t now_ns)
{
    uint32_t newest = traffic->sent_count < RECENT / 2 ? traffic->sent_count : RECENT / 2;
    uint32_t pick = traffic->sent_count - 1 - (uint32_t)traffic_below(traffic, newest);
    return retry(traffic, traffic->sent[pick].original, now_ns);
}

/* The client does not know its account yet: the answer may be on its way, or lost. It asks again,
 * with the same bytes if it may (W5: the answer is repeated). */
static struct traffic_sent *account_unknown(struct traffic *traffic,
                                            struct traffic_account *account, uint64_t now_ns)
{
    uint64_t pick = traffic_below(traffic, 12);
    if (pick > 1)
        return oracle(traffic, now_ns);
    if (pick == 1 && traffic->duplicates)
        return retry(traffic, account->creation, now_ns);
    account->created = false;
    return traffic_member(traffic, account, now_ns);
}

struct traffic_sent *traffic_next(struct traffic *traffic, uint64_t now_ns)
{
    struct traffic_account *account = &traffic->accounts[traffic_below(traffic, TRAFFIC_ACCOUNTS)];
    uint64_t pick = traffic_below(traffic, 100);

    if (traffic->sent_count > 20 && pick < 6 && traffic->duplicates)
        return retry_any(traffic, now_ns);
    if (pick < 12 || traffic->published_ns == 0)
        return oracle(traffic, now_ns);
    if (!account->created)
        return traffic_member(traffic, account, now_ns);
    if (account->id == 0)
        return account_unknown(traffic, account, now_ns);
    if (!account->funded || pick == 12)
        return deposit(traffic, account, now_ns);
    if (pick <= 15)
        return traffic_member(traffic, account, now_ns);
    if (pick == 17)
        return market_state(traffic, now_ns);
    if (pick == 16)
        return cancel_all(traffic, account, now_ns);
    if (pick < 34)
        return change(traffic, account, REQUEST_order_cancel, now_ns);
    if (pick < 38)
        return change(traffic, account, REQUEST_order_reduction, now_ns);
    if (pick < 42)
        return change(traffic, account, REQUEST_order_replacement, now_ns);
    if (pick < 45)
        return place_market(traffic, account, now_ns);
    if (pick < 66 && traffic->rules)
        return traffic_rules(traffic, account, now_ns);
    return place(traffic, account, now_ns);
}

bool traffic_consumed(const struct traffic_sent *sent)
{
    const struct command *command = (const struct command *)(const void *)sent->bytes;
    /* R11 row 3 leaves the id unused when the credential is unknown; what net answers by itself
     * has no sequence, and codes 2000 and above have no id. */
    return sent->state == TRAFFIC_ACKED && sent->answer.sequence != 0 &&
           command->kind != COMMAND_UNSIGNED &&
           sent->answer.status != STATUS_rejected_unauthorized &&
           sent->answer.status != STATUS_session_rejected;
}

/* The order that a cancellation named is over, whichever entry placed it. */
static void learn_cancel(struct traffic *traffic, struct traffic_sent *sent)
{
    const uint8_t *id = command_body(traffic_command(sent)) + 16;
    uint32_t at = sent->original, oldest = at > 2 * RECENT ? at - 2 * RECENT : 0;

    while (at-- > oldest) {
        struct traffic_sent *order = &traffic->sent[at];
        const struct command *command = traffic_command(order);
        if (command->kind != COMMAND_UNSIGNED && !order->is_retry &&
            order->account == sent->account && memcmp(command_request_id(command), id, 16) == 0)
            order->ended = true;
    }
}

static void learn_rules(struct traffic_account *account, struct traffic_sent *sent)
{
    const struct command *command = traffic_command(sent);

    account->portfolios += command->code == REQUEST_create_portfolio;
    if (command->code == REQUEST_withdraw)
        memcpy(account->withdrawal, sent->answer.id, sizeof account->withdrawal);
    if (command->code == REQUEST_place_conditional_order) {
        memcpy(account->conditional, command_request_id(command), sizeof account->conditional);
        memcpy(account->conditional_at, command_body(command) + 8, sizeof account->conditional_at);
    }
}

void traffic_learn(struct traffic *traffic, struct traffic_sent *sent)
{
    if (traffic_command(sent)->code == REQUEST_order_cancel &&
        sent->answer.status == STATUS_request_completed)
        learn_cancel(traffic, sent);
    if (sent->answer.status == STATUS_request_completed)
        learn_rules(&traffic->accounts[sent->account], sent);
    traffic_learn_member(traffic, sent);
}
