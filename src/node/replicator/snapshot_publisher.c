#include "node/replicator/snapshot_publisher.h"

#include <errno.h>

#include "base/log.h"

#define LOOK_NS  UINT64_C(1000000000)
#define RETRY_NS UINT64_C(10000000000) /* after a failure, or a snapshot that ends no segment yet */

static uint32_t fail(struct snapshot_publisher *publisher, uint64_t now_ns, int error)
{
    published_add(&publisher->failures, 1);
    publisher->look_ns = now_ns + RETRY_NS;
    log_line(LOG_ERROR, "vault", "snapshot=%lu: %s; tried again in 10 s", publisher->found.sequence,
             strerror(-error));
    return 0;
}

/* Looks for a snapshot that ends a segment, if there is another one than before. A segment is known
 * to have ended when the next one has a frame: until then the newest one is looked at again. */
static int find(struct snapshot_publisher *publisher, uint64_t now_ns)
{
    struct vault_snapshot found;
    uint64_t newest = 0;
    int count = snapshot_list(publisher->journal, &newest, 1);

    if (count < 0)
        return count == -ENOENT ? 0 : count;
    if (count == 0 || (newest == publisher->listed && now_ns < publisher->find_ns))
        return 0;
    int has_one = vault_snapshot_find(publisher->vault, publisher->journal, &found);
    if (has_one < 0)
        return has_one;
    bool is_newest = has_one == 1 && found.sequence == newest;
    publisher->listed = newest;
    publisher->find_ns = is_newest ? UINT64_MAX : now_ns + RETRY_NS;
    if (has_one == 1 && publisher->is_found && found.sequence == publisher->found.sequence)
        return 0;
    if (has_one == 1)
        publisher->found = found;
    publisher->is_found = has_one == 1;
    if (has_one != 1)
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

/* What the standby is writing and reading back the leader would write once more. */
static uint64_t leader_wait_ns(const struct snapshot_publisher *publisher)
{
    return SNAPSHOT_PUBLISHER_LEADER_NS + publisher->found.bytes * SNAPSHOT_PUBLISHER_BYTE_NS;
}

static bool is_my_turn(const struct snapshot_publisher *publisher, const struct survey *survey,
                       uint64_t now_ns)
{
    const char *node = publisher->vault->node, *standby = survey_first_standby(survey);

    if (standby != NULL && strcmp(standby, node) == 0)
        return true;
    return survey->has_leader && strcmp(survey->leader, node) == 0 &&
           now_ns - publisher->due_ns >= leader_wait_ns(publisher);
}

/* Whether the key of the one before is still to be put. */
static bool is_offered(const struct snapshot_publisher *publisher)
{
    return atomic_load_explicit(&publisher->steward->is_offered, memory_order_relaxed); /* a flag */
}

void snapshot_publisher_row(const struct vault *vault, const struct vault_snapshot *put,
                            struct cluster_snapshot *row)
{
    *row = (struct cluster_snapshot){
        .sequence = put->sequence,
        .frame = put->frame,
        .next_segment = put->segment + 1,
        .t_ns = put->t_ns,
        .bytes = put->bytes,
        .rules_version = put->rules_version,
    };

    memcpy(row->image_hash, put->image_hash, sizeof row->image_hash);
    memcpy(row->frame_hash, put->frame_hash, sizeof row->frame_hash);
    memcpy(row->file_hash, put->file_hash, sizeof row->file_hash);
    memcpy(row->node, vault->node, strnlen(vault->node, CLUSTER_LABEL_BYTES));
}

static bool offer(struct snapshot_publisher *publisher, const struct vault_snapshot *put,
                  bool is_in_vault)
{
    struct cluster_snapshot row;

    snapshot_publisher_row(publisher->vault, put, &row);
    return steward_offer(publisher->steward, &row, is_in_vault);
}

/* Whether etcd refused the key of the one before, which may have been that of a hash. */
static bool was_refused(struct snapshot_publisher *publisher)
{
    /* relaxed: a flag alone; one that is seen a look later is no harm. */
    return atomic_exchange_explicit(&publisher->steward->is_refused, false, memory_order_relaxed);
}

/* Shows the hash of what was found, once. True: it is on its way. */
static bool shows(struct snapshot_publisher *publisher)
{
    if (!publisher->is_found || publisher->shown == publisher->found.sequence ||
        !offer(publisher, &publisher->found, false))
        return false;
    publisher->shown = publisher->found.sequence;
    return true;
}

/* Whether another node has the same, or none has shown any for long. */
static bool is_agreed(struct snapshot_publisher *publisher, const struct survey *survey,
                      uint64_t now_ns)
{
    const struct vault_snapshot *found = &publisher->found;
    const char *other;
    uint32_t same = survey_same_image(survey, publisher->vault->node, found->sequence,
                                      found->image_hash, &other);

    if (other != NULL && publisher->differs != found->sequence) {
        publisher->differs = found->sequence;
        log_line(LOG_ERROR, "vault",
                 "snapshot=%lu has another image hash than that of node %s, and %u other nodes "
                 "have it: one of them is wrong, see perp snapshot and perp replay --diff",
                 found->sequence, other, same);
    }
    return same != 0 ||
           (other == NULL && now_ns - publisher->due_ns >= SNAPSHOT_PUBLISHER_ALONE_NS);
}

static uint32_t go_on(struct snapshot_publisher *publisher, uint64_t now_ns)
{
    int done = vault_snapshot_upload_step(&publisher->upload);

    if (done < 0)
        return fail(publisher, now_ns, done);
    if (done == 0)
        return 1;
    /* The step before its beginning has seen that nothing is on its way. */
    bool is_taken = offer(publisher, &publisher->upload.snapshot, true);
    INVARIANT(is_taken);
    publisher->look_ns = now_ns + RETRY_NS; /* the survey shows it within seconds */
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
    if (was_refused(publisher)) {
        publisher->shown = 0;
        publisher->look_ns = now_ns + RETRY_NS;
        return 0;
    }
    int error = find(publisher, now_ns);
    if (error != 0)
        return fail(publisher, now_ns, error);
    if (shows(publisher))
        return 1;
    if (!steward_survey(publisher->steward, &survey) || !is_due(publisher, &survey))
        return 0;
    bool is_moved =
        survey.snapshot_count != 0 && survey.snapshot_sequence[0] != publisher->vault_newest;
    if (is_moved)
        publisher->vault_newest = survey.snapshot_sequence[0];
    if (is_moved || publisher->due_ns == 0)
        publisher->due_ns = now_ns;
    if (!is_agreed(publisher, &survey, now_ns) || !is_my_turn(publisher, &survey, now_ns))
        return 0;
    if (survey.snapshot_count == SURVEY_SNAPSHOTS)
        error =
            vault_snapshot_prune(publisher->vault, survey.snapshot_sequence[SURVEY_SNAPSHOTS - 1]);
    if (error == 0)
        error = vault_snapshot_upload_begin(&publisher->upload, publisher->vault,
                                            publisher->journal, &publisher->found);
    return error == 0 ? 1 : fail(publisher, now_ns, error);
}
