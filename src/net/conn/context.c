#include "net/conn/context.h"

int context_init(struct context *context, const struct net_config *config, uint32_t connections)
{
    context->config = config;
    context->pause_next_ns = UINT64_MAX;
    context->metrics.rate = clock_calibrate();
    eip712_init(&context->eip712, config->exchange_id);
    int error = conn_table_init(&context->conns, connections);
    if (error == 0)
        error = pending_pool_init(&context->pendings, PENDING_MAX);
    if (error == 0)
        error = output_pool_init(&context->outputs, config->output_pool_bytes);
    if (error == 0)
        error = body_pool_init(&context->bodies);
    return error;
}

void context_free(struct context *context)
{
    body_pool_destroy(&context->bodies);
    output_pool_free(&context->outputs);
    pending_pool_free(&context->pendings);
    conn_table_free(&context->conns);
}

void context_measure(struct context *context)
{
    struct net_counters *counters = &context->metrics.counters;
    counters->connections_open = context->conns.open_count;
    counters->output_bytes = (uint64_t)context->outputs.used * OUTPUT_CHUNK_BYTES;
}
