/* option.h - every key of the configuration (roles.md, Configuration), one row each.
 *
 * Flags, environment names, --help, --print-config, record 2013 and GET /exchange derive from it.
 * ENGINE is the first rules version that knows an engine option, which reaches the engine only by
 * record 2013; 0 is an option of the process. It is higher than that version when bodies of the
 * version without the option were kept already (option_parse_engine). BUILT 0: the key belongs to a
 * part that this binary does not have, and naming it is refused (exit 2). */
#ifndef BASE_OPTION_H
#define BASE_OPTION_H

#include "base/compiler.h"

enum option_type {
    OPTION_TYPE_INT,    /* decimal, bounds in the row */
    OPTION_TYPE_SIZE,   /* bytes, K/M/G suffix */
    OPTION_TYPE_DAYS,   /* forever (the number 0), or as INT */
    OPTION_TYPE_SWITCH, /* on, off */
    OPTION_TYPE_TEXT,   /* path or address, at most OPTION_TEXT_MAX bytes */
    OPTION_TYPE_KEY,    /* base64 Ed25519 public key */
    OPTION_TYPE_KEYS,   /* such keys, comma-separated, at most OPTION_KEYS_MAX */
    OPTION_TYPE_HEX32,  /* 64 hex digits */
    OPTION_TYPE_CHOICE, /* one of the words of the row; those that are built have a leading '+' */
};

enum { OPTION_TEXT_MAX = 4095, OPTION_KEYS_MAX = 16 };

