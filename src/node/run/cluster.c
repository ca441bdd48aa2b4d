#include "node/run/cluster.h"

#include <stdio.h>
#include <unistd.h>

#include "base/cluster_option.h"
#include "base/log.h"
#include "repl/cluster_row.h"
#include "repl/etcd_call.h"
#include "repl/etcd_real.h"
#include "store/disk_real.h"

#define NS_PER_MS UINT64_C(1000000)

enum { JOIN_LOOKS_A_S = 50 };

static int refuse(const char *why)
{
    log_line(LOG_ERROR, "configuration", "%s", why);
    return NODE_EXIT_CONFIGURATION;
}

/* The names of the members become addresses once, here. */
static int find_endpoints(const struct cluster_option *option,
                          struct link_endpoint endpoints[CLUSTER_ENDPOINTS_MAX])
{
    for (uint32_t i = 0; i < option->endpoint_count; i++)
        if (link_resolve(&endpoints[i], option->endpoints[i]) != 0) {
            log_line(LOG_ERROR, "configuration", "cluster.etcd: %s: no such address",
                     option->endpoints[i]);
            return NODE_EXIT_CONFIGURATION;
        }
    return 0;
}

/* The folder of this cluster in the vault, which is made if only itself is missing. */
static int open_vault(struct node *node, const struct cluster_option *option)
{
    bool ring_refused = false;
    int error = 0;
    struct vault vault = {
        .exchange = &node->core.exchange,
        .node = node->cluster_node,
        .segment_bytes = node->core.config.segment_bytes,
    };

    node->vault_disk = disk_real_open(option->vault, &error, &ring_refused);
    vault.disk = node->vault_disk;
    if (vault.disk != NULL)
        error = vault_begin(&vault);
    if (error == 0) {
        node->vault_keeper.vault = vault;
        node->vault_keeper.journal = node->disk;
        node->publisher = (struct snapshot_publisher){ .vault = &node->vault_keeper.vault,
                                                       .journal = node->disk,
                                                       .steward = &node->steward };
        return 0;
    }
    log_line(LOG_ERROR, "configuration", "cluster.vault: %s: %s", option->vault, strerror(-error));
    return NODE_EXIT_CONFIGURATION;
}

static int make_replicator(struct node *node, struct etcd *etcd)
{
    const struct config *options = node->options;
    struct replicator_config config = {
        .clock = &node->clock,
        .exchange = &node->core.exchange,
        .give_up = &node->stop_asked,
        .cluster = config_text(options, OPTION_cluster_name),
        .node = node->cluster_node,
        .creates = config_switch(options, OPTION_cluster_create),
        .is_candidate = config_switch(options, OPTION_cluster_candidate),
        .rules_version = ENGINE_RULES_VERSION,
        .lease_s = (int64_t)config_number(options, OPTION_cluster_lease_s),
        .clock_ns = config_number(options, OPTION_cluster_clock_ms) * NS_PER_MS,
        .unacked_ns = config_number(options, OPTION_cluster_unacked_ms) * NS_PER_MS,
        .unacked_bytes = config_number(options, OPTION_cluster_unacked_bytes),
        .give_up_ns = config_number(options, OPTION_cluster_give_up_ms) * NS_PER_MS,
        .disk_stall_ns = config_number(options, OPTION_cluster_disk_stall_ms) * NS_PER_MS,
        .retain_bytes = config_number(options, OPTION_cluster_retain),
        .vault = node->vault_keeper.vault,
    };

    node->replicator = replicator_create(&config, etcd);
    node->vault_keeper.replicator = node->replicator;
    if (node->replicator != NULL)
        return 0;
    etcd_close(etcd);
    log_line(LOG_ERROR, "start", "no memory for the cluster");
    return NODE_EXIT_FAILED;
}

/* The steward's clients: one for whichever member answers, and one for each address. */
static int make_steward(struct node *node, struct etcd_real_config config)
{
    struct steward *steward = &node->steward;
    const struct link_endpoint *endpoints = config.endpoints;
    uint32_t count = config.endpoint_count;
    char why[ETCD_TEXT_BYTES];

    steward->config = (struct steward_config){
        .clock = &node->clock,
        .cluster = config_text(node->options, OPTION_cluster_name),
        .node = node->cluster_node,
        .quota = config_number(node->options, OPTION_cluster_etcd_quota),
        .clock_ns = config_number(node->options, OPTION_cluster_clock_ms) * NS_PER_MS,
    };
    if (etcd_real_create(&steward->any, &config, why) != 0)
        return refuse(why);
    config.endpoint_count = 1;
    for (uint32_t i = 0; i < count && i < CC_COUNT(steward->each); i++) {
        config.endpoints = &endpoints[i];
        if (etcd_real_create(&steward->each[i], &config, why) != 0)
            return refuse(why);
        steward->each_count = i + 1;
    }
    return 0;
}

