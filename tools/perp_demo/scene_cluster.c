/* scene_cluster.c - the demo on a cluster of three nodes: its leader is killed every ten seconds,
 * another leads, and nobody's order is lost. */
#include <stdio.h>

#include "perp/request/instant.h"
#include "perp_demo/scene.h"

enum { STOP_MS = 120000, TIMEOUT_MS = 3000, EACH_S = 10, LAST_S = 5 };

#define NS_PER_S UINT64_C(1000000000)

/* The addresses that are shown are those of the leader. */
static void show_pages(struct server *shown, const struct server *leader)
{
    snprintf(shown->console_url, sizeof shown->console_url, "%s", leader->console_url);
    snprintf(shown->operator_url, sizeof shown->operator_url, "%s", leader->operator_url);
    snprintf(shown->admin_url, sizeof shown->admin_url, "%s", leader->admin_url);
}

bool scene_cluster_begin(struct scene *scene)
{
    struct crew_member *perpd = &scene->members[SCENE_PERPD];
    struct server *server = &scene->server;

    client_close(&scene->client);
    client_close(&scene->admin);
    if (!crew_end(perpd, SIGTERM, STOP_MS)) {
        fprintf(stderr, "demo: perpd did not end before it became a cluster\n");
        return false;
    }
    perpd->name[0] = '\0'; /* its end is no fault */
    if (!cluster_begin(&scene->cluster, server, &scene->provision, server->url, sizeof server->url,
                       scene_interrupted()))
        return false;
    char path[SCENE_PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/perp.ini", scene->folder);
    if (!provision_profile(&scene->provision, server->url, &scene->you, path))
        return false;
    const struct server *leader = &scene->cluster.nodes[scene->cluster.leader];
    show_pages(server, leader);
    snprintf(scene->provision.durability, sizeof scene->provision.durability, "replicated");
    printf("  cluster: n0, n1, n2 on ports %u, %u, %u; n%d leads; etcd on ports %u, %u, %u\n",
           scene->cluster.nodes[0].port, scene->cluster.nodes[1].port, scene->cluster.nodes[2].port,
           scene->cluster.leader, scene->cluster.clients[0], scene->cluster.clients[1],
           scene->cluster.clients[2]);
    return scene_cluster_aim(scene);
}

bool scene_cluster_aim(struct scene *scene)
{
    struct cluster *cluster = &scene->cluster;
    char data[SCENE_PATH_MAX + 16], url[64];

    if (!cluster->is_on)
        return true;
    cluster_listen(cluster);
    if (cluster->leader < 0)
        return false;
    const struct server *leader = &cluster->nodes[cluster->leader];
    if (scene->aimed == cluster->terms && scene->client.fd >= 0)
        return true; /* after an error it connects again */
    scene->aimed = cluster->terms;
    client_close(&scene->client);
    client_close(&scene->admin);
    show_pages(&scene->server, leader);
    snprintf(url, sizeof url, "http://127.0.0.1:%u", leader->port);
    snprintf(data, sizeof data, "%s/%s", scene->folder, leader->data);
    return client_init(&scene->client, url, TIMEOUT_MS) &&
           client_init(&scene->admin, leader->admin_url, TIMEOUT_MS) &&
           client_read_token(&scene->admin, data);
}

/* What changed since the last turn, in lines. */
static void tell(struct scene *scene, uint64_t now_ns)
{
    const struct cluster *cluster = &scene->cluster;

    if (scene->killed_ns == 0 || scene->back_ns != 0 || cluster->killed_ns != 0 ||
        cluster->leader < 0)
        return;
    scene->back_ns = now_ns;
    if (!scene->live)
        printf("chaos: n%d leads %.0f ms after the kill\n", cluster->leader,
               (double)(scene->back_ns - scene->killed_ns) / 1e6);
    fflush(stdout);
}

void scene_cluster_step(struct scene *scene, uint64_t now_ns)
{
    struct cluster *cluster = &scene->cluster;
    int former = cluster->leader;

    cluster_listen(cluster);
    tell(scene, now_ns);
    if (now_ns < scene->kill_ns || !cluster_kill(cluster))
        return;
    scene->killed_ns = now_ns;
    scene->back_ns = 0;
    if (!scene->live)
        printf("chaos: n%d, which led, killed (SIGKILL) %.1f s after the start\n", former,
               (double)(now_ns - scene->begin_ns) / 1e9);
    fflush(stdout);
    uint64_t end_ns = scene->begin_ns + scene->seconds * NS_PER_S;
    uint64_t next_ns = now_ns + EACH_S * NS_PER_S;
    bool is_last = scene->seconds != 0 && next_ns + LAST_S * NS_PER_S > end_ns;
    scene->kill_ns = scene->chaos && !is_last ? next_ns : UINT64_MAX;
}

void scene_cluster_check(struct scene *scene)
{
    const struct cluster *cluster = &scene->cluster;

    scene_check(scene, cluster->wrong_exits == 0 && cluster->leader >= 0,
                "cluster: %u leaders killed, at most %.2f s until another led; perpd was started "
                "again %u times, %u ended by mistake",
                cluster->kills, (double)cluster->longest_ns / 1e9, cluster->starts,
                cluster->wrong_exits);
}
