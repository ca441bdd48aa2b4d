#include "repl/survey.h"

#include <stdio.h>

#include "base/cluster_option.h"
#include "repl/etcd_ask.h"
#include "repl/lateness.h"

static void accept_nodes(struct survey *survey, const struct etcd_done *done)
{
    for (uint32_t i = 0; i < done->row_count; i++) {
        struct cluster_node node;
        if (!cluster_row_node_decode(&node, done->rows[i].value))
            continue;
        if (survey->node_count == SURVEY_NODES_MAX)
            survey->nodes_more++;
        else
            survey->nodes[survey->node_count++] = node;
    }
}

/* Asks for the keys from `from` on and below `end`. False: they are not known. */
static bool ask_rows(struct etcd *etcd, const struct repl_key *from, const struct repl_key *end,
                     struct etcd_done *done)
{
    return etcd_ask_range(etcd, etcd_text(from->text), etcd_text(end->text), 0, SURVEY_WAIT_NS,
                          done) == 0 &&
           done->result == ETCD_OK;
}

static bool ask_nodes(struct survey *survey, const char *cluster, struct etcd *etcd)
{
    struct repl_key from = repl_key_of(cluster, "node/"), end = repl_key_of(cluster, "node/~");
    struct etcd_done done;

    if (!ask_rows(etcd, &from, &end, &done))
        return false;
    accept_nodes(survey, &done);
    return true;
}

/* The keys of nodes that joined; what stands in them is for people. */
static bool ask_joined(struct survey *survey, const char *cluster, struct etcd *etcd)
{
    struct repl_key from = repl_key_of(cluster, "member/"), end = repl_key_of(cluster, "member/~");
    size_t skip = strlen(from.text);
    struct etcd_done done;

    if (!ask_rows(etcd, &from, &end, &done))
        return false;
    for (uint32_t i = 0; i < done.row_count; i++) {
        const struct etcd_bytes *key = &done.rows[i].key;
        char text[CLUSTER_LABEL_BYTES + 1] = "";
        if (key->count <= skip || key->count - skip > CLUSTER_LABEL_BYTES)
            continue; /* no node's */
        memcpy(text, (const char *)key->bytes + skip, key->count - skip);
        if (strlen(text) != key->count - skip || !cluster_option_is_name(text, CLUSTER_LABEL_BYTES))
            continue;
        if (survey->joined_count == SURVEY_NODES_MAX) {
            survey->joined_more++;
            continue;
        }
        memcpy(survey->joined[survey->joined_count++], text, sizeof text);
    }
    return true;
}

static bool ask_leader(struct survey *survey, const char *cluster, struct etcd *etcd)
{
    struct repl_key key = repl_key_of(cluster, "leader");
    struct cluster_leader leader;
    struct etcd_done done;

    if (etcd_ask_key(etcd, etcd_text(key.text), SURVEY_WAIT_NS, &done) != 0 ||
        done.result != ETCD_OK)
        return false;
    survey->has_leader =
        done.row_count == 1 && cluster_row_leader_decode(&leader, done.rows[0].value);
    if (!survey->has_leader)
        return true;
    survey->term = leader.term;
    snprintf(survey->leader, sizeof survey->leader, "%s", leader.node);
    return true;
}

/* The newest pointer: the keys come in their order, so it is the last of the pages. */
static bool ask_vault(struct survey *survey, const char *cluster, struct etcd *etcd)
{
    struct repl_key end = repl_key_segment_end(cluster);
    uint64_t next = survey->has_vault ? survey->vault_segment : 0;
    struct cluster_segment newest;
    struct etcd_done done;

    for (bool more = true; more;) {
        struct repl_key from = repl_key_segment(cluster, next);
        if (!ask_rows(etcd, &from, &end, &done))
            return false;
        if (done.row_count == 0 ||
            !cluster_row_segment_decode(&newest, done.rows[done.row_count - 1].value))
            return true;
        survey->has_vault = true;
        survey->vault_segment = newest.segment;
        survey->vault_last_frame = newest.last_frame;
        survey->vault_t_ns = newest.last_t_ns;
        next = newest.segment + 1;
        more = done.more;
    }
    return true;
}

