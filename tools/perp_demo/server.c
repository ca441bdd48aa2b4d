#include "perp_demo/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base64.h"
#include "perp/request/instant.h"

enum { READY_MS = 120000, PATH_BYTES = PROVISION_PATH_MAX };
enum { PORTS_FROM = 10000, PORTS_BEGIN = 16384, PORTS_OF_KERNEL = 32768 };

static bool is_free(uint32_t port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                   .sin_port = htons((uint16_t)port) };
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    bool good =
        fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 1) == 0;
    if (fd >= 0)
        close(fd);
    return good;
}

uint16_t server_free_port(uint32_t from)
{
    for (; from < PORTS_OF_KERNEL; from++)
        if (is_free(from))
            return (uint16_t)from;
    return 0;
}

void server_set_ports(struct server *server, uint16_t port, uint16_t admin_port)
{
    server->port = port;
    server->admin_port = admin_port;
    snprintf(server->admin_url, sizeof server->admin_url, "http://127.0.0.1:%u", admin_port);
    snprintf(server->console_url, sizeof server->console_url, "http://localhost:%u/", port);
    snprintf(server->operator_url, sizeof server->operator_url, "http://localhost:%u/", admin_port);
}

void server_choose_ports(struct server *server, uint16_t wanted)
{
    if (wanted == 0 || !is_free(wanted))
        wanted = server_free_port(PORTS_FROM + (uint32_t)getpid() % PORTS_BEGIN);
    server_set_ports(server, wanted, server_free_port(wanted + 1U));
}

static void accept_ready(void *context, struct crew_member *member, const char *line)
{
    struct server *server = context;
    (void)member;
    if (strncmp(line, "ready http://", 13) != 0)
        return;
    snprintf(server->url, sizeof server->url, "%s", line + 6);
    server->ready = true;
}

/* Of a node of a cluster, its own name. */
static void log_path(const struct server *server, char path[PATH_BYTES + 64])
{
    snprintf(path, PATH_BYTES + 64, "%s/%s.log", server->folder,
             server->data[0] != '\0' ? server->data : "perpd");
}

void server_show_log(const struct server *server)
{
    char path[PATH_BYTES + 64], line[512];
    log_path(server, path);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return;
    if (fseek(file, -2000, SEEK_END) != 0)
        rewind(file);
    while (fgets(line, sizeof line, file) != NULL)
        fprintf(stderr, "  | %s", line);
    fclose(file);
}

bool server_launch(const struct server *server, struct crew_member *member,
                   const struct provision *provision)
{
    char program[PATH_BYTES + 16], data[PATH_BYTES + 64], markets[PATH_BYTES + 64];
    char operator_key[128], oracle_key[128], listen_flag[64], admin_flag[64], topology[64];
    char origin_flag[96], log[PATH_BYTES + 64], text[BASE64_TEXT_BYTES(32) + 1];
    snprintf(program, sizeof program, "%s/perpd", server->bin);
    log_path(server, log);
    snprintf(data, sizeof data, "--store.data=%s/%s", server->folder,
             server->data[0] != '\0' ? server->data : "data");
    snprintf(markets, sizeof markets, "--exchange.markets=%s/markets.json", server->folder);
    base64_encode(text, provision->operator_key.public_key, 32);
    snprintf(operator_key, sizeof operator_key, "--exchange.operator_key=%s", text);
    base64_encode(text, provision->oracle_key.public_key, 32);
    snprintf(oracle_key, sizeof oracle_key, "--exchange.oracle_keys=%s", text);
    snprintf(listen_flag, sizeof listen_flag, "--net.listen=127.0.0.1:%u", server->port);
    snprintf(admin_flag, sizeof admin_flag, "--admin.listen=127.0.0.1:%u", server->admin_port);
    snprintf(origin_flag, sizeof origin_flag, "--exchange.passkey_origins=http://localhost:%u",
             server->port);
    snprintf(topology, sizeof topology, "--node.topology=%s",
             server->topology != NULL ? server->topology : "");
    const char *argv[] = {
        program,
        data,
        markets,
        operator_key,
        oracle_key,
        listen_flag,
        admin_flag,
        "--exchange.testnet=on",
        origin_flag,
        "--store.allow_memory=on",
        "--limits.creation_rate=1000", /* all clients are of one address */
        "--limits.creation_burst=1000",
        "--limits.unfunded_burst=10000000",
        "--limits.read_rate=2000",
        "--limits.read_burst=4000",
        "--limits.public_rate=2000",
        "--limits.public_burst=4000",
        server->topology != NULL ? topology : "--node.topology=auto",
        server->more[0],
        server->more[1],
        server->more[2],
        server->more[3],
        server->more[4],
        NULL,
    };
    int error = crew_start(member, "perpd", argv, log, SIGTERM);
    if (error != 0)
        fprintf(stderr, "demo: cannot start %s: %s\n", program, strerror(-error));
    return error == 0;
}

bool server_start(struct server *server, struct crew_member *member,
                  const struct provision *provision, const volatile sig_atomic_t *interrupted)
{
    server->ready = false;
    if (!server_launch(server, member, provision))
        return false;
    uint64_t end_ns = instant_monotonic_ns() + (uint64_t)READY_MS * 1000000;
    while (!server->ready && member->pid != 0 && instant_monotonic_ns() < end_ns &&
           *interrupted == 0)
        crew_listen(member, 1, 100, accept_ready, server);
    if (server->ready)
        return true;
    if (*interrupted == 0) {
        fprintf(stderr, "demo: perpd %s:\n",
                member->pid == 0 ? "ended before it was ready"
                                 : "was not ready within two minutes");
        server_show_log(server);
    }
    return false;
}
