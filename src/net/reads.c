#include "net/reads.h"

#include "crypto/eip712.h"
#include "crypto/secret.h"
#include "net/http/parameter.h"
#include "net/request/admin_token.h"
#include "net/request/charge.h"
#include "net/request/leadership.h"
#include "net/request/pairing_body.h"
#include "net/request/payload_report.h"
#include "net/request/read_parameters.h"

/* The request type in the path. */
static bool fill_eip712(const struct conn *conn, struct pending_local *local,
                        struct problem_detail *problem)
{
    uint64_t code = UINT64_MAX;
    if (!parameter_read_number(conn->route.argument, conn->route.argument_bytes, &code) ||
        code >= UINT16_MAX || !eip712_is_signable((uint16_t)code))
        return problem_detail_set(problem, PROBLEM_not_found, NULL,
                                  "no request type of this number is signed as typed data");
    local->code = (uint16_t)code;
    return true;
}

/* Whether the page must be asked for at `localhost`: the passkeys of this exchange are localhost's,
 * and browsers refuse that name to a page of an address. Sets *port to that of the Host header. */
static bool is_elsewhere(const struct net_config *config, const struct http_head *head,
                         const char *text, uint16_t *port)
{
    static const char *const addresses[] = { "127.0.0.1:", "[::1]:" };
    const char *host = text + head->host.at;
    if (strcmp(config->relying_party.id, "localhost") != 0)
        return false;
    for (size_t i = 0; i < CC_COUNT(addresses); i++) {
        size_t count = strlen(addresses[i]);
        uint64_t number = 0;
        if (head->host.count <= count || memcmp(host, addresses[i], count) != 0 ||
            !parameter_read_number(host + count, head->host.count - count, &number) ||
            number > UINT16_MAX)
            continue;
        *port = (uint16_t)number;
        return true;
    }
    return false;
}

/* The file of the console, and in which form the client takes it. */
static bool fill_file(const struct context *context, const struct conn *conn, const char *text,
                      struct pending_local *local, struct problem_detail *problem)
{
    const struct http_head *head = &conn->head;
    int number = local->kind == ROUTE_PAGE
                     ? asset_find_page(conn->admin)
                     : asset_find_file(conn->route.argument, conn->route.argument_bytes);
    if (number < 0)
        return problem_detail_set(problem, PROBLEM_not_found, NULL,
                                  "the console of this build has no such file");
    local->asset = asset_choose((uint16_t)number, text + head->codings.at, head->codings.count,
                                text + head->known.at, head->known.count);
    local->elsewhere = local->kind == ROUTE_PAGE && !conn->admin &&
                       is_elsewhere(context->config, head, text, &local->port);
    return true;
}

static bool fill_cluster(const struct net_config *config, const struct conn *conn,
                         const char *head_text, struct problem_detail *problem)
{
    if (!admin_token_check(config, &conn->head, head_text, problem))
        return false;
    return config->source.cluster != NULL ||
           problem_detail_set(problem, PROBLEM_not_found, NULL,
                              "this exchange runs on one machine: cluster.name is empty");
}

/* The order is given when the request is accepted. */
static bool fill_handover(const struct net_config *config, const struct conn *conn,
                          const char *head_text, struct pending_local *local,
                          struct problem_detail *problem)
{
    const struct net_source *source = &config->source;
    const struct parameters query = { head_text + conn->head.query.at, conn->head.query.count };
    char node[PARAMETER_TEXT_MAX] = "";
    uint64_t upgrades = 0;

    if (!fill_cluster(config, conn, head_text, problem))
        return false;
    if (parameter_text(&query, "node", node, problem) > PARAMETER_GIVEN ||
        parameter_number(&query, "upgrade", 0, 1, &upgrades, problem) > PARAMETER_GIVEN)
        return false;
    switch (source->handover(source->context, node, upgrades == 1, local->node)) {
    case NET_HANDOVER_BEGUN:
        return true;
    case NET_HANDOVER_NOT_LEADER:
        if (!leadership_write(config, problem))
            return false;
        return problem_detail_set(problem, PROBLEM_not_ready, NULL,
                                  "it leads since now: ask again");
    case NET_HANDOVER_UNDER_WAY:
        return problem_detail_set(problem, PROBLEM_not_ready, NULL, "a handover is under way");
    case NET_HANDOVER_NO_NODE:
        break;
    }
    return problem_detail_set(problem, PROBLEM_invalid_parameter, "node",
                              upgrades == 1 ? "no such node is waiting, with a later rules_version "
                                              "and a candidate: see GET /admin/cluster"
                                            : "no such node is current and a candidate: see "
                                              "GET /admin/cluster");
}

