/* command_cluster.c - how a cluster stands, as one of its nodes sees it. */
#include <jansson.h>
#include <stdio.h>

#include "perp/command/command.h"
#include "perp/data/data_directory.h"
#include "perp/print/report.h"
#include "perp/request/client.h"

enum { SHOWN_MAX = 300 };

/* Shows the answer; false when it has a problem, or is none. */
static bool show(struct context *context, const struct client_answer *answer)
{
    if (answer->status != 200)
        return context_fail(context, EXIT_CODE_rejected, "GET /admin/cluster: %.*s",
                            (int)(answer->body_count < SHOWN_MAX ? answer->body_count : SHOWN_MAX),
                            answer->body);
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
    const struct client_request request = { .method = "GET", .target = "/admin/cluster" };
    const char *url = context->arguments->values[FLAG_admin_url];
    struct data_directory directory;
    struct client_answer answer;
    struct client admin;

    if (url == NULL)
        return context_fail(context, EXIT_CODE_usage, "--admin-url is needed"), EXIT_CODE_usage;
    if (!data_directory_open(context, NULL, &directory))
        return context->exit_code;
    bool is_shown = client_init(&admin, url, CLIENT_TIMEOUT_MS) &&
                    client_read_token(&admin, directory.path) &&
                    client_call(&admin, &request, &answer) == 0;
    if (is_shown)
        (void)show(context, &answer);
    else
        (void)context_fail(context, EXIT_CODE_problem, "%s", admin.error);
    client_close(&admin);
    data_directory_close(&directory);
    return context->exit_code;
}
