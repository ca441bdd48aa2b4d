#include "support/sim/etcd_sim_net.h"

#include <stdlib.h>

#include "check.h"

static const uint64_t NS_PER_MS = 1000 * 1000;

uint64_t etcd_sim_net_random(struct etcd_sim *sim, uint64_t limit)
{
    uint64_t word = sim->random += 0x9E3779B97F4A7C15;
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9;
    word = (word ^ word >> 27) * 0x94D049BB133111EB;
    return (word ^ word >> 31) % limit;
}

static bool happens(struct etcd_sim *sim, uint32_t share)
{
    return share != 0 && etcd_sim_net_random(sim, 1000) < share;
}

static uint64_t delay(struct etcd_sim *sim, uint32_t most_ms)
{
    return etcd_sim_net_random(sim, most_ms * NS_PER_MS + 1);
}

void etcd_sim_net_add(struct etcd_sim *sim, const struct etcd_sim_message *message)
{
    if (sim->message_count == sim->message_room) {
        sim->message_room = sim->message_room == 0 ? 64 : 2 * sim->message_room;
        sim->messages = realloc(sim->messages, sim->message_room * sizeof *sim->messages);
        CHECK(sim->messages != NULL);
    }
    sim->messages[sim->message_count] = *message;
    sim->messages[sim->message_count++].number = sim->numbers++;
}

void etcd_sim_net_free(struct etcd_sim_message *message)
{
    if (message->request != NULL && --message->request->users == 0) {
        free(message->request->bytes);
        free(message->request);
    }
    etcd_sim_store_free_rows(&message->rows);
}

static void add_copy(struct etcd_sim *sim, const struct etcd_sim_message *message, uint64_t due_ns)
{
    struct etcd_sim_message copy = *message;
    copy.due_ns = due_ns;
    copy.request->users++;
    etcd_sim_net_add(sim, &copy);
}

void etcd_sim_net_send(struct etcd_sim *sim, struct etcd_sim_message *message)
{
    const struct etcd_sim_faults *faults = &sim->faults;
    bool is_watch = message->request->request.kind == ETCD_WATCH;
    if (!happens(sim, faults->lost))
        add_copy(sim, message, sim->now_ns + delay(sim, faults->delay_ms));
    if (!is_watch && happens(sim, faults->doubled))
        add_copy(sim, message, sim->now_ns + delay(sim, faults->delay_ms));
    if (!is_watch && happens(sim, faults->held))
        add_copy(sim, message, sim->now_ns + delay(sim, faults->held_ms));
    etcd_sim_net_free(message);
}

void etcd_sim_net_reply(struct etcd_sim *sim, struct etcd_sim_message *message)
{
    message->due_ns = sim->now_ns + delay(sim, sim->faults.delay_ms);
    if (happens(sim, sim->faults.lost))
        etcd_sim_net_free(message);
    else
        etcd_sim_net_add(sim, message);
}

/* A part of a watch: in order, and lost only with its connection. */
static void send_part(struct etcd_sim *sim, struct etcd_sim_watcher *watcher,
                      struct etcd_sim_message *part)
{
    uint64_t due = sim->now_ns + delay(sim, sim->faults.delay_ms);
    watcher->last_due_ns = due > watcher->last_due_ns ? due : watcher->last_due_ns + 1;
    part->client = watcher->client;
    part->connection = watcher->connection;
    part->order = watcher->order;
    part->is_reply = true;
    part->due_ns = watcher->last_due_ns;
    if (happens(sim, sim->faults.lost)) {
        etcd_sim_store_free_rows(&part->rows);
        part->breaks_connection = true;
    }
    etcd_sim_net_add(sim, part);
}