/* clang-format off */
/*    section  key                     type    engine built default      minimum  maximum     choices / help */
#define OPTION_LIST(X) \
    X(net,      listen,                 TEXT,   0, 1, "127.0.0.1:8080", 0, 0, "address:port of the public interface") \
    X(net,      threads,                INT,    0, 1, "",               1, 32, "io_uring threads; none: CPUs - 1 if dedicated, else 1") \
    X(net,      allow_plain,            SWITCH, 0, 1, "off",            0, 0, "plain HTTP on an address that is not loopback") \
    X(net,      tls_certificate,        TEXT,   0, 1, "",               0, 0, "PEM file of the certificate and its chain: net.listen speaks TLS") \
    X(net,      tls_key,                TEXT,   0, 1, "",               0, 0, "PEM file of its private key, readable by its owner only") \
    X(net,      credit_wait_ms,         INT,    0, 1, "2",              0, 1000, "longest wait for a credit before request_dropped, ms") \
    X(net,      output_pool,            SIZE,   0, 1, "256M",           1048576, 17179869184, "outbound bytes per net thread") \
    X(net,      debug_payload,          SWITCH, 0, 1, "off",            0, 0, "POST /api/v1/debug/payload, 3 ms a request") \
    X(net,      console,                SWITCH, 0, 1, "on",             0, 0, "the web console at / of the public interface") \
    X(net,      latency,                CHOICE, 0, 1, "auto",           0, 0, "+auto +on +off") \
    X(net,      cors_origins,           TEXT,   0, 1, "",               0, 0, "origins allowed to read answers in a browser; * for all") \
    X(net,      hosts,                  TEXT,   0, 1, "",               0, 0, "hosts answered; none: listen addresses, localhost, 127.0.0.1, [::1]") \
    X(net,      proxy_from,             TEXT,   0, 1, "",               0, 0, "addresses whose PROXY v2 header is believed, and needed") \
    X(admin,    listen,                 TEXT,   0, 1, "127.0.0.1:8081", 0, 0, "address:port of /livez /readyz /metrics /audit /admin/withdrawals") \
    X(admin,    allow_plain,            SWITCH, 0, 1, "off",            0, 0, "plain HTTP on an address that is not loopback") \
    X(crypto,   verify,                 CHOICE, 0, 1, "auto",           0, 0, "+auto +lanes +comb +library") \
    X(crypto,   shadow,                 CHOICE, 0, 1, "sampled",        0, 0, "+sampled +rejects +off") \
    X(node,     topology,               CHOICE, 0, 1, "auto",           0, 0, "+auto +shared +dedicated") \
    X(node,     follower_lag_max,       INT,    0, 1, "1000",           1, 3600000, "ms; above it reads answer 503") \
    X(node,     run_dir,                TEXT,   0, 1, "",               0, 0, "folder of what outlives the process, in memory; none: see roles.md") \
    X(engine,   core,                   INT,    0, 1, "",               0, 4095, "CPU to pin the matching thread to; the others keep off it") \
    X(engine,   spin,                   CHOICE, 0, 1, "auto",           0, 0, "+auto +on +off") \
    X(engine,   makers_max,             INT,    1, 1, "4096",           1, 65536, "makers one taker meets") \
    X(engine,   work_per_command,       INT,    1, 1, "64",             1, 1024, "units of deferred work after each command") \
    X(engine,   accounts,               INT,    1, 1, "65536",          16, 16777216, "account slots") \
    X(engine,   portfolios,             INT,    1, 1, "131072",         16, 16777216, "portfolio slots") \
    X(engine,   orders,                 INT,    1, 1, "1048576",        16, 67108864, "order slots") \
    X(engine,   positions,              INT,    1, 1, "262144",         16, 67108864, "(portfolio, market) slots") \
    X(engine,   credentials,            INT,    1, 1, "262144",         16, 16777216, "master keys, sessions, API keys") \
    X(engine,   deposits,               INT,    1, 1, "1048576",        16, 67108864, "external references, kept for ever") \
    X(engine,   ladder_pages,           INT,    1, 1, "65536",          1, 16777216, "4 KiB ladder pages in use, all markets") \
    X(store,    data,                   TEXT,   0, 1, "./perpd-data",   0, 0, "data directory") \
    X(store,    durability,             CHOICE, 0, 1, "local",          0, 0, "+none +local +replicated +replicated+local") \
    X(store,    snapshot_tail,          SIZE,   0, 1, "256M",           67108864, 1099511627776, "journal bytes between snapshots") \
    X(store,    archive_keep,           DAYS,   0, 1, "forever",        1, 36500, "days of archive, or forever") \
    X(store,    archive_copy,           TEXT,   0, 1, "",               0, 0, "second folder of the archive; empty: none") \
    X(store,    private_events,         INT,    0, 1, "65536",          0, 4294967295, "newest private events of each account that history/ keeps") \
    X(store,    remake_history,         SWITCH, 0, 1, "on",             0, 0, "a start whose history lacks rows replays every record") \
    X(store,    scrub_rate,             SIZE,   0, 1, "8M",             65536, 1073741824, "bytes a second of stored files that are read again") \
    X(store,    clock_gap_max,          INT,    0, 1, "3600",           1, 31536000, "s; a start's clock further ahead is not believed") \
    X(store,    restart_target,         INT,    0, 1, "10",             1, 3600, "s that a start may replay; above it writes are slowed") \
    X(store,    allow_memory,           SWITCH, 0, 1, "off",            0, 0, "durability local on tmpfs or ramfs, which a power loss empties") \
    X(cluster,  name,                   TEXT,   0, 1, "",               0, 0, "the cluster of this node; none: it is alone") \
    X(cluster,  node,                   TEXT,   0, 1, "",               0, 0, "name of this node in it; none: the host name") \
    X(cluster,  etcd,                   TEXT,   0, 1, "",               0, 0, "host:port of the members of etcd, the preferred one first") \
    X(cluster,  etcd_quota,             SIZE,   0, 1, "8G",             16777216, 68719476736, "--quota-backend-bytes of etcd's members") \
    X(cluster,  etcd_ca,                TEXT,   0, 1, "",               0, 0, "PEM file of the authority of etcd's certificates") \
    X(cluster,  etcd_certificate,       TEXT,   0, 1, "",               0, 0, "PEM file of the certificate shown to etcd") \
    X(cluster,  etcd_key,               TEXT,   0, 1, "",               0, 0, "PEM file of its private key") \
    X(cluster,  advertise,              TEXT,   0, 1, "",               0, 0, "host:port that clients of others are told; none: net.listen") \
    X(cluster,  vault,                  TEXT,   0, 1, "",               0, 0, "file:/FOLDER of the sealed segments, which every node reaches") \
    X(cluster,  vault_credentials,      TEXT,   0, 0, "",               0, 0, "file of mode 0600") \
    X(cluster,  create,                 SWITCH, 0, 1, "off",            0, 0, "make the cluster of this exchange if etcd has none of the name") \
    X(cluster,  candidate,              SWITCH, 0, 1, "on",             0, 0, "off: this node never leads") \
    X(cluster,  window,                 INT,    0, 1, "4",              1, 16, "frames on their way to etcd") \
    X(cluster,  frame_bytes,            SIZE,   0, 1, "64K",            16384, 1048576, "longest frame") \
    X(cluster,  lease_s,                INT,    0, 1, "1",              1, 10, "life of a session without renewal, s") \
    X(cluster,  request_ms,             INT,    0, 1, "400",            100, 2000, "then a request goes to the next member of etcd, ms") \
    X(cluster,  unacked_ms,             INT,    0, 1, "1000",           100, 10000, "oldest frame that does not count while commands are taken, ms") \
    X(cluster,  unacked_bytes,          SIZE,   0, 1, "8M",             1048576, 33554432, "records that do not count while commands are taken") \
    X(cluster,  give_up_ms,             INT,    0, 1, "10000",          1000, 60000, "no frame counts so long: then held answers end, ms") \
    X(cluster,  disk_stall_ms,          INT,    0, 1, "5000",           500, 60000, "a leader whose disk takes no frame so long resigns, ms") \
    X(cluster,  clock_ms,               INT,    0, 1, "200",            10, 1000, "greatest difference of a candidate's clock, ms") \
    X(cluster,  staleness_ms,           INT,    0, 1, "1000",           100, 60000, "ms; above it the reads of a standby answer 503") \
    X(cluster,  retain,                 SIZE,   0, 1, "256M",           65536, 2147483648, "frames kept in etcd although the vault has them") \
    X(cluster,  discarded_days,         INT,    0, 0, "30",             1, 3650, "days that cut frames are kept") \
    X(exchange, id,                     HEX32,  1, 1, "",               0, 0, "64 hex digits, the EIP-712 salt; made at first start") \
    X(exchange, markets,                TEXT,   0, 1, "",               0, 0, "file of market records for an empty data directory") \
    X(exchange, operator_key,           KEY,    1, 1, "",               0, 0, "32 bytes in Base64; signs codes 1001-1099") \
    X(exchange, oracle_keys,            KEYS,   1, 1, "",               0, 0, "each in Base64, with commas; sign code 1000 only") \
    X(exchange, treasury_key,           KEY,    1, 1, "",               0, 0, "32 bytes in Base64; signs 1003, 1004, 1006 in the operator's place") \
    X(exchange, signing_public,         KEY,    7, 1, "",               0, 0, "of signing.key, which the first start makes") \
    X(exchange, testnet,                SWITCH, 4, 1, "off",            0, 0, "faucet") \
    X(exchange, restart,                CHOICE, 0, 1, "resume",         0, 0, "+resume +staged") \
    X(exchange, oracle_max_age_ms,      INT,    1, 1, "10000",          0, 86400000, "0: never stale") \
    X(exchange, clock_past_ms,          INT,    1, 1, "30000",          1000, 600000, "oldest request id") \
    X(exchange, clock_future_ms,        INT,    1, 1, "5000",           100, 60000, "request id furthest ahead") \
    X(exchange, passkey_origins,        TEXT,   0, 1, "",               0, 0, "origins of pages that may use passkeys, of a relying party") \
    X(exchange, passkey_rp_id,          TEXT,   0, 1, "",               0, 0, "domain of passkeys; a testnet has localhost without it") \
    X(limits,   rate_limits,            SWITCH, 0, 1, "on",             0, 0, "token buckets") \
    X(limits,   total_rate,             INT,    0, 1, "90000",          64, 10000000, "requests of all accounts together a second") \
    X(limits,   duplicate_slots,        INT,    1, 1, "4194304",        1024, 134217728, "entries of the duplicate set") \
    X(limits,   sessions,               INT,    1, 1, "64",             1, 4096, "live sessions of an account") \
    X(limits,   sessions_per_parent,    INT,    1, 1, "16",             1, 4096, "live sessions of a parent key") \
    X(limits,   admin_keys,             INT,    6, 1, "16",             1, 256, "per account") \
    X(limits,   scoped_keys,            INT,    6, 1, "64",             1, 256, "per account") \
    X(limits,   api_keys,               INT,    1, 1, "32",             1, 4096, "per account") \
    X(limits,   device_keys,            INT,    6, 1, "16",             1, 4096, "live device keys of an account") \
    X(limits,   subaccounts,            INT,    4, 1, "256",            1, 65536, "per account") \
    X(limits,   portfolios,             INT,    4, 1, "64",             1, 65536, "per subaccount") \
    X(limits,   open_orders,            INT,    1, 1, "2000",           1, 100000, "resting orders per portfolio") \
    X(limits,   account_open_orders,    INT,    6, 1, "10000",          1, 1000000, "resting orders per account") \
    X(limits,   conditional_orders,     INT,    4, 1, "100",            1, 100000, "untriggered orders per portfolio") \
    X(limits,   account_portfolios,     INT,    7, 1, "256",            1, 16777216, "portfolios per account") \
    X(limits,   account_conditionals,   INT,    7, 1, "1000",           1, 67108864, "untriggered orders per account") \
    X(limits,   account_rows,           INT,    7, 1, "1024",           1, 67108864, "leverage settings and MMP rows per account") \
    X(limits,   account_credentials,    INT,    7, 1, "160",            1, 16777216, "keys and sessions per account, ended ones that are kept too") \
    X(limits,   account_withdrawals,    INT,    9, 1, "256",            1, 67108864, "withdrawals per account, ended ones that are kept too") \
    X(limits,   funding_small,          INT,    7, 1, "10",             0, 1000000000, "USDC; accounts below are unfunded; 0: none is") \
    X(limits,   funding_full,           INT,    7, 1, "1000",           0, 1000000000, "USDC; accounts below are small; 0: none is") \
    X(limits,   share_unfunded_ppm,     INT,    7, 1, "125000",         0, 1000000, "of each table, for unfunded accounts together") \
    X(limits,   share_small_ppm,        INT,    7, 1, "500000",         0, 1000000, "of each table, for unfunded and small accounts together") \
    X(limits,   unfunded_life_s,        INT,    8, 1, "3600",           60, 2592000, "age from which an unfunded account with nothing gives way") \
    X(limits,   session_life_default_s, INT,    1, 1, "2592000",        1, 315360000, "30 days") \
    X(limits,   session_life_max_s,     INT,    1, 1, "15552000",       1, 315360000, "180 days") \
    X(limits,   gtt_max_s,              INT,    1, 1, "7776000",        1, 315360000, "90 days") \
    X(limits,   write_rate,             INT,    0, 1, "10000",          1, 1000000, "writes of an account a second; cancels: twice that") \
    X(limits,   write_burst,            INT,    0, 1, "20000",          64, 10000000, "writes of an account at once") \
    X(limits,   read_rate,              INT,    0, 1, "200",            1, 1000000, "reads of an API key a second") \
    X(limits,   read_burst,             INT,    0, 1, "400",            1, 10000000, "reads of an API key at once") \
    X(limits,   public_rate,            INT,    0, 1, "100",            1, 1000000, "public reads and mistakes of an address a second") \
    X(limits,   public_burst,           INT,    0, 1, "200",            1, 10000000, "public reads and mistakes of an address at once") \
    X(limits,   signature_rate,         INT,    0, 1, "50000",          1, 10000000, "signed requests of an address a second, and at once") \
    X(limits,   creation_rate,          INT,    0, 1, "5",              1, 1000000, "new accounts of an address a second") \
    X(limits,   creation_burst,         INT,    0, 1, "20",             1, 10000000, "new accounts of an address at once") \
    X(limits,   unfunded_burst,         INT,    0, 1, "0",              0, 10000000, "new accounts of an address a life; 0: an eighth of the share") \
    X(limits,   unknown_key_rate,       INT,    0, 1, "200",            1, 1000000, "signatures of keys not known, per address, a second") \
    X(limits,   bad_signature_rate,     INT,    0, 1, "1000",           1, 1000000, "wrong signatures of known keys, per address, a second") \
    X(limits,   connections,            INT,    0, 1, "512",            1, 16384, "connections per address") \
    X(limits,   stream_connections,     INT,    0, 1, "100",            1, 16384, "WebSockets per address") \
    X(limits,   stream_subscriptions,   INT,    0, 1, "256",            1, 256, "per connection") \
    X(limits,   stream_backlog,         SIZE,   0, 1, "8M",             65536, 8388608, "unsent bytes per connection")
