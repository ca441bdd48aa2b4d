/* Arms that the run before has left set (wire.md W9, decision 68): each start gives them their
 * grace, then authors 2011; those of grace 0 end before a client's first command. */
#include "check.h"
#include "core_rig.h"
#include "crypto/derive.h"
#include "crypto/signer.h"
#include "engine/disconnect.h"
#include "node/fold.h"

enum { ACCOUNTS = 3, BTC = 1, OK = STATUS_request_completed, ARMS_MAX = DISCONNECT_ARMS_MAX };

#define MS_NS UINT64_C(1000000)

/* The key that the rig configures for operator and oracle. */
static uint8_t operator_key[32];

static struct member {
    uint8_t secret[32], master[33];
    struct signer_ed25519 session;
    uint8_t api_key[16];
    uint64_t id;
} members[ACCOUNTS];

struct sending {
    uint16_t code;
    const uint8_t *body;
    uint32_t body_bytes;
    const uint8_t *key; /* NULL: unsigned */
    uint32_t key_bytes;
};

/* Into the ring of a net thread: nobody has taken it yet. Gives the id of a signed one. */
static struct uuid send(const struct sending *request)
{
    static struct rebuild_buffer buffer;
    static uint64_t ids = 1 << 30;
    struct command *command = (struct command *)(void *)buffer.bytes;
    uint8_t random[10] = { 0 }, *to = command->bytes;

    memset(&buffer, 0, sizeof buffer);
    cc_store64(random, ++ids);
    struct uuid id = uuid_make_v7(clock_now_ns(&core_rig.clock) / 1000000, random);
    bool is_signed = request->key != NULL;
    uint32_t body_at = is_signed ? REQUEST_BODY_AT : 0;
    command->code = request->code;
    command->kind = is_signed ? COMMAND_SIGNED : COMMAND_UNSIGNED;
    command->payload_bytes = (uint16_t)(body_at + request->body_bytes);
    command->key_bytes = (uint16_t)request->key_bytes;
    command->extra_bytes = request->code == REQUEST_create_api_key ? SECRET_HASH_BYTES : 0;
    if (is_signed) {
        to[0] = REQUEST_VERSION;
        to[1] = request->key_bytes == 33 ? SIGNATURE_SECP256K1 : SIGNATURE_ED25519;
        cc_store16(to + 2, request->code);
        memcpy(to + REQUEST_HEADER_BYTES, id.bytes, sizeof id.bytes);
        memcpy(to + command->payload_bytes, request->key, request->key_bytes);
    }
    memcpy(to + body_at, request->body, request->body_bytes);
    if (command->extra_bytes != 0)
        memcpy(to + command->payload_bytes + command->key_bytes + SIGNATURE_BYTES, id.bytes,
               sizeof id.bytes);
    command->slot_count =
        (uint16_t)command_slots(command_bytes(command) - (uint32_t)sizeof *command);
    derive_command(command, mix_key_load(core_rig.core.exchange.hash_key));
    memcpy(ring_claim(&core_rig.commands, command->slot_count), command, command_bytes(command));
    ring_publish(&core_rig.commands);
    return id;
}

/* What the matcher answers to the oldest command, within `turns` turns of it. */
static struct answer answer_within(uint32_t turns)
{
    struct answer answer;

    for (uint32_t i = 0; i < turns && ring_ready(&core_rig.answers) == 0; i++)
        (void)core_match(&core_rig.core);
    CHECK(ring_ready(&core_rig.answers) == 1);
    memcpy(&answer, ring_at(&core_rig.answers, 0), sizeof answer);
    ring_release(&core_rig.answers, 1);
    return answer;
}

static struct answer act(uint16_t code, const uint8_t *body, uint32_t body_bytes,
                         const uint8_t *key, uint32_t key_bytes)
{
    (void)send(&(struct sending){ code, body, body_bytes, key, key_bytes });
    return answer_within(1);
}

