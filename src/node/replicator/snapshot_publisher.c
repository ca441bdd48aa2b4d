#include "node/replicator/snapshot_publisher.h"

#include <errno.h>

#include "base/log.h"

#define LOOK_NS  UINT64_C(1000000000)
#define RETRY_NS UINT64_C(10000000000) /* after a failure */

static uint32_t fail(struct snapshot_publisher *publisher, uint64_t now_ns, int error)
{
    published_add(&publisher->failures, 1);
    publisher->look_ns = now_ns + RETRY_NS;
    log_line(LOG_ERROR, "vault", "snapshot=%lu: %s; tried again in 10 s", publisher->found.sequence,
             strerror(-error));
    return 0;
}

/* Looks for a snapshot that ends a segment, if there is another one than before. */
static int find(struct snapshot_publisher *publisher)
{
    uint64_t newest = 0;
    int count = snapshot_list(publisher->journal, &newest, 1);

    if (count < 0)
        return count == -ENOENT ? 0 : count;
    if (count == 0 || newest == publisher->listed)
        return 0;
    int found = vault_snapshot_find(publisher->vault, publisher->journal, &publisher->found);
    if (found < 0)
        return found;
    publisher->listed = newest;
    publisher->is_found = found == 1;
    publisher->due_ns = 0;
    return 0;
}

/* Whether the vault lacks it, and has the segments up to its frame: then all of them count. */
static bool is_due(const struct snapshot_publisher *publisher, const struct survey *survey)
{
    const struct vault_snapshot *found = &publisher->found;

    return publisher->is_found && survey->has_answer && survey->has_vault &&
           found->segment <= survey->vault_segment &&
           (survey->snapshot_count == 0 || found->sequence > survey->snapshot_sequence[0]);
}

static bool is_my_turn(const struct snapshot_publisher *publisher, const struct survey *survey,
                       uint64_t now_ns)
{
    const char *node = publisher->vault->node, *standby = survey_first_standby(survey);

    if (standby != NULL && strcmp(standby, node) == 0)
        return true;
    return survey->has_leader && strcmp(survey->leader, node) == 0 &&
           now_ns - publisher->due_ns >= SNAPSHOT_PUBLISHER_LEADER_NS;
}

/* Whether the key of the one before is still to be put. */
static bool is_offered(const struct snapshot_publisher *publisher)
{
    return atomic_load_explicit(&publisher->steward->is_offered, memory_order_relaxed); /* a flag */
}

static bool offer(struct snapshot_publisher *publisher)
{
    const struct vault_snapshot *put = &publisher->upload.snapshot;
    struct cluster_snapshot row = {
        .sequence = put->sequence,
        .frame = put->frame,
        .next_segment = put->segment + 1,
        .t_ns = put->t_ns,
        .bytes = put->bytes,
        .rules_version = put->rules_version,
    };

    memcpy(row.image_hash, put->image_hash, sizeof row.image_hash);
    memcpy(row.frame_hash, put->frame_hash, sizeof row.frame_hash);
    memcpy(row.file_hash, put->file_hash, sizeof row.file_hash);
    memcpy(row.node, publisher->vault->node, strnlen(publisher->vault->node, CLUSTER_LABEL_BYTES));
    return steward_offer(publisher->steward, &row);
}

static uint32_t go_on(struct snapshot_publisher *publisher, uint64_t now_ns)
{
    int done = vault_upload_step(&publisher->upload);

    if (done < 0)
        return fail(publisher, now_ns, done);
    if (done == 0)
        return 1;
    bool is_taken = offer(publisher); /* and the survey shows it within seconds */
    INVARIANT(is_taken);
    publisher->look_ns = now_ns + RETRY_NS;
    return 1;
}

uint32_t snapshot_publisher_step(struct snapshot_publisher *publisher, uint64_t now_ns)
{
    struct survey survey;

    if (publisher->upload.state != VAULT_UPLOAD_IDLE)
        return go_on(publisher, now_ns);
    if (now_ns < publisher->look_ns)
        return 0;
    publisher->look_ns = now_ns + LOOK_NS;
    if (is_offered(publisher))
        return 0;
    int error = find(publisher);
    if (error != 0)
        return fail(publisher, now_ns, error);
    if (!steward_survey(publisher->steward, &survey) || !is_due(publisher, &survey)) {
        publisher->due_ns = 0;
        return 0;
    }
    if (publisher->due_ns == 0)
        publisher->due_ns = now_ns;
    if (!is_my_turn(publisher, &survey, now_ns))
        return 0;
    if (survey.snapshot_count == SURVEY_SNAPSHOTS)
        error =
            vault_snapshot_prune(publisher->vault, survey.snapshot_sequence[SURVEY_SNAPSHOTS - 1]);
    if (error == 0)
        error = vault_upload_begin(&publisher->upload, publisher->vault, publisher->journal,
                                   &publisher->found);
    return error == 0 ? 1 : fail(publisher, now_ns, error);
}
