/* command_join.c - makes the data directory of another node of a cluster: keys of the invitation,
 * newest snapshot and the segments behind it of the vault (replication.md, Invitation). */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "perp/command/command.h"
#include "perp/data/cluster_client.h"
#include "perp/data/copy.h"
#include "perp/data/invite.h"
#include "perp/invocation/choice.h"
#include "perp/print/report.h"
#include "repl/cluster_row.h"
#include "repl/etcd_call.h"
#include "repl/repl_key.h"
#include "store/archive_file.h"
#include "store/archive_folder.h"
#include "store/archive_index.h"
#include "store/disk_real.h"
#include "store/segment.h"
#include "store/small_file.h"
#include "store/vault_snapshot.h"
#include "store/witness.h"

enum { PAGE_ROWS = 64 };

#define NEWEST INT64_MAX

/* One joining under way. */
struct joining {
    struct context *context;
    struct invite invite;
    struct cluster_client client;
    struct cluster_genesis genesis;
    struct cluster_segment *segments; /* that the vault has, one after the other */
    uint64_t segment_count;
    struct cluster_snapshot *snapshots; /* that the vault has, oldest first */
    uint64_t snapshot_count;
    uint64_t wanted;   /* sequence of --from-snapshot; NEWEST: the newest that can be used */
    uint64_t sequence; /* of the snapshot that is taken; 0: none */
    uint64_t begin;    /* the first of `segments` that is fetched */
    struct vault vault;
    const char *path; /* store.data */
    struct copy copy;
    struct archive archive; /* of the new directory */
};

/* ---- what is given --------------------------------------------------------------------------- */

static bool read_config(struct joining *joining, const char *path)
{
    struct context *context = joining->context;
    const struct config *config = &joining->client.config;

    if (!cluster_client_read(&joining->client, context, path))
        return false;
    if (strcmp(config_text(config, OPTION_cluster_name), joining->invite.cluster) != 0)
        return context_fail(context, EXIT_CODE_usage,
                            "cluster.name of %s is '%s', and the invitation is to %s", path,
                            config_text(config, OPTION_cluster_name), joining->invite.cluster);
    joining->path = config_text(config, OPTION_store_data);
    return true;
}

/* ---- what etcd says -------------------------------------------------------------------------- */

/* The row of one key, which must be there. */
static bool ask_key(struct joining *joining, const char *name, struct etcd_done *done)
{
    struct repl_key key = repl_key_of(joining->invite.cluster, name);
    const struct etcd_request request = { .kind = ETCD_RANGE,
                                          .key = etcd_text(key.text),
                                          .limit = 1 };

    return cluster_client_ask(&joining->client, &request, done) &&
           (done->row_count == 1 ||
            context_fail(joining->context, EXIT_CODE_rejected, "etcd has no cluster of the name %s",
                         joining->invite.cluster));
}

static bool check_identity(struct joining *joining)
{
    const struct exchange_file *exchange = &joining->invite.exchange;
    struct cluster_identity identity;
    struct hash_state hash;
    uint8_t key_hash[HASH_BYTES];
    struct etcd_done done;

    if (!ask_key(joining, "identity", &done))
        return false;
    hash_begin(&hash);
    hash_add(&hash, exchange->hash_key, sizeof exchange->hash_key);
    hash_add(&hash, exchange->secret_key, sizeof exchange->secret_key);
    hash_end(&hash, key_hash);
    if (!cluster_row_identity_decode(&identity, done.rows[0].value) ||
        memcmp(identity.journal_id, exchange->journal_id, sizeof identity.journal_id) != 0 ||
        memcmp(identity.exchange_id, exchange->exchange_id, sizeof identity.exchange_id) != 0 ||
        memcmp(identity.key_hash, key_hash, sizeof key_hash) != 0)
        return context_fail(joining->context, EXIT_CODE_rejected,
                            "the cluster %s in etcd is another exchange's",
                            joining->invite.cluster);
    return ask_key(joining, "genesis", &done) &&
           (cluster_row_genesis_decode(&joining->genesis, done.rows[0].value) ||
            context_fail(joining->context, EXIT_CODE_rejected,
                         "the key genesis in etcd is not as this binary writes it"));
}

