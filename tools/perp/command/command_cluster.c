/* command_cluster.c - what a node is asked and told with its admin token: how its cluster stands,
 * the handover of its lead, an invitation of another machine, and maintenance that it announces. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cluster_option.h"
#include "perp/command/command.h"
#include "perp/data/invite.h"
#include "perp/print/report.h"
#include "perp/request/client.h"
#include "perp/request/instant.h"

enum { SHOWN_MAX = 300, TARGET_MAX = 300, NODE_MAX = 64, LOOKS = 100, LOOK_US = 100 * 1000 };
enum { VAULT_LOOKS = 600 };

/* Asks the node with its admin token. */
struct asking {
    struct context *context;
    struct data_directory directory;
    struct client admin;
};

static bool begin(struct asking *asking, struct context *context)
{
    const char *url = context->arguments->values[FLAG_admin_url];

    asking->context = context;
    if (url == NULL)
        return context_fail(context, EXIT_CODE_usage, "--admin-url is needed");
    if (!data_directory_open(context, NULL, &asking->directory))
        return false;
    if (client_init(&asking->admin, url, CLIENT_TIMEOUT_MS) &&
        client_read_token(&asking->admin, asking->directory.path))
        return true;
    (void)context_fail(context, EXIT_CODE_problem, "%s", asking->admin.error);
    client_close(&asking->admin);
    data_directory_close(&asking->directory);
    return false;
}

static void end(struct asking *asking)
{
    client_close(&asking->admin);
    data_directory_close(&asking->directory);
}

/* False when there is no answer, or it is a problem: told. */
static bool ask(struct asking *asking, const char *method, const char *target,
                struct client_answer *answer)
{
    const struct client_request request = { .method = method, .target = target };

    if (client_call(&asking->admin, &request, answer) != 0)
        return context_fail(asking->context, EXIT_CODE_problem, "%s", asking->admin.error);
    return answer->status == 200 ||
           context_fail(asking->context, EXIT_CODE_rejected, "%s %s: %.*s", method, target,
                        (int)(answer->body_count < SHOWN_MAX ? answer->body_count : SHOWN_MAX),
                        answer->body);
}

/* ---- status ---------------------------------------------------------------------------------- */

/* Shows the answer; false when it has a problem. */
static bool show(struct context *context, const struct client_answer *answer)
{
    json_t *root = json_loadb(answer->body, answer->body_count, 0, NULL);
    size_t problems = json_array_size(json_object_get(root, "problems"));
    bool is_well = json_is_array(json_object_get(root, "problems")) && problems == 0;
    json_decref(root);
    report_answer(stdout, answer->body, answer->body_count, context->arguments->json, NULL);
    return is_well || context_fail(context, EXIT_CODE_rejected,
                                   "%zu of it is not as it must be: problems", problems);
}

int command_cluster_status(struct context *context)
{
    struct asking asking;
    struct client_answer answer;

    if (!begin(&asking, context))
        return context->exit_code;
    if (ask(&asking, "GET", "/admin/cluster", &answer))
        (void)show(context, &answer);
    end(&asking);
    return context->exit_code;
}

/* ---- handover -------------------------------------------------------------------------------- */

/* Reads the text member `name`; "" when it is none. */
static void read_member(const struct client_answer *answer, const char *name, char out[NODE_MAX])
{
    json_t *root = json_loadb(answer->body, answer->body_count, 0, NULL);
    const char *text = json_string_value(json_object_get(root, name));

    snprintf(out, NODE_MAX, "%s", text != NULL ? text : "");
    json_decref(root);
}

/* Until that node leads. */
static bool await_leader(struct asking *asking, const char *node)
{
    struct client_answer answer;
    char leader[NODE_MAX] = "";

    for (int i = 0; i < LOOKS; i++) {
        if (!ask(asking, "GET", "/admin/cluster", &answer))
            return false;
        read_member(&answer, "leader", leader);
        if (strcmp(leader, node) == 0) {
            char text[NODE_MAX + 16];
            int count = snprintf(text, sizeof text, "{\"leader\":\"%s\"}", node);
            report_answer(stdout, text, (size_t)count, asking->context->arguments->json, NULL);
            return true;
        }
        usleep(LOOK_US);
    }
    return context_fail(asking->context, EXIT_CODE_rejected,
                        "%s does not lead after 10 s, but %s: see perp cluster status", node,
                        leader[0] != '\0' ? leader : "nobody");
}

/* The path of the order, with `more` behind it; false when the name cannot be a node's. */
static bool make_target(struct context *context, const char *more, char target[TARGET_MAX])
{
    const struct arguments *arguments = context->arguments;
    const char *node = arguments->word_count > 0 ? arguments->words[0] : "";

    if (node[0] != '\0' && !cluster_option_is_name(node, CLUSTER_NODE_BYTES))
        return context_fail(context, EXIT_CODE_usage, "%.64s is no name of a node", node);
    snprintf(target, TARGET_MAX, "/admin/handover?%s%s%s", more, node[0] != '\0' ? "node=" : "",
             node);
    return true;
}

