/* What must hold in a simulated exchange. */
#include "base/hash.h"
#include "crypto/derive.h"
#include "engine/image/image.h"
#include "engine/state/disconnect.h"
#include "engine/view/audit.h"
#include "sim_world.h"

enum { DUPLICATES_CHECKED = 600 }; /* at a recovery */

static const struct sim_boundary *find_boundary(const struct sim *sim, uint64_t sequence)
{
    uint32_t low = 0, high = sim->boundary_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (sim->boundaries[middle].sequence < sequence)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < sim->boundary_count && sim->boundaries[low].sequence == sequence;
    return found ? &sim->boundaries[low] : NULL;
}

void sim_check_note(struct sim *sim)
{
    uint64_t sequence = engine_sequence(sim->core.primary);
    uint32_t last = sim->boundary_count;
    if (last == SIM_BOUNDARIES_MAX || (last != 0 && sim->boundaries[last - 1].sequence == sequence))
        return;
    sim->boundaries[last].sequence = sequence;
    engine_effects_lanes(sim->core.primary, sim->boundaries[last].lanes);
    sim->boundary_count++;
}

void sim_check_lanes(struct sim *sim, const struct engine *engine, const char *who)
{
    uint64_t lanes[CC_COUNT(sim->boundaries->lanes)];
    const struct sim_boundary *known = find_boundary(sim, engine_sequence(engine));
    if (known == NULL)
        return;
    engine_effects_lanes(engine, lanes);
    sim->outcome->checked_hashes++;
    if (memcmp(lanes, known->lanes, sizeof lanes) != 0)
        sim_fail(sim, "%s differs from the primary at sequence %lu", who, known->sequence);
}

void sim_check_audit(struct sim *sim, const struct engine *engine, const char *who)
{
    struct row_audit audit;

    audit_read(engine, &audit, NULL);
    sim->outcome->checked_audits++;
    if (audit.invariants != QUERY_INVARIANTS_ALL || audit.recount_differences != 0)
        sim_fail(sim, "an invariant of %s failed at sequence %lu: %02x, %u differences", who,
                 engine_sequence(engine), audit.invariants, audit.recount_differences);
}

/* Sends an acknowledged request again, at the peek only: it must be known with its outcome. */
static void check_duplicate(struct sim *sim, struct traffic_sent *sent)
{
    struct engine_result result;
    struct command *command = traffic_command(sent);
    uint64_t t_ns = engine_time_next(sim->core.primary, clock_now_ns(&sim->clock));

    derive_command(command, sim->traffic.key);
    bool known = engine_peek(sim->core.primary, command, t_ns, &result);
    if (known && result.status == STATUS_request_dropped)
        return; /* older than the window */
    sim->outcome->checked_duplicates++;
    if (!known || result.status != STATUS_duplicate_request_id)
        sim_fail(sim, "acknowledged sequence %lu is not known after recovery",
                 sent->answer.sequence);
    else if (result.original_status != sent->answer.status ||
             result.original_processed_at_ns != sent->answer.processed_at_ns)
        sim_fail(sim, "acknowledged sequence %lu has another outcome", sent->answer.sequence);
}

/* Rows 1 and 2 of R11 know an id by its credential: behind a revocation row 3 comes first. */
static bool may_be_revoked(const struct sim *sim, const struct traffic_sent *sent)
{
    return sent->signed_by != TRAFFIC_NONE && sim->traffic.credentials[sent->signed_by].revoke_sent;
}

void sim_check_recovered(struct sim *sim)
{
    uint64_t recovered = engine_sequence(sim->core.primary);
    uint32_t count = sim->traffic.sent_count;
    uint32_t stride = count / DUPLICATES_CHECKED + 1;
    uint32_t phase = (uint32_t)sim_below(sim, stride);

    while (sim->boundary_count != 0 &&
           sim->boundaries[sim->boundary_count - 1].sequence > recovered)
        sim->boundary_count--;
    sim->answered_from = count;
    sim->audited = 0;
    sim_check_lanes(sim, sim->core.primary, "the recovered state");
    sim_check_lanes(sim, sim->core.replica, "the recovered follower");
    sim_check_audit(sim, sim->core.primary, "the recovered state");
    for (uint32_t i = 0; i < count; i++) {
        struct traffic_sent *sent = &sim->traffic.sent[i];
        if (sent->state == TRAFFIC_SENT || sent->state == TRAFFIC_ANSWERED)
            sent->state = TRAFFIC_LOST;
        if (sent->state == TRAFFIC_ACKED && sent->answer.sequence > recovered)
            sim_fail(sim, "acknowledged sequence %lu is lost: recovered to %lu",
                     sent->answer.sequence, recovered);
        else if (i % stride == phase && traffic_consumed(sent) && !may_be_revoked(sim, sent))
            check_duplicate(sim, sent);
    }
}