/* Takes a page of keys segment/, which follow one another. */
static bool take_segments(struct joining *joining, const struct etcd_done *done)
{
    uint64_t count = joining->segment_count;
    struct cluster_segment *more = NULL;

    if (count + done->row_count <= ARCHIVE_INDEX_ROWS_MAX)
        more = realloc(joining->segments, (count + done->row_count) * sizeof *more);
    if (more == NULL)
        return context_fail(joining->context, EXIT_CODE_problem, "memory: %s", strerror(ENOMEM));
    joining->segments = more;
    for (uint32_t i = 0; i < done->row_count; i++, count++) {
        if (!cluster_row_segment_decode(&more[count], done->rows[i].value))
            return context_fail(joining->context, EXIT_CODE_rejected,
                                "a key of the vault's segments in etcd is not as this binary "
                                "writes it");
        if (more[count].segment != more[0].segment + count)
            return context_fail(joining->context, EXIT_CODE_rejected,
                                "the vault has segment %" PRIu64 " and not segment %" PRIu64,
                                more[count].segment, more[0].segment + count);
    }
    joining->segment_count = count;
    return true;
}

static bool read_segments(struct joining *joining)
{
    struct etcd_done done = { .more = true };

    while (done.more) {
        struct repl_key_page page;
        uint64_t next = joining->segment_count == 0
                            ? 0
                            : joining->segments[joining->segment_count - 1].segment + 1;
        repl_key_page_segments(&page, joining->invite.cluster, next, PAGE_ROWS);
        if (!cluster_client_ask(&joining->client, &page.request, &done))
            return false;
        if (done.row_count == 0)
            break;
        if (!take_segments(joining, &done))
            return false;
    }
    uint64_t last =
        joining->segment_count == 0 ? 0 : joining->segments[joining->segment_count - 1].last_frame;
    if (joining->segment_count != 0 && last >= joining->genesis.frame)
        return true;
    return context_fail(joining->context, EXIT_CODE_rejected,
                        "the vault ends with frame %" PRIu64 ", and the log begins behind frame "
                        "%" PRIu64 ": make another invitation, which has the leader fill the vault",
                        last, joining->genesis.frame);
}

/* A row that is none is passed over: the next older one, or none, is used. */
static bool read_snapshots(struct joining *joining)
{
    const char *cluster = joining->invite.cluster;
    struct repl_key from = repl_key_snapshot(cluster, 0), end = repl_key_snapshot_end(cluster);
    const struct etcd_request request = { .kind = ETCD_RANGE,
                                          .key = etcd_text(from.text),
                                          .end = etcd_text(end.text) };
    struct etcd_done done;

    if (!cluster_client_ask(&joining->client, &request, &done))
        return false;
    joining->snapshots = calloc(done.row_count + 1, sizeof *joining->snapshots);
    if (joining->snapshots == NULL)
        return context_fail(joining->context, EXIT_CODE_problem, "memory: %s", strerror(ENOMEM));
    for (uint32_t i = 0; i < done.row_count; i++)
        joining->snapshot_count += cluster_row_snapshot_decode(
            &joining->snapshots[joining->snapshot_count], done.rows[i].value);
    return true;
}

/* ---- the directory --------------------------------------------------------------------------- */

static bool failed(const struct joining *joining, const char *what, int error)
{
    return copy_failed(joining->context, joining->path, what, error);
}

static bool open_vault(struct joining *joining)
{
    const char *path = joining->client.option.vault;
    bool ring_refused;
    int error = 0;

    joining->vault = (struct vault){ .disk = disk_real_open(path, &error, &ring_refused),
                                     .exchange = &joining->invite.exchange,
                                     .node = joining->client.option.node,
                                     .segment_bytes = joining->invite.segment_bytes };
    return joining->vault.disk != NULL ||
           context_fail(joining->context, EXIT_CODE_usage, "cluster.vault: %s: %s", path,
                        strerror(-error));
}

/* The file of `origin` comes first: segments of a journal of before bear another id. */
static bool write_origin(struct joining *joining)
{
    struct invite *invite = &joining->invite;
    int error = 0;

    if (invite->origin_bytes != 0)
        error =
            small_file_replace(joining->copy.to, "origin", invite->origin, invite->origin_bytes);
    if (error == 0)
        error = era_read(joining->copy.to, &invite->exchange, NULL);
    return error == 0 || failed(joining, "origin", error);
}

