#include "etcd_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

bool etcd_server_is_installed(void)
{
    const char *path = getenv("PATH");
    char file[512];
    for (const char *at = path; at != NULL && *at != 0;) {
        size_t count = strcspn(at, ":");
        (void)snprintf(file, sizeof file, "%.*s/etcd", (int)count, at);
        if (access(file, X_OK) == 0)
            return true;
        at += count + (at[count] == ':');
    }
    printf("skipped: etcd is not installed (tools/setup installs it)\n");
    return false;
}

/* A port that is free, below those that the kernel gives to others at any time. */
static int free_port(int *keeper)
{
    static uint32_t next;
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    *keeper = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(*keeper >= 0);
    do {
        address.sin_port = htons((uint16_t)(10000 + ((uint32_t)getpid() * 16 + next++) % 22768));
    } while (bind(*keeper, (struct sockaddr *)&address, sizeof address) != 0 && next < 22768);
    CHECK(next < 22768);
    return ntohs(address.sin_port);
}

static void nap(long ms)
{
    struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
    (void)nanosleep(&time, NULL);
}

void etcd_server_run(struct etcd_server *server, int member)
{
    char name[8], data[96], url[64], peer[64], all[256] = "", log[96];
    char cert[160], key[160], ca[160];
    bool is_secure = server->certificates != NULL;
    const char *scheme = is_secure ? "https" : "http";
    (void)snprintf(name, sizeof name, "n%d", member);
    (void)snprintf(data, sizeof data, "%s/%s", server->folder, name);
    (void)snprintf(log, sizeof log, "%s/%s.log", server->folder, name);
    (void)snprintf(url, sizeof url, "%s://127.0.0.1:%d", scheme, server->ports[member]);
    (void)snprintf(peer, sizeof peer, "http://127.0.0.1:%d", server->peer_ports[member]);
    for (int i = 0; i < server->count; i++) {
        size_t at = strlen(all);
        (void)snprintf(all + at, sizeof all - at, "%sn%d=http://127.0.0.1:%d", i == 0 ? "" : ",", i,
                       server->peer_ports[i]);
    }
    const char *arguments[48] = { "etcd",        "--name",
                                  name,          "--data-dir",
                                  data,          "--listen-client-urls",
                                  url,           "--advertise-client-urls",
                                  url,           "--listen-peer-urls",
                                  peer,          "--initial-advertise-peer-urls",
                                  peer,          "--initial-cluster",
                                  all,           "--initial-cluster-state",
                                  "new",         "--heartbeat-interval",
                                  "50",          "--election-timeout",
                                  "500",         "--quota-backend-bytes",
                                  server->quota, "--snapshot-count",
                                  "5000",        "--logger",
                                  "zap",         "--log-level",
                                  "warn" };
    if (is_secure) {
        (void)snprintf(cert, sizeof cert, "%s/server.pem", server->certificates);
        (void)snprintf(key, sizeof key, "%s/server.key", server->certificates);
        (void)snprintf(ca, sizeof ca, "%s/ca.pem", server->certificates);
        const char *more[] = { "--cert-file",       cert, "--key-file",        key,
                               "--trusted-ca-file", ca,   "--client-cert-auth" };
        int n = 0;
        while (arguments[n] != NULL)
            n++;
        for (size_t i = 0; i < CC_COUNT(more); i++)
            arguments[n++] = more[i];
    }
    int process = fork();
    CHECK(process >= 0);
    if (process == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        int out = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        (void)dup2(out, 1);
        (void)dup2(out, 2);
        (void)execvp("etcd", (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    server->processes[member] = process;
}

void etcd_server_endpoint(const struct etcd_server *server, int member,
                          struct link_endpoint *endpoint)
{
    char text[32];
    (void)snprintf(text, sizeof text, "127.0.0.1:%d", server->ports[member]);
    CHECK(link_resolve(endpoint, text) == 0);
}

/* Until the port takes connections: what follows asks for itself whether there is a leader. */
static void await(const struct etcd_server *server, int member)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)server->ports[member]),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    for (int i = 0; i < 1200; i++) {
        int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int error = connect(file, (struct sockaddr *)&address, sizeof address);
        (void)close(file);
        if (error == 0)
            return;
        nap(50);
    }
    fprintf(stderr, "etcd did not come up: see %s\n", server->folder);
    exit(1);
}

void etcd_server_start(struct etcd_server *server, int count, const char *quota,
                       const char *certificates)
{
    const char *place = getenv("TMPDIR");
    int keepers[2 * ETCD_SERVER_MEMBERS];
    *server = (struct etcd_server){ .count = count, .quota = quota, .certificates = certificates };
    (void)snprintf(server->folder, sizeof server->folder, "%s/perpd-etcd-XXXXXX",
                   place == NULL ? "/tmp" : place);
    CHECK(mkdtemp(server->folder) != NULL);
    for (int i = 0; i < count; i++) {
        server->ports[i] = free_port(&keepers[2 * i]);
        server->peer_ports[i] = free_port(&keepers[2 * i + 1]);
    }
    for (int i = 0; i < 2 * count; i++)
        (void)close(keepers[i]);
    for (int i = 0; i < count; i++)
        etcd_server_run(server, i);
    for (int i = 0; i < count; i++)
        await(server, i);
}

void etcd_server_signal(const struct etcd_server *server, int member, int signal_number)
{
    CHECK(server->processes[member] != 0);
    CHECK(kill(server->processes[member], signal_number) == 0);
}

void etcd_server_kill(struct etcd_server *server, int member)
{
    etcd_server_signal(server, member, SIGKILL);
    CHECK(waitpid(server->processes[member], NULL, 0) == server->processes[member]);
    server->processes[member] = 0;
}

void etcd_server_stop(struct etcd_server *server)
{
    char command[96];
    for (int i = 0; i < server->count; i++)
        if (server->processes[i] != 0)
            etcd_server_kill(server, i);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", server->folder);
    CHECK(system(command) == 0);
}