/* What is announced is shown from now on. */
static bool fill_maintenance(const struct context *context, const struct conn *conn,
                             const char *head_text, struct pending_local *local,
                             struct problem_detail *problem)
{
    const struct net_source *source = &context->config->source;
    const struct parameters query = { head_text + conn->head.query.at, conn->head.query.count };
    uint64_t earliest = context->unix_ns + NET_MAINTENANCE_AHEAD_NS;

    if (!admin_token_check(context->config, &conn->head, head_text, problem))
        return false;
    enum parameter_found found =
        parameter_number(&query, "at_ns", 0, INT64_MAX, &local->at_ns, problem);
    if (found > PARAMETER_GIVEN)
        return false;
    if (found == PARAMETER_ABSENT || (local->at_ns != 0 && local->at_ns < earliest) ||
        local->at_ns > earliest + NET_MAINTENANCE_MOST_NS)
        return problem_detail_set(problem, PROBLEM_invalid_parameter, "at_ns",
                                  "at_ns is unix ns, 10 minutes to 366 days ahead, or 0");
    source->maintain(source->context, local->at_ns);
    return true;
}

static bool fill_local(const struct context *context, const struct conn *conn,
                       const char *head_text, struct pending_local *local,
                       struct problem_detail *problem)
{
    local->kind = conn->route.kind;
    local->address = conn->address;
    if (local->kind == ROUTE_STATUS && !context->draining &&
        !context->config->source.ready(context->config->source.context))
        return problem_detail_set(problem, PROBLEM_not_ready, NULL, "the service is recovering");
    if (local->kind == ROUTE_CLUSTER)
        return fill_cluster(context->config, conn, head_text, problem);
    if (local->kind == ROUTE_HANDOVER)
        return fill_handover(context->config, conn, head_text, local, problem);
    if (local->kind == ROUTE_MAINTENANCE)
        return fill_maintenance(context, conn, head_text, local, problem);
    if (local->kind == ROUTE_EIP712)
        return fill_eip712(conn, local, problem);
    if (local->kind == ROUTE_PAGE || local->kind == ROUTE_FILE)
        return fill_file(context, conn, head_text, local, problem);
    return true;
}

/* Keeps a body for the connection's address; *index becomes its, or BODY_NONE. */
static bool keep_body(struct context *context, const struct conn *conn, const char *text,
                      size_t count, uint16_t *index, struct problem_detail *problem)
{
    static const char *const details[] = {
        [BODY_ROOM_FULL] = "too many requests of this kind are waiting",
        [BODY_ROOM_OF_ADDRESS] = "as many requests of this kind of this address wait as may",
    };
    uint64_t address = conn->admin ? QUERY_ADMIN_ADDRESS : conn->address;
    enum body_room room = body_pool_add(&context->bodies, address, text, count, index);
    return room == BODY_ROOM ||
           problem_detail_set(problem, PROBLEM_not_ready, NULL, "%s", details[room]);
}

/* Puts what a query brings into the pool, where the follower reads it. */
static bool fill_payload(struct context *context, const struct conn *conn, const char *body,
                         size_t body_bytes, struct query *query, uint16_t *payload,
                         struct problem_detail *problem)
{
    struct pairing_body made;
    if (!pairing_body_read(context->config, body, body_bytes, query, &made, problem))
        return false;
    bool is_kept = keep_body(context, conn, made.bytes, made.count, payload, problem);
    secret_wipe(made.bytes, made.count);
    if (!is_kept)
        return false;
    query->payload = (const uint8_t *)body_pool_at(&context->bodies, *payload)->text;
    query->payload_bytes = body_pool_at(&context->bodies, *payload)->count;
    return true;
}

/* A GET may ask for the sequence that its answer must show (W7). */
static bool check_min_sequence(const struct conn *conn, struct problem_detail *problem)
{
    if (conn->head.method != HTTP_GET || !conn->head.is_min_sequence_bad)
        return true;
    return problem_detail_set(problem, PROBLEM_invalid_parameter, "X-Min-Sequence",
                              "X-Min-Sequence must be one decimal number of at most 64 bits");
}

/* Lets the newest request wait for the sequence, 0 for none, or refuses it. */
static void await_sequence(struct pipeline *pipeline, struct conn *conn, struct pending *pending,
                           uint64_t wanted)
{
    static const char *const details[] = {
        [SEQUENCE_WAIT_FULL] = "too many reads wait for their X-Min-Sequence",
        [SEQUENCE_WAIT_OF_ADDRESS] =
            "as many reads of this address as may wait for their X-Min-Sequence",
        [SEQUENCE_WAIT_OF_ACCOUNT] =
            "as many reads of this account as may wait for their X-Min-Sequence",
    };
    enum sequence_wait_room room = read_send_await(&pipeline->reads, conn, pending, wanted);
    if (room == SEQUENCE_WAIT_ROOM)
        return;
    pending->kind = PENDING_PROBLEM;
    pending_move(pending, PENDING_DONE);
    (void)problem_detail_set(&pending->problem, PROBLEM_not_ready, NULL, "%s", details[room]);
}