/* ---- where it begins ------------------------------------------------------------------------- */

/* Which of `segments` ends with the frame of a snapshot, by number, sequence and hash as the
 * cluster has them; segment_count: none. */
static uint64_t segment_of(const struct joining *joining, const struct cluster_snapshot *snapshot)
{
    for (uint64_t i = 0; i < joining->segment_count; i++) {
        const struct cluster_segment *segment = &joining->segments[i];
        if (segment->segment + 1 == snapshot->next_segment &&
            segment->last_frame == snapshot->frame &&
            segment->last_sequence == snapshot->sequence &&
            memcmp(segment->last_frame_hash, snapshot->frame_hash, HASH_BYTES) == 0)
            return i;
    }
    return joining->segment_count;
}

/* NULL, or why no file of this snapshot can be used. */
static const char *judge_row(const struct joining *joining, const struct cluster_snapshot *snapshot)
{
    if (snapshot->rules_version != ENGINE_RULES_VERSION)
        return "it has another rules_version than this binary";
    if (segment_of(joining, snapshot) == joining->segment_count)
        return "its frame does not end a segment that the vault has";
    return NULL;
}

static bool is_wanted(const struct joining *joining, const struct cluster_snapshot *snapshot)
{
    return joining->wanted == NEWEST ||
           (joining->wanted != 0 && joining->wanted == snapshot->sequence);
}

/* Whether it can begin with a snapshot (`has_one`), or with the first segment. */
static bool check_begin(const struct joining *joining, bool has_one)
{
    if (!has_one && joining->wanted != 0 && joining->wanted != NEWEST)
        return context_fail(joining->context, EXIT_CODE_rejected,
                            "the vault has no snapshot %" PRIu64 " that can be used",
                            joining->wanted);
    return joining->segments[0].segment == 0 || (has_one && joining->segment_count > 1) ||
           context_fail(joining->context, EXIT_CODE_rejected,
                        "the vault begins with segment %" PRIu64 ", and without a snapshot in it "
                        "every record is needed: make this node of a backup of another node's "
                        "directory (perp backup, perp cluster join cannot)",
                        joining->segments[0].segment);
}

static void pass_over(const struct cluster_snapshot *snapshot, const char *why)
{
    fprintf(stderr, "perp: snapshot %" PRIu64 " of the vault is passed over: %s\n",
            snapshot->sequence, why);
}

/* Before anything is made: what the keys in etcd tell already. */
static bool check_snapshots(const struct joining *joining)
{
    for (uint64_t i = 0; i < joining->snapshot_count; i++)
        if (is_wanted(joining, &joining->snapshots[i]) &&
            judge_row(joining, &joining->snapshots[i]) == NULL)
            return check_begin(joining, true);
    if (check_begin(joining, false))
        return true; /* choose_begin passes them over */
    for (uint64_t i = joining->snapshot_count; i-- > 0;)
        if (is_wanted(joining, &joining->snapshots[i]))
            pass_over(&joining->snapshots[i], judge_row(joining, &joining->snapshots[i]));
    return false;
}

/* Copies a snapshot out of the vault. NULL, or why it cannot be used. */
static const char *fetch_snapshot(struct joining *joining, const struct cluster_snapshot *snapshot)
{
    struct vault_snapshot wanted = {
        .sequence = snapshot->sequence,
        .frame = snapshot->frame,
        .t_ns = snapshot->t_ns,
        .bytes = snapshot->bytes,
        .rules_version = snapshot->rules_version,
    };
    const char *why = judge_row(joining, snapshot);

    if (why != NULL)
        return why;
    memcpy(wanted.image_hash, snapshot->image_hash, sizeof wanted.image_hash);
    memcpy(wanted.frame_hash, snapshot->frame_hash, sizeof wanted.frame_hash);
    memcpy(wanted.file_hash, snapshot->file_hash, sizeof wanted.file_hash);
    int error = vault_snapshot_fetch(&joining->vault, &wanted, joining->copy.to);
    if (error == -EBADMSG)
        return "its file is damaged";
    if (error == -EXDEV)
        return "its file is another exchange's";
    return error == 0 ? NULL : strerror(-error);
}

/* The last segment is in journal/, and if the first of the exchange is not there, one at least must
 * be archived before it: a journal alone begins with segment 0. */
