/* replicator_vault.c - a standby reads from the vault what the log has no more; a leader keeps the
 * log in bounds by what the vault has (replication.md, Retention). */
#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/node_exit.h"
#include "node/replicator/replicator_state.h"

#define AGAIN_NS UINT64_C(1000000000)

/* ---- a standby reads ------------------------------------------------------------------------- */

void replicator_vault_begin(struct replicator *replicator)
{
    struct vault_reading *vault = &replicator->vault;

    tail_end(&replicator->tail);
    vault->reads = true;
    vault->is_asked = false;
    vault->again_ns = 0;
    vault->segment = journal_cluster_segment(replicator->journal);
    vault->begun = journal_cluster_last_frame(replicator->journal).number;
    log_line(LOG_INFO, "cluster", "frame %lu is in the log no more: read from the vault",
             vault->begun + 1);
}

void replicator_vault_end(struct replicator *replicator)
{
    free(replicator->vault.bytes);
    replicator->vault.bytes = NULL;
    replicator->vault.reads = false;
    vault_reader_end(&replicator->reader);
}

/* A segment is adopted, or the vault has no further one: the log goes on. */
static void go_on_with_log(struct replicator *replicator)
{
    uint64_t last = journal_cluster_last_frame(replicator->journal).number;

    if (last == replicator->vault.begun) {
        (void)replicator_fail(replicator, NODE_EXIT_REFUSED,
                              "frame %lu is neither in the log nor in the vault: begin this node "
                              "again with a copy of another node's directory",
                              last + 1);
        return;
    }
    replicator_vault_end(replicator);
    tail_begin(&replicator->tail, replicator->etcd, replicator->config.cluster, last);
}

/* A read of the segment has ended, or did not begin. */
static void end_load(struct vault_reading *vault, int error, uint64_t now_ns)
{
    vault->offset = 0;
    if (error == 0) {
        vault->is_told = false;
        return;
    }
    if (!vault->is_told)
        log_line(LOG_ERROR, "cluster", "the vault's segment %lu was not read: %s; asked again",
                 vault->segment, strerror(-error));
    vault->is_told = true;
    vault->again_ns = now_ns + AGAIN_NS;
}

static void load(struct replicator *replicator, const struct cluster_segment *segment,
                 uint64_t now_ns)
{
    int error = vault_reader_ask(&replicator->reader, &replicator->config.vault, segment, now_ns);

    if (error != 0)
        end_load(&replicator->vault, error, now_ns);
}

/* True: a read is under way, or has just ended. */
static bool loads(struct replicator *replicator, uint64_t now_ns)
{
    int error;

    if (vault_reader_waits(&replicator->reader, now_ns))
        return true;
    if (!vault_reader_accept(&replicator->reader, &replicator->vault.bytes, &error))
        return false;
    end_load(&replicator->vault, error, now_ns);
    return true;
}

uint32_t replicator_vault_read(struct replicator *replicator)
{
    return vault_reader_work(&replicator->reader, &replicator->config.vault);
}

uint64_t replicator_vault_late_ns(const struct replicator *replicator, uint64_t *segment)
{
    uint64_t now_ns = clock_monotonic_ns(replicator->config.clock);

    return vault_reader_late_ns(&replicator->reader, now_ns, segment);
}

void replicator_vault_done(struct replicator *replicator, const struct etcd_done *done,
                           uint64_t now_ns)
{
    struct vault_reading *vault = &replicator->vault;
    uint64_t last = journal_cluster_last_frame(replicator->journal).number;
    struct cluster_segment segment;

    if (!vault->reads || !vault->is_asked || done->tag != repl_tag(REPL_VAULT, vault->tag))
        return;
    vault->is_asked = false;
    if (done->result != ETCD_OK) {
        vault->again_ns = now_ns + AGAIN_NS;
        return;
    }
    if (done->row_count == 0) {
        go_on_with_log(replicator);
        return;
    }
    if (!cluster_row_segment_decode(&segment, done->rows[0].value) ||
        segment.segment != vault->segment || segment.first_frame > last + 1) {
        (void)replicator_fail(replicator, NODE_EXIT_REFUSED,
                              "the key of the vault's segment %lu is not as this binary writes it, "
                              "or does not follow frame %lu",
                              vault->segment, last);
        return;
    }
    if (segment.last_frame <= last)
        vault->segment++;
    else
        load(replicator, &segment, now_ns);
}

