/* Random accounts, sessions, keys, deposits, expiry, repetitions and forgotten ids against a model
 * that keeps plain lists and walks them (R10, R11, W5, W8); a second engine follows. */
#include "host.h"
#include "rig.h"

enum {
    STEPS = 60000,
    ACCOUNTS = 24,
    SESSIONS_MAX = 20000,
    REQUESTS_MAX = STEPS + 1,
    KEYS = 40, /* session keys in play, shared by all accounts */
    REFS = 3000,
    SESSIONS_LIMIT = 12,
    PARENT_LIMIT = 9,
    API_LIMIT = 5,
};

#define MS UINT64_C(1000000)

static struct host host, follower;
static uint64_t seed;

struct model_session {
    uint64_t account, expires_ns;
    uint32_t key;
    bool is_revoked;
    uint8_t scope;
};

/* A request that was sequenced and used its id. */
struct model_request {
    struct host_request request;
    uint8_t body[80], key[33], extra[32], id[16];
    uint64_t account;
    struct engine_result first;
};

static struct model_session sessions[SESSIONS_MAX];
static uint32_t session_count, account_count;
static uint64_t balances[ACCOUNTS + 1], credited;
static uint32_t api_keys[ACCOUNTS + 1];
static bool seen_refs[REFS];
static struct model_request requests[REQUESTS_MAX];
static uint32_t request_count;
static uint32_t status_counts[STATUS_COUNT];

static uint64_t now(void)
{
    return engine_time_next(host.engine, host.clock_ns);
}

static struct model_session *live_session(uint64_t account, uint32_t key, uint64_t t_ns)
{
    for (uint32_t i = 0; i < session_count; i++)
        if (sessions[i].account == account && sessions[i].key == key && !sessions[i].is_revoked &&
            t_ns < sessions[i].expires_ns)
            return &sessions[i];
    return NULL;
}

static uint32_t live_count(uint64_t account, uint64_t t_ns)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < session_count; i++)
        count += sessions[i].account == account && !sessions[i].is_revoked &&
                 t_ns < sessions[i].expires_ns;
    return count;
}

static void add_session(uint64_t account, uint32_t key, uint64_t expires_ns, uint8_t scope)
{
    CHECK(session_count < SESSIONS_MAX);
    sessions[session_count++] = (struct model_session){
        .account = account, .key = key, .expires_ns = expires_ns, .scope = scope
    };
}

/* Sends it with a fresh id and keeps it for repetitions when the id was used. */
static enum status send_request(struct model_request *kept, uint64_t account, bool uses_id)
{
    kept->request.body = kept->body;
    kept->request.key = kept->key;
    kept->request.extra = kept->extra;
    enum status status = host_signed(&host, &kept->request);
    CHECK(!host.is_peeked);
    status_counts[status]++;
    kept->first = host.result;
    kept->account = account;
    memcpy(kept->id, host.id, 16);
    request_count += uses_id;
    return status;
}

static struct model_request *fresh_request(uint16_t code, uint32_t body_bytes, uint32_t key_bytes)
{
    struct model_request *kept = &requests[request_count];

    memset(kept, 0, sizeof *kept);
    kept->request = (struct host_request){ .code = code,
                                           .flags = COMMAND_SESSION_KEY_VALID,
                                           .body_bytes = body_bytes,
                                           .key_bytes = key_bytes };
    return kept;
}

/* A master key that has an account (R11, code 11). */
static void step_account_again(void)
{
    struct model_request *kept = fresh_request(REQUEST_create_account_secp256k1, 80, 33);

    host_master_key(1 + rig_below(&seed, account_count), kept->key);
    host_session_key(1, kept->body);
    CHECK(send_request(kept, 0, true) == STATUS_creation_rejected && host.result.members == 0);
}

/* Key n is that of account n. */
static void step_account(void)
{
    uint32_t n = account_count + 1;
    struct model_request *kept = fresh_request(REQUEST_create_account_secp256k1, 80, 33);

    if (account_count == ACCOUNTS || (account_count > 0 && rig_below(&seed, 3) == 0)) {
        step_account_again();
        return;
    }
    host_master_key(n, kept->key);
    host_session_key(n, kept->body);
    CHECK(send_request(kept, 0, true) == STATUS_account_created_with_session);
    CHECK(host.result.account_id == n);
    account_count = n;
    add_session(n, n, host.result.expires_at_ns, 0);
}

