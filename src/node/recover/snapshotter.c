#include "node/recover/snapshotter.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "store/segment.h"

enum {
    SEALED_A_TURN = 16,
    LISTED_MAX = 64,
    ALIGNMENT = 4096,
};

#define NS_PER_S UINT64_C(1000000000)
#define RETRY_NS (10 * NS_PER_S)   /* after a child or a store failed */
#define PRUNE_NS (3600 * NS_PER_S) /* between two searches for old archives */

/* ---- segments -------------------------------------------------------------------------------- */

/* Reads the first frame of a segment, if it is whole. */
static bool read_first_frame(struct snapshotter *snapshotter, uint64_t segment,
                             struct frame_header *header)
{
    struct disk *disk = snapshotter->config.disk;
    char path[DISK_PATH_BYTES];
    uint64_t left = snapshotter->config.segment_bytes - SEGMENT_FRAMES_OFFSET;
    size_t most = left < FRAME_BYTES_MAX ? (size_t)left : FRAME_BYTES_MAX;

    segment_path(path, segment, true);
    int file = disk_open(disk, path, 0);
    if (file < 0)
        return false;
    int64_t count =
        disk_read(disk, file, SEGMENT_FRAMES_OFFSET, snapshotter->frame_bytes, FRAME_HEADER_BYTES);
    if (count == FRAME_HEADER_BYTES && cc_load64(snapshotter->frame_bytes) != 0) /* begun */
        count = disk_read(disk, file, SEGMENT_FRAMES_OFFSET, snapshotter->frame_bytes, most);
    disk_close(disk, file);
    /* The smallest block: a frame of a larger one is a frame of this too. */
    return count > 0 && frame_decode(header, snapshotter->frame_bytes, (size_t)count,
                                     exchange_file_journal(snapshotter->config.exchange, segment),
                                     segment, 512) == 0;
}

/* A segment is sealed when the next one has a durable frame (journal.md, Archive). */
static uint32_t find_sealed(struct snapshotter *snapshotter)
{
    struct frame_header header;
    uint32_t found = 0;

    while (found < SEALED_A_TURN &&
           read_first_frame(snapshotter, snapshotter->sealed_end + 1, &header) &&
           header.last_sequence <= journal_durable_seq(snapshotter->config.journal)) {
        snapshotter->sealed_end++;
        found++;
    }
    return found;
}

/* Whether all frames of a sealed segment are at or below `frame`, and the follower has applied
 * them. */
static bool is_below(struct snapshotter *snapshotter, uint64_t segment, uint64_t frame)
{
    struct frame_header next;

    return segment < snapshotter->sealed_end && read_first_frame(snapshotter, segment + 1, &next) &&
           next.number <= frame + 1 &&
           next.first_sequence <=
               1 + atomic_load_explicit(snapshotter->config.applied, memory_order_acquire);
}

/* ---- snapshots that count -------------------------------------------------------------------- */

static void show_newest(struct snapshotter *snapshotter)
{
    struct snapshotter_counters *counters = &snapshotter->counters;

    if (snapshotter->kept_count == 0)
        return;
    published_set(&counters->sequence, snapshotter->kept[0].sequence);
    published_set(&counters->t_ns, snapshotter->kept[0].t_ns);
}

/* Lists the whole snapshots, newest first. A valid header is enough here: the child reads its own
 * snapshot to the end, and an older one is read before any segment is retired because of it. */
static int find_kept(struct snapshotter *snapshotter, bool proven)
{
    uint64_t sequences[LISTED_MAX];
    struct snapshotter_kept before[SNAPSHOT_KEPT];
    uint32_t before_count = snapshotter->kept_count;
    struct snapshot_head head;
    struct refusal why;
    int count = snapshot_list(snapshotter->config.disk, sequences, LISTED_MAX);

    if (count < 0)
        return count == -ENOENT ? 0 : count;
    memcpy(before, snapshotter->kept, sizeof before);
    snapshotter->kept_count = 0;
    for (int i = 0; i < count && snapshotter->kept_count < SNAPSHOT_KEPT; i++) {
        struct snapshotter_kept *kept = &snapshotter->kept[snapshotter->kept_count];
        refusal_clear(&why);
        if (snapshot_read_head(snapshotter->config.disk, snapshotter->config.exchange, sequences[i],
                               &head, &why) != 0) {
            log_line(LOG_ERROR, "snapshot", "sequence=%lu is damaged: %s", sequences[i], why.text);
            continue;
        }
        *kept = (struct snapshotter_kept){ .sequence = head.sequence,
                                           .frame = head.frame,
                                           .t_ns = head.t_ns,
                                           .proven = proven && snapshotter->kept_count == 0 };
        for (uint32_t k = 0; k < before_count; k++)
            kept->proven = kept->proven || (before[k].proven && before[k].frame == kept->frame);
        snapshotter->kept_count++;
    }
    show_newest(snapshotter);
    return 0;
}