static void join(struct member *member, uint8_t number)
{
    uint8_t seed[32] = { number, 7 }, account[80] = { 0 }, key[48] = { 0 }, deposit[56] = { 0 };

    member->secret[0] = 1;
    member->secret[31] = number;
    CHECK(signer_secp256k1_key(member->secret, member->master));
    signer_ed25519(&member->session, seed);
    memcpy(account, member->session.key, 32);
    struct answer answer =
        act(REQUEST_create_account_secp256k1, account, sizeof account, member->master, 33);
    CHECK(answer.status == STATUS_account_created_with_session);
    member->id = answer.account_id;
    cc_store64(key, member->id);
    cc_store32(key + 8, UINT32_MAX); /* not pinned */
    key[12] = 1;                     /* READ_WRITE */
    answer = act(REQUEST_create_api_key, key, sizeof key, member->master, 33);
    CHECK(answer.status == OK);
    memcpy(member->api_key, answer.id, sizeof member->api_key);
    cc_store64(deposit, member->id);
    cc_store64(deposit + 16, UINT64_C(1000000000000));
    deposit[24] = number;
    CHECK(act(REQUEST_deposit_credit, deposit, sizeof deposit, operator_key, 32).status == OK);
}

static void publish(void)
{
    uint8_t body[24] = { 0 };

    cc_store64(body, clock_now_ns(&core_rig.clock));
    cc_store64(body + 8, 1000000); /* 100,000 USDC */
    cc_store16(body + 16, BTC);
    cc_store16(body + 20, 1);
    CHECK(act(REQUEST_oracle_price, body, sizeof body, operator_key, 32).status == OK);
}

/* A bid that rests; gives its id. */
static struct uuid place(const struct member *member)
{
    uint8_t body[48] = { 0 };

    cc_store64(body, member->id);
    cc_store64(body + 16, 999000);
    cc_store64(body + 24, 1000);
    cc_store64(body + 32, UINT64_MAX);
    cc_store16(body + 44, BTC);
    struct uuid id = send(
        &(struct sending){ REQUEST_place_limit_order, body, sizeof body, member->session.key, 32 });
    CHECK(answer_within(1).status == OK);
    return id;
}

static void send_cancel(const struct member *member, const struct uuid *order)
{
    uint8_t body[40] = { 0 };

    cc_store64(body, member->id);
    memcpy(body + 16, order->bytes, 16);
    cc_store16(body + 32, BTC);
    (void)send(
        &(struct sending){ REQUEST_order_cancel, body, sizeof body, member->session.key, 32 });
}

static void arm(const struct member *member, uint32_t number, uint32_t grace_ms, bool armed)
{
    uint8_t body[56] = { 0 };

    cc_store32(body, number);
    memcpy(body + 16, member->api_key, sizeof member->api_key);
    cc_store64(body + 32, member->id);
    cc_store32(body + 44, grace_ms);
    body[48] = armed;
    CHECK(act(REQUEST_disconnect_arm, body, sizeof body, NULL, 0).status == OK);
}

static bool is_armed(uint32_t number)
{
    uint64_t id[2] = { number, 0 };
    struct disconnect_arm primary, replica;
    bool found = disconnect_find_arm(core_rig.core.primary, id, &primary);

    CHECK(disconnect_find_arm(core_rig.core.replica, id, &replica) == found);
    return found;
}

/* Lets `ms` pass, and brings the replica up. */
static void wait_ms(uint64_t ms)
{
    clock_advance(&core_rig.clock, ms * MS_NS);
    core_rig_run(0);
}

static void begin(void)
{
    memset(members, 0, sizeof members);
    core_rig_make();
    core_rig_start();
    for (uint8_t n = 0; n < ACCOUNTS; n++)
        join(&members[n], (uint8_t)(n + 1));
    publish();
}

static void end(void)
{
    uint8_t primary[HASH_BYTES], replica[HASH_BYTES];

    core_rig_run(0);
    fold_image_hash(core_rig.core.primary, primary);
    core_rig_hash(replica);
    CHECK(memcmp(primary, replica, sizeof primary) == 0);
    core_rig_kill();
    core_rig_free();
}