/* An id is executed once; whoever asks again is told what came of it. */
static void check_retry(struct sim *sim, const struct traffic_sent *sent)
{
    struct traffic_sent *original = &sim->traffic.sent[sent->original];
    const struct answer *answer = &sent->answer;

    if (traffic_consumed(sent)) {
        if (original->executed != 0)
            sim_fail(sim, "an id was executed twice: sequences %lu and %lu", original->executed,
                     answer->sequence);
        original->executed = answer->sequence;
        sim->outcome->overtaken += sent->is_retry;
        return;
    }
    if (answer->status == STATUS_duplicate_request_id) {
        sim->outcome->duplicates++;
        if (original->state == TRAFFIC_ACKED && original != sent && traffic_consumed(original) &&
            (answer->members & ANSWER_HAS_ORIGINAL) != 0 &&
            answer->original_status != original->answer.status)
            sim_fail(sim, "a retry of sequence %lu names another outcome",
                     original->answer.sequence);
        if (!sent->is_retry && sim->traffic.duplicates == false)
            sim_fail(sim, "a request that was sent once is a duplicate");
    }
}

void sim_check_answer(struct sim *sim, const struct traffic_sent *sent)
{
    const struct answer *answer = &sent->answer;
    bool is_refused =
        answer->status == STATUS_rejected_unauthorized || answer->status == STATUS_session_rejected;

    check_retry(sim, sent);
    if (sent->signed_by == TRAFFIC_NONE)
        return;
    const struct traffic_credential *credential = &sim->traffic.credentials[sent->signed_by];
    if (is_refused && sent->was_live && !credential->revoke_sent)
        sim_fail(sim, "sequence %lu was refused, but its credential stands", answer->sequence);
    sim->outcome->revocation_races += is_refused && sent->was_live && !sent->revoke_known;
}

/* Nothing that a credential signed is taken behind its revocation: whatever order the answers came
 * in. */
void sim_check_credentials(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->traffic.sent_count; i++) {
        struct traffic_sent *sent = &sim->traffic.sent[i];
        if (sent->signed_by == TRAFFIC_NONE || sent->state != TRAFFIC_ACKED ||
            sent->answer.sequence == 0 || sent->answer.status == STATUS_rejected_unauthorized)
            continue;
        uint64_t revoked = sim->traffic.credentials[sent->signed_by].revoked;
        if (revoked != 0 && sent->answer.sequence > revoked)
            sim_fail(sim, "sequence %lu was taken, its credential was revoked at %lu",
                     sent->answer.sequence, revoked);
    }
}

void sim_check_arms(struct sim *sim)
{
    const struct disconnect_restart *grace = &sim->core.matcher.disconnect_restart;
    uint64_t now_ns = clock_now_ns(&sim->clock);
    struct disconnect_arm arm;

    for (uint32_t at = disconnect_next_arm(sim->core.primary, DISCONNECT_NONE, &arm);
         at != DISCONNECT_NONE; at = disconnect_next_arm(sim->core.primary, at, &arm))
        if (arm.armed_sequence <= sim->opened_sequence &&
            now_ns >= grace->opened_ns + arm.grace_ms * UINT64_C(1000000))
            sim_fail(sim, "an arm of sequence %lu, grace %u ms, is left of the run before",
                     arm.armed_sequence, arm.grace_ms);
}

struct hash_sink {
    struct image_sink sink; /* first */
    struct hash_state hash;
};

static void hash_bytes(struct image_sink *sink, const void *bytes, size_t count)
{
    hash_add(&((struct hash_sink *)(void *)sink)->hash, bytes, count);
}

void sim_image_hash(struct engine *engine, uint8_t out[32])
{
    struct hash_sink sink = { .sink = { .bytes = hash_bytes } };
    hash_begin(&sink.hash);
    image_write(engine, &sink.sink);
    hash_end(&sink.hash, out);
}

void sim_check_images(struct sim *sim)
{
    uint8_t primary[32], replica[32];

    sim_image_hash(sim->core.primary, primary);
    sim_image_hash(sim->core.replica, replica);
    if (memcmp(primary, replica, sizeof primary) != 0)
        sim_fail(sim, "the images of primary and follower differ");
    sim_check_audit(sim, sim->core.replica, "the follower");
    sim_check_credentials(sim);
}
