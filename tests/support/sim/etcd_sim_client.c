/* The side of the client: it asks again where etcd_real would, and believes what that would. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "support/sim/etcd_sim_net.h"

enum { LENT_MAX = 16, NS_PER_STEP = 1000 * 1000 };

struct asked {
    bool is_used, is_standing;
    uint64_t tag, order, sent_ns, late_ns;
    uint32_t sends;
    int64_t next_revision; /* of a watch */
    struct etcd_sim_request *request;
};

struct etcd_sim_client {
    struct etcd etcd;
    struct etcd_sim *sim;
    uint32_t id;
    uint64_t connection, orders;
    bool is_cut;
    uint64_t connections, resent;
    struct asked asked[ETCD_REQUESTS_MAX];
    struct etcd_sim_message *inbox;
    size_t inbox_count, inbox_room;
    struct etcd_sim_message lent[LENT_MAX];
    uint32_t lent_count;
    struct etcd_member member;
    struct etcd_status status;
};

static struct etcd_sim_client *client_of(struct etcd *etcd)
{
    return (struct etcd_sim_client *)(void *)etcd;
}

static void keep_bytes(struct etcd_bytes *bytes, uint8_t **at)
{
    if (bytes->count > 0)
        memcpy(*at, bytes->bytes, bytes->count);
    bytes->bytes = *at;
    *at += bytes->count;
}

static void keep_ops(struct etcd_op *to, const struct etcd_op *from, uint32_t count, uint8_t **at)
{
    CHECK(count <= ETCD_OPS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        to[i] = from[i];
        keep_bytes(&to[i].key, at);
        keep_bytes(&to[i].end, at);
        keep_bytes(&to[i].value, at);
    }
}

static size_t bytes_of(const struct etcd_op *ops, uint32_t count)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        bytes += ops[i].key.count + ops[i].end.count + ops[i].value.count;
    return bytes;
}

/* A copy with bytes of its own; *bytes is about what it has on a connection. */
static struct etcd_sim_request *keep(const struct etcd_request *request, size_t *bytes)
{
    struct etcd_sim_request *kept = calloc(1, sizeof *kept);
    const struct etcd_transaction *from = request->transaction;
    bool is_transaction = request->kind == ETCD_TRANSACTION;
    CHECK(kept != NULL);
    *bytes = request->key.count + request->end.count;
    if (is_transaction) {
        *bytes += bytes_of(from->then, from->then_count) +
                  bytes_of(from->otherwise, from->otherwise_count);
        for (uint32_t i = 0; i < from->compare_count; i++)
            *bytes += from->compares[i].key.count;
    }
    kept->users = 1;
    kept->request = *request;
    kept->bytes = malloc(*bytes + 1);
    CHECK(kept->bytes != NULL);
    uint8_t *at = kept->bytes;
    keep_bytes(&kept->request.key, &at);
    keep_bytes(&kept->request.end, &at);
    if (!is_transaction)
        return kept;
    CHECK(from->compare_count <= ETCD_COMPARES_MAX);
    for (uint32_t i = 0; i < from->compare_count; i++) {
        kept->compares[i] = from->compares[i];
        keep_bytes(&kept->compares[i].key, &at);
    }
    keep_ops(kept->then, from->then, from->then_count, &at);
    keep_ops(kept->otherwise, from->otherwise, from->otherwise_count, &at);
    kept->transaction = *from;
    kept->transaction.compares = kept->compares;
    kept->transaction.then = kept->then;
    kept->transaction.otherwise = kept->otherwise;
    kept->request.transaction = &kept->transaction;
    return kept;
}

static void release(struct etcd_sim_request *request)
{
    struct etcd_sim_message message = { .request = request };
    etcd_sim_net_free(&message);
}

static void drop_asked(struct asked *asked)
{
    release(asked->request);
    *asked = (struct asked){ 0 };
}

static void send_asked(struct etcd_sim_client *client, struct asked *asked)
{
    asked->sent_ns = client->sim->now_ns;
    asked->is_standing = false;
    if (asked->sends++ > 0)
        client->resent++;
    if (client->is_cut)
        return;
    struct etcd_sim_request *request = asked->request;
    if (request->request.kind == ETCD_WATCH) {
        size_t bytes = 0;
        struct etcd_request again = request->request;
        again.revision = asked->next_revision;
        request = keep(&again, &bytes);
    } else {
        request->users++;
    }
    struct etcd_sim_message message = { .client = client->id,
                                        .connection = client->connection,
                                        .order = asked->order,
                                        .request = request };
    etcd_sim_net_send(client->sim, &message);
}

static void empty_inbox(struct etcd_sim_client *client)
{
    for (size_t i = 0; i < client->inbox_count; i++)
        etcd_sim_net_free(&client->inbox[i]);
    client->inbox_count = 0;
}

/* The request of the lowest order from `from` on; NULL: none. */
static struct asked *first_from(struct etcd_sim_client *client, uint64_t from)
{
    struct asked *first = NULL;
    for (uint32_t i = 0; i < ETCD_REQUESTS_MAX; i++) {
        struct asked *asked = &client->asked[i];
        if (asked->is_used && asked->order >= from &&
            (first == NULL || asked->order < first->order))
            first = asked;
    }
    return first;
}

