#include "perp/data/cluster_client.h"

#include <errno.h>
#include <stdio.h>

#include "perp/invocation/exit_code.h"
#include "perp/invocation/settings.h"
#include "repl/etcd_ask.h"
#include "repl/etcd_real.h"

#define ASK_NS UINT64_C(10000000000)

bool cluster_client_read(struct cluster_client *client, struct context *context, const char *path)
{
    char flag[SETTINGS_VALUE_MAX], error[CONFIG_ERROR_MAX];
    const char *arguments[] = { "perp", flag };
    int length = snprintf(flag, sizeof flag, "--config=%s", path);

    client->context = context;
    if (length < 0 || (size_t)length >= sizeof flag)
        return context_fail(context, EXIT_CODE_usage, "CONFIG is too long a name");
    if (config_load(&client->config, CC_COUNT(arguments), arguments, NULL) != CONFIG_RUN)
        return context_fail(context, EXIT_CODE_usage, "%s", client->config.error);
    if (!cluster_option_is_set(&client->config))
        return context_fail(context, EXIT_CODE_usage, "%s has no cluster.name", path);
    return cluster_option_read(&client->config, &client->option, error) ||
           context_fail(context, EXIT_CODE_usage, "%s", error);
}

bool cluster_client_open(struct cluster_client *client)
{
    const struct config *options = &client->config;
    struct link_endpoint endpoints[CLUSTER_ENDPOINTS_MAX];
    char why[ETCD_TEXT_BYTES];
    struct etcd_real_config config = {
        .endpoints = endpoints,
        .endpoint_count = client->option.endpoint_count,
        .request_ms = (uint32_t)config_number(options, OPTION_cluster_request_ms),
        .ca = config_text(options, OPTION_cluster_etcd_ca),
        .certificate = config_text(options, OPTION_cluster_etcd_certificate),
        .key = config_text(options, OPTION_cluster_etcd_key),
    };

    for (uint32_t i = 0; i < config.endpoint_count; i++)
        if (link_resolve(&endpoints[i], client->option.endpoints[i]) != 0)
            return context_fail(client->context, EXIT_CODE_usage,
                                "cluster.etcd: %s: no such address", client->option.endpoints[i]);
    return etcd_real_create(&client->etcd, &config, why) == 0 ||
           context_fail(client->context, EXIT_CODE_usage, "%s", why);
}

bool cluster_client_ask(struct cluster_client *client, const struct etcd_request *request,
                        struct etcd_done *done)
{
    struct etcd_health health;
    int error = etcd_ask(client->etcd, request, ASK_NS, done);

    if (error == 0 && done->result == ETCD_OK)
        return true;
    etcd_health(client->etcd, &health);
    return context_fail(client->context, EXIT_CODE_problem, "etcd: %s",
                        error == 0               ? done->text
                        : health.text[0] != '\0' ? health.text
                                                 : strerror(-error));
}

void cluster_client_close(struct cluster_client *client)
{
    if (client->etcd != NULL)
        etcd_close(client->etcd);
    config_free(&client->config);
}
