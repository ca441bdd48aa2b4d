/* Members of a simulated exchange: what they ask about themselves, and with what they sign. */
#include "crypto/derive.h"
#include "sim_traffic.h"

enum { SIGNER_TRIES = 8, RACES = 6, REVOKED_ODDS = 24, AT_SOME = 1 };

static struct traffic_sent *entry(struct traffic *traffic)
{
    if (traffic->sent_count == TRAFFIC_SENT_MAX)
        return NULL;
    struct traffic_sent *sent = &traffic->sent[traffic->sent_count];
    *sent = (struct traffic_sent){
        .original = traffic->sent_count,
        .signed_by = TRAFFIC_NONE,
        .makes = TRAFFIC_NONE,
        .ends = TRAFFIC_NONE,
    };
    traffic_command(sent)->token = traffic->sent_count++;
    return sent;
}

static void count_slots(struct command *command)
{
    INVARIANT(command_bytes(command) <= TRAFFIC_COMMAND_BYTES);
    command->slot_count =
        (uint16_t)command_slots(command_bytes(command) - (uint32_t)sizeof *command);
}

struct traffic_sent *traffic_compose(struct traffic *traffic, uint16_t code, const uint8_t *body,
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
    count_slots(command);
    derive_command(command, traffic->key);
    if (code == REQUEST_place_limit_order) /* what was filled is compared with the fills read */
        command->flags |= COMMAND_WANTS_EVIDENCE;
    return sent;
}

static uint8_t account_number(const struct traffic *traffic, const struct traffic_account *account)
{
    return (uint8_t)(account - traffic->accounts);
}

/* A credential that a request is about to make; TRAFFIC_NONE when the list is full. */
static uint16_t make(struct traffic *traffic, const struct traffic_account *account, bool is_key)
{
    uint8_t seed[SIGNER_SEED_BYTES] = { 0 };
    if (traffic->credential_count == TRAFFIC_CREDENTIALS)
        return TRAFFIC_NONE;
    struct traffic_credential *made = &traffic->credentials[traffic->credential_count];
    made->account = account_number(traffic, account);
    made->is_key = is_key;
    cc_store64(seed, traffic_random(traffic));
    if (!is_key)
        signer_ed25519(&made->signer, seed);
    return (uint16_t)traffic->credential_count++;
}

uint16_t traffic_signer(struct traffic *traffic, struct traffic_account *account)
{
    uint8_t number = account_number(traffic, account);

    if (account->racing != 0 && traffic_below(traffic, 2) == 0) {
        account->racing--;
        return account->newest_revoked;
    }
    for (int i = 0; i < SIGNER_TRIES * SIGNER_TRIES && traffic->credential_count != 0; i++) {
        uint16_t pick = (uint16_t)traffic_below(traffic, traffic->credential_count);
        const struct traffic_credential *credential = &traffic->credentials[pick];
        if (credential->account == number && !credential->is_key && credential->made != 0 &&
            (!credential->revoke_sent || traffic_below(traffic, REVOKED_ODDS) == 0))
            return pick;
    }
    return TRAFFIC_NONE;
}

struct traffic_sent *traffic_by_master(struct traffic *traffic, struct traffic_account *account,
                                       uint16_t code, const uint8_t *body, uint32_t body_bytes,
                                       uint64_t now_ns)
{
    struct traffic_sent *sent = traffic_compose(traffic, code, body, body_bytes, account->master,
                                                sizeof account->master, now_ns);
    if (sent != NULL)
        sent->account = account_number(traffic, account);
    return sent;
}

static struct traffic_sent *create_account(struct traffic *traffic, struct traffic_account *account,
                                           uint64_t now_ns)
{
    uint8_t body[80] = { 0 };
    uint16_t made = make(traffic, account, false);
    if (made == TRAFFIC_NONE)
        return NULL;
    memcpy(body, traffic->credentials[made].signer.key, 32);
    account->created = true;
    account->creation = traffic->sent_count;
    struct traffic_sent *sent = traffic_by_master(
        traffic, account, REQUEST_create_account_secp256k1, body, sizeof body, now_ns);
    if (sent != NULL)
        sent->makes = made;
    return sent;
}