/* Removes the unfinished file of a child that was killed: it only uses space. */
static void drop_parts(struct snapshotter *snapshotter)
{
    int failed = snapshot_remove_parts(snapshotter->config.disk);

    if (failed != 0 && failed != -ENOENT)
        log_line(LOG_WARN, "snapshot", "removing an unfinished one: %s", strerror(-failed));
}

/* Reads a snapshot whole that this run has not: false, and it no longer counts. */
static bool prove(struct snapshotter *snapshotter, uint32_t at)
{
    struct snapshotter_kept *kept = &snapshotter->kept[at];
    struct snapshot snapshot;
    struct refusal why;

    if (kept->proven)
        return true;
    refusal_clear(&why);
    int failed = snapshot_read(snapshotter->config.disk, snapshotter->config.exchange,
                               kept->sequence, &snapshot, &why);
    if (failed == 0) {
        snapshot_close(&snapshot);
        kept->proven = true;
        return true;
    }
    log_line(LOG_ERROR, "snapshot", "sequence=%lu cannot be read: %s", kept->sequence, why.text);
    published_set(&snapshotter->counters.alarm, 1);
    snapshotter->kept_count--;
    memmove(kept, kept + 1, (snapshotter->kept_count - at) * sizeof *kept);
    return false;
}

/* Removes the snapshots older than the two that are kept. */
static void drop_older(struct snapshotter *snapshotter)
{
    uint64_t sequences[LISTED_MAX];
    int count = snapshot_list(snapshotter->config.disk, sequences, LISTED_MAX);

    if (snapshotter->kept_count < SNAPSHOT_KEPT)
        return;
    for (uint32_t k = 0; k < SNAPSHOT_KEPT; k++)
        if (!prove(snapshotter, k))
            return; /* checked again when the next one exists */
    for (int i = 0; i < count; i++) {
        if (sequences[i] >= snapshotter->kept[SNAPSHOT_KEPT - 1].sequence)
            continue;
        int failed = snapshot_remove(snapshotter->config.disk, sequences[i]);
        if (failed != 0)
            log_line(LOG_ERROR, "snapshot", "removing sequence=%lu: %s", sequences[i],
                     strerror(-failed));
    }
}

/* ---- the child ------------------------------------------------------------------------------- */

static uint64_t tail_of(const struct snapshotter *snapshotter)
{
    return (snapshotter->sealed_end - snapshotter->above) * snapshotter->config.segment_bytes;
}

static void count_tail(struct snapshotter *snapshotter)
{
    struct frame_header header;

    while (snapshotter->kept_count != 0 && snapshotter->above < snapshotter->sealed_end &&
           read_first_frame(snapshotter, snapshotter->above, &header) &&
           header.number <= snapshotter->kept[0].frame)
        snapshotter->above++;
    published_set(&snapshotter->counters.tail_bytes, tail_of(snapshotter));
}

static void child_failed(struct snapshotter *snapshotter, uint64_t now_ns, const char *what,
                         int error)
{
    published_add(&snapshotter->counters.failures, 1);
    published_set(&snapshotter->counters.alarm, 1);
    snapshotter->begin_ns = now_ns + RETRY_NS;
    log_line(LOG_ERROR, "snapshot", "%s%s%s; tried again in %lu s, and nothing is lost meanwhile",
             what, error == 0 ? "" : ": ", error == 0 ? "" : strerror(-error),
             (uint64_t)(RETRY_NS / NS_PER_S));
}

