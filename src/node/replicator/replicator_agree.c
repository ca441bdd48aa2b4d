/* replicator_agree.c - which frame of this journal the log has too (replication.md, A node): asked
 * within recovery, before anything is cut or applied. Blocks until etcd has answered. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "node/replicator/replicator_state.h"

enum { PAGE_ROWS = 3, POINTER_ROWS = 128, STEP_BACK = 64, LENGTH_AT = 80, READ_LOOK_US = 5000 };

#define SAY_NS  UINT64_C(5000000000)
#define WAIT_NS UINT64_C(50000000)

/* One agreement under way. */
struct agreement {
    struct replicator *replicator;
    const struct frame_tail *tails;
    uint32_t count;
    struct refusal *refusal;
    uint64_t tag;
    uint64_t said_ns;
    uint64_t term;
    bool has_cluster;
    struct cluster_identity identity;
    struct cluster_genesis genesis;
};

static void say(struct agreement *agreement)
{
    struct etcd_health health;
    uint64_t now_ns = clock_monotonic_ns(agreement->replicator->config.clock);

    if (agreement->said_ns == 0)
        agreement->said_ns = now_ns;
    if (now_ns - agreement->said_ns < SAY_NS)
        return;
    agreement->said_ns = now_ns;
    etcd_health(agreement->replicator->etcd, &health);
    log_line(LOG_WARN, "cluster", "waiting for etcd: %s",
             health.is_connected ? "no answer yet" : health.text);
}

static bool is_given_up(const struct agreement *agreement)
{
    const _Atomic bool *give_up = agreement->replicator->config.give_up;

    return give_up != NULL && atomic_load_explicit(give_up, memory_order_relaxed); /* a flag */
}

/* Asks until etcd has answered; false when the start is given up. Rows are valid until the next. */
static bool ask(struct agreement *agreement, const struct etcd_request *request,
                struct etcd_done *done)
{
    struct etcd *etcd = agreement->replicator->etcd;
    uint64_t tag = repl_tag(REPL_START, ++agreement->tag);

    if (etcd_submit(etcd, request, tag) != 0)
        return false;
    while (!is_given_up(agreement)) {
        if (etcd_reap(etcd, done, 1) == 1 && done->tag == tag)
            return true;
        say(agreement);
        if (etcd_wait(etcd, -1, WAIT_NS) != 0)
            break;
    }
    (void)etcd_cancel(etcd, tag);
    return false;
}

static enum refusal_kind abandon(struct agreement *agreement, const char *why)
{
    return refusal_set(agreement->refusal, REFUSAL_record_refused, "%s", why);
}

/* Identity, genesis and term, at one revision. */
static enum refusal_kind read_cluster(struct agreement *agreement)
{
    const char *cluster = agreement->replicator->config.cluster;
    struct repl_key keys[] = { repl_key_of(cluster, "identity"), repl_key_of(cluster, "genesis"),
                               repl_key_of(cluster, "term") };
    struct etcd_op gets[CC_COUNT(keys)];
    struct etcd_done done;
    for (size_t i = 0; i < CC_COUNT(keys); i++)
        gets[i] = (struct etcd_op){ .verb = ETCD_GET, .key = etcd_text(keys[i].text) };
    const struct etcd_transaction transaction = { .then = gets, .then_count = CC_COUNT(gets) };
    const struct etcd_request request = { .kind = ETCD_TRANSACTION, .transaction = &transaction };

    if (!ask(agreement, &request, &done))
        return abandon(agreement, "the start was given up while it waited for etcd");
    if (done.result != ETCD_OK)
        return refusal_set(agreement->refusal, REFUSAL_cluster_differs,
                           "etcd refused to read its keys: %.100s", done.text);
    agreement->has_cluster = done.row_count != 0;
    if (agreement->has_cluster &&
        (done.row_count != CC_COUNT(keys) ||
         !cluster_row_identity_decode(&agreement->identity, done.rows[0].value) ||
         !cluster_row_genesis_decode(&agreement->genesis, done.rows[1].value) ||
         !cluster_row_term_decode(&agreement->term, done.rows[2].value)))
        return refusal_set(agreement->refusal, REFUSAL_cluster_differs,
                           "the keys identity, genesis and term in etcd are not as this binary "
                           "writes them");
    return REFUSAL_none;
}

