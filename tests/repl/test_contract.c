/* The simulated etcd does what a running one does: the cases of test_etcd.c, without and with
 * delays of messages. */
#include "check.h"
#include "contract.h"
#include "support/sim/etcd_sim.h"

static struct etcd_sim *sim;

static void pass(struct contract *contract, uint64_t ms)
{
    CHECK(etcd_wait(contract->etcd, -1, ms * 1000 * 1000) == 0);
}

int main(void)
{
    const struct etcd_sim_config configs[] = {
        { .seed = 1 },
        { .seed = 2, .faults = { .delay_ms = 5 } },
    };
    for (size_t i = 0; i < CC_COUNT(configs); i++) {
        sim = etcd_sim_create(&configs[i]);
        struct contract contract = { etcd_sim_connect(sim), pass, "perp/test/" };
        contract_run(&contract);
        etcd_close(contract.etcd);
        etcd_sim_destroy(sim);
    }
    return 0;
}
