#include "perp_demo/cluster.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perp/request/instant.h"

enum { BEGIN_MS = 120000, COPY_MS = 60000, NOT_LEADING = 5, PATH_BYTES = PROVISION_PATH_MAX + 64 };

static struct crew_member *member_of_etcd(struct cluster *cluster, int node)
{
    return &cluster->members[node];
}

static struct crew_member *member_of_perpd(struct cluster *cluster, int node)
{
    return &cluster->members[CLUSTER_NODES + node];
}

bool cluster_find_etcd(struct cluster *cluster)
{
    const char *folders = getenv("PATH");
    char text[PROVISION_PATH_MAX];

    snprintf(text, sizeof text, "%s", folders != NULL ? folders : "");
    char *rest = text;
    for (const char *folder; (folder = strsep(&rest, ":")) != NULL;) {
        int count = snprintf(cluster->etcd, sizeof cluster->etcd, "%s/etcd", folder);
        if (count > 0 && (size_t)count < sizeof cluster->etcd && access(cluster->etcd, X_OK) == 0)
            return true;
    }
    fprintf(stderr, "demo: --cluster needs etcd-server (tools/packages.txt)\n");
    return false;
}

/* ---- start ----------------------------------------------------------------------------------- */

static bool copy(const char *folder, int node)
{
    char from[PATH_BYTES], to[PATH_BYTES], log[PATH_BYTES];
    const char *argv[] = { "/bin/cp", "-a", "--sparse=always", from, to, NULL };
    struct crew_member member;

    snprintf(from, sizeof from, "%s/data", folder);
    snprintf(to, sizeof to, "%s/n%d", folder, node);
    snprintf(log, sizeof log, "%s/copy.log", folder);
    if (crew_start(&member, "cp", argv, log, SIGKILL) == 0 && crew_end(&member, 0, COPY_MS))
        return true;
    fprintf(stderr, "demo: %s was not copied; see %s\n", from, log);
    return false;
}

static bool start_etcd(struct cluster *cluster, const char *folder, int node)
{
    char data[PATH_BYTES], log[PATH_BYTES], name[32], client[96], shown[96], peer[96], told[96];
    char all[CLUSTER_LIST_MAX] = "--initial-cluster=";
    size_t used = strlen(all);
    const char *argv[] = { cluster->etcd,
                           data,
                           name,
                           client,
                           shown,
                           peer,
                           told,
                           all,
                           "--heartbeat-interval=50",
                           "--election-timeout=500",
                           "--snapshot-count=5000",
                           NULL };

    for (int i = 0; i < CLUSTER_NODES; i++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%sm%d=http://127.0.0.1:%u",
                                 i == 0 ? "" : ",", i, cluster->peers[i]);
    snprintf(data, sizeof data, "--data-dir=%s/etcd%d", folder, node);
    snprintf(log, sizeof log, "%s/etcd%d.log", folder, node);
    snprintf(name, sizeof name, "--name=m%d", node);
    snprintf(client, sizeof client, "--listen-client-urls=http://127.0.0.1:%u",
             cluster->clients[node]);
    snprintf(shown, sizeof shown, "--advertise-client-urls=http://127.0.0.1:%u",
             cluster->clients[node]);
    snprintf(peer, sizeof peer, "--listen-peer-urls=http://127.0.0.1:%u", cluster->peers[node]);
    snprintf(told, sizeof told, "--initial-advertise-peer-urls=http://127.0.0.1:%u",
             cluster->peers[node]);
    int error = crew_start(member_of_etcd(cluster, node), "etcd", argv, log, SIGKILL);
    if (error != 0)
        fprintf(stderr, "demo: cannot start %s: %s\n", cluster->etcd, strerror(-error));
    return error == 0;
}

/* Ports above those of the exchange alone: two of each member of etcd, two of each node. */
static bool choose_ports(struct cluster *cluster, uint16_t from)
{
    uint16_t ports[4 * CLUSTER_NODES], last = from;

    for (size_t i = 0; i < CC_COUNT(ports); i++) {
        last = server_free_port(last + 1U);
        if (last == 0) {
            fprintf(stderr, "demo: there are no free ports\n");
            return false;
        }
        ports[i] = last;
    }
    for (int i = 0; i < CLUSTER_NODES; i++) {
        cluster->clients[i] = ports[i];
        cluster->peers[i] = ports[CLUSTER_NODES + i];
        server_set_ports(&cluster->nodes[i], ports[2 * CLUSTER_NODES + i],
                         ports[3 * CLUSTER_NODES + i]);
    }
    return true;
}

/* Each node has the member of its own machine first. */
static void describe(struct cluster *cluster, const struct server *origin, int node)
{
    struct server *server = &cluster->nodes[node];
    char(*texts)[CLUSTER_LIST_MAX] = cluster->texts[node];
    size_t used = (size_t)snprintf(texts[0], CLUSTER_LIST_MAX, "--cluster.etcd=");

    uint16_t port = server->port, admin_port = server->admin_port;

    *server = *origin;
    server_set_ports(server, port, admin_port);
    server->ready = false;
    snprintf(server->data, sizeof server->data, "n%u", (unsigned)node % CLUSTER_NODES);
    for (int i = 0; i < CLUSTER_NODES; i++)
        used += (size_t)snprintf(texts[0] + used, CLUSTER_LIST_MAX - used, "%s127.0.0.1:%u",
                                 i == 0 ? "" : ",", cluster->clients[(node + i) % CLUSTER_NODES]);
    snprintf(texts[1], CLUSTER_LIST_MAX, "--cluster.node=n%d", node);
    const char *more[] = { "--cluster.name=demo", texts[0], texts[1], server->vault,
                           node == 0 ? "--cluster.create=on" : NULL };
    snprintf(server->vault, sizeof server->vault, "--cluster.vault=file:%s/vault", origin->folder);
    memcpy(server->more, more, sizeof more);
}