/* The hash of a frame of the log, whose padding is made again. False if it is none. */
static bool hash_of(struct etcd_bytes value, uint8_t hash[HASH_BYTES])
{
    static const uint8_t zeros[DISK_BLOCK_BYTES_MAX];
    struct hash_state state;

    if (value.count < FRAME_HEADER_BYTES)
        return false;
    uint32_t length = cc_load32((const uint8_t *)value.bytes + LENGTH_AT);
    if (length < value.count || length - value.count >= sizeof zeros)
        return false;
    hash_begin(&state);
    hash_add(&state, value.bytes, value.count);
    hash_add(&state, zeros, length - value.count);
    hash_end(&state, hash);
    return true;
}

static const struct frame_tail *tail_of(const struct agreement *agreement, uint64_t number)
{
    uint64_t first = agreement->tails[0].number;

    return number < first || number - first >= agreement->count ? NULL
                                                                : &agreement->tails[number - first];
}

/* Counts on *keep the frames from `from` on that the log has without a gap and equal. */
static enum refusal_kind compare_from(struct agreement *agreement, uint64_t from, uint64_t *keep)
{
    const char *cluster = agreement->replicator->config.cluster;
    uint8_t hash[HASH_BYTES];

    for (*keep = from - 1;;) {
        struct repl_key_page page;
        struct etcd_done done;
        repl_key_page_log(&page, cluster, *keep + 1, PAGE_ROWS);
        if (!ask(agreement, &page.request, &done))
            return abandon(agreement, "the start was given up while it waited for etcd");
        if (done.result != ETCD_OK)
            return refusal_set(agreement->refusal, REFUSAL_cluster_differs,
                               "etcd refused to read its log: %.100s", done.text);
        if (done.row_count == 0)
            return REFUSAL_none;
        for (uint32_t i = 0; i < done.row_count; i++) {
            const struct frame_tail *tail = tail_of(agreement, *keep + 1);
            if (tail == NULL || repl_key_number(cluster, done.rows[i].key) != *keep + 1 ||
                !hash_of(done.rows[i].value, hash) || memcmp(hash, tail->hash, sizeof hash) != 0)
                return REFUSAL_none;
            ++*keep;
        }
    }
}

static enum refusal_kind other_history(struct agreement *agreement, uint64_t number)
{
    return refusal_set(agreement->refusal, REFUSAL_cluster_differs,
                       "frame %lu is not the one that the log has: it has another history; begin "
                       "this node again with a copy of another node's directory",
                       number);
}

/* ---- the vault ------------------------------------------------------------------------------- */

static enum refusal_kind refused_by_etcd(struct agreement *agreement, const struct etcd_done *done)
{
    return refusal_set(agreement->refusal, REFUSAL_cluster_differs,
                       "etcd refused to read its log: %.100s", done->text);
}

/* The lowest frame of the log; UINT64_MAX: there is none. */
static enum refusal_kind find_lowest(struct agreement *agreement, uint64_t *lowest)
{
    const char *cluster = agreement->replicator->config.cluster;
    struct repl_key_page page;
    struct etcd_done done;

    *lowest = UINT64_MAX;
    repl_key_page_log(&page, cluster, 0, 1);
    if (!ask(agreement, &page.request, &done))
        return abandon(agreement, "the start was given up while it waited for etcd");
    if (done.result != ETCD_OK)
        return refused_by_etcd(agreement, &done);
    if (done.row_count != 0)
        *lowest = repl_key_number(cluster, done.rows[0].key);
    return REFUSAL_none;
}

/* The vault's segment that holds `frame`, from its key; *found: there is one. */
static enum refusal_kind find_segment(struct agreement *agreement, uint64_t frame,
                                      struct cluster_segment *segment, bool *found)
{
    const char *cluster = agreement->replicator->config.cluster;
    struct etcd_done done = { .more = true };
    uint64_t from = 0;

