#include "node/replicator/replicator.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/log.h"
#include "base/node_exit.h"
#include "node/replicator/replicator_state.h"

#define RESIGN_NS UINT64_C(200000000)

/* Of record 2016. */
enum { CAUSE_FIRST = 0, CAUSE_LEASE_ENDED = 1, CAUSE_HANDOVER = 2, CAUSE_ORDERED = 3 };

/* ---- life ------------------------------------------------------------------------------------ */

struct replicator *replicator_create(const struct replicator_config *config, struct etcd *etcd)
{
    struct replicator *replicator = aligned_alloc(alignof(struct replicator), sizeof *replicator);

    if (replicator == NULL)
        return NULL;
    memset(replicator, 0, sizeof *replicator);
    replicator->config = *config;
    replicator->etcd = etcd;
    replicator->file = -1;
    return replicator;
}

void replicator_destroy(struct replicator *replicator)
{
    if (replicator == NULL)
        return;
    tail_end(&replicator->tail);
    replicator_vault_end(replicator);
    etcd_close(replicator->etcd);
    if (replicator->file >= 0)
        close(replicator->file);
    free(replicator);
}

void replicator_identity(const struct replicator *replicator, struct cluster_identity *identity)
{
    const struct exchange_file *exchange = replicator->config.exchange;
    struct hash_state hash;

    memcpy(identity->journal_id, exchange->journal_id, sizeof identity->journal_id);
    memcpy(identity->exchange_id, exchange->exchange_id, sizeof identity->exchange_id);
    hash_begin(&hash);
    hash_add(&hash, exchange->hash_key, sizeof exchange->hash_key);
    hash_add(&hash, exchange->secret_key, sizeof exchange->secret_key);
    hash_end(&hash, identity->key_hash);
}

static int watch_files(int file, int etcd, int wake)
{
    struct epoll_event event = { .events = EPOLLIN };

    if (etcd >= 0 && epoll_ctl(file, EPOLL_CTL_ADD, etcd, &event) != 0)
        return -errno;
    return epoll_ctl(file, EPOLL_CTL_ADD, wake, &event) != 0 ? -errno : 0;
}

int replicator_begin(struct replicator *replicator, const char *public_address,
                     const char *admin_address, int wake_file)
{
    const struct replicator_config *config = &replicator->config;

    snprintf(replicator->public_address, sizeof replicator->public_address, "%s", public_address);
    snprintf(replicator->admin_address, sizeof replicator->admin_address, "%s", admin_address);
    struct elect_config elect = {
        .etcd = replicator->etcd,
        .cluster = config->cluster,
        .node = config->node,
        .rules_version = config->rules_version,
        .lease_s = config->lease_s,
        .is_candidate = config->is_candidate,
        .public_address = replicator->public_address,
        .admin_address = replicator->admin_address,
    };
    replicator_identity(replicator, &elect.identity);
    elect_begin(&replicator->elect, &elect);
    replicator->file = epoll_create1(EPOLL_CLOEXEC);
    if (replicator->file < 0)
        return -errno;
    return watch_files(replicator->file, etcd_file(replicator->etcd), wake_file);
}

void replicator_attach(struct replicator *replicator, struct journal *journal)
{
    replicator->journal = journal;
    tail_begin(&replicator->tail, replicator->etcd, replicator->config.cluster,
               journal_cluster_last_frame(journal).number);
}

int replicator_fail(struct replicator *replicator, int exit_code, const char *format, ...)
{
    va_list arguments;

    if (replicator->end.text[0] != '\0')
        return -1;
    replicator->end.exit_code = exit_code;
    /* Nothing is served that another leader may know better. */
    atomic_store_explicit(&replicator->leader, NULL, memory_order_release);
    atomic_store_explicit(&replicator->deadline_boot_ns, 0, memory_order_release);
    atomic_store_explicit(&replicator->gave_up, replicator->forms, memory_order_relaxed);
    va_start(arguments, format);
    vsnprintf(replicator->end.text, sizeof replicator->end.text, format, arguments);
    va_end(arguments);
    return -1;
}