static void step_create_session(void)
{
    uint64_t account = 1 + rig_below(&seed, account_count);
    uint32_t key = rig_below(&seed, KEYS), signer = (uint32_t)account;
    struct model_request *kept = fresh_request(REQUEST_create_session, 56, 33);
    uint64_t life_ns = (1 + (uint64_t)rig_below(&seed, 200)) * HOST_SECOND_NS;
    uint8_t scope = (uint8_t)rig_below(&seed, 2);

    if (rig_below(&seed, 10) == 0)
        signer = 1 + rig_below(&seed, ACCOUNTS + 5); /* often not its key */
    host_master_key(signer, kept->key);
    cc_store64(kept->body, account);
    host_session_key(key, kept->body + 8);
    uint64_t t_ns = now(), expires_ns = t_ns + life_ns;
    cc_store64(kept->body + 40, expires_ns);
    cc_store32(kept->body + 48, rig_below(&seed, 3) == 0 ? 0 : UINT32_MAX);
    kept->body[52] = scope;
    bool is_known = signer == account;
    enum status want = STATUS_session_created;
    if (!is_known || live_session(account, key, t_ns) != NULL)
        want = STATUS_session_rejected;
    else if (live_count(account, t_ns) >= PARENT_LIMIT)
        want = STATUS_session_rejected_max_sessions;
    CHECK(send_request(kept, account, is_known) == want);
    if (want == STATUS_session_created) {
        CHECK(host.result.expires_at_ns == expires_ns);
        add_session(account, key, expires_ns, scope);
    }
}

static void step_revoke(void)
{
    uint64_t account = 1 + rig_below(&seed, account_count);
    uint32_t key = rig_below(&seed, KEYS);
    struct model_request *kept = fresh_request(REQUEST_revoke_session, 40, 33);

    host_master_key((uint32_t)account, kept->key);
    cc_store64(kept->body, account);
    host_session_key(key, kept->body + 8);
    struct model_session *session = live_session(account, key, now());
    CHECK(send_request(kept, account, true) ==
          (session != NULL ? STATUS_session_revoked : STATUS_session_rejected));
    if (session != NULL)
        session->is_revoked = true;
}

/* A session's own command: code 4 with an asset that does not exist. */
static void step_use(void)
{
    uint64_t account = 1 + rig_below(&seed, account_count);
    uint32_t key = rig_below(&seed, KEYS);
    struct model_request *kept = fresh_request(REQUEST_cancel_all_orders, 24, 32);

    host_session_key(key, kept->key);
    cc_store64(kept->body, account);
    cc_store16(kept->body + 16, 999);
    bool is_live = live_session(account, key, now()) != NULL;
    CHECK(send_request(kept, account, is_live) ==
          (is_live ? STATUS_rejected_market_not_found : STATUS_rejected_unauthorized));
}

static void step_api_key(void)
{
    uint64_t account = 1 + rig_below(&seed, account_count);
    uint32_t key = rig_below(&seed, KEYS);
    struct model_request *kept = fresh_request(REQUEST_create_api_key, 48, 32);

    host_session_key(key, kept->key);
    cc_store64(kept->body, account);
    cc_store32(kept->body + 8, 0); /* pin 0: within any session's */
    kept->request.extra_bytes = 32;
    cc_store64(kept->extra, rig_random(&seed));
    struct model_session *session = live_session(account, key, now());
    enum status want = STATUS_rejected_unauthorized;
    if (session != NULL && session->scope == 0)
        want = api_keys[account] < API_LIMIT ? STATUS_request_completed
                                             : STATUS_order_rejected_invalid;
    CHECK(send_request(kept, account, session != NULL) == want);
    api_keys[account] += want == STATUS_request_completed;
}

static void step_deposit(void)
{
    uint64_t account = rig_below(&seed, ACCOUNTS + 2), amount = rig_below(&seed, 3) * UINT64_C(500);
    uint32_t ref = rig_below(&seed, REFS);
    struct model_request *kept = fresh_request(REQUEST_deposit_credit, 56, 32);

    memcpy(kept->key, host_operator_key, 32);
    cc_store64(kept->body, account);
    cc_store32(kept->body + 12, rig_below(&seed, 2));
    cc_store64(kept->body + 16, amount);
    cc_store32(kept->body + 52, ref);
    enum status want = STATUS_request_completed;
    bool is_seen = seen_refs[ref];
    if (!is_seen && (account == 0 || account > account_count))
        want = STATUS_rejected_invalid_portfolio_id;
    else if (!is_seen && amount == 0)
        want = STATUS_rejected_size_zero;
    CHECK(send_request(kept, UINT64_MAX, true) == want);
    CHECK(host.result.reason == (is_seen ? REASON_already_credited : REASON_none));
    if (!is_seen && want == STATUS_request_completed) {
        seen_refs[ref] = true;
        balances[account] += amount;
        credited += amount;
    }
}

