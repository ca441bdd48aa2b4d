#include "net/conn/context.h"

#include <errno.h>

#include "base/region.h"

#define PROOF_NS     (60 * UINT64_C(1000000000))
#define PROOFS_BYTES (CONTEXT_PROOFS * sizeof(struct proof))

static struct proof *proof_of(const struct context *context, uint64_t address)
{
    return &context->proofs[mix_word(context->config->hash_key, address) % CONTEXT_PROOFS];
}

bool context_catch_up(struct context *context)
{
    uint64_t now_ns = clock_monotonic_ns(context->config->clock);
    bool is_later = now_ns > context->now_ns;

    if (is_later)
        context->now_ns = now_ns;
    return is_later;
}

void context_prove(struct context *context, struct conn *conn)
{
    conn->has_proved = true;
    *proof_of(context, conn->address) = (struct proof){ conn->address, context->now_ns + PROOF_NS };
}

bool context_has_proved(const struct context *context, uint64_t address)
{
    const struct proof *proof = proof_of(context, address);
    return proof->address == address && context->now_ns < proof->until_ns;
}

int context_init(struct context *context, const struct net_config *config, uint32_t connections)
{
    context->config = config;
    context->pause_next_ns = UINT64_MAX;
    context->metrics.rate = clock_calibrate();
    eip712_init(&context->eip712, config->exchange_id);
    int error = conn_table_init(&context->conns, connections, config->hash_key);
    if (error == 0)
        error = pending_pool_init(&context->pendings, PENDING_MAX);
    if (error == 0)
        error = output_pool_init(&context->outputs, config->output_pool_bytes);
    if (error == 0)
        error = body_pool_init(&context->bodies);
    if (error == 0)
        error = address_tally_init(&context->tally, connections, config->hash_key);
    if (error != 0)
        return error;
    context->proofs = region_map(REGION_connections, PROOFS_BYTES);
    return context->proofs == NULL ? -ENOMEM : 0;
}

void context_free(struct context *context)
{
    region_unmap(context->proofs, PROOFS_BYTES);
    context->proofs = NULL;
    address_tally_free(&context->tally);
    body_pool_destroy(&context->bodies);
    output_pool_free(&context->outputs);
    pending_pool_free(&context->pendings);
    conn_table_free(&context->conns);
}

void context_await(struct context *context, struct conn *conn)
{
    conn_phase_move(&conn->phase, conn->secure ? CONN_HANDSHAKE : CONN_HEAD);
    conn_time_start(&context->conns, conn, conn->secure ? CONN_TIME_HANDSHAKE : CONN_TIME_IDLE,
                    context->now_ns);
}

void context_measure(struct context *context)
{
    struct net_counters *counters = &context->metrics.counters;
    counters->connections_open = context->conns.open_count;
    counters->output_bytes = (uint64_t)context->outputs.used * OUTPUT_CHUNK_BYTES;
}
