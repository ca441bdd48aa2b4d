/* config: roles.md, Configuration: precedence flag, environment, file, default; an unknown
 * key names the nearest one; what this binary does not have is refused. */
#include <errno.h>
#include <unistd.h>

#include "base/cluster_option.h"
#include "base/config.h"
#include "check.h"

#define KEY_1  "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg="
#define KEY_2  "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
#define HEX_ID "000102030405060708090A0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

static struct config config;
static char file_path[] = "/tmp/test_config.XXXXXX";

static void write_file(const char *text)
{
    FILE *file = fopen(file_path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static enum config_outcome load(const char *const *arguments, const char *const *environment)
{
    const char *argv[16] = { "perpd" };
    int argc = 1;
    for (; arguments != NULL && arguments[argc - 1] != NULL; argc++)
        argv[argc] = arguments[argc - 1];
    config_free(&config);
    return config_load(&config, argc, argv, environment);
}

#define FLAGS(...)     ((const char *const[]){ __VA_ARGS__, NULL })
#define VARIABLES(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void test_defaults(void)
{
    CHECK(load(NULL, NULL) == CONFIG_RUN && config.error[0] == '\0');
    CHECK(strcmp(config_text(&config, OPTION_net_listen), "127.0.0.1:8080") == 0);
    CHECK(config_number(&config, OPTION_engine_orders) == 1048576);
    CHECK(config_number(&config, OPTION_net_output_pool) == UINT64_C(256) << 20);
    CHECK(strcmp(config_text(&config, OPTION_net_output_pool), "268435456") == 0);
    CHECK(!config_switch(&config, OPTION_net_allow_plain));
    CHECK(config_is(&config, OPTION_store_durability, "local"));
    CHECK(!config_is(&config, OPTION_store_durability, "none"));
    CHECK(config.values[OPTION_net_listen].source == CONFIG_DEFAULT);
}

static void test_precedence(void)
{
    write_file("; a comment\n# another\n[net]\nlisten = 127.0.0.1:1\ncredit_wait_ms = 3\n"
               "[engine]\nmakers_max=7\n");
    const char *const *environment =
        VARIABLES("PERPD_NET_CREDIT_WAIT_MS=4", "PERPD_SOURCE=/x", "PERPD_BUILD=/y", "HOME=/z",
                  "PERPD_NODE_FOLLOWER_LAG_MAX=5", "PERPD_NET");
    CHECK(load(FLAGS("--config", file_path, "--node.follower_lag_max=6"), environment) ==
          CONFIG_RUN);
    CHECK(config_number(&config, OPTION_engine_makers_max) == 7);
    CHECK(config.values[OPTION_engine_makers_max].source == CONFIG_FILE);
    CHECK(config_number(&config, OPTION_net_credit_wait_ms) == 4);
    CHECK(config.values[OPTION_net_credit_wait_ms].source == CONFIG_ENVIRONMENT);
    CHECK(config_number(&config, OPTION_node_follower_lag_max) == 6);
    CHECK(config.values[OPTION_node_follower_lag_max].source == CONFIG_FLAG);
    CHECK(strcmp(config_text(&config, OPTION_net_listen), "127.0.0.1:1") == 0);

    char joined[64];
    snprintf(joined, sizeof joined, "--config=%s", file_path);
    CHECK(load(FLAGS("--net.credit_wait_ms=8", joined), NULL) == CONFIG_RUN);
    CHECK(config_number(&config, OPTION_net_credit_wait_ms) == 8);
    CHECK(load(FLAGS("--net.credit_wait_ms=8", "--net.credit_wait_ms=9"), NULL) == CONFIG_RUN);
    CHECK(config_number(&config, OPTION_net_credit_wait_ms) == 9); /* the last flag */
}

#define R(...)                \
    {                         \
        __LINE__, __VA_ARGS__ \
    }

/* A flag, and what the refusal must say; NULL when it is taken. */
static const struct row {
    int line;
    const char *name;
    const char *flag;
    const char *error;
} rows[] = {
    R("unknown key", "--net.lisen=1.2.3.4:5", "net.listen"),
    R("unknown section", "--nets.listen=1.2.3.4:5", "net.listen"),
    R("unknown flag", "--verbose", "unknown flag --verbose: perpd --help"), /* nothing is near */
    R("near", "--net.lissten", "did you mean --net.listen=VALUE?"),
    R("three edits", "--net.lis=1", "did you mean net.listen?"),
    R("four edits", "--net.li=1", "unknown key net.li (flag): perpd --help"),
    R("no value", "--net.listen", "--net.listen=VALUE"),
    R("no flag", "net.listen=127.0.0.1:1", "--section.key=value"),
    R("replicated alone", "--store.durability=replicated", "needs cluster.name"),
    R("replicated+local alone", "--store.durability=replicated+local", "needs cluster.name"),
    R("a cluster's key alone", "--cluster.node=n1", "cluster.node: needs cluster.name"),
    R("its default alone", "--cluster.window=4", NULL),
    R("window", "--cluster.window=0", "must be 1 to 16"),
    R("window above", "--cluster.window=17", "must be 1 to 16"),
    R("frame", "--cluster.frame_bytes=16383", "must be 16384 to 1048576"),
    R("lease", "--cluster.lease_s=11", "must be 1 to 10"),
    R("request", "--cluster.request_ms=99", "must be 100 to 2000"),
    R("unacked", "--cluster.unacked_ms=10001", "must be 100 to 10000"),
    R("unacked bytes", "--cluster.unacked_bytes=1023K", "must be 1048576 to 33554432"),
    R("clock", "--cluster.clock_ms=9", "must be 10 to 1000"),
    R("vault alone", "--cluster.vault=file:/x", "cluster.vault: needs cluster.name"),
    R("credentials", "--cluster.vault_credentials=x", "does not have"),
    R("quota", "--cluster.etcd_quota=16777215", "must be 16777216 to 68719476736"),
    R("quota alone", "--cluster.etcd_quota=4G", "cluster.etcd_quota: needs cluster.name"),
    R("quota, its default", "--cluster.etcd_quota=8G", NULL),
    R("stall", "--cluster.disk_stall_ms=499", "must be 500 to 60000"),
    R("staleness", "--cluster.staleness_ms=99", "must be 100 to 60000"),
    R("retain", "--cluster.retain=65535", "must be 65536 to 2147483648"),
    R("dedicated", "--node.topology=dedicated", NULL),
    R("core", "--engine.core=0", NULL),
    R("no core", "--engine.core=", NULL),
    R("no net threads", "--net.threads=0", "must be 1 to 32"),
    R("too many net threads", "--net.threads=33", "must be 1 to 32"),
    R("spin", "--engine.spin=off", NULL),
    R("spin by another word", "--engine.spin=yes", "must be one of"),
    R("shared", "--node.topology=shared", NULL),
    R("path", "--crypto.verify=comb", NULL),
    R("unknown path", "--crypto.verify=openssl", "+auto +lanes +comb +library"),
    R("limits off", "--limits.rate_limits=off", NULL),
    R("no rate", "--limits.unknown_key_rate=0", "must be 1 to 1000000"),
    R("unknown choice", "--store.durability=all", "+none +local +replicated +replicated+local"),
    R("empty choice", "--store.durability=", "a value is needed"),
    R("part of a choice", "--node.topology=aut", "must be one of"),
    R("number", "--engine.makers_max=12", NULL),
    R("not a number", "--engine.makers_max=12x", "a number"),
    R("empty number", "--engine.makers_max=", "a value is needed"),
    R("negative", "--engine.makers_max=-1", "a number"),
    R("below its bound", "--engine.makers_max=0", "must be 1 to 65536"),
    R("above its bound", "--engine.makers_max=65537", "must be 1 to 65536"),
    R("beyond 64 bits", "--engine.makers_max=99999999999999999999", "a number"),
    R("size in K", "--net.output_pool=2048K", NULL),
    R("size in small m", "--net.output_pool=2m", NULL),
    R("size in bytes", "--net.output_pool=1048576", NULL),
    R("size too big", "--net.output_pool=99999999999G", "a size"),
    R("size below its bound", "--net.output_pool=1K", "must be"),
    R("size without a number", "--net.output_pool=M", "a size"),
    R("switch", "--net.allow_plain=on", NULL),
    R("switch by another word", "--net.allow_plain=yes", "on or off"),
    R("key", "--exchange.operator_key=" KEY_1, NULL),
    R("no key", "--exchange.operator_key=", NULL),
    R("key cut", "--exchange.operator_key=A6EHv", "Base64"),
    R("key URL-safe",
      "--exchange.operator_key=A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=", "Base64"),
    R("two keys", "--exchange.oracle_keys=" KEY_1 "," KEY_2, NULL),
    R("keys and a comma", "--exchange.oracle_keys=" KEY_1 ",", "Base64"),
    R("hex", "--exchange.id=" HEX_ID, NULL),
    R("hex cut", "--exchange.id=00", "64 hex digits"),
    R("a certificate without its key", "--net.tls_certificate=a", "net.tls_key"),
    R("a key without its certificate", "--net.tls_key=a", "net.tls_certificate"),
    R("no address", "--net.listen=x", "net.listen = x (flag): not HOST:PORT"),
    R("no host", "--net.listen=:1", "not HOST:PORT"),
    R("no port", "--admin.listen=127.0.0.1:", "admin.listen = 127.0.0.1: (flag): not HOST:PORT"),
    R("port above", "--net.listen=127.0.0.1:65536", "not HOST:PORT"),
    R("port far above", "--net.listen=127.0.0.1:4294967297", "not HOST:PORT"),
    R("port", "--net.listen=127.0.0.1:65535", NULL),
    R("port in words", "--net.listen=127.0.0.1:http", "not HOST:PORT"),
    R("control bytes", "--net.\033[31mx=1\177", "unknown key net.?[31mx (flag)"),
    R("no text", "--net.\xff\xc3\xa9=1", "unknown key net.??? (flag)"),
    R("text", "--net.\xc3\xa9=1", "unknown key net.\xc3\xa9 (flag)"),
    R("open address", "--net.listen=0.0.0.0:8080", "net.allow_plain"),
    R("a name that begins like loopback", "--net.listen=127.0.0.1.example:1", "net.allow_plain"),
    R("open admin address", "--admin.listen=192.0.2.1:8081", "admin.allow_plain"),
    R("hosts", "--net.hosts=exchange.example,[2001:db8::1],192.0.2.1", NULL),
    R("a host with its port", "--net.hosts=exchange.example:443", "without ports"),
    R("hosts and a comma", "--net.hosts=a,", "without ports"),
    R("no such host", "--net.hosts=a b", "without ports"),
    R("any host", "--net.hosts=*", "without ports"),
    R("every page", "--net.cors_origins=*", NULL),
    R("pages", "--net.cors_origins=https://a.example,http://[::1]:3000", NULL),
    R("a page with a path", "--net.cors_origins=https://a.example/", "net.cors_origins"),
    R("a page without a scheme", "--net.cors_origins=a.example", "net.cors_origins"),
    R("a page with an empty port", "--net.cors_origins=https://a.example:", "net.cors_origins"),
    R("a page in capitals", "--net.cors_origins=https://A.example", "net.cors_origins"),
    R("a page and a comma", "--net.cors_origins=https://a.example,", "net.cors_origins"),
    R("loopback, IPv6", "--net.listen=[::1]:0", NULL),
    R("loopback by name", "--net.listen=localhost:0", NULL),
    R("session lives", "--limits.session_life_default_s=15552001", "session_life_max_s"),
    R("config without a file", "--config", "needs a file"),
    R("config not there", "--config=/nowhere/x.ini", "/nowhere/x.ini"),
};

static void test_rows(void)
{
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        const struct row *row = &rows[i];
        enum config_outcome outcome = load(FLAGS(row->flag), NULL);
        CHECK_ROW(row, outcome == (row->error == NULL ? CONFIG_RUN : CONFIG_REFUSED));
        CHECK_ROW(row, (config.error[0] != '\0') == (row->error != NULL));
        if (row->error != NULL && strstr(config.error, row->error) == NULL)
            fprintf(stderr, "%s\n", config.error);
        CHECK_ROW(row, row->error == NULL || strstr(config.error, row->error) != NULL);
        CHECK_ROW(row, strchr(config.error, '\n') == NULL);
    }
    /* wire.md W10: a wildcard address says no name that could be compared. */
    static const char *const wildcards[] = { "0.0.0.0", "[::]", "0", "[::0]", "[::ffff:0.0.0.0]" };
    for (size_t i = 0; i < CC_COUNT(wildcards); i++) {
        char listen[64], admin[64];
        snprintf(listen, sizeof listen, "--net.listen=%s:1", wildcards[i]);
        snprintf(admin, sizeof admin, "--admin.listen=%s:1", wildcards[i]);
        CHECK(load(FLAGS(listen, "--net.allow_plain=on"), NULL) == CONFIG_REFUSED);
        CHECK(strstr(config.error, "net.hosts") != NULL);
        CHECK(load(FLAGS(admin, "--admin.allow_plain=on"), NULL) == CONFIG_REFUSED);
        CHECK(strstr(config.error, "net.hosts") != NULL);
        CHECK(load(FLAGS(listen, "--net.allow_plain=on", "--net.hosts=a"), NULL) == CONFIG_RUN);
    }
    CHECK(load(FLAGS("--exchange.id=" HEX_ID), NULL) == CONFIG_RUN);
    CHECK(strstr(config_text(&config, OPTION_exchange_id), "090a0b") != NULL); /* lower case */
}

static void test_environment(void)
{
    CHECK(load(NULL, VARIABLES("PERPD_NET_LISEN=x")) == CONFIG_REFUSED);
    CHECK(strstr(config.error, "PERPD_NET_LISTEN") != NULL);
    CHECK(load(NULL, VARIABLES("PERPD_NET_SOMETHING=x")) == CONFIG_REFUSED);
    CHECK(strcmp(config.error, "unknown variable PERPD_NET_SOMETHING: perpd --help lists all") ==
          0);
    CHECK(load(NULL, VARIABLES("PERPD_NET_LISTEN=x")) == CONFIG_REFUSED);
    CHECK(strstr(config.error, "net.listen = x (environment): not HOST:PORT") != NULL);
    CHECK(load(NULL, VARIABLES("PERPD_LIMITS_READ_RATE=0")) == CONFIG_REFUSED);
    CHECK(strstr(config.error, "limits.read_rate") != NULL);
    CHECK(load(NULL, VARIABLES("PERPD_ENGINE_ORDERS=none")) == CONFIG_REFUSED);
    CHECK(load(NULL, VARIABLES("PERPD_SOURCE=/x", "PERPDX=1", "NET_LISTEN=2")) == CONFIG_RUN);
    /* A bad value is refused even when a flag overrides it. */
    CHECK(load(FLAGS("--engine.orders=100"), VARIABLES("PERPD_ENGINE_ORDERS=x")) == CONFIG_REFUSED);
}

static void test_file(void)
{
    const char *const *flags = FLAGS("--config", file_path);
    write_file("[exchange]\noracle_keys = " KEY_1 "," KEY_1 "," KEY_1 "," KEY_1 "," KEY_1 "," KEY_2
               "\n"); /* longer than inih's own line buffer */
    CHECK(load(flags, NULL) == CONFIG_RUN);
    CHECK(strlen(config_text(&config, OPTION_exchange_oracle_keys)) == 6 * 44 + 5);
    write_file("[net]\nlisten = 127.0.0.1:1\nlisten = 127.0.0.1:2\n");
    CHECK(load(flags, NULL) == CONFIG_REFUSED);
    CHECK(strstr(config.error, "net.listen appears twice") && strstr(config.error, "line 3"));
    write_file("[net]\n\nlistn = 1\n");
    CHECK(load(flags, NULL) == CONFIG_REFUSED);
    CHECK(strstr(config.error, "net.listen") && strstr(config.error, "line 3"));
    CHECK(strstr(config.error, file_path) != NULL);
    write_file("[net]\nthis is nothing\n");
    CHECK(load(flags, NULL) == CONFIG_REFUSED && strstr(config.error, ":2:") != NULL);
    write_file("[store]\ndurability = replicated\n");
    CHECK(load(flags, NULL) == CONFIG_REFUSED);
    CHECK(strstr(config.error, "needs cluster.name") != NULL);
    write_file("\177ELF\2\1\033[2J\xff\n"); /* what is no text shows nothing of itself */
    CHECK(load(flags, NULL) == CONFIG_REFUSED);
    for (const char *at = config.error; *at != '\0'; at++)
        CHECK(*at >= ' ' && *at <= '~');
    write_file("\177ELF\2\1\033[2J=\xff\n");
    CHECK(load(flags, NULL) == CONFIG_REFUSED && strstr(config.error, "?ELF???[2J") != NULL);
    CHECK(strstr(config.error, "line 1") != NULL);
    write_file("");
    CHECK(load(flags, NULL) == CONFIG_RUN);
}

#define CLUSTER "--cluster.name=c-1", "--cluster.node=n1"
#define VAULT   "--cluster.vault=file:/v"
#define LOCAL   VAULT, "--cluster.etcd=127.0.0.1:2379,[::1]:2379,localhost:1"

static bool refused(const char *const *flags, const char *word)
{
    return load(flags, NULL) == CONFIG_REFUSED && strstr(config.error, word) != NULL;
}

/* replication.md, A node: what a cluster needs, and what it refuses. */
static void test_cluster(void)
{
    static struct cluster_option option;
    static char error[CONFIG_ERROR_MAX];

    CHECK(load(FLAGS(CLUSTER, LOCAL), NULL) == CONFIG_RUN);
    CHECK(strcmp(config_text(&config, OPTION_store_durability), "replicated") == 0);
    CHECK(cluster_option_read(&config, &option, error));
    CHECK(strcmp(option.node, "n1") == 0 && option.endpoint_count == 3);
    CHECK(strcmp(option.endpoints[1], "[::1]:2379") == 0 && strcmp(option.vault, "/v/c-1") == 0);
    CHECK(
        refused(FLAGS(CLUSTER, "--cluster.etcd=localhost:1"), "cluster.vault: cluster.name needs"));
    CHECK(
        refused(FLAGS(CLUSTER, LOCAL, "--cluster.vault=s3:https://x"), "no other vault is built"));
    CHECK(refused(FLAGS(CLUSTER, LOCAL, "--cluster.vault=file:x"), "not file:/FOLDER"));
    CHECK(load(FLAGS(CLUSTER, LOCAL, "--store.durability=replicated+local"), NULL) == CONFIG_RUN);
    CHECK(strcmp(config_text(&config, OPTION_store_durability), "replicated+local") == 0);

    CHECK(refused(FLAGS(CLUSTER, LOCAL, "--store.durability=local"), "store.durability = local"));
    CHECK(refused(FLAGS(CLUSTER, LOCAL, "--store.durability=none"), "store.durability = none"));
    CHECK(refused(FLAGS(CLUSTER), "cluster.etcd"));
    CHECK(refused(FLAGS(CLUSTER, "--cluster.etcd=127.0.0.1"), "cluster.etcd"));
    CHECK(refused(FLAGS(CLUSTER, "--cluster.etcd=127.0.0.1:0"), "cluster.etcd"));
    CHECK(refused(FLAGS(CLUSTER, "--cluster.etcd=127.0.0.1:65536"), "cluster.etcd"));
    CHECK(refused(FLAGS(CLUSTER, "--cluster.etcd=127.0.0.1:1,"), "cluster.etcd"));
    CHECK(refused(FLAGS(CLUSTER, "--cluster.etcd=[::1]:1,[::1]:2,[::1]:3,[::1]:4,[::1]:5,"
                                 "[::1]:6,[::1]:7,[::1]:8,[::1]:9,[::1]:10"),
                  "1 to 9"));
    CHECK(refused(FLAGS(CLUSTER, "--cluster.etcd=192.0.2.1:2379"), "is not loopback"));
    CHECK(load(FLAGS(CLUSTER, VAULT, "--cluster.etcd=192.0.2.1:2379", "--cluster.etcd_ca=a",
                     "--cluster.etcd_certificate=b", "--cluster.etcd_key=c"),
               NULL) == CONFIG_RUN);
    CHECK(refused(FLAGS(CLUSTER, LOCAL, "--cluster.etcd_ca=a"), "all three"));
    CHECK(refused(FLAGS(CLUSTER, LOCAL, "--cluster.advertise=somewhere"), "cluster.advertise"));
    CHECK(refused(FLAGS(LOCAL, "--cluster.name=C", "--cluster.node=n"), "cluster.name"));
    CHECK(refused(FLAGS(LOCAL, "--cluster.name=c", "--cluster.node=n_1"), "cluster.node"));
    CHECK(refused(FLAGS(LOCAL, "--cluster.name=c", "--cluster.node=abcdefghijklmnopq"),
                  "cluster.node"));
    CHECK(
        refused(FLAGS(LOCAL, "--cluster.name=abcdefghijklmnopqrstuvwxyz0123456"), "cluster.name"));
    CHECK(load(FLAGS(LOCAL, "--cluster.name=abcdefghijklmnopqrstuvwxyz012345",
                     "--cluster.node=abcdefghijklmnop"),
               NULL) == CONFIG_RUN);
}

/* The body that config writes is the one the engine reads; both were tested on their own. */
static void test_engine_text(void)
{
    static uint8_t body[CONFIG_ENGINE_TEXT_MAX];
    static struct option_engine options;
    uint8_t id[32];
    for (unsigned i = 0; i < sizeof id; i++)
        id[i] = (uint8_t)i;
    CHECK(load(FLAGS("--exchange.oracle_keys=" KEY_2 "," KEY_1, "--engine.makers_max=9"), NULL) ==
          CONFIG_RUN);
    ptrdiff_t count = config_engine_text(&config, id, NULL, body);
    CHECK(count > 0 && count % 8 == 0);
    CHECK(memcmp(body, "engine.accounts=65536\nengine.credentials=262144\n", 48) == 0);
    CHECK(option_parse_engine(&options, body, (size_t)count));
    CHECK(options.values[OPTION_engine_makers_max] == 9 && options.oracle_key_count == 2);
    CHECK(options.oracle_keys[0][31] == 0x1f && memcmp(options.exchange_id, id, 32) == 0);

    /* A flag of the same value in another form gives the same bytes. */
    static uint8_t again[CONFIG_ENGINE_TEXT_MAX];
    CHECK(load(FLAGS("--engine.makers_max=0009", "--exchange.oracle_keys=" KEY_2 "," KEY_1),
               NULL) == CONFIG_RUN);
    CHECK(config_engine_text(&config, id, NULL, again) == count);
    CHECK(memcmp(body, again, sizeof body) == 0);
}

/* --print-config writes a file that --config takes, with the same values. */
static void test_print(void)
{
    CHECK(load(FLAGS("--help"), NULL) == CONFIG_HELP);
    CHECK(load(FLAGS("--unknown.key=1", "-h"), NULL) == CONFIG_HELP);
    CHECK(load(FLAGS("--print-config", "--net.bad=1"), NULL) == CONFIG_REFUSED);
    CHECK(load(FLAGS("--print-config", "--engine.makers_max=9", "--store.data=/tmp/a b",
                     "--exchange.operator_key=" KEY_1),
               NULL) == CONFIG_PRINT);
    FILE *file = fopen(file_path, "w");
    CHECK(file != NULL);
    config_print(&config, file);
    CHECK(fclose(file) == 0);
    char *texts[OPTION_COUNT];
    for (unsigned i = 0; i < OPTION_COUNT; i++)
        texts[i] = strdup(config_text(&config, (enum option)i));
    CHECK(load(FLAGS("--config", file_path), NULL) == CONFIG_RUN);
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        CHECK(strcmp(config_text(&config, (enum option)i), texts[i]) == 0);
        free(texts[i]);
    }
    static char help[64 * 1024];
    file = fmemopen(help, sizeof help, "w");
    CHECK(file != NULL);
    config_help(file);
    CHECK(fclose(file) == 0);
    for (unsigned i = 0; i < OPTION_COUNT; i++)
        CHECK(strstr(help, option_row((enum option)i)->name) != NULL);
}

int main(void)
{
    int descriptor = mkstemp(file_path);
    CHECK(descriptor >= 0 && close(descriptor) == 0);
    test_defaults();
    test_precedence();
    test_rows();
    test_environment();
    test_file();
    test_cluster();
    test_engine_text();
    test_print();
    config_free(&config);
    CHECK(unlink(file_path) == 0);
    return 0;
}
