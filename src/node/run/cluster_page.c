#include "node/run/cluster_page.h"

#include <stdarg.h>
#include <stdio.h>

#include "repl/lateness.h"

#define NS_PER_S      UINT64_C(1000000000)
#define SURVEY_OLD_NS (10 * NS_PER_S)

enum { MEMBERS_FEWEST = 3, NODES_FEWEST = 2, NAME_BYTES = 80 };

struct cluster_page {
    char *text;
    size_t capacity, used;
    bool is_full;
    const struct survey *survey;
    bool has_problem;
};

CC_PRINTF(2, 3) static void put(struct cluster_page *page, const char *format, ...)
{
    va_list arguments;
    size_t left = page->capacity - page->used;

    va_start(arguments, format);
    int wrote = vsnprintf(page->text + page->used, left, format, arguments);
    va_end(arguments);
    if (wrote >= 0 && (size_t)wrote < left)
        page->used += (size_t)wrote;
    else
        page->is_full = true;
}

/* A name of etcd's as it may be in JSON: what is no plain character becomes '?'. */
static const char *plain(char out[NAME_BYTES], const char *name)
{
    size_t count = 0;

    for (; name[count] != '\0' && count < NAME_BYTES - 1; count++) {
        bool is_plain =
            name[count] >= ' ' && name[count] <= '~' && name[count] != '"' && name[count] != '\\';
        out[count] = is_plain ? name[count] : '?';
    }
    out[count] = '\0';
    return out;
}

static const char *state_name(uint8_t state)
{
    static const char *const names[CLUSTER_STATE_COUNT] = {
        [CLUSTER_STARTING] = "starting", [CLUSTER_BEHIND] = "behind",
        [CLUSTER_CURRENT] = "current",   [CLUSTER_LEADING] = "leading",
        [CLUSTER_LEAVING] = "leaving",   [CLUSTER_DIVERGED] = "diverged",
        [CLUSTER_DISK] = "disk",         [CLUSTER_WAITING] = "waiting",
    };
    return state < CLUSTER_STATE_COUNT ? names[state] : "unknown";
}

/* The furthest frame that a node says it has. */
static uint64_t last_frame(const struct survey *survey)
{
    uint64_t last = survey->vault_last_frame;

    for (uint32_t i = 0; i < survey->node_count; i++)
        if (survey->nodes[i].received_frame > last)
            last = survey->nodes[i].received_frame;
    return last;
}

static void put_nodes(struct cluster_page *page)
{
    const struct survey *survey = page->survey;
    uint64_t last = last_frame(survey);

    put(page, ",\"nodes\":[");
    for (uint32_t i = 0; i < survey->node_count; i++) {
        const struct cluster_node *node = &survey->nodes[i];
        put(page,
            "%s{\"node\":\"%s\",\"state\":\"%s\",\"candidate\":%s,\"term\":%lu,"
            "\"received_frame\":%lu,\"durable_frame\":%lu,\"lag_frames\":%lu,\"applied\":%lu,"
            "\"clock_judged\":%s,\"clock_difference_ns\":%ld,\"rules_version\":%u,"
            "\"address\":\"%s\"}",
            i == 0 ? "" : ",", node->node, state_name(node->state),
            node->is_candidate ? "true" : "false", node->term, node->received_frame,
            node->durable_frame, last - node->received_frame, node->applied,
            node->is_judged ? "true" : "false", node->clock_difference_ns, node->rules_version,
            node->public_address);
    }
    put(page, "]");
}

static void put_etcd(struct cluster_page *page)
{
    const struct survey *survey = page->survey;
    uint64_t leader = survey_etcd_leader(survey);
    char name[NAME_BYTES], version[NAME_BYTES];

    put(page, ",\"etcd\":[");
    for (uint32_t i = 0; i < survey->member_count; i++) {
        const struct survey_member *member = &survey->members[i];
        put(page,
            "%s{\"member\":\"%s\",\"member_id\":\"%016lx\",\"answers\":%s,\"leads\":%s,"
            "\"db_bytes\":%ld,\"used_bytes\":%ld,\"version\":\"%s\"}",
            i == 0 ? "" : ",", plain(name, member->name), member->id,
            member->answers ? "true" : "false",
            leader != 0 && member->id == leader ? "true" : "false", member->db_bytes,
            member->used_bytes, plain(version, member->version));
    }
    put(page, "]");
}

static void put_vault(struct cluster_page *page)
{
    const struct survey *survey = page->survey;

    if (!survey->has_vault) {
        put(page, ",\"vault\":null");
        return;
    }
    put(page,
        ",\"vault\":{\"segment\":%lu,\"last_frame\":%lu,\"lag_frames\":%lu,\"time_ns\":%lu,"
        "\"snapshot\":",
        survey->vault_segment, survey->vault_last_frame,
        last_frame(survey) - survey->vault_last_frame, survey->vault_t_ns);
    if (survey->snapshot_count == 0) {
        put(page, "null}");
        return;
    }
    put(page,
        "{\"sequence\":%lu,\"frame\":%lu,\"next_segment\":%lu,\"bytes\":%lu,\"time_ns\":%lu,"
        "\"rules_version\":%u,\"node\":\"%s\"}}",
        survey->snapshot.sequence, survey->snapshot.frame, survey->snapshot.next_segment,
        survey->snapshot.bytes, survey->snapshot.t_ns, survey->snapshot.rules_version,
        survey->snapshot.node);
}