/* ---- standby --------------------------------------------------------------------------------- */

/* Frames that count, to the journal. */
static int adopt(struct replicator *replicator, bool *is_blocked)
{
    struct tail *tail = &replicator->tail;
    const uint8_t *bytes;
    size_t count;
    int work = 0;

    while (work < REPLICATOR_ADOPTED_A_TURN && tail_next(tail, &bytes, &count)) {
        int adopted = journal_cluster_adopt(replicator->journal, bytes, count);
        if (adopted == 0) {
            *is_blocked = true;
            break;
        }
        if (adopted == -EBADMSG)
            return replicator_fail(replicator, NODE_EXIT_REFUSED,
                                   "frame %lu of the log does not follow frame %lu of this "
                                   "directory: it has another history",
                                   tail->next, tail->next - 1);
        if (adopted < 0)
            return replicator_fail(replicator, NODE_EXIT_FAILED, "write failed: %s",
                                   strerror(-adopted));
        if (!replicator->is_finishing)
            replicator_clock_look(replicator, bytes, count);
        tail_pop(tail);
        work++;
    }
    return work;
}

static int check_tail(struct replicator *replicator)
{
    const struct tail *tail = &replicator->tail;

    if (tail->state == TAIL_GONE && replicator->is_finishing)
        return replicator_fail(replicator, NODE_EXIT_FAILED,
                               "frame %lu is not in the log any more, and this node was elected",
                               tail->next);
    if (tail->state == TAIL_GONE)
        replicator_vault_begin(replicator);
    if (tail->state == TAIL_FAILED)
        return replicator_fail(replicator, NODE_EXIT_FAILED, "%s", tail->text);
    return 0;
}

/* The location where the log begins is one of this journal. */
static int check_genesis(struct replicator *replicator)
{
    const struct cluster_genesis *genesis = &replicator->elect.genesis;
    struct frame_tail last = journal_cluster_last_frame(replicator->journal);

    if (last.number < genesis->frame ||
        (last.number == genesis->frame &&
         memcmp(last.hash, genesis->frame_hash, sizeof last.hash) != 0))
        return replicator_fail(replicator, NODE_EXIT_REFUSED,
                               "the log begins behind frame %lu, which this directory does not "
                               "have: begin this node with a copy of another node's",
                               genesis->frame);
    return 0;
}

/* Elected, and the end of the log is reached. */
static void begin_to_author(struct replicator *replicator)
{
    const struct elect *elect = &replicator->elect;
    uint8_t *body = replicator->won.body;

    replicator->last_frame = journal_cluster_last_frame(replicator->journal).number;
    replicator->won.term = elect->term;
    memset(body, 0, sizeof replicator->won.body);
    cc_store64(body, elect->term);
    cc_store64(body + 8, (uint64_t)elect->epoch);
    memcpy(body + 16, replicator->config.node, strlen(replicator->config.node));
    cc_store64(body + 32, elect->previous_term);
    cc_store64(body + 40, replicator->last_frame);
    body[48] = elect->was_handed ? CAUSE_HANDOVER : CAUSE_LEASE_ENDED;
    if (elect->was_upgraded)
        body[48] = CAUSE_ORDERED;
    if (replicator->last_frame == elect->genesis.frame)
        body[48] = CAUSE_FIRST;
    cc_store64(body + 56, (uint64_t)atomic_load_explicit(&replicator->clock_difference_ns,
                                                         memory_order_relaxed));
    replicator->takes = true;
    log_line(LOG_INFO, "cluster", "elected: term=%lu epoch=%ld last_frame=%lu", elect->term,
             elect->epoch, replicator->last_frame);
    replicator_clock_say(replicator);
}

