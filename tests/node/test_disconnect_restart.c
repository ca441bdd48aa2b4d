/* Arms that the run before has left set (wire.md W9): each start gives them their
 * grace, then authors 2011; those of grace 0 end before a client's first command. */
#include "check.h"
#include "core_member.h"
#include "engine/state/disconnect.h"
#include "node/recover/fold.h"

enum { ACCOUNTS = 3, BTC = 1, ARMS_MAX = DISCONNECT_ARMS_MAX };

#define OK    STATUS_request_completed
#define MS_NS UINT64_C(1000000)

static struct core_member members[ACCOUNTS];

/* A bid that rests, 1,000 USDC below the mark. */
static struct uuid place(const struct core_member *member)
{
    return core_member_order(member, 999000, 1000);
}

static void send_cancel(const struct core_member *member, const struct uuid *order)
{
    uint8_t body[40] = { 0 };

    cc_store64(body, member->id);
    memcpy(body + 16, order->bytes, 16);
    cc_store16(body + 32, BTC);
    (void)core_member_send(&(struct core_member_request){ REQUEST_order_cancel, body, sizeof body,
                                                          member->session.key, 32, NULL });
}

static void arm(const struct core_member *member, uint32_t number, uint32_t grace_ms, bool armed)
{
    uint8_t body[56] = { 0 };

    cc_store32(body, number);
    memcpy(body + 16, member->api_key, sizeof member->api_key);
    cc_store64(body + 32, member->id);
    cc_store32(body + 44, grace_ms);
    body[48] = armed;
    CHECK(core_member_act(REQUEST_disconnect_arm, body, sizeof body, NULL, 0).status == OK);
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
        core_member_join(&members[n], (uint8_t)(n + 1));
    core_member_publish(1000000);
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
    CHECK(core_member_answer(1).status == STATUS_rejected_order_not_found);
    core_rig_run(0);
    CHECK(!is_armed(1) && is_armed(2) && is_armed(3));
    wait_ms(1999);
    CHECK(is_armed(2) && is_armed(3));
    wait_ms(1);
    CHECK(!is_armed(2) && is_armed(3));
    send_cancel(&members[1], &second);
    CHECK(core_member_answer(1).status == STATUS_rejected_order_not_found);
    wait_ms(7999);
    CHECK(is_armed(3));
    send_cancel(&members[2], &third);
    CHECK(core_member_answer(1).status == OK);
    core_member_publish(1000000);
    third = place(&members[2]);

    /* A start within the grace gives it anew, from a snapshot too. */
    core_rig_run(0);
    core_rig_stop_roles();
    struct refusal refusal;
    CHECK(core_write_snapshot(&core_rig.core, &refusal) == REFUSAL_none);
    core_rig_kill();
    core_rig_start();
    CHECK(core_rig.core.engines.snapshot_sequence != 0);
    wait_ms(9999);
    CHECK(is_armed(3));
    wait_ms(1);
    CHECK(!is_armed(3));
    send_cancel(&members[2], &third);
    CHECK(core_member_answer(1).status == STATUS_rejected_order_not_found);

    /* What has ended once is not found by the next start. */
    uint64_t authored = core_rig.core.matcher.disconnect_restart.count;
    CHECK(authored == 1);
    core_rig_run(0);
    core_rig_kill();
    core_rig_start();
    CHECK(core_rig.core.matcher.disconnect_restart.count == 0);
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
    CHECK(core_member_answer(1).status == OK);
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
    (void)core_member_send(&(struct core_member_request){
        REQUEST_cancel_all_orders, body, sizeof body, members[0].session.key, 32, NULL });
    for (uint32_t turn = 1; turn <= ACCOUNTS; turn++) {
        CHECK(ring_ready(&core_rig.links[0].answers) == 0);
        (void)core_match(&core_rig.core);
    }
    struct answer answer = core_member_answer(1);
    CHECK(answer.status == OK && answer.sequence > opened + ACCOUNTS * ARMS_MAX);
    core_rig_run(0);
    CHECK(disconnect_next_arm(core_rig.core.replica, DISCONNECT_NONE,
                              &(struct disconnect_arm){ 0 }) == DISCONNECT_NONE);
    end();
}

int main(void)
{
    CHECK(signer_init() == 0);
    test_graces();
    test_armed_again();
    test_many();
    return 0;
}