static int count_standing(const struct cluster *cluster)
{
    int count = 0;

    for (int i = 0; i < CLUSTER_NODES; i++)
        count += cluster->nodes[i].ready || cluster->nodes[i].stands_by;
    return count;
}

static bool await_all(struct cluster *cluster, const volatile sig_atomic_t *interrupted)
{
    uint64_t end_ns = instant_monotonic_ns() + (uint64_t)BEGIN_MS * 1000000;

    while (instant_monotonic_ns() < end_ns && *interrupted == 0) {
        cluster_listen(cluster);
        if (cluster->leader >= 0 && count_standing(cluster) == CLUSTER_NODES)
            return true;
        usleep(20000);
    }
    for (int i = 0; i < CLUSTER_NODES && *interrupted == 0; i++)
        server_show_log(&cluster->nodes[i]);
    return false;
}

/* The leader is the first. */
static void write_list(const struct cluster *cluster, char *url, size_t url_bytes)
{
    size_t used = 0;

    for (int i = 0; i < CLUSTER_NODES; i++)
        used += (size_t)snprintf(url + used, url_bytes - used, "%shttp://127.0.0.1:%u",
                                 i == 0 ? "" : ",",
                                 cluster->nodes[(cluster->leader + i) % CLUSTER_NODES].port);
}

bool cluster_begin(struct cluster *cluster, const struct server *origin,
                   const struct provision *provision, char *url, size_t url_bytes,
                   const volatile sig_atomic_t *interrupted)
{
    char vault[PATH_BYTES];

    cluster->provision = provision;
    cluster->leader = -1;
    snprintf(vault, sizeof vault, "%s/vault", origin->folder);
    if (mkdir(vault, 0700) != 0 || !choose_ports(cluster, origin->admin_port))
        return false;
    for (int i = 0; i < CLUSTER_MEMBERS; i++)
        cluster->members[i].to = cluster->members[i].from = -1;
    for (int i = 0; i < CLUSTER_NODES; i++)
        if (!copy(origin->folder, i) || !start_etcd(cluster, origin->folder, i))
            return false;
    for (int i = 0; i < CLUSTER_NODES; i++) {
        describe(cluster, origin, i);
        if (!server_launch(&cluster->nodes[i], member_of_perpd(cluster, i), provision))
            return false;
    }
    cluster->is_on = true;
    if (!await_all(cluster, interrupted))
        return false;
    write_list(cluster, url, url_bytes);
    return true;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void lead(struct cluster *cluster, int node)
{
    cluster->leader = node;
    cluster->terms++;
    if (cluster->killed_ns == 0)
        return;
    uint64_t took_ns = instant_monotonic_ns() - cluster->killed_ns;
    cluster->longest_ns = took_ns > cluster->longest_ns ? took_ns : cluster->longest_ns;
    cluster->killed_ns = 0;
}

static void accept_line(void *context, struct crew_member *member, const char *line)
{
    struct cluster *cluster = context;
    int node = (int)(member - cluster->members) - CLUSTER_NODES;

    if (node < 0)
        return; /* etcd's */
    struct server *server = &cluster->nodes[node];
    if (strncmp(line, "standby http://", 15) == 0) {
        server->stands_by = true;
        server->ready = false;
        cluster->leader = cluster->leader == node ? -1 : cluster->leader;
    } else if (strncmp(line, "ready http://", 13) == 0) {
        server->ready = true;
        server->stands_by = false;
        lead(cluster, node);
    }
}

/* As a supervisor does. */
static void start_again(struct cluster *cluster, int node)
{
    struct crew_member *member = member_of_perpd(cluster, node);
    struct server *server = &cluster->nodes[node];

    cluster->wrong_exits += member->exit_code != NOT_LEADING && member->exit_code != 128 + SIGKILL;
    cluster->leader = cluster->leader == node ? -1 : cluster->leader;
    cluster->starts++;
    server->ready = server->stands_by = false;
    if (!server_launch(server, member, cluster->provision))
        cluster->wrong_exits++;
}

void cluster_listen(struct cluster *cluster)
{
    crew_listen(cluster->members, CLUSTER_MEMBERS, 0, accept_line, cluster);
    for (int i = 0; i < CLUSTER_NODES && cluster->is_on; i++)
        if (member_of_perpd(cluster, i)->pid == 0)
            start_again(cluster, i);
}

bool cluster_kill(struct cluster *cluster)
{
    if (cluster->leader < 0)
        return false;
    struct crew_member *member = member_of_perpd(cluster, cluster->leader);
    cluster->kills++;
    cluster->killed_ns = instant_monotonic_ns();
    cluster->leader = -1;
    (void)kill(member->pid, SIGKILL); /* cluster_listen sees its end */
    return true;
}

bool cluster_end(struct cluster *cluster, int timeout_ms)
{
    bool is_clean = true;

    cluster->is_on = false;
    for (int i = 0; i < CLUSTER_NODES; i++) /* the leader last: its closing frame counts */
        if (i != cluster->leader && member_of_perpd(cluster, i)->pid != 0)
            is_clean = crew_end(member_of_perpd(cluster, i), SIGTERM, timeout_ms) && is_clean;
    if (cluster->leader >= 0)
        is_clean =
            crew_end(member_of_perpd(cluster, cluster->leader), SIGTERM, timeout_ms) && is_clean;
    for (int i = 0; i < CLUSTER_NODES; i++)
        (void)crew_end(member_of_etcd(cluster, i), SIGKILL, timeout_ms);
    return is_clean;
}