/* The next endpoint: everything is asked again, and what comes of the former connection is lost. */
static void reconnect(struct etcd_sim_client *client)
{
    client->connection++;
    client->connections++;
    empty_inbox(client);
    etcd_sim_net_forget(client->sim, client->id, UINT64_MAX);
    uint64_t from = 0;
    for (struct asked *next = first_from(client, from); next != NULL;
         next = first_from(client, from)) {
        from = next->order + 1;
        send_asked(client, next);
    }
}

void etcd_sim_net_deliver(struct etcd_sim *sim, struct etcd_sim_message *message)
{
    struct etcd_sim_client *client = NULL;
    for (uint32_t i = 0; i < sim->client_count; i++)
        if (sim->clients[i]->id == message->client)
            client = sim->clients[i];
    if (client == NULL || client->is_cut || message->connection != client->connection) {
        etcd_sim_net_free(message);
        return;
    }
    if (client->inbox_count == client->inbox_room) {
        client->inbox_room = client->inbox_room == 0 ? 16 : 2 * client->inbox_room;
        client->inbox = realloc(client->inbox, client->inbox_room * sizeof *client->inbox);
        CHECK(client->inbox != NULL);
    }
    client->inbox[client->inbox_count++] = *message;
}

static struct asked *find(struct etcd_sim_client *client, uint64_t order)
{
    for (uint32_t i = 0; i < ETCD_REQUESTS_MAX; i++)
        if (client->asked[i].is_used && client->asked[i].order == order)
            return &client->asked[i];
    return NULL;
}

static void fill(struct etcd_sim_client *client, struct asked *asked,
                 struct etcd_sim_message *message, struct etcd_done *done)
{
    *done = message->done;
    done->tag = asked->tag;
    done->is_resent = asked->sends > 1;
    done->rows = message->rows.rows;
    done->row_count = message->rows.count;
    done->members = &client->member;
    done->member_count = done->kind == ETCD_MEMBERS ? 1 : 0;
    done->status = &client->status;
    client->lent[client->lent_count++] = *message;
    if (done->kind != ETCD_WATCH || done->result != ETCD_OK) {
        drop_asked(asked);
        return;
    }
    asked->is_standing = true;
    if (done->row_count == 0 && asked->next_revision == 0)
        asked->next_revision = done->revision + 1;
    else if (done->row_count > 0 && !done->more)
        asked->next_revision = done->rows[done->row_count - 1].mod_revision + 1;
}

/* False: the reply is of nothing that is asked. */
static bool take(struct etcd_sim_client *client, struct etcd_done *done)
{
    struct etcd_sim_message message = client->inbox[0];
    client->inbox_count--;
    memmove(client->inbox, client->inbox + 1, client->inbox_count * sizeof *client->inbox);
    if (message.breaks_connection) {
        etcd_sim_net_free(&message);
        reconnect(client);
        return false;
    }
    struct asked *asked = find(client, message.order);
    if (asked == NULL) {
        etcd_sim_net_free(&message);
        return false;
    }
    fill(client, asked, &message, done);
    return true;
}

static bool check_deadlines(struct etcd_sim_client *client, struct etcd_done *done)
{
    const struct etcd_sim *sim = client->sim;
    bool is_over = false;
    for (uint32_t i = 0; i < ETCD_REQUESTS_MAX; i++) {
        struct asked *asked = &client->asked[i];
        if (!asked->is_used || asked->is_standing)
            continue;
        if (asked->late_ns != 0 && sim->now_ns >= asked->late_ns) {
            struct etcd_sim_message none = { .done = { .kind = asked->request->request.kind,
                                                       .result = ETCD_LATE,
                                                       .text = "no answer in time" } };
            fill(client, asked, &none, done);
            return true;
        }
        is_over |= sim->now_ns >= asked->sent_ns + sim->request_ns;
    }
    if (is_over)
        reconnect(client);
    return false;
}

static int sim_reap(struct etcd *etcd, struct etcd_done *done, int done_max)
{
    struct etcd_sim_client *client = client_of(etcd);
    for (uint32_t i = 0; i < client->lent_count; i++)
        etcd_sim_net_free(&client->lent[i]);
    client->lent_count = 0;
    int count = 0;
    int limit = done_max < LENT_MAX ? done_max : LENT_MAX;
    while (count < limit && client->inbox_count > 0)
        count += take(client, &done[count]);
    while (count < limit && check_deadlines(client, &done[count]))
        count++;
    return count;
}