int command_cluster_handover(struct context *context)
{
    struct asking asking;
    struct client_answer answer;
    char target[TARGET_MAX], node[NODE_MAX];

    if (!make_target(context, "", target) || !begin(&asking, context))
        return context->exit_code;
    if (ask(&asking, "POST", target, &answer)) {
        read_member(&answer, "node", node);
        (void)await_leader(&asking, node);
    }
    end(&asking);
    return context->exit_code;
}

/* The node that is asked stops: what becomes of it, the others show. */
int command_cluster_upgrade(struct context *context)
{
    struct asking asking;
    struct client_answer answer;
    char target[TARGET_MAX];

    if (!make_target(context, "upgrade=1&", target) || !begin(&asking, context))
        return context->exit_code;
    if (ask(&asking, "POST", target, &answer))
        report_answer(stdout, answer.body, answer.body_count, context->arguments->json, NULL);
    end(&asking);
    return context->exit_code;
}

/* ---- invitation ------------------------------------------------------------------------------ */

/* The number `name` of an answer, in its member `inside` if that is not NULL; -1: there is none. */
static int64_t read_number(const struct client_answer *answer, const char *inside, const char *name)
{
    json_t *root = json_loadb(answer->body, answer->body_count, 0, NULL);
    const json_t *object = inside != NULL ? json_object_get(root, inside) : root;
    const json_t *number = json_object_get(object, name);
    int64_t value = json_is_integer(number) ? json_integer_value(number) : -1;

    json_decref(root);
    return value;
}

/* Fills cluster and node; false when that node does not lead. */
static bool read_names(struct asking *asking, struct invite *invite)
{
    struct client_answer answer;
    char cluster[NODE_MAX], node[NODE_MAX], leader[NODE_MAX];

    if (!ask(asking, "GET", "/admin/cluster", &answer))
        return false;
    read_member(&answer, "cluster", cluster);
    read_member(&answer, "node", node);
    read_member(&answer, "leader", leader);
    if (strlen(cluster) >= sizeof invite->cluster || strlen(node) >= sizeof invite->node)
        return context_fail(asking->context, EXIT_CODE_problem, "GET /admin/cluster: no names");
    memcpy(invite->cluster, cluster, strlen(cluster) + 1);
    memcpy(invite->node, node, strlen(node) + 1);
    return strcmp(leader, node) == 0 ||
           context_fail(asking->context, EXIT_CODE_rejected,
                        "%s does not lead, but %s: ask that one, whose vault is filled for it",
                        node, leader[0] != '\0' ? leader : "nobody");
}

/* Has the leader begin a segment, and waits until the vault has all before it. */
static bool fill_vault(struct asking *asking, int64_t *segment)
{
    struct client_answer answer;

    if (!ask(asking, "POST", "/admin/seal", &answer))
        return false;
    int64_t last = read_number(&answer, NULL, "open_segment") - 1;
    for (int i = 0; last >= 0 && i < VAULT_LOOKS; i++) {
        if (!ask(asking, "GET", "/admin/cluster", &answer))
            return false;
        *segment = read_number(&answer, "vault", "segment");
        if (*segment >= last)
            return true;
        usleep(LOOK_US);
    }
    return context_fail(asking->context, EXIT_CODE_rejected,
                        last < 0 ? "no segment is sealed yet: try again in 10 s"
                                 : "the vault has not got segment %ld in 60 s: see perp cluster "
                                   "status",
                        last);
}

int command_cluster_invite(struct context *context)
{
    const char *path = context->arguments->words[0];
    struct asking asking;
    struct invite invite;
    int64_t segment = -1;

    if (!begin(&asking, context))
        return context->exit_code;
    if (invite_take(context, &asking.directory, &invite) && read_names(&asking, &invite) &&
        fill_vault(&asking, &segment) && invite_write(context, path, &invite)) {
        json_t *object =
            json_pack("{s:s, s:s, s:I, s:I}", "file", path, "cluster", invite.cluster,
                      "expires_at_ns", (json_int_t)invite.expires_ns, "vault_segment", segment);
        INVARIANT(object != NULL);
        report_object(stdout, object, context->arguments->json);
    }
    invite_wipe(&invite);
    end(&asking);
    return context->exit_code;
}

/* ---- maintenance ----------------------------------------------------------------------------- */

int command_maintenance(struct context *context)
{
    const char *text = context->arguments->words[0];
    struct asking asking;
    struct client_answer answer;
    char target[TARGET_MAX];
    uint64_t at_ns = 0;

    if (strcmp(text, "none") != 0 && !instant_parse(text, &at_ns))
        (void)context_fail(context, EXIT_CODE_usage,
                           "%.64s is no time: 2030-01-31T12:00:00Z, unix seconds, or none", text);
    if (context->exit_code != 0 || !begin(&asking, context))
        return context->exit_code;
    snprintf(target, TARGET_MAX, "/admin/maintenance?at_ns=%lu", at_ns);
    if (ask(&asking, "POST", target, &answer))
        report_answer(stdout, answer.body, answer.body_count, context->arguments->json, NULL);
    end(&asking);
    return context->exit_code;
}
