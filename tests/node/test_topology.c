/* Which roles run on which threads (roles.md, Threads and budgets, and the options
 * node.topology, net.threads, engine.core, engine.spin), row by row. */
#include "base/config.h"
#include "check.h"
#include "node/run/topology.h"

enum { FLAGS_MAX = 4 };

#define R(...)                \
    {                         \
        __LINE__, __VA_ARGS__ \
    }

/* The threads as text: a letter a role, a bar between threads, '*' behind one that spins. */
static const struct row {
    int line;
    const char *name;
    uint32_t cpus; /* 0 .. cpus - 1 */
    const char *flags[FLAGS_MAX];
    const char *topology; /* NULL: refused */
    const char *threads;  /* refused: what the reason names */
} rows[] = {
    R("one CPU", 1, { NULL }, "shared", "NMJF"),
    R("two CPUs", 2, { NULL }, "shared", "NM|JF"),
    R("three CPUs", 3, { NULL }, "shared", "NM|JF"),
    R("auto takes dedicated from four", 4, { NULL }, "dedicated", "N|N|N|M*|J|F"),
    R("shared where auto would not", 8, { "--node.topology=shared" }, "shared", "NM|JF"),
    R("dedicated, oversubscribed", 2, { "--node.topology=dedicated" }, "dedicated", "N|M|J|F"),
    R("spin on, oversubscribed", 2, { "--node.topology=dedicated", "--engine.spin=on" },
      "dedicated", "N|M*|J|F"),
    R("no CPU left for the matcher", 4, { "--net.threads=4" }, "dedicated", "N|N|N|N|M|J|F"),
    R("dedicated on one CPU", 1, { "--node.topology=dedicated" }, "dedicated", "N|M|J|F"),
    R("net threads", 2, { "--node.topology=dedicated", "--net.threads=3" }, "dedicated",
      "N|N|N|M|J|F"),
    R("one net thread in shared", 2, { "--net.threads=1" }, "shared", "NM|JF"),
    R("two net threads in shared", 2, { "--net.threads=2" }, NULL, "net.threads=2"),
    R("two net threads on one CPU", 1, { "--net.threads=2" }, NULL, "net.threads=2"),
    R("two net threads, auto", 4, { "--net.threads=2" }, "dedicated", "N|N|M*|J|F"),
    R("many CPUs", 64, { "--net.threads=32" }, "dedicated",
      "N|N|N|N|N|N|N|N|N|N|N|N|N|N|N|N|N|N|N|N|N|N|N|N|N|N|N|N|N|N|N|N|M*|J|F"),
    R("spin off", 4, { "--engine.spin=off", "--net.threads=1" }, "dedicated", "N|M|J|F"),
    R("spin on, shared", 2, { "--engine.spin=on" }, "shared", "NM*|JF"),
    R("spin auto, shared", 8, { "--node.topology=shared", "--engine.spin=auto" }, "shared",
      "NM|JF"),
    R("a core", 2, { "--engine.core=1" }, "shared", "NM|JF"),
    R("a core that is not there", 2, { "--engine.core=2" }, NULL, "engine.core=2"),
    R("a core beyond every machine", 2, { "--engine.core=4095" }, NULL, "engine.core=4095"),
};

static void show(const struct topology *topology, char *text)
{
    static const struct {
        uint32_t role;
        char letter;
    } roles[] = {
        { ROLE_NET, 'N' }, { ROLE_MATCHER, 'M' }, { ROLE_JOURNAL, 'J' }, { ROLE_FOLLOWER, 'F' }
    };

    for (uint32_t i = 0; i < topology->thread_count; i++) {
        if (i != 0)
            *text++ = '|';
        for (size_t k = 0; k < CC_COUNT(roles); k++)
            if ((topology->threads[i].roles & roles[k].role) != 0)
                *text++ = roles[k].letter;
        if (topology->threads[i].spins)
            *text++ = '*';
    }
    *text = '\0';
}

static bool make(struct topology *topology, const char *const *flags, const cpu_set_t *cpus)
{
    static struct config config;
    const char *argv[FLAGS_MAX + 1] = { "topology" };
    int count = 1;

    for (; count <= FLAGS_MAX && flags[count - 1] != NULL; count++)
        argv[count] = flags[count - 1];
    CHECK(config_load(&config, count, argv, NULL) == CONFIG_RUN);
    bool made = topology_make(topology, &config, cpus);
    config_free(&config);
    return made;
}

static void check_rows(void)
{
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        const struct row *row = &rows[i];
        struct topology topology;
        char text[TOPOLOGY_THREADS_MAX * 8];
        cpu_set_t cpus;

        CPU_ZERO(&cpus);
        for (uint32_t cpu = 0; cpu < row->cpus; cpu++)
            CPU_SET(cpu, &cpus);
        bool made = make(&topology, row->flags, &cpus);
        CHECK_ROW(row, made == (row->topology != NULL));
        if (!made) {
            CHECK_ROW(row, strstr(topology.error, row->threads) != NULL);
            continue;
        }
        CHECK_ROW(row, strcmp(topology.name, row->topology) == 0);
        show(&topology, text);
        CHECK_ROW(row, strcmp(text, row->threads) == 0);
        /* The main thread is the first and has net 0; nets are numbered in order. */
        CHECK_ROW(row, (topology.threads[0].roles & ROLE_NET) != 0);
        for (uint32_t net = 0; net < topology.net_count; net++)
            CHECK_ROW(row, topology.threads[net].net == net);
    }
}

/* engine.core: everybody else keeps off it, unless there is no other CPU. */
static void check_places(void)
{
    const char *const flags[FLAGS_MAX] = { "--engine.core=5" };
    struct topology topology;
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    CPU_SET(5, &cpus);
    CHECK(make(&topology, flags, &cpus));
    CHECK(topology.pinned && topology.core == 5 && CPU_EQUAL(&topology.others, &cpus));
    CPU_SET(2, &cpus);
    CPU_SET(7, &cpus);
    CHECK(make(&topology, flags, &cpus));
    CHECK(CPU_COUNT(&topology.others) == 2 && !CPU_ISSET(5, &topology.others));
}

/* This process, pinned to the first CPU it has and back. */
static void check_bind(void)
{
    struct topology topology = { 0 };
    cpu_set_t allowed, now;

    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    CHECK(topology_bind(&topology, true) == 0); /* not pinned: nothing is done */
    CHECK(sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &allowed));
    topology.pinned = true;
    topology.others = allowed;
    while (!CPU_ISSET(topology.core, &allowed))
        topology.core++;
    CHECK(topology_bind(&topology, true) == 0);
    CHECK(sched_getaffinity(0, sizeof now, &now) == 0);
    CHECK(CPU_COUNT(&now) == 1 && CPU_ISSET(topology.core, &now));
    CHECK(topology_bind(&topology, false) == 0);
    CHECK(sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &allowed));
}

int main(void)
{
    check_rows();
    check_places();
    check_bind();
    return 0;
}