/* ---- what is not as it must be --------------------------------------------------------------- */

CC_PRINTF(2, 3) static void problem(struct cluster_page *page, const char *format, ...)
{
    char text[128 + NAME_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put(page, "%s\"%s\"", page->has_problem ? "," : "", text);
    page->has_problem = true;
}

static void judge_nodes(struct cluster_page *page, uint64_t clock_ns)
{
    const struct survey *survey = page->survey;
    char name[NAME_BYTES];

    if (!survey->has_leader)
        problem(page, "no node leads");
    if (survey_current(survey) < NODES_FEWEST)
        problem(page, "%u nodes are current or lead: two are needed to outlive one",
                survey_current(survey));
    for (uint32_t i = 0; i < survey->joined_count; i++)
        if (!survey_has_node(survey, survey->joined[i]) && survey->nodes_more == 0)
            problem(page, "node %s is not there: start it, or let it leave the cluster",
                    plain(name, survey->joined[i]));
    if (survey->joined_more != 0)
        problem(page, "%u more members are not looked at", survey->joined_more);
    if (survey->nodes_more != 0)
        problem(page, "%u more nodes are not shown", survey->nodes_more);
    for (uint32_t i = 0; i < survey->node_count; i++) {
        const struct cluster_node *node = &survey->nodes[i];
        bool leads = node->state == CLUSTER_LEADING;
        if (!leads && node->state != CLUSTER_CURRENT)
            problem(page, "node %s is %s", node->node, state_name(node->state));
        if (lateness_off(node->clock_difference_ns) > clock_ns)
            problem(page, "the clock of node %s differs by %ld ms", node->node,
                    node->clock_difference_ns / 1000000);
        if (node->rules_version != survey->nodes[0].rules_version)
            problem(page, "node %s has rules_version %u, node %s %u", node->node,
                    node->rules_version, survey->nodes[0].node, survey->nodes[0].rules_version);
    }
}

static void judge_etcd(struct cluster_page *page, uint32_t used_percent)
{
    const struct survey *survey = page->survey;
    uint64_t leader = survey_etcd_leader(survey);
    char name[NAME_BYTES];

    if (!survey->has_answer)
        problem(page, "etcd does not answer");
    if (leader == 0)
        problem(page, "etcd has no leader");
    if (survey->member_count < MEMBERS_FEWEST)
        problem(page, "etcd has %u members: three are needed to outlive one", survey->member_count);
    for (uint32_t i = 0; i < survey->member_count; i++) {
        const struct survey_member *member = &survey->members[i];
        if (!member->answers)
            problem(page, "member %s of etcd does not answer, or cluster.etcd does not have it",
                    plain(name, member->name));
        else if (member->leader != leader)
            problem(page, "member %s of etcd follows another leader", plain(name, member->name));
    }
    if (used_percent >= STEWARD_ALARM_PERCENT)
        problem(page, "etcd uses %u %% of cluster.etcd_quota", used_percent);
}

static void put_problems(struct cluster_page *page, const struct node *node)
{
    uint64_t now_ns = clock_now_ns(&node->clock), taken_ns = page->survey->taken_ns;

    uint64_t segment;

    put(page, ",\"problems\":[");
    if (now_ns > taken_ns && now_ns - taken_ns > SURVEY_OLD_NS)
        problem(page, "what is shown is %lu s old", (now_ns - taken_ns) / NS_PER_S);
    judge_etcd(page, (uint32_t)published_get(&node->steward.used_percent));
    if (page->survey->has_answer)
        judge_nodes(page, config_number(node->options, OPTION_cluster_clock_ms) * 1000000);
    if (published_get(&node->vault_keeper.failing) != 0)
        problem(page, "this node leads and did not write the vault the last time");
    uint64_t late_ns = replicator_vault_late_ns(node->replicator, &segment);
    if (late_ns != 0)
        problem(page, "this node has waited %lu s for segment %lu of the vault", late_ns / NS_PER_S,
                segment);
    put(page, "]}");
}

size_t cluster_page_write(const struct node *node, char *text, size_t capacity)
{
    struct survey survey;
    struct cluster_page page = { .text = text, .capacity = capacity, .survey = &survey };

    if (!steward_survey(&node->steward, &survey)) {
        put(&page, "{\"cluster\":\"%s\",\"node\":\"%s\",\"problems\":[\"nothing is known yet\"]}",
            config_text(node->options, OPTION_cluster_name), node->cluster_node);
        return page.used;
    }
    put(&page, "{\"cluster\":\"%s\",\"node\":\"%s\",\"taken_at_ns\":%lu,\"term\":%lu",
        config_text(node->options, OPTION_cluster_name), node->cluster_node, survey.taken_ns,
        survey.term);
    if (survey.has_leader)
        put(&page, ",\"leader\":\"%s\"", survey.leader);
    else
        put(&page, ",\"leader\":null");
    put(&page, ",\"quota_bytes\":%lu,\"used_percent\":%lu",
        config_number(node->options, OPTION_cluster_etcd_quota),
        published_get(&node->steward.used_percent));
    put_nodes(&page);
    put_etcd(&page);
    put_vault(&page);
    put_problems(&page, node);
    return page.is_full ? 0 : page.used;
}