static uint64_t begin_at(const struct joining *joining, uint64_t segment)
{
    uint64_t last = joining->segment_count - 1;

    return segment < last || last == 0 ? segment : last - 1;
}

/* The newest snapshot that can be used, and the segments from the one on that it ends; without one
 * every record, if the vault has the first. */
static bool choose_begin(struct joining *joining)
{
    for (uint64_t i = joining->snapshot_count; i-- > 0;) {
        const struct cluster_snapshot *snapshot = &joining->snapshots[i];
        if (!is_wanted(joining, snapshot))
            continue;
        const char *why = fetch_snapshot(joining, snapshot);
        if (why == NULL) {
            joining->sequence = snapshot->sequence;
            joining->begin = begin_at(joining, segment_of(joining, snapshot));
            break;
        }
        pass_over(snapshot, why);
    }
    return check_begin(joining, joining->sequence != 0);
}

/* ---- segments -------------------------------------------------------------------------------- */

static int write_file(struct disk *disk, const char *path, const uint8_t *bytes, size_t count)
{
    int file = disk_open(disk, path, DISK_CREATE);

    if (file < 0)
        return file;
    int error = disk_write(disk, file, 0, bytes, count);
    if (error == 0)
        error = disk_sync(disk, file);
    disk_close(disk, file);
    return error;
}

/* The last segment is one of journal/, the others are archived. */
static int write_segment(struct joining *joining, const uint8_t *bytes, struct archive_row *row,
                         bool is_last)
{
    char path[DISK_PATH_BYTES];
    uint8_t *file;
    size_t count;

    if (is_last) {
        segment_path(path, row->segment, true);
        return write_file(joining->copy.to, path, bytes, joining->invite.segment_bytes);
    }
    int error = archive_file_pack(&file, &count, bytes, joining->invite.segment_bytes);
    if (error != 0)
        return error;
    row->bytes = count;
    hash_blake2b256(row->file_hash, file, count);
    archive_folder_path(path, row->segment, false);
    error = write_file(joining->copy.to, path, file, count);
    free(file);
    return error;
}

/* Reads one segment from the vault, which must go on where the one before it ends; of the first
 * that the vault has it is not known where that is. */
static bool fetch(struct joining *joining, uint64_t at, uint8_t *bytes, struct frame_tail *before)
{
    const struct cluster_segment *segment = &joining->segments[at];
    struct archive_row *row = &joining->archive.rows[at - joining->begin];
    uint64_t number = segment->segment;
    int error = vault_load(&joining->vault, number, segment->file_bytes, segment->file_hash, bytes);

    if (error == 0)
        error = archive_file_survey(row, bytes, joining->invite.segment_bytes,
                                    &joining->invite.exchange, number,
                                    at == 0 && number != 0 ? NULL : before);
    if (error == 0 && (row->last_frame != segment->last_frame ||
                       memcmp(row->last_frame_hash, segment->last_frame_hash, HASH_BYTES) != 0))
        error = -EBADMSG;
    if (error != 0)
        return context_fail(
            joining->context, EXIT_CODE_rejected, "segment %" PRIu64 " of the vault %s: %s", number,
            joining->client.option.vault,
            error == -EBADMSG ? "damaged, or another exchange's" : strerror(-error));
    error = write_segment(joining, bytes, row, at + 1 == joining->segment_count);
    before->number = row->last_frame;
    before->last_sequence = row->last_sequence;
    memcpy(before->hash, row->last_frame_hash, sizeof before->hash);
    return error == 0 || failed(joining, "archive or journal", error);
}

static bool write_index(struct joining *joining)
{
    char *text = NULL;
    size_t count;
    int error = 0;

    joining->archive.count = joining->segment_count - joining->begin - 1;
    if (joining->archive.count != 0)
        error = archive_index_encode(&text, &count, &joining->archive, &joining->invite.exchange);
    if (error == 0 && joining->archive.count != 0)
        error = small_file_replace(joining->copy.to, "archive/index", text, count);
    free(text);
    if (error == 0)
        error = disk_sync_folder(joining->copy.to, "archive");
    if (error == 0)
        error = disk_sync_folder(joining->copy.to, "journal");
    return error == 0 || failed(joining, "archive/index", error);
}