static void ask_pointer(struct replicator *replicator)
{
    struct vault_reading *vault = &replicator->vault;
    struct repl_key key = repl_key_segment(replicator->config.cluster, vault->segment);
    const struct etcd_request request = { .kind = ETCD_RANGE, .key = etcd_text(key.text) };

    vault->is_asked =
        etcd_submit(replicator->etcd, &request, repl_tag(REPL_VAULT, vault->tag + 1)) == 0;
    vault->tag += vault->is_asked;
}

static int adopt_frames(struct replicator *replicator)
{
    struct vault_reading *vault = &replicator->vault;
    struct frame_header header;

    for (int work = 0; work < REPLICATOR_ADOPTED_A_TURN;) {
        uint32_t offset = vault->offset;
        const uint8_t *frame =
            vault_next(&replicator->config.vault, vault->segment, vault->bytes, &offset, &header);
        if (frame == NULL) {
            go_on_with_log(replicator); /* which may have had the next one all the time */
            return work + 1;
        }
        if (header.number > journal_cluster_last_frame(replicator->journal).number) {
            int adopted = journal_cluster_adopt(replicator->journal, frame,
                                                FRAME_HEADER_BYTES + header.record_bytes);
            if (adopted == 0)
                return work;
            if (adopted < 0)
                return replicator_fail(replicator, NODE_EXIT_REFUSED,
                                       "frame %lu of the vault was not adopted: %s", header.number,
                                       strerror(-adopted));
            work++;
        }
        vault->offset = offset;
    }
    return REPLICATOR_ADOPTED_A_TURN;
}

int replicator_vault_step(struct replicator *replicator, uint64_t now_ns)
{
    struct vault_reading *vault = &replicator->vault;

    if (replicator->end.text[0] != '\0')
        return -1;
    if (vault->bytes != NULL)
        return adopt_frames(replicator);
    if (!loads(replicator, now_ns) && !vault->is_asked && now_ns >= vault->again_ns)
        ask_pointer(replicator);
    return 0;
}

/* ---- a leader keeps -------------------------------------------------------------------------- */

static void accept_offer(struct replicator *replicator)
{
    struct vault_mail *mail = &replicator->mail;

    /* Acquire: the offer is whole (pairs: replicator_vault_offer). */
    if (!atomic_load_explicit(&mail->is_offered, memory_order_acquire))
        return;
    if (!retain_offer(&replicator->retain, &mail->offer))
        log_line(LOG_ERROR, "vault", "segment %lu does not follow the one before it in the vault",
                 mail->offer.segment);
    atomic_store_explicit(&mail->wanted, 0, memory_order_relaxed);
    atomic_store_explicit(&mail->is_offered, false, memory_order_release);
}

void replicator_vault_keep(struct replicator *replicator, uint64_t now_ns)
{
    struct retain *retain = &replicator->retain;
    struct vault_mail *mail = &replicator->mail;

    if (retain_wants(retain))
        accept_offer(replicator);
    if (retain_wants(retain))
        /* relaxed: a number alone. */
        atomic_store_explicit(&mail->wanted,
                              retain->has_newest ? retain->newest.segment + 2 : VAULT_WANTS_FIRST,
                              memory_order_relaxed);
    retain_step(retain, replicator->lead.landed, now_ns);
}

bool replicator_vault_wants(const struct replicator *replicator, struct disk *journal,
                            uint64_t *segment)
{
    const struct vault_mail *mail = &replicator->mail;
    uint64_t wanted = atomic_load_explicit(&mail->wanted, memory_order_relaxed);

    if (wanted == 0 || atomic_load_explicit(&mail->is_offered, memory_order_acquire))
        return false;
    *segment = wanted - 1;
    return wanted != VAULT_WANTS_FIRST ||
           vault_first(&replicator->config.vault, journal, segment) == 0;
}

void replicator_vault_offer(struct replicator *replicator, const struct archive_row *row,
                            uint64_t log_bytes)
{
    struct vault_mail *mail = &replicator->mail;

    mail->offer = (struct cluster_segment){
        .segment = row->segment,
        .first_frame = row->first_frame,
        .last_frame = row->last_frame,
        .first_sequence = row->first_sequence,
        .last_sequence = row->last_sequence,
        .last_t_ns = row->last_t_ns,
        .file_bytes = row->bytes,
        .log_bytes = log_bytes,
    };
    memcpy(mail->offer.file_hash, row->file_hash, sizeof mail->offer.file_hash);
    memcpy(mail->offer.last_frame_hash, row->last_frame_hash, sizeof mail->offer.last_frame_hash);
    /* Release: the offer is whole (pairs: accept_offer). */
    atomic_store_explicit(&mail->is_offered, true, memory_order_release);
}