/* clang-format on */

enum option {
#define X(section, key, type, engine, built, initial, minimum, maximum, help) \
    OPTION_##section##_##key,
    OPTION_LIST(X)
#undef X
        OPTION_COUNT
};

/* One row; static storage. */
struct option_row {
    const char *name;    /* section.key */
    const char *initial; /* text of the default, "" = none */
    const char *help;    /* CHOICE: the words */
    uint64_t minimum, maximum;
    uint16_t initial_bytes;
    uint8_t type;  /* enum option_type */
    uint8_t since; /* first rules version that knows this engine option */
    bool engine, built;
};

const struct option_row *option_row(enum option option);

/* The engine options inside the engine: the last record 2013, parsed. */
struct option_engine {
    uint64_t values[OPTION_COUNT]; /* INT, SIZE and SWITCH rows; others 0 */
    uint8_t exchange_id[32];
    uint8_t operator_key[32];
    uint8_t treasury_key[32];
    uint8_t signing_public[32];
    uint8_t oracle_keys[OPTION_KEYS_MAX][32];
    uint32_t oracle_key_count;
    bool has_operator_key, has_treasury_key, has_signing_public, has_exchange_id;
};

/* Parses the body of a record 2013 (wire.md W3b): sorted `key=value\n` lines of every engine option
 * that is built, zero-padded. False for an unknown, missing, repeated or unsorted key and for a
 * value out of its bounds; *options is then undefined. A body of an older rules version lacks all
 * options added since; these get their defaults. Pure. */
CC_MUST_USE bool option_parse_engine(struct option_engine *options, const uint8_t *body,
                                     size_t body_bytes);

/* Puts `key` into the line exchange.signing_public of a body that parses, and into its options, in
 * the index of the key that is there. False without one; nothing is changed then. Pure. */
CC_MUST_USE bool option_change_signing_public(struct option_engine *options, uint8_t *body,
                                              size_t body_bytes, const uint8_t key[32]);

#endif