struct traffic_sent *traffic_session(struct traffic *traffic, struct traffic_account *account,
                                     uint64_t now_ns)
{
    uint8_t body[56] = { 0 };
    uint16_t made = make(traffic, account, false);
    if (made == TRAFFIC_NONE)
        return NULL;
    cc_store64(body, account->id);
    memcpy(body + 8, traffic->credentials[made].signer.key, 32);
    cc_store32(body + 48, UINT32_MAX); /* no pin */
    struct traffic_sent *sent =
        traffic_by_master(traffic, account, REQUEST_create_session, body, sizeof body, now_ns);
    if (sent != NULL)
        sent->makes = made;
    return sent;
}

static struct traffic_sent *create_key(struct traffic *traffic, struct traffic_account *account,
                                       uint64_t now_ns)
{
    uint8_t body[48] = { 0 };
    uint16_t made = make(traffic, account, true);
    if (made == TRAFFIC_NONE)
        return NULL;
    cc_store64(body, account->id);
    cc_store32(body + 8, UINT32_MAX); /* no pin */
    body[12] = 1;                     /* READ_WRITE */
    struct traffic_sent *sent =
        traffic_by_master(traffic, account, REQUEST_create_api_key, body, sizeof body, now_ns);
    if (sent == NULL)
        return NULL;
    sent->makes = made;
    memcpy(traffic->credentials[made].secret, command_request_id(traffic_command(sent)), 16);
    return sent;
}

/* A credential of the account that was made and that nobody asked to revoke. */
static uint16_t some_live(struct traffic *traffic, const struct traffic_account *account,
                          bool is_key)
{
    for (int i = 0; i < SIGNER_TRIES && traffic->credential_count != 0; i++) {
        uint16_t pick = (uint16_t)traffic_below(traffic, traffic->credential_count);
        const struct traffic_credential *credential = &traffic->credentials[pick];
        if (&traffic->accounts[credential->account] == account && credential->is_key == is_key &&
            credential->made != 0 && !credential->revoke_sent)
            return pick;
    }
    return TRAFFIC_NONE;
}

/* From here on the client signs a few requests with what it has just revoked. */
static struct traffic_sent *revoke(struct traffic *traffic, struct traffic_account *account,
                                   uint64_t now_ns)
{
    bool is_key = traffic_below(traffic, 4) == 0;
    uint16_t target = some_live(traffic, account, is_key);
    uint8_t body[40] = { 0 };
    if (target == TRAFFIC_NONE)
        return traffic_session(traffic, account, now_ns);
    struct traffic_credential *credential = &traffic->credentials[target];
    cc_store64(body, account->id);
    credential->revoke_sent = true;
    memcpy(body + 8, is_key ? credential->id : credential->signer.key, is_key ? 16 : 32);
    struct traffic_sent *sent = traffic_by_master(
        traffic, account, is_key ? REQUEST_revoke_api_key : REQUEST_revoke_session, body,
        is_key ? 24 : 40, now_ns);
    if (sent == NULL)
        return NULL;
    sent->ends = target;
    if (!is_key) {
        account->newest_revoked = target;
        account->racing = RACES;
    }
    return sent;
}

static struct traffic_sent *revoke_all(struct traffic *traffic, struct traffic_account *account,
                                       uint64_t now_ns)
{
    uint8_t body[8] = { 0 };
    cc_store64(body, account->id);
    for (uint32_t i = 0; i < traffic->credential_count; i++) {
        struct traffic_credential *credential = &traffic->credentials[i];
        if (&traffic->accounts[credential->account] != account || credential->is_key)
            continue;
        if (credential->made != 0 && !credential->revoke_sent) {
            account->newest_revoked = (uint16_t)i;
            account->racing = RACES;
        }
        credential->revoke_sent = true;
    }
    struct traffic_sent *sent =
        traffic_by_master(traffic, account, REQUEST_revoke_all_sessions, body, sizeof body, now_ns);
    if (sent != NULL)
        sent->ends = TRAFFIC_ALL;
    return sent;
}

struct traffic_sent *traffic_by_key(struct traffic *traffic, struct traffic_account *account,
                                    uint16_t code, const uint8_t *body, uint32_t body_bytes,
                                    uint32_t key_at)
{
    uint16_t by = some_live(traffic, account, true);
    struct traffic_sent *sent = by == TRAFFIC_NONE ? NULL : entry(traffic);
    if (sent == NULL)
        return NULL;
    struct command *command = traffic_command(sent);
    command->code = code;
    command->kind = COMMAND_UNSIGNED;
    command->payload_bytes = (uint16_t)body_bytes;
    memcpy(command->bytes, body, body_bytes);
    memcpy(command->bytes + key_at, traffic->credentials[by].id, 16);
    count_slots(command);
    derive_command(command, traffic->key);
    sent->account = account_number(traffic, account);
    sent->signed_by = by;
    sent->was_live = true;
    return sent;
}

