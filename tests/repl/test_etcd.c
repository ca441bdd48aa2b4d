/* The client of the seam against a running etcd of three members; skipped where there is none. */
#include <signal.h>

#include "check.h"
#include "contract.h"
#include "etcd_server.h"
#include "repl/etcd_real.h"

static struct etcd_server server;

static void pass(struct contract *contract, uint64_t ms)
{
    CHECK(etcd_wait(contract->etcd, -1, ms * 1000 * 1000) == 0);
}

static struct etcd *connect_to(int members)
{
    struct link_endpoint endpoints[ETCD_SERVER_MEMBERS];
    char why[ETCD_TEXT_BYTES];
    struct etcd *etcd = NULL;
    for (int i = 0; i < members; i++)
        etcd_server_endpoint(&server, i, &endpoints[i]);
    const struct etcd_real_config config = { .endpoints = endpoints,
                                             .endpoint_count = (uint32_t)members,
                                             .request_ms = 1000 };
    CHECK(etcd_real_create(&etcd, &config, why) == 0);
    return etcd;
}

int main(void)
{
    if (!etcd_server_is_installed())
        return 77;
    (void)signal(SIGPIPE, SIG_IGN);
    etcd_server_start(&server, 3, "268435456", NULL);
    struct contract contract = { .etcd = connect_to(3), .pass = pass, .prefix = "perp/test/" };
    contract_run(&contract);
    etcd_close(contract.etcd);
    etcd_server_stop(&server);
    return 0;
}