static int step_standby(struct replicator *replicator, uint64_t now_ns)
{
    bool is_blocked = false;

    replicator_hand_forget(replicator);
    if (!replicator->elect.is_identified)
        return 0;
    if (replicator->upgrade.waits)
        replicator_upgrade_look(replicator, now_ns);
    if (replicator->vault.reads)
        return replicator_vault_step(replicator, now_ns);
    if (replicator->tail.state == TAIL_IDLE && check_genesis(replicator) < 0)
        return -1;
    if (replicator->elect.state == ELECT_ELECTED && !replicator->is_finishing) {
        replicator->is_finishing = true;
        tail_finish(&replicator->tail);
    }
    tail_step(&replicator->tail, now_ns);
    int work = adopt(replicator, &is_blocked);
    if (work < 0 || check_tail(replicator) < 0)
        return -1;
    if (replicator->is_finishing && !replicator->takes && !is_blocked &&
        tail_is_finished(&replicator->tail))
        begin_to_author(replicator);
    return work;
}

/* ---- leader ---------------------------------------------------------------------------------- */

/* The matcher has published the commands of the term: they become its first frame. */
static void begin_to_form(struct replicator *replicator)
{
    lead_begin(&replicator->lead, replicator->etcd, replicator->config.cluster,
               replicator->elect.epoch, replicator->last_frame);
    replicator->lead.commits = &replicator->commits;
    journal_cluster_lead(replicator->journal, replicator->won.term);
    tail_end(&replicator->tail);
    replicator_clock_end(replicator);
    replicator->forms = true;
}

static int send(struct replicator *replicator, uint64_t now_ns)
{
    int work = 0;

    for (;;) {
        if (replicator->next.bytes == NULL)
            replicator->next.bytes = journal_cluster_next_frame(
                replicator->journal, &replicator->next.count, &replicator->next.number);
        if (replicator->next.bytes == NULL ||
            !lead_send(&replicator->lead, replicator->next.bytes, replicator->next.count,
                       replicator->next.number, now_ns))
            return work;
        replicator->next.bytes = NULL;
        work++;
    }
}

/* Another node's disk is needed: it leads at once, and reads in the log what this one lacks. */
static int resign_of_disk(struct replicator *replicator)
{
    replicator_resign(replicator);
    return replicator_fail(replicator, NODE_EXIT_FAILED,
                           "nothing has reached the disk for %lu ms, frame %lu is not on it: this "
                           "leader resigned",
                           replicator->config.disk_stall_ns / 1000000,
                           journal_cluster_durable_frame(replicator->journal) + 1);
}

static int step_leader(struct replicator *replicator, const struct replicator_words *words,
                       uint64_t now_ns)
{
    struct lead *lead = &replicator->lead;
    int work = send(replicator, now_ns);

    if (replicator_hand_is_wanted(replicator) && replicator->elect.state != ELECT_ELECTED)
        return replicator_hand_step(replicator, words); /* nothing of this term is on its way */
    lead_step(lead, now_ns);
    if (lead->state == LEAD_LOST)
        return replicator_fail(replicator, NODE_EXIT_DEPOSED,
                               "term %lu is over: a write of it was refused, another node leads or "
                               "will; frames above %lu do not count",
                               replicator->won.term, lead->landed);
    if (lead->state == LEAD_FAILED) {
        elect_resign(&replicator->elect);
        return replicator_fail(replicator, NODE_EXIT_FAILED, "%s", lead->text);
    }
    if (lead->landed > journal_cluster_released_frame(replicator->journal))
        work++;
    journal_cluster_replicated(replicator->journal, lead->landed);
    if (!replicator->leads && lead->landed > replicator->last_frame) {
        replicator->leads = true;
        retain_begin(&replicator->retain, replicator->etcd, replicator->config.cluster,
                     replicator->elect.epoch, replicator->config.retain_bytes);
    }
    if (replicator->leads)
        replicator_vault_keep(replicator, now_ns);
    if (replicator_vote_step(replicator, now_ns) < 0)
        return -1;
    if (disk_stall_look(&replicator->disk_stall, journal_cluster_durable_frame(replicator->journal),
                        lead->landed, replicator->config.disk_stall_ns, now_ns))
        return resign_of_disk(replicator);
    bool is_stuck =
        lead_oldest_ns(lead, now_ns) > replicator->config.unacked_ns ||
        journal_cluster_unreleased_bytes(replicator->journal) > replicator->config.unacked_bytes;
    atomic_store_explicit(&replicator->is_stuck, is_stuck, memory_order_relaxed);
    atomic_store_explicit(&replicator->gave_up,
                          lead_oldest_ns(lead, now_ns) > replicator->config.give_up_ns,
                          memory_order_relaxed);
    return work +
           (replicator_hand_is_wanted(replicator) ? replicator_hand_step(replicator, words) : 0);
}