/* Whether the machine has the memory; at four times the tail it must do. */
static bool has_memory(struct snapshotter *snapshotter, bool forced)
{
    const struct snapshotter_host *host = &snapshotter->config.host;
    uint64_t free_bytes, engine_bytes;

    if (host->memory == NULL || !host->memory(host->context, &free_bytes, &engine_bytes) ||
        free_bytes >= SNAPSHOTTER_MEMORY_TIMES * engine_bytes) {
        snapshotter->put_off = false;
        published_set(&snapshotter->counters.waits, 0);
        return true;
    }
    published_set(&snapshotter->counters.waits, !forced);
    published_add(&snapshotter->counters.put_off, 1);
    published_set(&snapshotter->counters.alarm, 1);
    if (!snapshotter->put_off || forced)
        log_line(LOG_WARN, "snapshot", "%s: free=%lu engine=%lu bytes",
                 forced ? "begun with little memory, for the tail is long" : "put off", free_bytes,
                 engine_bytes);
    snapshotter->put_off = true;
    return forced;
}

static bool is_forced(const struct snapshotter *snapshotter)
{
    return tail_of(snapshotter) >= SNAPSHOTTER_FORCED * snapshotter->config.tail_bytes;
}

/* A start would take longer than it may, whatever the bytes of the tail. */
static bool is_late(const struct snapshotter *snapshotter)
{
    return snapshotter->config.is_late != NULL && published_get(snapshotter->config.is_late) != 0;
}

static bool competes(const struct snapshotter *snapshotter)
{
    return is_forced(snapshotter) || is_late(snapshotter);
}

/* The segment before which a snapshot ends that is begun now. */
static uint64_t fold_end(const struct snapshotter *snapshotter)
{
    const struct snapshotter_config *config = &snapshotter->config;
    uint64_t end = snapshotter->sealed_end, every = config->tail_bytes / config->segment_bytes;

    return config->is_common && every != 0 && !is_late(snapshotter) ? end - end % every : end;
}

/* Whether the sealed segments are a tail that is due. What is late waits for one sealed segment at
 * most, and asks for it. */
static bool is_due(struct snapshotter *snapshotter, uint64_t now_ns)
{
    const struct snapshotter_config *config = &snapshotter->config;

    if (tail_of(snapshotter) == 0 && is_late(snapshotter) && now_ns >= snapshotter->seal_ns) {
        snapshotter->seal_ns = now_ns + RETRY_NS;
        journal_seal(config->journal);
    }
    return fold_end(snapshotter) > snapshotter->above &&
           (config->is_common || tail_of(snapshotter) >= config->tail_bytes ||
            is_late(snapshotter));
}

/* Whether the history on disk has what a snapshot may end with: a start from it replays nothing of
 * before, so what is missing there would be missing for good. A tail that is too long waits no
 * more. */
static bool history_has(struct snapshotter *snapshotter, bool forced)
{
    const struct snapshotter_config *config = &snapshotter->config;

    if (config->is_kept == NULL || forced)
        return true;
    if (snapshotter->asked == 0)
        snapshotter->asked = journal_durable_seq(config->journal);
    return config->is_kept(config->history, snapshotter->asked);
}

/* Children are killed here: the follower's thread makes this one. */
static uint32_t begin_fold(struct snapshotter *snapshotter)
{
    snapshotter->asked = 0;
    snapshotter->child = snapshotter->child_forced = snapshotter->is_folding = true;
    published_set(&snapshotter->counters.running, 1);
    log_line(LOG_WARN, "snapshot", "%lu children in a row were killed: made in slices, without one",
             (uint64_t)snapshotter->killed);
    slice_fold_ask(snapshotter->config.fold);
    return 1;
}

