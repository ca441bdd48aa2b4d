#include "node/run/topology.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static bool refuse(struct topology *topology, const char *format, ...) CC_PRINTF(2, 3);

static bool refuse(struct topology *topology, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(topology->error, sizeof topology->error, format, arguments);
    va_end(arguments);
    return false;
}

static struct topology_thread *add(struct topology *topology, uint32_t roles, const char *name)
{
    struct topology_thread *thread = &topology->threads[topology->thread_count++];

    INVARIANT(topology->thread_count <= TOPOLOGY_THREADS_MAX);
    *thread = (struct topology_thread){ .roles = roles };
    snprintf(thread->name, sizeof thread->name, "%s", name);
    return thread;
}

static bool lay_out_shared(struct topology *topology, uint32_t cpus, uint32_t nets)
{
    topology->name = "shared";
    if (nets > 1)
        return refuse(topology,
                      "net.threads=%u: topology shared has one net thread; "
                      "node.topology=dedicated has more (auto takes it from %d CPUs)",
                      nets, TOPOLOGY_DEDICATED_CPUS);
    topology->net_count = 1;
    if (cpus == 1) {
        add(topology, ROLE_NET | ROLE_MATCHER | ROLE_JOURNAL | ROLE_FOLLOWER, "all");
        return true;
    }
    add(topology, ROLE_NET | ROLE_MATCHER, "net-matcher");
    add(topology, ROLE_JOURNAL | ROLE_FOLLOWER, "journal-follower");
    return true;
}

static bool lay_out_dedicated(struct topology *topology, uint32_t cpus, uint32_t nets)
{
    topology->name = "dedicated";
    if (nets == 0) {
        nets = cpus > 1 ? cpus - 1 : 1;
        if (nets > TOPOLOGY_NETS_MAX)
            nets = TOPOLOGY_NETS_MAX;
    }
    INVARIANT(nets <= TOPOLOGY_NETS_MAX); /* the option's bound */
    topology->net_count = nets;
    for (uint32_t net = 0; net < nets; net++) {
        char name[TOPOLOGY_NAME_BYTES];
        snprintf(name, sizeof name, "net-%u", net);
        add(topology, ROLE_NET, name)->net = net;
    }
    add(topology, ROLE_MATCHER, "matcher");
    add(topology, ROLE_JOURNAL, "journal");
    add(topology, ROLE_FOLLOWER, "follower");
    return true;
}

/* engine.core: that CPU for the matcher, the other CPUs for all other threads. */
static bool place(struct topology *topology, const struct config *options, const cpu_set_t *allowed)
{
    topology->others = *allowed;
    topology->pinned = config_text(options, OPTION_engine_core)[0] != '\0';
    if (!topology->pinned)
        return true;
    topology->core = (uint32_t)config_number(options, OPTION_engine_core);
    if (topology->core >= CPU_SETSIZE || !CPU_ISSET(topology->core, allowed))
        return refuse(topology, "engine.core=%u: no CPU that this process may run on",
                      topology->core);
    if (CPU_COUNT(allowed) > 1)
        CPU_CLR(topology->core, &topology->others);
    return true;
}

/* Only the matcher spins, because its input is in memory. By default it spins where each net thread
 * keeps a CPU and journal and follower need little (docs/decisions/0036). */
static void choose_spin(struct topology *topology, const struct config *options, uint32_t cpus)
{
    struct topology_thread *thread = &topology->threads[topology_thread_of(topology, ROLE_MATCHER)];

    thread->spins = config_is(options, OPTION_engine_spin, "on");
    if (config_is(options, OPTION_engine_spin, "auto")) /* dedicated: it has no other role */
        thread->spins = thread->roles == ROLE_MATCHER && cpus >= TOPOLOGY_DEDICATED_CPUS &&
                        cpus > topology->net_count;
}

bool topology_make(struct topology *topology, const struct config *options,
                   const cpu_set_t *allowed)
{
    uint32_t cpus = (uint32_t)CPU_COUNT(allowed);
    uint32_t nets = (uint32_t)config_number(options, OPTION_net_threads); /* 0: not set */
    bool dedicated =
        config_is(options, OPTION_node_topology, "dedicated") ||
        (config_is(options, OPTION_node_topology, "auto") && cpus >= TOPOLOGY_DEDICATED_CPUS);

    memset(topology, 0, sizeof *topology);
    if (!(dedicated ? lay_out_dedicated(topology, cpus, nets)
                    : lay_out_shared(topology, cpus, nets)) ||
        !place(topology, options, allowed))
        return false;
    choose_spin(topology, options, cpus);
    return true;
}

uint32_t topology_thread_of(const struct topology *topology, enum role role)
{
    uint32_t number = 0;

    while ((topology->threads[number].roles & role) == 0) {
        number++;
        INVARIANT(number < topology->thread_count); /* every role is somewhere */
    }
    return number;
}

int topology_bind(const struct topology *topology, bool matches)
{
    cpu_set_t cpus = topology->others;

    if (!topology->pinned)
        return 0;
    if (matches) {
        CPU_ZERO(&cpus);
        CPU_SET(topology->core, &cpus);
    }
    return sched_setaffinity(0, sizeof cpus, &cpus) != 0 ? -errno : 0;
}