/* ---- the turn -------------------------------------------------------------------------------- */

static void dispatch(struct replicator *replicator, const struct etcd_done *done, uint64_t now_ns)
{
    switch (repl_unit_of(done->tag)) {
    case REPL_LEAD:
        lead_done(&replicator->lead, done, now_ns);
        return;
    case REPL_ELECT:
        elect_done(&replicator->elect, done, now_ns);
        return;
    case REPL_TAIL:
        tail_done(&replicator->tail, done, now_ns);
        return;
    case REPL_RETAIN:
        retain_done(&replicator->retain, done, now_ns);
        return;
    case REPL_VAULT:
        replicator_vault_done(replicator, done, now_ns);
        return;
    case REPL_VOTE:
        vote_done(&replicator->vote, done);
        return;
    case REPL_UPGRADE:
        replicator_upgrade_done(replicator, done);
        return;
    case REPL_START: /* given up */
        return;
    }
}

static int reap(struct replicator *replicator, uint64_t now_ns)
{
    struct etcd_done done[REPLICATOR_ANSWERS_A_TURN];
    int count = etcd_reap(replicator->etcd, done, REPLICATOR_ANSWERS_A_TURN);

    for (int i = 0; i < count; i++)
        dispatch(replicator, &done[i], now_ns);
    return count;
}

/* The address in memory that stays; NULL when there are too many. */
static const char *address_kept(struct replicator *replicator, const char *address)
{
    for (uint32_t i = 0; i < replicator->address_count; i++)
        if (strcmp(replicator->addresses[i], address) == 0)
            return replicator->addresses[i];
    if (replicator->address_count == REPLICATOR_ADDRESSES_MAX)
        return NULL;
    char *kept = replicator->addresses[replicator->address_count++];
    snprintf(kept, CLUSTER_PLACE_BYTES, "%s", address);
    return kept;
}

/* What net threads see. */
static void show_leader(struct replicator *replicator)
{
    const struct elect *elect = &replicator->elect;
    const char *leader = NULL;
    uint64_t deadline_ns = 0;

    if (elect->has_leader && elect->lease != 0 && elect->watches &&
        !replicator_hand_is_wanted(replicator))
        leader = address_kept(replicator, elect->leader.public_address);
    if (replicator->leads && elect->state == ELECT_ELECTED)
        deadline_ns = elect->deadline_boot_ns;
    atomic_store_explicit(&replicator->leader, leader, memory_order_release);
    atomic_store_explicit(&replicator->deadline_boot_ns, deadline_ns, memory_order_release);
}