/* Their keys come oldest first. A row that is none is passed over: a joining node does so too. */
static bool ask_snapshots(struct survey *survey, const char *cluster, struct etcd *etcd)
{
    struct repl_key from = repl_key_snapshot(cluster, 0), end = repl_key_snapshot_end(cluster);
    struct etcd_done done;

    if (!ask_rows(etcd, &from, &end, &done))
        return false;
    survey->snapshot_count = 0;
    for (uint32_t i = done.row_count; i-- > 0 && survey->snapshot_count < SURVEY_SNAPSHOTS;) {
        struct cluster_snapshot snapshot;
        if (!cluster_row_snapshot_decode(&snapshot, done.rows[i].value))
            continue;
        if (survey->snapshot_count == 0)
            survey->snapshot = snapshot;
        survey->snapshot_sequence[survey->snapshot_count++] = snapshot.sequence;
    }
    return true;
}

static bool ask_images(struct survey *survey, const char *cluster, struct etcd *etcd)
{
    struct repl_key from = repl_key_of(cluster, "image/"), end = repl_key_of(cluster, "image/~");
    struct etcd_done done;

    if (!ask_rows(etcd, &from, &end, &done))
        return false;
    survey->image_count = 0;
    for (uint32_t i = 0; i < done.row_count && survey->image_count < SURVEY_NODES_MAX; i++) {
        struct cluster_snapshot snapshot;
        if (!cluster_row_snapshot_decode(&snapshot, done.rows[i].value))
            continue;
        struct survey_image *image = &survey->images[survey->image_count++];
        image->sequence = snapshot.sequence;
        memcpy(image->hash, snapshot.image_hash, sizeof image->hash);
        memcpy(image->node, snapshot.node, sizeof image->node);
    }
    return true;
}

static struct survey_member *member_of(struct survey *survey, uint64_t id)
{
    for (uint32_t i = 0; i < survey->member_count; i++)
        if (survey->members[i].id == id)
            return &survey->members[i];
    if (survey->member_count == ETCD_MEMBERS_MAX)
        return NULL;
    struct survey_member *member = &survey->members[survey->member_count++];
    *member = (struct survey_member){ .id = id };
    return member;
}

void survey_members(struct survey *survey, struct etcd *etcd)
{
    const struct etcd_request request = { .kind = ETCD_MEMBERS };
    struct etcd_done done;

    if (etcd_ask(etcd, &request, SURVEY_WAIT_NS, &done) != 0 || done.result != ETCD_OK)
        return;
    for (uint32_t i = 0; i < done.member_count; i++) {
        struct survey_member *member = member_of(survey, done.members[i].id);
        if (member == NULL)
            continue;
        snprintf(member->name, sizeof member->name, "%s", done.members[i].name);
        member->is_learner = done.members[i].is_learner;
    }
}

uint64_t survey_status(struct survey *survey, struct etcd *one)
{
    const struct etcd_request request = { .kind = ETCD_STATUS };
    struct etcd_done done;

    if (etcd_ask(one, &request, SURVEY_WAIT_NS, &done) != 0 || done.result != ETCD_OK ||
        done.status == NULL)
        return 0;
    struct survey_member *member = member_of(survey, done.status->member);
    if (member == NULL)
        return 0;
    member->answers = true;
    member->is_full = done.status->is_full;
    member->leader = done.status->leader;
    member->db_bytes = done.status->db_bytes;
    member->used_bytes = done.status->db_used_bytes;
    snprintf(member->version, sizeof member->version, "%.*s", SURVEY_VERSION_BYTES - 1,
             done.status->version);
    return member->id;
}

void survey_keys(struct survey *survey, const char *cluster, struct etcd *etcd)
{
    survey->node_count = survey->nodes_more = survey->member_count = 0;
    survey->joined_count = survey->joined_more = 0;
    survey->has_leader = false;
    survey->has_answer = ask_nodes(survey, cluster, etcd) && ask_joined(survey, cluster, etcd) &&
                         ask_leader(survey, cluster, etcd) && ask_vault(survey, cluster, etcd) &&
                         ask_snapshots(survey, cluster, etcd) && ask_images(survey, cluster, etcd);
}

