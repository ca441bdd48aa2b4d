#include "cluster_member.h"

#include <stdlib.h>

#include "check.h"
#include "node/run/cluster.h"
#include "node/run/lifecycle.h"
#include "node/run/market_file.h"
#include "node/run/opening.h"
#include "node/run/standby.h"
#include "repl/etcd_call.h"
#include "sim_sign.h"

enum { MEMBERS_MAX = 3, SEGMENT_BYTES = 256 << 10, ALONE_TURNS = 4000, WAIT_TURNS = 30000 };

static const uint64_t MS = 1000 * 1000;

static cluster_member_pass *pass;
static struct cluster_member *members[MEMBERS_MAX]; /* NULL: fewer were made */
static struct etcd_ops ops;                         /* the simulated etcd's, but for wait */
static struct market_file markets;
static struct config options;

/* ---- while a node waits ---------------------------------------------------------------------- */

static struct cluster_member *owner_of(const struct etcd *etcd)
{
    for (int i = 0; i < MEMBERS_MAX; i++)
        if (members[i] != NULL &&
            (members[i]->node.etcd == etcd || members[i]->node.steward.any == etcd))
            return members[i];
    CHECK(!"a client of a node");
    return NULL;
}

/* In place of the simulated etcd's own wait, in which nobody else would do anything. The steward is
 * a thread of its own; who waits with the replicator's client stands. */
static int wait_in_world(struct etcd *etcd, int wake_file, uint64_t timeout_ns)
{
    struct cluster_member *member = owner_of(etcd);
    bool was_blocked = member->is_blocked;

    (void)wake_file;
    member->is_blocked = was_blocked || etcd == member->node.etcd;
    for (uint64_t passed_ns = 0;
         passed_ns < timeout_ns && etcd_due(etcd) > etcd_sim_now(member->sim); passed_ns += MS)
        pass();
    member->is_blocked = was_blocked;
    return 0;
}

static struct etcd *connect_to(struct cluster_member *member)
{
    struct etcd *etcd = etcd_sim_connect(member->sim);

    ops = *etcd->ops;
    ops.wait = wait_in_world;
    etcd->ops = &ops;
    etcd_sim_cut(etcd, member->is_cut);
    return etcd;
}

void cluster_member_cut(struct cluster_member *member, bool is_cut)
{
    member->is_cut = is_cut;
    if (member->node.etcd != NULL)
        etcd_sim_cut(member->node.etcd, is_cut);
    if (member->node.steward.any != NULL)
        etcd_sim_cut(member->node.steward.any, is_cut);
}

/* ---- the exchange ---------------------------------------------------------------------------- */

static void create_core(struct core *core, struct disk *disk, struct clock *clock,
                        enum journal_durability durability)
{
    const struct core_config config = {
        .disk = disk,
        .clock = clock,
        .markets = markets.markets,
        .market_count = 1,
        .durability = durability,
        .segment_bytes = SEGMENT_BYTES,
        .journal_buffer_bytes = 64 << 10,
        .frames_in_flight = 4,
        .group_bytes = 1024,
        .frame_bytes_max = 16 << 10,
        .history_rows = 1 << 10,
        .follower_lag_max_ns = UINT64_C(3600000000000),
        .follower_commands_a_turn = FOLLOWER_COMMANDS_A_TURN,
        .clock_gap_max_ns = UINT64_C(3600000000000),
    };
    uint8_t body[CONFIG_ENGINE_TEXT_MAX];
    struct refusal refusal;

    CHECK(core_create(core, &config, &refusal) == REFUSAL_none);
    ptrdiff_t bytes = config_engine_text(&options, core->exchange.exchange_id, NULL, body);
    CHECK(bytes > 0 && core_configure(core, body, (uint32_t)bytes));
    CHECK(core_make_keyring(core) == 0);
}

struct disk *cluster_member_exchange(uint64_t seed, uint64_t wall_ns)
{
    const struct disk_sim_config config = { .seed = seed, .block_bytes = 4096, .latency_max = 3 };
    struct disk *disk = disk_sim_create(&config);
    static struct core core;
    struct refusal refusal;
    struct clock clock;

