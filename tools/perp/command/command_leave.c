/* command_leave.c - ends the membership of a node that has been taken out of a cluster
 * (replication.md, Leaving). */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/cluster_option.h"
#include "perp/command/command.h"
#include "perp/data/cluster_client.h"
#include "perp/print/report.h"
#include "repl/etcd_call.h"
#include "repl/repl_key.h"

enum { KEY_NAME_MAX = 8 + CLUSTER_NODE_BYTES };

static struct repl_key key_of(const struct cluster_client *client, const char *folder,
                              const char *node)
{
    char name[KEY_NAME_MAX];

    snprintf(name, sizeof name, "%s/%s", folder, node);
    return repl_key_of(config_text(&client->config, OPTION_cluster_name), name);
}

/* Deletes the membership, and the hash that the node has shown of its snapshot, if it has no
 * session: one that runs would join again. */
static bool leave(struct cluster_client *client, const char *node)
{
    struct context *context = client->context;
    struct repl_key member = key_of(client, "member", node), runs = key_of(client, "node", node);
    struct repl_key image = key_of(client, "image", node);
    const struct etcd_request look = { .kind = ETCD_RANGE, .key = etcd_text(member.text) };
    const struct etcd_compare is_gone = { etcd_text(runs.text), ETCD_VERSION, 0 };
    const struct etcd_op remove[] = {
        { .verb = ETCD_DELETE, .key = etcd_text(member.text) },
        { .verb = ETCD_DELETE, .key = etcd_text(image.text) },
    };
    const struct etcd_transaction transaction = {
        .compares = &is_gone, .compare_count = 1, .then = remove, .then_count = CC_COUNT(remove)
    };
    const struct etcd_request request = { .kind = ETCD_TRANSACTION, .transaction = &transaction };
    struct etcd_done done;

    if (!cluster_client_ask(client, &look, &done))
        return false;
    if (done.row_count == 0)
        return context_fail(context, EXIT_CODE_rejected, "%s is no member of the cluster %s", node,
                            config_text(&client->config, OPTION_cluster_name));
    if (!cluster_client_ask(client, &request, &done))
        return false;
    return done.succeeded ||
           context_fail(context, EXIT_CODE_rejected,
                        "%s is there: hand over if it leads, stop it, and then let it leave", node);
}

int command_cluster_leave(struct context *context)
{
    const struct arguments *arguments = context->arguments;
    const char *node = arguments->words[0];
    struct cluster_client client = { 0 };

    if (!cluster_option_is_name(node, CLUSTER_NODE_BYTES)) {
        (void)context_fail(context, EXIT_CODE_usage, "%.64s is no name of a node", node);
        return context->exit_code;
    }
    if (cluster_client_read(&client, context, arguments->words[1]) &&
        cluster_client_open(&client) && leave(&client, node)) {
        json_t *object = json_pack("{s:s, s:s}", "cluster",
                                   config_text(&client.config, OPTION_cluster_name), "left", node);
        INVARIANT(object != NULL);
        report_object(stdout, object, arguments->json);
    }
    cluster_client_close(&client);
    return context->exit_code;
}
