#include "perp/bench/connections.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "perp/request/instant.h"

enum { LIST_TIMEOUT_MS = 1000, LEADER_S = 30, LOOKS = 30, PAUSE_US = 100000 };

bool connections_find_leader(const char *list, char url[RIG_URL_BYTES],
                             char error[CLIENT_ERROR_MAX])
{
    const struct client_request request = { .method = "GET", .target = "/api/v1/markets" };
    uint64_t end_ns = instant_monotonic_ns() + LEADER_S * UINT64_C(1000000000);
    struct client client;
    struct client_answer answer;
    bool leads = false;

    if (!client_init(&client, list, LIST_TIMEOUT_MS)) {
        memcpy(error, client.error, CLIENT_ERROR_MAX);
        return false;
    }
    while (!leads && instant_monotonic_ns() < end_ns) {
        leads = client_call(&client, &request, &answer) == 0 && answer.status == 200 &&
                !answer.is_replica;
        if (!leads) {
            client_next(&client);
            (void)usleep(PAUSE_US);
        }
    }
    int count = snprintf(url, RIG_URL_BYTES, "http://%s", client.authority);
    client_close(&client);
    bool is_short = count > 0 && count < RIG_URL_BYTES;
    if (!leads || !is_short)
        snprintf(error, CLIENT_ERROR_MAX, "%s",
                 !leads ? "no machine of the list leads" : "the leader's address is too long");
    return leads && is_short;
}

static const char *open_one(struct connections *connections, uint32_t number)
{
    struct client *client = &connections->clients[number];
    int error = client_connect(client);

    for (int i = 0; error != 0 && i < LOOKS && connections->list != NULL; i++) {
        client_next(client);
        (void)usleep(PAUSE_US);
        error = client_connect(client);
    }
    connections->files[number] = client->fd;
    if (error != 0)
        return client->error;
    return connections->is_stream ? rig_make_stream(client) : NULL;
}

const char *connections_open(struct connections *connections)
{
    const char *wrong = NULL;

    connections->clients = calloc(connections->count, sizeof *connections->clients);
    connections->files = calloc(connections->count, sizeof *connections->files);
    if (connections->clients == NULL || connections->files == NULL)
        return "no memory";
    for (uint32_t i = 0; i < connections->count; i++)
        connections->clients[i].fd = -1;
    for (uint32_t i = 0; wrong == NULL && i < connections->count; i++) {
        struct client *client = &connections->clients[i];
        if (connections->list == NULL)
            rig_connect(connections->rig, client, false);
        else if (!client_init(client, connections->list, LIST_TIMEOUT_MS) ||
                 !client_follow(client, connections->rig->url + strlen("http://")))
            return client->error;
        wrong = open_one(connections, i);
    }
    return wrong;
}

const char *connections_open_again(struct connections *connections)
{
    const char *wrong = NULL;

    for (uint32_t i = 0; wrong == NULL && i < connections->count; i++) {
        client_close(&connections->clients[i]);
        wrong = open_one(connections, i);
    }
    return wrong;
}

int connections_next(struct connections *connections, uint32_t number, const char *leader)
{
    struct client *client = &connections->clients[number];

    if (leader == NULL || !client_follow(client, leader))
        client_next(client);
    bool is_open = client_connect(client) == 0;
    connections->files[number] = client->fd;
    return is_open ? client->fd : -1;
}

void connections_close(struct connections *connections)
{
    for (uint32_t i = 0; connections->clients != NULL && i < connections->count; i++)
        client_close(&connections->clients[i]);
    free(connections->clients);
    free(connections->files);
    connections->clients = NULL;
    connections->files = NULL;
}