/* Each at its own time behind the start; grace 0 before a command that waited for the start. */
static void test_graces(void)
{
    begin();
    struct uuid first = place(&members[0]), second = place(&members[1]), third = place(&members[2]);
    arm(&members[0], 1, 0, true);
    arm(&members[2], 3, 10000, true);
    arm(&members[1], 2, 2000, true); /* armed last, due before */
    core_rig_run(0);
    core_rig_kill();

    core_rig_start();
    send_cancel(&members[0], &first);
    CHECK(answer_within(1).status == STATUS_rejected_order_not_found);
    core_rig_run(0);
    CHECK(!is_armed(1) && is_armed(2) && is_armed(3));
    wait_ms(1999);
    CHECK(is_armed(2) && is_armed(3));
    wait_ms(1);
    CHECK(!is_armed(2) && is_armed(3));
    send_cancel(&members[1], &second);
    CHECK(answer_within(1).status == STATUS_rejected_order_not_found);
    wait_ms(7999);
    CHECK(is_armed(3));
    send_cancel(&members[2], &third);
    CHECK(answer_within(1).status == OK);
    publish();
    third = place(&members[2]);

    /* A start within the grace gives it anew, from a snapshot too. */
    core_rig_run(0);
    core_rig_stop_roles();
    struct refusal refusal;
    CHECK(core_write_snapshot(&core_rig.core, &refusal) == REFUSAL_none);
    core_rig_kill();
    core_rig_start();
    CHECK(core_rig.core.snapshot_sequence != 0);
    wait_ms(9999);
    CHECK(is_armed(3));
    wait_ms(1);
    CHECK(!is_armed(3));
    send_cancel(&members[2], &third);
    CHECK(answer_within(1).status == STATUS_rejected_order_not_found);

    /* What has ended once is not found by the next start. */
    uint64_t authored = core_rig.core.matcher.grace.count;
    CHECK(authored == 1);
    core_rig_run(0);
    core_rig_kill();
    core_rig_start();
    CHECK(core_rig.core.matcher.grace.count == 0);
    end();
}

/* An arm that this run has set, also under the same id, is not the last run's; one that it has
 * taken back is nobody's. */
static void test_armed_again(void)
{
    begin();
    struct uuid order = place(&members[0]);
    arm(&members[0], 1, 1000, true);
    arm(&members[1], 2, 1000, true);
    arm(&members[2], 3, 1000, true);
    core_rig_run(0);
    core_rig_kill();

    core_rig_start();
    core_rig_run(0);
    clock_advance(&core_rig.clock, 999 * MS_NS);
    arm(&members[0], 1, 1000, true);
    arm(&members[1], 2, 0, false);
    arm(&members[1], 4, 0, true);
    wait_ms(1);
    CHECK(is_armed(1) && !is_armed(2) && !is_armed(3) && is_armed(4));
    wait_ms(20000);
    CHECK(is_armed(1) && is_armed(4));
    send_cancel(&members[0], &order);
    CHECK(answer_within(1).status == OK);
    end();
}

/* More than a turn may author: a client's command waits behind all of them. */
static void test_many(void)
{
    begin();
    for (uint32_t k = 0; k < ACCOUNTS * ARMS_MAX; k++) {
        arm(&members[k / ARMS_MAX], 1000 + k, 0, true);
        if (k % 64 == 0)
            core_rig_run(0); /* the journal's buffer is emptied */
    }
    core_rig_run(0);
    core_rig_kill();

    core_rig_start();
    uint64_t opened = engine_sequence(core_rig.core.primary);
    uint8_t body[24] = { 0 };
    cc_store64(body, members[0].id);
    cc_store16(body + 16, UINT16_MAX);
    (void)send(&(struct sending){ REQUEST_cancel_all_orders, body, sizeof body,
                                  members[0].session.key, 32 });
    for (uint32_t turn = 1; turn <= ACCOUNTS; turn++) {
        CHECK(ring_ready(&core_rig.answers) == 0);
        (void)core_match(&core_rig.core);
    }
    struct answer answer = answer_within(1);
    CHECK(answer.status == OK && answer.sequence > opened + ACCOUNTS * ARMS_MAX);
    core_rig_run(0);
    CHECK(disconnect_next_arm(core_rig.core.replica, DISCONNECT_NONE,
                              &(struct disconnect_arm){ 0 }) == DISCONNECT_NONE);
    end();
}

int main(void)
{
    CHECK(signer_init() == 0);
    memset(operator_key, 0x11, sizeof operator_key);
    test_graces();
    test_armed_again();
    test_many();
    return 0;
}