static uint32_t begin(struct snapshotter *snapshotter, uint64_t now_ns)
{
    const struct snapshotter_config *config = &snapshotter->config;
    bool forced = is_forced(snapshotter);

    if (config->host.begin == NULL || now_ns < snapshotter->begin_ns ||
        !is_due(snapshotter, now_ns) || !history_has(snapshotter, forced))
        return 0;
    if (config->fold != NULL && snapshotter->killed >= SNAPSHOTTER_KILLED_MAX)
        return begin_fold(snapshotter);
    if (!has_memory(snapshotter, forced))
        return 0;
    snapshotter->asked = 0;
    bool competing = competes(snapshotter);
    uint64_t end = fold_end(snapshotter);
    if (end <= snapshotter->above)
        return 0; /* a start takes no longer too long since it was asked */
    uint64_t last = end - 1;
    int error = config->host.begin(config->host.context, last, competing);
    if (error != 0) {
        child_failed(snapshotter, now_ns, "no snapshot could be begun", error);
        return 0;
    }
    snapshotter->child = true;
    snapshotter->child_forced = competing;
    published_set(&snapshotter->counters.running, 1);
    log_line(LOG_INFO, "snapshot", "begun last_segment=%lu tail_bytes=%lu forced=%d", last,
             tail_of(snapshotter), competing);
    return 1;
}

/* When the tail has grown too long, or a start would, an idle-priority child is restarted to
 * compete. */
static void replace_slow_child(struct snapshotter *snapshotter, uint64_t now_ns)
{
    if (snapshotter->child_forced || !competes(snapshotter))
        return;
    log_line(LOG_WARN, "snapshot", "the child is too slow: begun again so that it competes");
    snapshotter_end(snapshotter);
    drop_parts(snapshotter);
    (void)begin(snapshotter, now_ns);
}

/* How the child ended, which is counted; 0: it runs. */
static int poll_child(struct snapshotter *snapshotter)
{
    const struct snapshotter_host *host = &snapshotter->config.host;
    int ended = snapshotter->is_folding ? slice_fold_poll(snapshotter->config.fold)
                                        : host->poll(host->context);

    if (ended == 0)
        return 0;
    if (snapshotter->is_folding && ended > 0)
        published_add(&snapshotter->counters.in_slices, 1);
    if (snapshotter->is_folding) /* a child is tried next, and not twice */
        snapshotter->killed = SNAPSHOTTER_KILLED_MAX - 1;
    else
        snapshotter->killed = ended == SNAPSHOTTER_KILLED ? snapshotter->killed + 1 : 0;
    snapshotter->is_folding = false;
    return ended;
}

static uint32_t mind_child(struct snapshotter *snapshotter, uint64_t now_ns)
{
    uint64_t newest = snapshotter->kept_count == 0 ? 0 : snapshotter->kept[0].frame;
    int ended = poll_child(snapshotter);

    if (ended == 0) {
        replace_slow_child(snapshotter, now_ns);
        return 0;
    }
    snapshotter->child = false;
    published_set(&snapshotter->counters.running, 0);
    int listed = ended > 0 ? find_kept(snapshotter, true) : 0;
    if (ended < 0 || listed != 0 || snapshotter->kept_count == 0 ||
        snapshotter->kept[0].frame <= newest) {
        drop_parts(snapshotter);
        child_failed(snapshotter, now_ns, "the snapshotter's child has failed", listed);
        if (snapshotter->config.fold != NULL && snapshotter->killed >= SNAPSHOTTER_KILLED_MAX)
            snapshotter->begin_ns = now_ns; /* without a child there is nothing to wait for */
        return 1;
    }
    published_add(&snapshotter->counters.snapshots, 1);
    published_set(&snapshotter->counters.alarm, 0);
    snapshotter->begin_ns = now_ns;
    log_line(LOG_INFO, "snapshot", "made sequence=%lu frame=%lu", snapshotter->kept[0].sequence,
             snapshotter->kept[0].frame);
    drop_older(snapshotter);
    return 1;
}

/* ---- archive and pool ------------------------------------------------------------------------ */

/* The segment to be archived next; of an archive that holds none it is the lowest there is. */
static uint64_t archive_end(const struct snapshotter *snapshotter)
{
    const struct archive *archive = &snapshotter->archive;

    return !snapshotter->archive_known || archive->count == 0
               ? snapshotter->first
               : archive->rows[archive->count - 1].segment + 1;
}