    for (*found = false; done.more;) {
        struct repl_key_page page;
        repl_key_page_segments(&page, cluster, from, POINTER_ROWS);
        if (!ask(agreement, &page.request, &done))
            return abandon(agreement, "the start was given up while it waited for etcd");
        if (done.result != ETCD_OK)
            return refused_by_etcd(agreement, &done);
        for (uint32_t i = 0; i < done.row_count; i++) {
            if (!cluster_row_segment_decode(segment, done.rows[i].value))
                return refusal_set(agreement->refusal, REFUSAL_cluster_differs,
                                   "a key of the vault's segments in etcd is not as this binary "
                                   "writes it");
            *found = segment->first_frame <= frame && frame <= segment->last_frame;
            if (*found)
                return REFUSAL_none;
            from = segment->segment + 1;
        }
        if (done.row_count == 0)
            break;
    }
    return REFUSAL_none;
}

/* The last frame of a segment of the vault that this journal has too; 0: none. */
static uint64_t last_equal(const struct agreement *agreement, const struct cluster_segment *segment,
                           const uint8_t *bytes)
{
    struct frame_header header;
    uint32_t offset = 0;
    uint64_t equal = 0;
    const uint8_t *frame;

    while ((frame = vault_next(&agreement->replicator->config.vault, segment->segment, bytes,
                               &offset, &header)) != NULL) {
        const struct frame_tail *tail = tail_of(agreement, header.number);
        struct frame_tail found;
        if (tail == NULL)
            continue;
        frame_tail_advance(&found, &header, frame);
        if (memcmp(found.hash, tail->hash, sizeof found.hash) != 0)
            break;
        equal = header.number;
    }
    return equal;
}

/* Reads a segment of the vault to *bytes, which the caller frees. The vault's thread reads it: one
 * that hangs holds up no stop. 0, -ECANCELED when the start is given up, or as vault_load. */
static int read_segment(struct agreement *agreement, const struct cluster_segment *segment,
                        uint8_t **bytes)
{
    struct replicator *replicator = agreement->replicator;
    const struct clock *clock = replicator->config.clock;
    int error = vault_reader_ask(&replicator->reader, &replicator->config.vault, segment,
                                 clock_monotonic_ns(clock));

    if (error != 0)
        return error;
    while (vault_reader_waits(&replicator->reader, clock_monotonic_ns(clock))) {
        if (is_given_up(agreement))
            return -ECANCELED;
        usleep(READ_LOOK_US);
    }
    return vault_reader_accept(&replicator->reader, bytes, &error) ? error : -EIO;
}

/* The last frame up to `last` that both have, where the log has no more what is compared. *keep is
 * 0 if there is none. */
static enum refusal_kind find_in_vault(struct agreement *agreement, uint64_t last, uint64_t *keep)
{
    struct cluster_segment segment;
    bool found = true;

    for (*keep = 0; last >= agreement->tails[0].number && *keep == 0;) {
        enum refusal_kind kind = find_segment(agreement, last, &segment, &found);
        if (kind != REFUSAL_none || !found)
            return kind;
        uint8_t *bytes = NULL;
        int error = read_segment(agreement, &segment, &bytes);
        if (error == 0)
            *keep = last_equal(agreement, &segment, bytes);
        free(bytes);
        if (error == -ECANCELED)
            return abandon(agreement, "the start was given up while it waited for the vault");
        if (error != 0)
            return refusal_machine(agreement->refusal, "reading the vault", error);
        last = segment.first_frame - 1;
    }
    return REFUSAL_none;
}

/* ---- the location ---------------------------------------------------------------------------- */

/* The last frame that both have, from the end of the chain down; after what the log has, in the
 * vault. */
static enum refusal_kind find(struct agreement *agreement, uint64_t last, uint64_t *keep)
{
    uint64_t lowest = agreement->tails[0].number;
    uint64_t begins = agreement->genesis.frame + 1;
    uint64_t from = last > STEP_BACK ? last - STEP_BACK : 1;
    uint64_t in_log;
    enum refusal_kind kind = find_lowest(agreement, &in_log);