    CHECK(disk != NULL);
    sim_sign_begin(false, seed, (const uint8_t[32]){ 0 });
    clock_init_simulated(&clock, wall_ns);
    create_core(&core, disk, &clock, JOURNAL_LOCAL);
    CHECK(core_recover(&core, &refusal) == REFUSAL_none);
    CHECK(core_open(&core) == CORE_OPENED);
    core_stop(&core);
    for (int i = 0; i < ALONE_TURNS && !core_stopped(&core); i++)
        CHECK(core_journal(&core) >= 0 && core_follow(&core) >= 0 && core_prepare(&core, 1) >= 0);
    CHECK(core_stopped(&core));
    core_destroy(&core);
    disk_sim_crash(disk, seed); /* the lock goes with the process */
    return disk;
}

/* ---- life ------------------------------------------------------------------------------------ */

void cluster_member_init(cluster_member_pass *pass_of_world)
{
    static const char *const argv[] = {
        "cluster",
        "--exchange.operator_key=ERERERERERERERERERERERERERERERERERERERERERE=",
        "--exchange.oracle_keys=ERERERERERERERERERERERERERERERERERERERERERE=",
        "--engine.accounts=2048",
        "--engine.portfolios=2048",
        "--engine.credentials=4096",
        "--engine.orders=1024",
        "--engine.positions=64",
        "--engine.deposits=64",
        "--engine.ladder_pages=256",
        "--limits.duplicate_slots=4096",
        "--limits.funding_small=0",
        "--limits.funding_full=0",
    };

    pass = pass_of_world;
    CHECK(config_load(&options, CC_COUNT(argv), argv, NULL) == CONFIG_RUN);
    CHECK(market_file_load(&markets, ""));
}

static void *allocate(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
    CHECK(memory != NULL);
    return memory;
}

void cluster_member_make(struct cluster_member *member, struct etcd_sim *sim,
                         const struct disk *exchange, const char *name, bool creates)
{
    memset(member, 0, sizeof *member);
    member->sim = sim;
    member->name = name;
    member->creates = creates;
    CHECK((member->disk = disk_sim_copy(exchange)) != NULL);
    for (size_t i = 0; i < CC_COUNT(member->rings); i++)
        member->rings[i] = allocate(ring_bytes(CLUSTER_MEMBER_RING, MESSAGE_SLOT_BYTES));
    member->pool = allocate(REPLY_POOL_BYTES);
    for (int i = 0; i < MEMBERS_MAX; i++)
        if (members[i] == NULL) {
            members[i] = member;
            return;
        }
    CHECK(!"a place for the node");
}

void cluster_member_free(struct cluster_member *member)
{
    for (int i = 0; i < MEMBERS_MAX; i++)
        if (members[i] == member)
            members[i] = NULL;
    disk_sim_destroy(member->disk);
    for (size_t i = 0; i < CC_COUNT(member->rings); i++)
        free(member->rings[i]);
    free(member->pool);
}

void cluster_member_advance(struct cluster_member *member, uint64_t step_ns)
{
    int64_t drift_ns = (int64_t)step_ns * member->drift_ppm / 1000000;

    member->wall_ns += step_ns + (uint64_t)drift_ns;
    if (member->runs || member->is_blocked)
        clock_set(&member->node.clock, member->wall_ns);
}

static void make_net(struct cluster_member *member)
{
    struct node_net *net = &member->node.nets[0];
    struct ring *rings[] = { &net->commands, &net->answers, &net->queries, &net->replies };

    for (size_t i = 0; i < CC_COUNT(rings); i++)
        ring_init(rings[i], member->rings[i], CLUSTER_MEMBER_RING, MESSAGE_SLOT_BYTES);
    reply_pool_init(&net->pool, member->pool);
}

static void make_replicator(struct cluster_member *member)
{
    struct node *node = &member->node;
    const struct replicator_config config = {
        .clock = &node->clock,
        .exchange = &node->core.exchange,
        .give_up = &node->stop_asked,
        .cluster = "x",
        .node = member->name,
        .is_candidate = true,
        .creates = member->creates,
        .rules_version = ENGINE_RULES_VERSION,
        .lease_s = 1,
        .clock_ns = CLUSTER_MEMBER_CLOCK_MS * MS,
        .unacked_ns = 1000 * MS,
        .unacked_bytes = 8 << 20,
        .give_up_ns = 10000 * MS,
        .disk_stall_ns = 5000 * MS,
        .retain_bytes = UINT64_C(256) << 20,
    };

    node->etcd = connect_to(member);
    CHECK((node->replicator = replicator_create(&config, node->etcd)) != NULL);
    node->steward.config = (struct steward_config){ .clock = &node->clock,
                                                    .cluster = "x",
                                                    .node = member->name,
                                                    .quota = 1 << 30,
                                                    .clock_ns = CLUSTER_MEMBER_CLOCK_MS * MS };
    node->steward.any = connect_to(member);
    CHECK(replicator_begin(node->replicator, member->name, "127.0.0.1:1",
                           node->duties[0].park.file) == 0);
}