/* What the segments that are fetched go on after. */
static struct frame_tail tail_before(const struct joining *joining)
{
    struct frame_tail tail;

    frame_tail_start(&tail, joining->invite.exchange.exchange_id);
    if (joining->begin == 0)
        return tail;
    const struct cluster_segment *before = &joining->segments[joining->begin - 1];
    tail.number = before->last_frame;
    tail.last_sequence = before->last_sequence;
    memcpy(tail.hash, before->last_frame_hash, sizeof tail.hash);
    return tail;
}

static bool fetch_segments(struct joining *joining, struct frame_tail *end)
{
    uint8_t *bytes = segment_memory(joining->invite.segment_bytes);

    *end = tail_before(joining);
    joining->archive.rows =
        calloc(joining->segment_count - joining->begin, sizeof *joining->archive.rows);
    bool is_fetched = bytes != NULL && joining->archive.rows != NULL;
    if (!is_fetched)
        (void)context_fail(joining->context, EXIT_CODE_problem, "memory: %s", strerror(ENOMEM));
    for (uint64_t i = joining->begin; is_fetched && i < joining->segment_count; i++)
        is_fetched = fetch(joining, i, bytes, end);
    free(bytes);
    return is_fetched && write_index(joining);
}

/* `exchange` comes last: a start refuses a directory without it that holds anything else. */
static bool write_keys(struct joining *joining, const struct frame_tail *end)
{
    struct invite *invite = &joining->invite;
    struct witness witness = {
        .frame = end->number,
        .sequence = end->last_sequence,
        .boot = invite->exchange.boot,
        .wall_ns = joining->archive.rows[joining->segment_count - joining->begin - 1].last_t_ns
    };
    struct slot_location all = { 0 };

    memcpy(witness.hash, end->hash, sizeof witness.hash);
    int error = witness_write(joining->copy.to, &invite->exchange, &witness, &all);
    if (error != 0)
        return failed(joining, "witness", error);
    error =
        small_file_replace(joining->copy.to, "signing.key", invite->signing, invite->signing_bytes);
    if (error != 0)
        return failed(joining, "signing.key", error);
    invite->exchange.is_former = true; /* written whole */
    error = exchange_file_write(joining->copy.to, &invite->exchange);
    return error == 0 || failed(joining, "exchange", error);
}

static void show(const struct joining *joining, const struct frame_tail *end)
{
    json_t *object = json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "cluster",
                               joining->invite.cluster, "node", joining->client.option.node, "data",
                               joining->path, "snapshot", (json_int_t)joining->sequence, "segments",
                               (json_int_t)(joining->segment_count - joining->begin), "frame",
                               (json_int_t)end->number, "sequence", (json_int_t)end->last_sequence);

    INVARIANT(object != NULL);
    report_object(stdout, object, joining->context->arguments->json);
}

static void make_directory(struct joining *joining)
{
    struct frame_tail end;

    joining->copy = (struct copy){ .context = joining->context, .to_path = joining->path };
    joining->copy.to = copy_make_directory(joining->context, joining->path);
    if (joining->copy.to == NULL)
        return;
    bool is_made = write_origin(joining) && choose_begin(joining) &&
                   fetch_segments(joining, &end) && write_keys(joining, &end);
    disk_real_close(joining->copy.to);
    if (is_made)
        show(joining, &end);
}

int command_cluster_join(struct context *context)
{
    static struct joining joining;
    const struct arguments *arguments = context->arguments;

    joining = (struct joining){ .context = context };
    if (!choice_number(context, FLAG_from_snapshot, 0, INT64_MAX, NEWEST, &joining.wanted))
        return context->exit_code;
    if (!invite_read(context, arguments->words[0], &joining.invite))
        return context->exit_code;
    if (read_config(&joining, arguments->words[1]) && cluster_client_open(&joining.client) &&
        check_identity(&joining) && read_segments(&joining) && read_snapshots(&joining) &&
        check_snapshots(&joining) && open_vault(&joining))
        make_directory(&joining);
    if (joining.vault.disk != NULL)
        disk_real_close(joining.vault.disk);
    free(joining.segments);
    free(joining.snapshots);
    free(joining.archive.rows);
    cluster_client_close(&joining.client);
    invite_wipe(&joining.invite);
    return context->exit_code;
}