static void show_facts(struct replicator *replicator, uint64_t now_ns)
{
    const struct elect *elect = &replicator->elect;
    struct etcd_health health;

    etcd_health(replicator->etcd, &health);
    published_set(&replicator->connected, health.is_connected);
    published_set(&replicator->term,
                  elect->state == ELECT_ELECTED ? elect->term : elect->leader.term);
    published_set(&replicator->received, journal_cluster_last_frame(replicator->journal).number);
    published_set(&replicator->released, journal_cluster_released_frame(replicator->journal));
    published_set(&replicator->durable, journal_cluster_durable_frame(replicator->journal));
    published_set(&replicator->found_there, replicator->lead.found_there);
    published_set(&replicator->elections, elect->elections);
    published_set(&replicator->oldest,
                  replicator->forms ? lead_oldest_ns(&replicator->lead, now_ns) : 0);
    published_set(&replicator->state, elect->shown_state);
    published_set(&replicator->lowest, replicator->retain.lowest);
    published_set(&replicator->vaulted,
                  replicator->retain.has_newest ? replicator->retain.newest.segment + 1 : 0);
    published_set(&replicator->deleted, replicator->retain.deleted);
}

static struct elect_status status_of(struct replicator *replicator,
                                     const struct replicator_words *words)
{
    struct frame_tail last = journal_cluster_last_frame(replicator->journal);
    int64_t difference_ns =
        atomic_load_explicit(&replicator->clock_difference_ns, memory_order_relaxed);
    struct hash_point shown = { 0 };
    bool is_shown = hash_board_get(&replicator->hash_vote.replica, &shown);
    struct elect_status status = {
        .hash_sequence = is_shown ? shown.sequence : replicator->elect.status.hash_sequence,
        .received_frame = last.number,
        .durable_frame = journal_cluster_durable_frame(replicator->journal),
        .applied = words->applied,
        .clock_difference_ns = difference_ns,
        .wall_ns = clock_now_ns(replicator->config.clock),
        .waits = replicator->upgrade.is_caught_up,
        .is_current = replicator->forms ||
                      (tail_is_at_end(&replicator->tail) && words->applied == last.last_sequence &&
                       !replicator->upgrade.waits),
        .clock_wait_ns = lateness_wait(difference_ns, replicator->config.clock_ns),
        .is_judged = replicator->lateness.term != 0,
        .is_alive = words->is_alive,
        .creates = replicator->config.creates && last.last_sequence > 0,
        .create_term = last.boot,
        .genesis = { .frame = last.number, .sequence = last.last_sequence },
    };

    memcpy(status.effects_hash, is_shown ? shown.hash : replicator->elect.status.effects_hash,
           sizeof status.effects_hash);
    memcpy(status.genesis.frame_hash, last.hash, sizeof status.genesis.frame_hash);
    return status;
}

static int check_elect(struct replicator *replicator)
{
    const struct elect *elect = &replicator->elect;

    if (elect->state == ELECT_FAILED)
        return replicator_fail(replicator, elect->is_refusal ? NODE_EXIT_REFUSED : NODE_EXIT_FAILED,
                               "%s", elect->text);
    if (elect->state == ELECT_LOST)
        return replicator_fail(replicator, NODE_EXIT_DEPOSED,
                               "term %lu is over: the session of this leader ended; what it did "
                               "not acknowledge may not count",
                               elect->term);
    return 0;
}

int replicator_step(struct replicator *replicator, const struct replicator_words *words)
{
    uint64_t now_ns = clock_monotonic_ns(replicator->config.clock);

    if (replicator->end.text[0] != '\0')
        return -1;
    int work = reap(replicator, now_ns);
    struct elect_status status = status_of(replicator, words);
    elect_step(&replicator->elect, &status, now_ns, clock_boot_ns(replicator->config.clock));
    if (check_elect(replicator) < 0)
        return -1;
    if (replicator->takes && words->is_authored && !replicator->forms) {
        begin_to_form(replicator);
        work++;
    }
    int done = replicator->forms ? step_leader(replicator, words, now_ns)
                                 : step_standby(replicator, now_ns);
    show_leader(replicator);
    show_facts(replicator, now_ns);
    return done < 0 ? -1 : work + done;
}

