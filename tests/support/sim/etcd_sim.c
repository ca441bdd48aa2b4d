#include "support/sim/etcd_sim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "support/sim/etcd_sim_net.h"

static const uint64_t NS_PER_MS = 1000 * 1000;

struct etcd_sim *etcd_sim_create(const struct etcd_sim_config *config)
{
    struct etcd_sim *sim = calloc(1, sizeof *sim);
    CHECK(sim != NULL);
    sim->now_ns = ETCD_SIM_BEGIN_NS;
    sim->random = config->seed;
    sim->request_ns = (config->request_ms == 0 ? 400 : config->request_ms) * NS_PER_MS;
    sim->faults = config->faults;
    sim->has_leader = true;
    etcd_sim_store_init(&sim->store);
    return sim;
}

void etcd_sim_destroy(struct etcd_sim *sim)
{
    CHECK(sim->client_count == 0);
    for (size_t i = 0; i < sim->message_count; i++)
        etcd_sim_net_free(&sim->messages[i]);
    for (size_t i = 0; i < sim->watcher_count; i++)
        etcd_sim_net_free(&(struct etcd_sim_message){ .request = sim->watchers[i].range });
    free(sim->messages);
    free(sim->watchers);
    etcd_sim_store_free(&sim->store);
    free(sim);
}

uint64_t etcd_sim_now(const struct etcd_sim *sim)
{
    return sim->now_ns;
}

void etcd_sim_set_faults(struct etcd_sim *sim, const struct etcd_sim_faults *faults)
{
    sim->faults = *faults;
}

/* Tells the observer what the log has more than before. */
static void observe(struct etcd_sim *sim)
{
    const struct etcd_sim_store *store = &sim->store;
    size_t from = store->log_count;
    while (from > 0 && store->log[from - 1]->row.mod_revision > sim->observed)
        from--;
    for (; sim->observe != NULL && from < store->log_count; from++)
        sim->observe(sim->context, &store->log[from]->row);
    sim->observed = store->revision;
}

/* What has changed goes to the observer and to the watchers. */
static void tell(struct etcd_sim *sim)
{
    observe(sim);
    etcd_sim_net_feed(sim);
}

static void serve(struct etcd_sim *sim, const struct etcd_sim_message *message)
{
    const struct etcd_request *request = &message->request->request;
    struct etcd_sim_message reply = { .client = message->client,
                                      .connection = message->connection,
                                      .order = message->order,
                                      .is_reply = true };
    if (request->kind == ETCD_WATCH) {
        etcd_sim_net_watch(sim, message);
        return;
    }
    if (request->kind == ETCD_TRANSACTION && sim->refusal != ETCD_OK) {
        reply.done = (struct etcd_done){ .kind = request->kind,
                                         .result = sim->refusal,
                                         .text = "refused by the test" };
    } else {
        etcd_sim_store_do(&sim->store, request, sim->now_ns, &reply.rows, &reply.done);
    }
    tell(sim);
    etcd_sim_net_reply(sim, &reply);
}

/* The earliest message that is due by `until_ns`; they come in this order. */
static size_t earliest(const struct etcd_sim *sim, uint64_t until_ns)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < sim->message_count; i++)
        if (sim->messages[i].due_ns <= until_ns &&
            (best == SIZE_MAX || sim->messages[i].due_ns < sim->messages[best].due_ns ||
             (sim->messages[i].due_ns == sim->messages[best].due_ns &&
              sim->messages[i].number < sim->messages[best].number)))
            best = i;
    return best;
}

static void arrive(struct etcd_sim *sim, size_t index)
{
    struct etcd_sim_message message = sim->messages[index];
    sim->messages[index] = sim->messages[--sim->message_count];
    if (message.is_reply) {
        etcd_sim_net_deliver(sim, &message);
        return;
    }
    if (!sim->has_leader && etcd_sim_net_random(sim, 2) == 0) {
        /* It waits for the leader, and is done although the client may have given up. */
        message.due_ns = sim->now_ns + 10 * NS_PER_MS + etcd_sim_net_random(sim, 10) * NS_PER_MS;
        etcd_sim_net_add(sim, &message);
        return;
    }
    if (sim->has_leader)
        serve(sim, &message);
    etcd_sim_net_free(&message);
}

void etcd_sim_advance(struct etcd_sim *sim, uint64_t step_ns)
{
    uint64_t until = sim->now_ns + step_ns;
    for (;;) {
        size_t index = earliest(sim, until);
        uint64_t due = index == SIZE_MAX ? UINT64_MAX : sim->messages[index].due_ns;
        uint64_t end = sim->has_leader ? etcd_sim_store_next_end(&sim->store) : UINT64_MAX;
        uint64_t next = due < end ? due : end;
        if (next > until)
            break;
        if (next > sim->now_ns)
            sim->now_ns = next;
        if (end < due) {
            (void)etcd_sim_store_expire(&sim->store, sim->now_ns);
            tell(sim);
        } else {
            arrive(sim, index);
        }
    }
    sim->now_ns = until;
}

void etcd_sim_set_leader(struct etcd_sim *sim, bool has_leader)
{
    if (has_leader && !sim->has_leader)
        etcd_sim_store_renew_all(&sim->store, sim->now_ns);
    sim->has_leader = has_leader;
}

bool etcd_sim_end_lease(struct etcd_sim *sim, int64_t lease)
{
    bool was = etcd_sim_store_end_lease(&sim->store, lease);
    tell(sim);
    return was;
}

void etcd_sim_delay_leases(struct etcd_sim *sim, uint64_t late_ns)
{
    sim->store.late_ns = late_ns;
}

void etcd_sim_set_full(struct etcd_sim *sim, bool is_full)
{
    sim->store.is_full = is_full;
}

void etcd_sim_compact(struct etcd_sim *sim, bool breaks_watches)
{
    etcd_sim_store_compact(&sim->store, sim->store.revision);
    if (breaks_watches)
        etcd_sim_net_break_watches(sim);
}

void etcd_sim_refuse(struct etcd_sim *sim, enum etcd_result result)
{
    sim->refusal = result;
}

const struct etcd_row *etcd_sim_get(const struct etcd_sim *sim, struct etcd_bytes key)
{
    return etcd_sim_store_get(&sim->store, key);
}

int64_t etcd_sim_revision(const struct etcd_sim *sim)
{
    return sim->store.revision;
}

static void change(struct etcd_sim *sim, const struct etcd_op *op)
{
    const struct etcd_transaction transaction = { .then = op, .then_count = 1 };
    const struct etcd_request request = { .kind = ETCD_TRANSACTION, .transaction = &transaction };
    struct etcd_sim_rows rows = { 0 };
    struct etcd_done done;
    etcd_sim_store_do(&sim->store, &request, sim->now_ns, &rows, &done);
    CHECK(done.result == ETCD_OK);
    etcd_sim_store_free_rows(&rows);
    tell(sim);
}

void etcd_sim_put(struct etcd_sim *sim, struct etcd_bytes key, struct etcd_bytes value)
{
    change(sim, &(struct etcd_op){ .verb = ETCD_PUT, .key = key, .value = value });
}

void etcd_sim_delete(struct etcd_sim *sim, struct etcd_bytes key, struct etcd_bytes end)
{
    change(sim, &(struct etcd_op){ .verb = ETCD_DELETE, .key = key, .end = end });
}

void etcd_sim_set_observer(struct etcd_sim *sim, etcd_sim_observe *observer, void *context)
{
    sim->observe = observer;
    sim->context = context;
    sim->observed = sim->store.revision;
}