    if (kind != REFUSAL_none)
        return kind;
    bool is_short = in_log != UINT64_MAX && in_log > begins; /* the vault has what is below */
    while (!is_short || last >= in_log) {
        if (from < lowest)
            from = lowest;
        if (from < begins)
            from = begins;
        if (is_short && from < in_log)
            from = in_log;
        kind = compare_from(agreement, from, keep);
        if (kind != REFUSAL_none || *keep >= from)
            return kind;
        if (from == begins || from == lowest || (is_short && from == in_log))
            break;
        from = from > STEP_BACK ? from - STEP_BACK : 1;
    }
    if (is_short) {
        kind = find_in_vault(agreement, last < in_log ? last : in_log - 1, keep);
        if (kind != REFUSAL_none || *keep != 0)
            return kind;
    }
    const struct frame_tail *tail = tail_of(agreement, agreement->genesis.frame);
    if (from == begins && tail != NULL &&
        memcmp(tail->hash, agreement->genesis.frame_hash, sizeof tail->hash) == 0) {
        *keep = agreement->genesis.frame;
        return REFUSAL_none;
    }
    return other_history(agreement, from);
}

/* A frame that was durable here and is not any more: the log or the vault has it, or it is lost. */
static enum refusal_kind find_lost(struct agreement *agreement, uint64_t number)
{
    struct repl_key key = repl_key_frame(agreement->replicator->config.cluster, number);
    const struct etcd_request request = { .kind = ETCD_RANGE, .key = etcd_text(key.text) };
    struct etcd_done done;

    if (agreement->has_cluster && !ask(agreement, &request, &done))
        return abandon(agreement, "the start was given up while it waited for etcd");
    if (agreement->has_cluster && done.result == ETCD_OK && done.row_count == 1)
        return REFUSAL_none;
    struct cluster_segment segment;
    bool found = false;
    if (agreement->has_cluster) {
        enum refusal_kind kind = find_segment(agreement, number, &segment, &found);
        if (kind != REFUSAL_none || found)
            return kind;
    }
    return refusal_set(agreement->refusal, REFUSAL_log_behind,
                       "frame %lu was durable, and neither this journal nor the log nor the vault "
                       "has it",
                       number);
}

/* Which frame both have, once the cluster is known to be this exchange's. */
static enum refusal_kind agree(struct agreement *agreement, const struct frame_tail *last,
                               uint64_t *keep)
{
    const struct cluster_genesis *genesis = &agreement->genesis;

    if (last->boot > agreement->term)
        return refusal_set(agreement->refusal, REFUSAL_log_behind,
                           "its last frame is of term %lu, the log's term is %lu: etcd was "
                           "restored from an older state",
                           last->boot, agreement->term);
    if (last->number < genesis->frame)
        return other_history(agreement, genesis->frame);
    if (last->number > genesis->frame)
        return find(agreement, last->number, keep);
    return memcmp(last->hash, genesis->frame_hash, sizeof last->hash) == 0
               ? REFUSAL_none
               : other_history(agreement, last->number);
}

enum refusal_kind replicator_agree(void *context, const struct frame_tail *tails, uint32_t count,
                                   uint64_t least, uint64_t *keep, struct refusal *refusal)
{
    struct replicator *replicator = context;
    struct agreement agreement = {
        .replicator = replicator, .tails = tails, .count = count, .refusal = refusal
    };
    struct cluster_identity own;
    enum refusal_kind kind = read_cluster(&agreement);

    *keep = tails[count - 1].number;
    if (kind != REFUSAL_none)
        return kind;
    replicator_identity(replicator, &own);
    if (agreement.has_cluster && memcmp(&own, &agreement.identity, sizeof own) != 0)
        return refusal_set(refusal, REFUSAL_cluster_differs,
                           "the cluster %s in etcd is another exchange's",
                           replicator->config.cluster);
    if (agreement.has_cluster)
        kind = agree(&agreement, &tails[count - 1], keep);
    return kind == REFUSAL_none && least > *keep ? find_lost(&agreement, least) : kind;
}