void replicator_resign(struct replicator *replicator)
{
    uint64_t until_ns = clock_monotonic_ns(replicator->config.clock) + RESIGN_NS;
    struct etcd_done done[REPLICATOR_ANSWERS_A_TURN];

    if (replicator->elect.state != ELECT_ELECTED)
        return;
    elect_resign(&replicator->elect);
    for (;;) {
        uint64_t now_ns = clock_monotonic_ns(replicator->config.clock);
        int count = etcd_reap(replicator->etcd, done, REPLICATOR_ANSWERS_A_TURN);
        for (int i = 0; i < count; i++)
            if (repl_unit_of(done[i].tag) == REPL_ELECT && done[i].kind == ETCD_TRANSACTION)
                return;
        if (now_ns >= until_ns || etcd_wait(replicator->etcd, -1, until_ns - now_ns) != 0)
            return;
    }
}

/* ---- what others see ------------------------------------------------------------------------- */

const struct replicator_end *replicator_end(const struct replicator *replicator)
{
    return &replicator->end;
}

bool replicator_may_author(const struct replicator *replicator)
{
    return replicator->takes;
}

const struct replicator_lead *replicator_lead(const struct replicator *replicator)
{
    return &replicator->won;
}

bool replicator_leads(const struct replicator *replicator)
{
    return replicator->leads;
}

int replicator_file(const struct replicator *replicator)
{
    return replicator->file;
}

uint64_t replicator_wait_ns(const struct replicator *replicator, uint64_t most_ns)
{
    uint64_t due_ns = etcd_due(replicator->etcd);
    uint64_t now_ns = clock_monotonic_ns(replicator->config.clock);

    if (due_ns <= now_ns)
        return 0;
    if (replicator->vote.state == VOTE_OPEN && most_ns > VOTE_AGAIN_NS)
        most_ns = VOTE_AGAIN_NS;
    return due_ns - now_ns < most_ns ? due_ns - now_ns : most_ns;
}

const char *replicator_leader(const struct replicator *replicator)
{
    return atomic_load_explicit(&replicator->leader, memory_order_acquire);
}

bool replicator_is_fresh(const struct replicator *replicator)
{
    return clock_boot_ns(replicator->config.clock) <
           atomic_load_explicit(&replicator->deadline_boot_ns, memory_order_acquire);
}

bool replicator_is_stuck(const struct replicator *replicator)
{
    return atomic_load_explicit(&replicator->is_stuck, memory_order_relaxed);
}

bool replicator_gave_up(const struct replicator *replicator)
{
    return atomic_load_explicit(&replicator->gave_up, memory_order_relaxed);
}

const struct histogram *replicator_commits(const struct replicator *replicator)
{
    return &replicator->commits;
}

uint64_t replicator_term(const struct replicator *replicator)
{
    return published_get(&replicator->term);
}

void replicator_facts(const struct replicator *replicator, struct replicator_facts *facts)
{
    uint64_t boot_ns = clock_boot_ns(replicator->config.clock);
    uint64_t deadline_ns =
        atomic_load_explicit(&replicator->deadline_boot_ns, memory_order_acquire);

    *facts = (struct replicator_facts){
        .vault_late_ns = replicator_vault_late_ns(replicator, &(uint64_t){ 0 }),
        .term = published_get(&replicator->term),
        .received_frame = published_get(&replicator->received),
        .released_frame = published_get(&replicator->released),
        .durable_frame = published_get(&replicator->durable),
        .found_there = published_get(&replicator->found_there),
        .elections = published_get(&replicator->elections),
        .lowest_frame = published_get(&replicator->lowest),
        .vaulted_segments = published_get(&replicator->vaulted),
        .deleted_frames = published_get(&replicator->deleted),
        .lease_left_ns = deadline_ns > boot_ns ? deadline_ns - boot_ns : 0,
        .oldest_ns = published_get(&replicator->oldest),
        .clock_difference_ns =
            atomic_load_explicit(&replicator->clock_difference_ns, memory_order_relaxed),
        .state = (uint8_t)published_get(&replicator->state),
        .is_connected = published_get(&replicator->connected) != 0,
    };
}
