#include "net/conn/context.h"

int context_init(struct context *context, const struct net_config *config, uint32_t connections)
{
    context->config = config;
    context->metrics.rate = clock_calibrate();
    int error = conn_table_init(&context->conns, connections);
    if (error == 0)
        error = pending_pool_init(&context->pendings, PENDING_MAX);
    if (error == 0)
        error = output_pool_init(&context->outputs, config->output_pool_bytes);
    return error;
}

void context_free(struct context *context)
{
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