uint32_t survey_used_percent(const struct survey *survey, uint64_t quota)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < survey->member_count; i++)
        if (survey->members[i].used_bytes > 0 && (uint64_t)survey->members[i].used_bytes > most)
            most = (uint64_t)survey->members[i].used_bytes;
    return most >= quota ? 100 : (uint32_t)((uint128)most * 100 / quota);
}

bool survey_has_node(const struct survey *survey, const char *node)
{
    for (uint32_t i = 0; i < survey->node_count; i++)
        if (strcmp(survey->nodes[i].node, node) == 0)
            return true;
    return false;
}

bool survey_has_joined(const struct survey *survey, const char *node)
{
    for (uint32_t i = 0; i < survey->joined_count; i++)
        if (strcmp(survey->joined[i], node) == 0)
            return true;
    return false;
}

uint32_t survey_current(const struct survey *survey)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < survey->node_count; i++)
        count +=
            survey->nodes[i].state == CLUSTER_CURRENT || survey->nodes[i].state == CLUSTER_LEADING;
    return count;
}

uint32_t survey_clocks_off(const struct survey *survey, uint64_t bound_ns,
                           const struct cluster_node **first)
{
    uint32_t count = 0;

    *first = NULL;
    for (uint32_t i = 0; i < survey->node_count; i++) {
        if (lateness_off(survey->nodes[i].clock_difference_ns) <= bound_ns)
            continue;
        if (count++ == 0)
            *first = &survey->nodes[i];
    }
    return count;
}

uint64_t survey_etcd_leader(const struct survey *survey)
{
    uint64_t leader = 0;
    uint32_t most = 0;

    for (uint32_t i = 0; i < survey->member_count; i++) {
        uint32_t count = 0;
        for (uint32_t k = 0; k < survey->member_count; k++)
            count += survey->members[i].leader != 0 &&
                     survey->members[k].leader == survey->members[i].leader;
        if (count > most) {
            most = count;
            leader = survey->members[i].leader;
        }
    }
    return leader;
}

bool survey_is_full(const struct survey *survey)
{
    for (uint32_t i = 0; i < survey->member_count; i++)
        if (survey->members[i].is_full)
            return true;
    return false;
}

uint32_t survey_same_image(const struct survey *survey, const char *node, uint64_t sequence,
                           const uint8_t hash[32], const char **other)
{
    uint32_t count = 0;

    *other = NULL;
    for (uint32_t i = 0; i < survey->image_count; i++) {
        const struct survey_image *image = &survey->images[i];
        if (image->sequence != sequence || strcmp(image->node, node) == 0)
            continue;
        bool is_same = memcmp(image->hash, hash, sizeof image->hash) == 0;
        count += is_same;
        if (!is_same && *other == NULL)
            *other = image->node;
    }
    return count;
}

const char *survey_first_standby(const struct survey *survey)
{
    for (uint32_t i = 0; i < survey->node_count; i++)
        if (survey->nodes[i].state == CLUSTER_CURRENT)
            return survey->nodes[i].node;
    return NULL;
}

const char *survey_reclaimer(const struct survey *survey)
{
    if (!survey->has_answer)
        return NULL;
    return survey->has_leader ? survey->leader : survey_first_standby(survey);
}

uint64_t survey_place_of_leader(const struct survey *survey, const char *node, uint64_t own)
{
    if (!survey->has_answer || !survey->has_leader || strcmp(survey->leader, node) != 0 ||
        own == 0 || survey_etcd_leader(survey) != own)
        return 0;
    for (uint32_t i = 0; i < survey->member_count; i++) {
        const struct survey_member *member = &survey->members[i];
        if (member->id != own && member->answers && !member->is_learner && member->leader == own)
            return member->id;
    }
    return 0;
}