/* Code 2001, as net makes it for an API key: without signature and id. */
static struct traffic_sent *set_leverage(struct traffic *traffic, struct traffic_account *account)
{
    uint8_t body[40] = { 0 };

    cc_store64(body + 16, account->id);
    cc_store32(body + 32, (uint32_t)(1 + traffic_below(traffic, 20)));
    cc_store16(body + 36, TRAFFIC_ASSET);
    return traffic_by_key(traffic, account, REQUEST_set_leverage, body, sizeof body, 0);
}

struct traffic_sent *traffic_member(struct traffic *traffic, struct traffic_account *account,
                                    uint64_t now_ns)
{
    uint64_t pick = traffic_below(traffic, 20);
    struct traffic_sent *sent;

    if (!account->created)
        return create_account(traffic, account, now_ns);
    if (pick < 5) {
        sent = set_leverage(traffic, account);
        return sent != NULL ? sent : create_key(traffic, account, now_ns);
    }
    if (pick < 8)
        return create_key(traffic, account, now_ns);
    if (pick < 14 || !traffic->revokes)
        return traffic_session(traffic, account, now_ns);
    if (pick == 14)
        return revoke_all(traffic, account, now_ns);
    return revoke(traffic, account, now_ns);
}

static void learn_revocation(struct traffic_credential *credential, uint64_t sequence)
{
    if (credential->made != 0 && credential->made < sequence &&
        (credential->revoked == 0 || sequence < credential->revoked))
        credential->revoked = sequence;
}

/* A revocation of all sessions was sent before the client knew of this one: it may be behind it. */
static bool may_be_revoked_with_all(const struct traffic *traffic, uint8_t account,
                                    uint64_t sequence)
{
    for (uint32_t i = 0; i < traffic->sent_count; i++) {
        const struct traffic_sent *sent = &traffic->sent[i];
        if (sent->ends == TRAFFIC_ALL && sent->account == account &&
            sent->state != TRAFFIC_REFUSED &&
            (sent->state != TRAFFIC_ACKED || sent->answer.sequence > sequence))
            return true;
    }
    return false;
}

static bool is_made(const struct answer *answer)
{
    bool repeated = answer->status == STATUS_duplicate_request_id &&
                    (answer->members & ANSWER_HAS_ORIGINAL) != 0;
    uint8_t status = repeated ? answer->original_status : answer->status;

    return status == STATUS_account_created_with_session || status == STATUS_session_created ||
           (status == STATUS_request_completed && (answer->members & ANSWER_HAS_ID) != 0);
}

/* A repeated answer does not say at which sequence: at some. */
static void learn_made(struct traffic *traffic, const struct traffic_sent *sent)
{
    struct traffic_credential *credential = &traffic->credentials[sent->makes];

    if (credential->made != 0)
        return;
    credential->made = sent->answer.sequence != 0 ? sent->answer.sequence : AT_SOME;
    memcpy(credential->id, sent->answer.id, sizeof credential->id);
    if (!credential->is_key &&
        may_be_revoked_with_all(traffic, credential->account, credential->made))
        credential->revoke_sent = true;
}

void traffic_learn_member(struct traffic *traffic, struct traffic_sent *sent)
{
    const struct answer *answer = &sent->answer;
    if (sent->makes != TRAFFIC_NONE && is_made(answer))
        learn_made(traffic, sent);
    if (traffic_command(sent)->code == REQUEST_create_account_secp256k1 &&
        (answer->members & ANSWER_HAS_ACCOUNT) != 0)
        traffic->accounts[sent->account].id = answer->account_id;
    if (answer->sequence == 0 ||
        (answer->status != STATUS_session_revoked && answer->status != STATUS_request_completed))
        return;
    if (sent->ends == TRAFFIC_ALL) {
        for (uint32_t i = 0; i < traffic->credential_count; i++)
            if (traffic->credentials[i].account == sent->account &&
                !traffic->credentials[i].is_key && traffic->credentials[i].made > AT_SOME)
                learn_revocation(&traffic->credentials[i], answer->sequence);
    } else if (sent->ends != TRAFFIC_NONE) {
        learn_revocation(&traffic->credentials[sent->ends], answer->sequence);
    }
}