void reads_accept(struct pipeline *pipeline, struct conn *conn, const char *head_text,
                  const char *body, size_t body_bytes)
{
    struct context *context = pipeline->context;
    struct query query;
    uint16_t payload = BODY_NONE;
    struct keyring_key caller;
    struct problem_detail problem;
    struct pending_local local = { .body = BODY_NONE };
    if (conn->route.kind == ROUTE_LIMITS && conn->head.has_api_key) {
        conn->route.kind = ROUTE_QUERY; /* with the account's slots, which the follower has */
        conn->route.query = QUERY_limits;
    }
    bool is_query = conn->route.kind == ROUTE_QUERY; /* else the net thread answers it */
    const uint64_t wanted = conn->head.method == HTTP_GET ? conn->head.min_sequence : 0;
    context->metrics.counters.reads++;
    if (conn->admin && is_query &&
        !admin_token_check(context->config, &conn->head, head_text, &problem)) {
        pipeline_refuse(pipeline, conn, &problem, NULL);
        return;
    }
    bool good = is_query ? read_parameters_parse(context->config, context->unix_ns, conn, head_text,
                                                 &query, &caller, &problem)
                         : fill_local(context, conn, head_text, &local, &problem);
    if (good)
        good = check_min_sequence(conn, &problem) &&
               charge_read(context, conn, is_query ? &caller : NULL, is_query ? query.offset : 0,
                           &problem);
    if (good && is_query && pairing_body_is_brought(query.kind))
        good = fill_payload(context, conn, body, body_bytes, &query, &payload, &problem);
    if (!good) {
        pipeline_refuse(pipeline, conn, &problem, NULL);
        return;
    }
    if (is_query) {
        struct pending *pending = pending_add(&context->pendings, conn, PENDING_READ, PENDING_HELD);
        pending->query = query;
        pending->payload = payload;
        pending->has_secret = query.kind == QUERY_pairing_open;
        /* No request precedes it, and it does not wait: its key need not be checked again. */
        pending->is_checked = conn->pending_count == 1 && wanted == 0;
        pending->caller = caller;
        await_sequence(pipeline, conn, pending, wanted);
    } else {
        struct pending *pending = pending_add(&context->pendings, conn, PENDING_LOCAL,
                                              wanted != 0 ? PENDING_HELD : PENDING_DONE);
        pending->local = local;
        if (local.kind == ROUTE_OPTIONS)
            pending->allow = conn->allow;
        await_sequence(pipeline, conn, pending, wanted);
    }
    pipeline_advance(pipeline, conn);
}

void reads_accept_body(struct pipeline *pipeline, struct conn *conn, const char *body, size_t count)
{
    struct context *context = pipeline->context;
    struct problem_detail problem;
    context->metrics.counters.reads++;
    if (!charge_read(context, conn, NULL, 0, &problem)) {
        pipeline_refuse(pipeline, conn, &problem, NULL);
        return;
    }
    uint16_t index;
    if (!keep_body(context, conn, body, count, &index, &problem)) {
        pipeline_refuse(pipeline, conn, &problem, NULL);
        return;
    }
    struct pending_local local = { .kind = conn->route.kind,
                                   .body = index,
                                   .octets = conn->head.media == HTTP_MEDIA_OCTETS };
    if (local.kind == ROUTE_DEBUG)
        payload_report_search(context, body, count, local.octets, &local.finding);
    struct pending *pending = pending_add(&context->pendings, conn, PENDING_LOCAL, PENDING_DONE);
    pending->local = local;
    pipeline_advance(pipeline, conn);
}

uint32_t reads_run(struct pipeline *pipeline)
{
    uint32_t done = 0;
    struct pending *late;
    struct conn *awaited;
    while ((late = read_send_waiting(&pipeline->reads, &done)) != NULL)
        pipeline_advance(pipeline, context_conn(pipeline->context, late));
    while ((awaited = read_send_awaited(&pipeline->reads)) != NULL) {
        pipeline_advance(pipeline, awaited);
        done++;
    }
    return done;
}

void reads_reply(struct pipeline *pipeline, const struct reply *reply)
{
    struct pending *pending = read_send_reply(&pipeline->reads, reply);
    if (pending != NULL)
        pipeline_advance(pipeline, context_conn(pipeline->context, pending));
}