static void archive_failed(struct snapshotter *snapshotter, uint64_t now_ns, uint64_t segment,
                           const char *why)
{
    published_add(&snapshotter->counters.archive_failures, 1);
    published_set(&snapshotter->counters.archive_fails, 1);
    published_set(&snapshotter->counters.alarm, 1);
    snapshotter->archive_ns = now_ns + RETRY_NS;
    log_line(LOG_ERROR, "archive", "segment=%lu: %s; it stays in journal/", segment, why);
}

/* Preparing the journal's next segments comes first: the same thread does it, and a long archiving
 * backlog would let the journal run out. If none can be prepared, archiving is what frees segments
 * for reuse. */
static bool has_time(const struct snapshotter *snapshotter)
{
    const struct segment_pool *pool = snapshotter->config.pool;
    return segment_pool_due_ns(pool) == UINT64_MAX || segment_pool_error(pool) != 0;
}

static bool know_archive(struct snapshotter *snapshotter, uint64_t now_ns, uint64_t segment)
{
    const struct snapshotter_config *config = &snapshotter->config;
    struct refusal why;

    snapshotter->archive_known =
        archive_open(&snapshotter->archive, config->disk, config->exchange, &why) == REFUSAL_none;
    if (!snapshotter->archive_known)
        archive_failed(snapshotter, now_ns, segment, why.text);
    return snapshotter->archive_known;
}

/* Both snapshots are proven before anything below them is moved. */
static uint32_t store_one(struct snapshotter *snapshotter, uint64_t now_ns)
{
    const struct snapshotter_config *config = &snapshotter->config;

    if (now_ns < snapshotter->archive_ns || snapshotter->kept_count < SNAPSHOT_KEPT ||
        !has_time(snapshotter))
        return 0;
    uint64_t segment = archive_end(snapshotter);
    if (!is_below(snapshotter, segment, snapshotter->kept[SNAPSHOT_KEPT - 1].frame))
        return 0;
    for (uint32_t k = 0; k < SNAPSHOT_KEPT; k++)
        if (!prove(snapshotter, k))
            return 1;
    if (!snapshotter->archive_known)
        return know_archive(snapshotter, now_ns, segment); /* its end decides */
    int error = archive_store(&snapshotter->archive, config->disk, config->exchange, segment,
                              config->segment_bytes);
    if (error != 0) {
        archive_failed(snapshotter, now_ns, segment, strerror(-error));
        return 0;
    }
    published_add(&snapshotter->counters.archived, 1);
    published_set(&snapshotter->counters.archive_fails, 0);
    log_line(LOG_INFO, "archive", "segment=%lu", segment);
    return 1;
}

/* One file more of the archive to its second place. */
static uint32_t copy_one(struct snapshotter *snapshotter, uint64_t now_ns)
{
    struct archive_copy *copy = snapshotter->config.archive_copy;

    if (copy == NULL || now_ns < snapshotter->copy_ns || !has_time(snapshotter) ||
        (!snapshotter->archive_known && !know_archive(snapshotter, now_ns, 0)))
        return 0;
    int work = archive_copy_step(copy, &snapshotter->archive);
    if (work < 0) {
        snapshotter->copy_ns = now_ns + RETRY_NS;
        log_line(LOG_ERROR, "archive", "store.archive_copy: %s", strerror(-work));
    }
    return work > 0 ? (uint32_t)work : 0;
}

/* Retires the lowest segment once no reader needs it. */
static uint32_t retire_one(struct snapshotter *snapshotter)
{
    const struct snapshotter_config *config = &snapshotter->config;
    uint64_t wanted;

    if (!snapshotter->archive_known || snapshotter->child ||
        snapshotter->kept_count < SNAPSHOT_KEPT || snapshotter->first >= archive_end(snapshotter) ||
        !is_below(snapshotter, snapshotter->first, snapshotter->kept[SNAPSHOT_KEPT - 1].frame))
        return 0;
    if (config->host.wanted != NULL && config->host.wanted(config->host.context, &wanted) &&
        snapshotter->first >= wanted)
        return 0;
    segment_pool_retire(config->pool, snapshotter->first);
    snapshotter->first++;
    published_add(&snapshotter->counters.retired, 1);
    return 1;
}

/* The first segment that may not be removed: the last one archived, to which the next one is
 * chained, and those whose rows of the past are not safe in the history, which is made again of
 * them. */