static bool credential_is_good(const struct model_request *kept, uint64_t t_ns)
{
    if (kept->request.code != REQUEST_cancel_all_orders &&
        kept->request.code != REQUEST_create_api_key)
        return true; /* master keys and operators live on */
    for (uint32_t key = 0; key < KEYS; key++) {
        uint8_t bytes[32];
        host_session_key(key, bytes);
        if (memcmp(bytes, kept->key, 32) == 0)
            return live_session(kept->account, key, t_ns) != NULL;
    }
    return false;
}

/* W5: the same request again answers with its first outcome while its id is in the window. */
static void step_repeat(void)
{
    uint32_t back = rig_below(&seed, request_count < 600 ? request_count : 600);
    struct model_request *kept = &requests[request_count - 1 - back];
    const struct engine_result *first = &kept->first;

    kept->request.id = kept->id;
    uint64_t t_ns = now();
    uint64_t id_ms = first->processed_at_ns / MS; /* host dates its ids so */
    if (id_ms + 35000 >= t_ns / MS && !credential_is_good(kept, t_ns))
        return; /* row 3: another test's matter */
    enum status status = host_signed(&host, &kept->request);
    CHECK(host.is_peeked && host.result.sequence == 0 && host.result.processed_at_ns == t_ns);
    status_counts[status]++;
    if (id_ms + 35000 < t_ns / MS) {
        CHECK(status == STATUS_request_dropped);
        return;
    }
    CHECK(status == STATUS_duplicate_request_id);
    CHECK(host.result.original_status == first->status);
    CHECK(host.result.original_processed_at_ns == first->processed_at_ns);
    CHECK(host.result.members == (first->members | ANSWER_HAS_ORIGINAL));
    CHECK(host.result.account_id == first->account_id);
    CHECK(host.result.expires_at_ns == first->expires_at_ns);
    CHECK(memcmp(host.result.id, first->id, 16) == 0);
}

static void step(void)
{
    uint32_t kind = rig_below(&seed, 100);

    host.clock_ns += rig_below(&seed, 40) * MS;
    if (rig_below(&seed, 500) == 0)
        host.clock_ns += rig_below(&seed, 300) * HOST_SECOND_NS;
    if (kind < 2)
        step_account();
    else if (kind < 22)
        step_create_session();
    else if (kind < 32)
        step_revoke();
    else if (kind < 52)
        step_use();
    else if (kind < 56)
        step_api_key();
    else if (kind < 70)
        step_deposit();
    else
        step_repeat();
}

static void check_sums(void)
{
    uint8_t own[32], other[32];

    uint64_t sum = 0;
    for (uint32_t account = 1; account <= account_count; account++)
        sum += balances[account];
    CHECK(sum == credited);
    host_image_hash(&host, own);
    host_image_hash(&follower, other);
    CHECK(memcmp(own, other, sizeof own) == 0);
}

int main(void)
{
    static const char options[] = "engine.credentials=4096\nlimits.api_keys=5\n"
                                  "limits.sessions=12\nlimits.sessions_per_parent=9\n";

    static_assert(SESSIONS_LIMIT > PARENT_LIMIT, "an account has one parent key");
    host_open(&follower, options);
    host_open(&host, options);
    host.mirror = &follower;
    while (account_count == 0)
        step_account();
    for (uint32_t i = 0; i < STEPS; i++) {
        step();
        if (i % 1000 == 0)
            check_sums();
    }
    check_sums();
    /* Every outcome of these codes came up. */
    CHECK(status_counts[STATUS_session_created] > 100 &&
          status_counts[STATUS_session_revoked] > 50);
    CHECK(status_counts[STATUS_session_rejected] > 100);
    CHECK(status_counts[STATUS_session_rejected_max_sessions] > 10);
    CHECK(status_counts[STATUS_duplicate_request_id] > 1000);
    CHECK(status_counts[STATUS_request_dropped] > 100);
    CHECK(status_counts[STATUS_rejected_unauthorized] > 100);
    CHECK(status_counts[STATUS_rejected_size_zero] > 10);
    CHECK(status_counts[STATUS_rejected_invalid_portfolio_id] > 10);
    CHECK(status_counts[STATUS_creation_rejected] > 10);
    host_close(&host);
    host_close(&follower);
    return 0;
}