int cluster_open(struct node *node)
{
    const struct config *options = node->options;
    struct link_endpoint endpoints[CLUSTER_ENDPOINTS_MAX];
    struct cluster_option option;
    char error[CONFIG_ERROR_MAX], why[ETCD_TEXT_BYTES];
    struct etcd *etcd;

    if (!cluster_option_is_set(options))
        return 0;
    bool is_read = cluster_option_read(options, &option, error);
    INVARIANT(is_read); /* config_load has read it */
    memcpy(node->cluster_node, option.node, sizeof option.node);
    int code = open_vault(node, &option);
    if (code == 0)
        code = find_endpoints(&option, endpoints);
    if (code != 0)
        return code;
    struct etcd_real_config config = {
        .endpoints = endpoints,
        .endpoint_count = option.endpoint_count,
        .request_ms = (uint32_t)config_number(options, OPTION_cluster_request_ms),
        .ca = config_text(options, OPTION_cluster_etcd_ca),
        .certificate = config_text(options, OPTION_cluster_etcd_certificate),
        .key = config_text(options, OPTION_cluster_etcd_key),
    };
    if (etcd_real_create(&etcd, &config, why) != 0)
        return refuse(why);
    node->etcd = etcd;
    code = make_replicator(node, etcd);
    return code != 0 ? code : make_steward(node, config);
}

void cluster_renew(struct node *node)
{
    const char *ca = config_text(node->options, OPTION_cluster_etcd_ca);
    const char *certificate = config_text(node->options, OPTION_cluster_etcd_certificate);
    const char *key = config_text(node->options, OPTION_cluster_etcd_key);
    uint32_t count = 2 + node->steward.each_count, made = 0;
    struct link_tls *all[NODE_ETCD_MAX];
    char why[ETCD_TEXT_BYTES];

    if (node->replicator == NULL || ca[0] == '\0')
        return;
    while (made < count && link_tls_create(&all[made], ca, certificate, key, why) == 0)
        made++;
    for (uint32_t i = 0; i < made; i++) {
        if (made == count)
            etcd_mail_send(&node->etcd_mails[i], all[i]);
        else
            link_tls_destroy(all[i]);
    }
    if (made == count)
        log_line(LOG_INFO, "cluster",
                 "SIGHUP: etcd's certificates were read again, for new connections");
    else
        log_line(LOG_ERROR, "cluster", "SIGHUP: %s; etcd's certificates in force stay", why);
}

void cluster_accept_mail(struct node *node)
{
    etcd_mail_accept(&node->etcd_mails[0], node->etcd);
}

void cluster_accept_steward_mail(struct node *node)
{
    struct steward *steward = &node->steward;

    etcd_mail_accept(&node->etcd_mails[1], steward->any);
    for (uint32_t i = 0; i < steward->each_count; i++)
        etcd_mail_accept(&node->etcd_mails[2 + i], steward->each[i]);
}

const uint8_t *cluster_page_id(const struct node *node, uint8_t out[HASH_BYTES])
{
    const uint8_t *exchange_id = node->core.exchange.exchange_id;
    struct hash_state hash;

    memcpy(out, exchange_id, HASH_BYTES);
    if (node->replicator == NULL)
        return out;
    hash_begin(&hash);
    hash_add(&hash, exchange_id, HASH_BYTES);
    hash_add(&hash, node->cluster_node, strlen(node->cluster_node));
    hash_end(&hash, out);
    return out;
}

enum journal_durability cluster_durability(const struct config *options)
{
    if (config_is(options, OPTION_store_durability, "replicated"))
        return JOURNAL_REPLICATED;
    if (config_is(options, OPTION_store_durability, "replicated+local"))
        return JOURNAL_REPLICATED_LOCAL;
    return config_is(options, OPTION_store_durability, "local") ? JOURNAL_LOCAL : JOURNAL_NONE;
}

int cluster_begin(struct node *node)
{
    const struct net *net = node->nets[0].net;
    const char *advertise = config_text(node->options, OPTION_cluster_advertise);
    char public_address[CLUSTER_PLACE_BYTES], admin_address[CLUSTER_PLACE_BYTES];

    if (node->replicator == NULL)
        return 0;
    poison_share_begin(&node->poison_share, &node->poison.file, clock_now_ns(&node->clock));
    int length = advertise[0] != '\0'
                     ? snprintf(public_address, sizeof public_address, "%s", advertise)
                     : snprintf(public_address, sizeof public_address, "%s:%u", net_host(net),
                                net_port(net));
    if (length < 0 || (size_t)length >= sizeof public_address)
        return refuse("net.listen is too long an address for a cluster: name cluster.advertise");
    snprintf(admin_address, sizeof admin_address, "127.0.0.1:%u", net_admin_port(net));
    int failed =
        replicator_begin(node->replicator, public_address, admin_address, node->journal->park.file);
    if (failed == 0)
        return 0;
    log_line(LOG_ERROR, "start", "the cluster's file: %s", strerror(-failed));
    return NODE_EXIT_FAILED;
}

bool cluster_join_vault(struct node *node, pthread_t thread, uint32_t seconds)
{
    for (uint32_t i = 0; i < seconds * JOIN_LOOKS_A_S; i++) {
        if (pthread_tryjoin_np(thread, NULL) == 0)
            return true;
        usleep(1000000 / JOIN_LOOKS_A_S);
    }
    node->vault_hangs = true;
    return false;
}

void cluster_close(struct node *node)
{
    for (uint32_t i = 0; i < CC_COUNT(node->etcd_mails); i++)
        etcd_mail_drop(&node->etcd_mails[i]);
    replicator_destroy(node->replicator);
    steward_end(&node->steward);
}