bool cluster_member_start(struct cluster_member *member)
{
    struct node *node = &member->node;
    struct topology_thread *thread = &node->topology.threads[0];

    memset(node, 0, sizeof *node);
    phase_init(&node->phase);
    node->options = &options;
    node->disk = member->disk;
    clock_init_simulated(&node->clock, member->wall_ns);
    node->topology.thread_count = node->topology.net_count = 1;
    thread->roles = ROLE_NET | ROLE_MATCHER | ROLE_JOURNAL | ROLE_FOLLOWER;
    CHECK(duty_init(&node->duties[0], node, thread) == 0);
    node->matcher = node->journal = node->follower = &node->duties[0];
    memset(member->page, 0, sizeof member->page);
    node->poison.page.memory = member->page;
    create_core(&node->core, node->disk, &node->clock, JOURNAL_REPLICATED);
    make_replicator(member);
    make_net(member);
    member->is_blocked = true;
    opening_recover(node);
    member->is_blocked = false;
    member->runs = true;
    return phase_now(&node->phase) == PHASE_RECOVERED;
}

void cluster_member_end(struct cluster_member *member, bool is_power_loss, uint64_t seed)
{
    struct disk *survivor = disk_sim_copy(member->disk);

    CHECK(survivor != NULL && !member->is_blocked && !member->has_asked);
    disk_sim_fail(member->disk, 0, DISK_SIM_EIO, false); /* the journal waits for its writes */
    cluster_close(&member->node);
    core_destroy(&member->node.core);
    duty_free(&member->node.duties[0]);
    disk_sim_destroy(member->disk);
    if (is_power_loss)
        disk_sim_crash(survivor, seed);
    else
        disk_sim_kill(survivor, seed);
    member->disk = survivor;
    member->runs = member->dies = false;
    memset(&member->node, 0, sizeof member->node);
}

/* ---- a turn ---------------------------------------------------------------------------------- */

/* As duty.c has it. */
static void step_matcher(struct node *node, enum phase_name phase)
{
    if (phase == PHASE_RECOVERED)
        (void)standby_begin(node);
    else if (phase == PHASE_STANDBY || phase == PHASE_TAKING || phase == PHASE_HANDING)
        (void)standby_match(node, phase);
    else if (phase == PHASE_OPEN && !standby_is_held(node))
        (void)core_match(&node->core);
}

static void step_journal(struct node *node, enum phase_name phase)
{
    (void)standby_replicate(node, phase);
    if (phase_now(&node->phase) != PHASE_FAILED && core_journal(&node->core) < 0)
        lifecycle_fail(node, NODE_EXIT_FAILED);
}

void cluster_member_turn(struct cluster_member *member, uint32_t skipped)
{
    struct node *node = &member->node;
    enum phase_name phase = phase_now(&node->phase);

    published_add(&node->duties[0].turns, 1);
    if (phase == PHASE_OPEN && replicator_hand_is_wanted(node->replicator))
        (void)lifecycle_advance(node, PHASE_OPEN, PHASE_HANDING);
    if ((skipped & CLUSTER_MEMBER_MATCHER) == 0)
        step_matcher(node, phase_now(&node->phase));
    phase = phase_now(&node->phase);
    if ((skipped & CLUSTER_MEMBER_JOURNAL) == 0 && phase_serves(phase))
        step_journal(node, phase);
    if ((skipped & CLUSTER_MEMBER_FOLLOWER) == 0 && phase_serves(phase_now(&node->phase)) &&
        core_follow(&node->core) < 0)
        lifecycle_fail(node, NODE_EXIT_FAILED);
    if (phase_serves(phase_now(&node->phase)))
        CHECK(core_prepare(&node->core, clock_monotonic_ns(&node->clock)) >= 0);
    if (member->has_asked || phase_now(&node->phase) > PHASE_OPEN)
        return;
    member->has_asked = true;
    (void)steward_step(&node->steward);
    member->has_asked = false;
}