/* The rows that a watcher has not seen, at most one message of them. */
static bool next_part(struct etcd_sim *sim, struct etcd_sim_watcher *watcher)
{
    const struct etcd_sim_store *store = &sim->store;
    const struct etcd_request *range = &watcher->range->request;
    struct etcd_sim_message part = { .done = { .kind = ETCD_WATCH, .text = "" } };
    /* Often so few that the rows of one revision come in parts. */
    uint64_t most = etcd_sim_net_random(sim, 2) == 0 ? 2 : ETCD_ROWS_MAX;
    uint32_t limit = 1 + (uint32_t)etcd_sim_net_random(sim, most);
    size_t from = store->log_count, skip = watcher->skip;
    while (from > 0 && store->log[from - 1]->row.mod_revision >= watcher->next_revision)
        from--;
    int64_t last = 0;
    for (; from < store->log_count; from++) {
        const struct etcd_row *row = &store->log[from]->row;
        if (!etcd_sim_store_is_in(row->key, range->key, range->end))
            continue;
        if (skip > 0 && row->mod_revision == watcher->next_revision) {
            skip--;
            continue;
        }
        if (part.rows.count == limit) {
            part.done.more = row->mod_revision == last;
            break;
        }
        watcher->skip = row->mod_revision == last ? watcher->skip + 1
                        : last == 0 && row->mod_revision == watcher->next_revision
                            ? watcher->skip + 1
                            : 1;
        last = row->mod_revision;
        etcd_sim_store_add_row(&part.rows, row, 0);
    }
    if (part.rows.count == 0)
        return false;
    watcher->next_revision = part.done.more ? last : last + 1;
    if (!part.done.more)
        watcher->skip = 0;
    part.done.revision = store->revision;
    send_part(sim, watcher, &part);
    return true;
}

void etcd_sim_net_feed(struct etcd_sim *sim)
{
    for (size_t i = 0; i < sim->watcher_count; i++)
        while (next_part(sim, &sim->watchers[i]))
            ;
}

static void remove_watcher(struct etcd_sim *sim, size_t index)
{
    struct etcd_sim_message message = { .request = sim->watchers[index].range };
    etcd_sim_net_free(&message);
    sim->watchers[index] = sim->watchers[--sim->watcher_count];
}

static void end_watch(struct etcd_sim *sim, size_t index)
{
    struct etcd_sim_message part = { .done = { .kind = ETCD_WATCH,
                                               .result = ETCD_COMPACTED,
                                               .text = "compacted",
                                               .compact_revision = sim->store.compacted,
                                               .revision = sim->store.revision } };
    send_part(sim, &sim->watchers[index], &part);
    remove_watcher(sim, index);
}

void etcd_sim_net_break_watches(struct etcd_sim *sim)
{
    while (sim->watcher_count > 0)
        end_watch(sim, 0);
}

void etcd_sim_net_forget(struct etcd_sim *sim, uint32_t client, uint64_t order)
{
    for (size_t i = sim->watcher_count; i-- > 0;)
        if (sim->watchers[i].client == client &&
            (order == UINT64_MAX || sim->watchers[i].order == order))
            remove_watcher(sim, i);
}

void etcd_sim_net_watch(struct etcd_sim *sim, const struct etcd_sim_message *message)
{
    const struct etcd_request *request = &message->request->request;
    if (sim->watcher_count == sim->watcher_room) {
        sim->watcher_room = sim->watcher_room == 0 ? 8 : 2 * sim->watcher_room;
        sim->watchers = realloc(sim->watchers, sim->watcher_room * sizeof *sim->watchers);
        CHECK(sim->watchers != NULL);
    }
    message->request->users++;
    struct etcd_sim_watcher *watcher = &sim->watchers[sim->watcher_count++];
    *watcher = (struct etcd_sim_watcher){ .client = message->client,
                                          .connection = message->connection,
                                          .order = message->order,
                                          .range = message->request,
                                          .next_revision = request->revision };
    if (watcher->next_revision == 0)
        watcher->next_revision = sim->store.revision + 1;
    if (watcher->next_revision < sim->store.compacted) {
        end_watch(sim, sim->watcher_count - 1);
        return;
    }
    struct etcd_sim_message part = {
        .done = { .kind = ETCD_WATCH, .text = "", .revision = sim->store.revision }
    };
    send_part(sim, watcher, &part);
    while (next_part(sim, watcher))
        ;
}