static uint64_t prune_end(const struct snapshotter *snapshotter)
{
    const struct snapshotter_config *config = &snapshotter->config;
    const struct archive *archive = &snapshotter->archive;
    uint64_t count = archive->count - 1; /* it is not empty */

    if (config->history_synced != NULL) {
        uint64_t synced = published_get(config->history_synced);
        while (count > 0 && archive->rows[count - 1].last_sequence > synced)
            count--;
    }
    return archive->rows[count].segment;
}

/* store.archive_keep: recovery reads journal/ only, so the archive may be pruned. */
static uint32_t prune(struct snapshotter *snapshotter, uint64_t now_ns)
{
    const struct snapshotter_config *config = &snapshotter->config;
    uint64_t today_ns = clock_now_ns(config->clock);

    if (config->archive_keep_ns == 0 || !snapshotter->archive_known ||
        snapshotter->archive.count == 0 || now_ns < snapshotter->prune_ns ||
        today_ns < config->archive_keep_ns)
        return 0;
    snapshotter->prune_ns = now_ns + PRUNE_NS;
    uint64_t before_ns = today_ns - config->archive_keep_ns, end = prune_end(snapshotter);
    int removed =
        archive_prune(&snapshotter->archive, config->disk, config->exchange, before_ns, end);
    if (removed >= 0 && config->archive_copy != NULL)
        (void)!archive_copy_prune(config->archive_copy, before_ns, end); /* its alarm says it */
    if (removed < 0) {
        archive_failed(snapshotter, now_ns, 0, strerror(-removed));
        return 0;
    }
    published_add(&snapshotter->counters.pruned, (uint64_t)removed);
    if (removed > 0)
        log_line(LOG_INFO, "archive", "pruned=%d", removed);
    return (uint32_t)removed;
}

/* ---- the whole ------------------------------------------------------------------------------- */

int snapshotter_init(struct snapshotter *snapshotter, const struct snapshotter_config *config)
{
    memset(snapshotter, 0, sizeof *snapshotter);
    snapshotter->config = *config;
    snapshotter->frame_bytes = aligned_alloc(ALIGNMENT, FRAME_BYTES_MAX);
    if (snapshotter->frame_bytes == NULL)
        return -ENOMEM;
    struct segment_range range;
    int failed = segment_range_of(config->disk, &range);
    if (failed != 0)
        return failed;
    snapshotter->first = range.min < config->segment ? range.min : config->segment;
    snapshotter->sealed_end = snapshotter->first;
    snapshotter->above = snapshotter->first;
    drop_parts(snapshotter);
    return find_kept(snapshotter, false);
}

void snapshotter_free(struct snapshotter *snapshotter)
{
    archive_close(&snapshotter->archive);
    free(snapshotter->frame_bytes);
    memset(snapshotter, 0, sizeof *snapshotter);
}

uint32_t snapshotter_step(struct snapshotter *snapshotter, uint64_t now_ns)
{
    if (now_ns < snapshotter->look_ns)
        return 0;
    uint32_t work = find_sealed(snapshotter);
    count_tail(snapshotter);
    work += snapshotter->child ? mind_child(snapshotter, now_ns) : begin(snapshotter, now_ns);
    work += store_one(snapshotter, now_ns);
    work += copy_one(snapshotter, now_ns);
    work += retire_one(snapshotter);
    work += prune(snapshotter, now_ns);
    if (work == 0) /* else there may be more at once */
        snapshotter->look_ns = now_ns + SNAPSHOTTER_LOOK_NS;
    return work;
}

void snapshotter_end(struct snapshotter *snapshotter)
{
    if (!snapshotter->child)
        return;
    if (!snapshotter->is_folding)
        snapshotter->config.host.end(snapshotter->config.host.context);
    snapshotter->child = snapshotter->is_folding = false;
    published_set(&snapshotter->counters.running, 0);
}

void snapshotter_count(struct snapshotter *snapshotter)
{
    INVARIANT(!snapshotter->child);
    drop_parts(snapshotter);
    int failed = find_kept(snapshotter, true);
    if (failed == 0)
        drop_older(snapshotter);
    else
        log_line(LOG_ERROR, "snapshot", "listing: %s", strerror(-failed));
}