static int sim_submit(struct etcd *etcd, const struct etcd_request *request, uint64_t tag)
{
    struct etcd_sim_client *client = client_of(etcd);
    struct asked *free_one = NULL;
    uint32_t watches = 0;
    for (uint32_t i = 0; i < ETCD_REQUESTS_MAX; i++) {
        struct asked *asked = &client->asked[i];
        if (!asked->is_used)
            free_one = asked;
        else
            watches += asked->request->request.kind == ETCD_WATCH;
        CHECK(!asked->is_used || asked->tag != tag);
    }
    if (free_one == NULL || (request->kind == ETCD_WATCH && watches == ETCD_WATCHES_MAX))
        return -EAGAIN;
    size_t bytes = 0;
    struct etcd_sim_request *kept = keep(request, &bytes);
    if (bytes > ETCD_REQUEST_BYTES) {
        release(kept);
        return -EMSGSIZE;
    }
    uint64_t now = client->sim->now_ns;
    *free_one = (struct asked){ .is_used = true,
                                .tag = tag,
                                .order = client->orders++,
                                .late_ns = request->life_ns == 0 ? 0 : now + request->life_ns,
                                .next_revision = request->revision,
                                .request = kept };
    send_asked(client, free_one);
    return 0;
}

static bool sim_cancel(struct etcd *etcd, uint64_t tag)
{
    struct etcd_sim_client *client = client_of(etcd);
    for (uint32_t i = 0; i < ETCD_REQUESTS_MAX; i++)
        if (client->asked[i].is_used && client->asked[i].tag == tag) {
            etcd_sim_net_forget(client->sim, client->id, client->asked[i].order);
            drop_asked(&client->asked[i]);
            return true;
        }
    return false;
}

static int sim_wait(struct etcd *etcd, int wake_file, uint64_t timeout_ns)
{
    struct etcd_sim_client *client = client_of(etcd);
    (void)wake_file;
    for (uint64_t passed = 0; passed < timeout_ns && client->inbox_count == 0;) {
        uint64_t step = timeout_ns - passed < NS_PER_STEP ? timeout_ns - passed : NS_PER_STEP;
        etcd_sim_advance(client->sim, step);
        passed += step;
        if (etcd_due(etcd) <= client->sim->now_ns)
            break;
    }
    return 0;
}

static int sim_file(struct etcd *etcd)
{
    (void)etcd;
    return -1;
}

static uint64_t sim_due(struct etcd *etcd)
{
    struct etcd_sim_client *client = client_of(etcd);
    if (client->inbox_count > 0)
        return 0;
    uint64_t due = UINT64_MAX;
    for (uint32_t i = 0; i < ETCD_REQUESTS_MAX; i++) {
        const struct asked *asked = &client->asked[i];
        if (!asked->is_used || asked->is_standing)
            continue;
        if (asked->sent_ns + client->sim->request_ns < due)
            due = asked->sent_ns + client->sim->request_ns;
        if (asked->late_ns != 0 && asked->late_ns < due)
            due = asked->late_ns;
    }
    return due;
}

static void sim_health(struct etcd *etcd, struct etcd_health *health)
{
    const struct etcd_sim_client *client = client_of(etcd);
    *health = (struct etcd_health){ .is_connected = !client->is_cut,
                                    .connections = client->connections,
                                    .resent = client->resent,
                                    .text = "" };
}

static void sim_close(struct etcd *etcd)
{
    struct etcd_sim_client *client = client_of(etcd);
    struct etcd_sim *sim = client->sim;
    etcd_sim_net_forget(sim, client->id, UINT64_MAX);
    for (uint32_t i = 0; i < ETCD_REQUESTS_MAX; i++)
        if (client->asked[i].is_used)
            drop_asked(&client->asked[i]);
    empty_inbox(client);
    free(client->inbox);
    for (uint32_t i = 0; i < client->lent_count; i++)
        etcd_sim_net_free(&client->lent[i]);
    for (uint32_t i = 0; i < sim->client_count; i++)
        if (sim->clients[i] == client)
            sim->clients[i] = sim->clients[--sim->client_count];
    free(client);
}

static const struct etcd_ops OPS = {
    .submit = sim_submit,
    .cancel = sim_cancel,
    .reap = sim_reap,
    .wait = sim_wait,
    .file = sim_file,
    .due = sim_due,
    .health = sim_health,
    .close = sim_close,
};

struct etcd *etcd_sim_connect(struct etcd_sim *sim)
{
    struct etcd_sim_client *client = calloc(1, sizeof *client);
    CHECK(client != NULL && sim->client_count < ETCD_SIM_CLIENTS_MAX);
    client->etcd.ops = &OPS;
    client->sim = sim;
    client->id = ++sim->client_ids;
    client->connections = 1;
    client->member = (struct etcd_member){ .id = 1, .name = "sim", .client_url = "sim:1" };
    client->status = (struct etcd_status){ .member = 1,
                                           .leader = 1,
                                           .raft_term = 1,
                                           .db_bytes = 4096,
                                           .db_used_bytes = 4096,
                                           .version = "3.4.0" };
    sim->clients[sim->client_count++] = client;
    return &client->etcd;
}

void etcd_sim_cut(struct etcd *etcd, bool is_cut)
{
    struct etcd_sim_client *client = client_of(etcd);
    client->is_cut = is_cut;
    /* What is under way is of a connection that has broken. */
    client->connection++;
    empty_inbox(client);
    etcd_sim_net_forget(client->sim, client->id, UINT64_MAX);
    for (uint32_t i = 0; i < ETCD_REQUESTS_MAX; i++)
        client->asked[i].is_standing = false;
}
