#include "base/cluster_option.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/comma_list.h"
#include "base/host.h"

enum { HOST_NAME_BYTES = 256 };

static bool refuse(char error[CONFIG_ERROR_MAX], const char *format, ...) CC_PRINTF(2, 3);

static bool refuse(char error[CONFIG_ERROR_MAX], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error, CONFIG_ERROR_MAX, format, arguments);
    va_end(arguments);
    return false;
}

bool cluster_option_is_name(const char *text, size_t most)
{
    size_t count = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");
    return count > 0 && count <= most && text[count] == '\0';
}

/* The bytes of a row's default. */
static uint64_t size_of(const char *text)
{
    char *end;
    uint64_t size = strtoull(text, &end, 10);
    return *end == 'K' ? size << 10 : *end == 'M' ? size << 20 : *end == 'G' ? size << 30 : size;
}

/* The row's value was given, and is not its default. */
static bool is_given(const struct config *config, enum option option)
{
    const struct option_row *row = option_row(option);

    if (config->values[option].source == CONFIG_DEFAULT)
        return false;
    if (row->type == OPTION_TYPE_SIZE)
        return config_number(config, option) != size_of(row->initial);
    return strcmp(config_text(config, option), row->initial) != 0;
}

static bool check_alone(const struct config *config, char error[CONFIG_ERROR_MAX])
{
    if (config_is(config, OPTION_store_durability, "replicated") ||
        config_is(config, OPTION_store_durability, "replicated+local"))
        return refuse(error, "store.durability = %s: needs cluster.name",
                      config_text(config, OPTION_store_durability));
    for (unsigned i = 0; i < OPTION_COUNT; i++)
        if (strncmp(option_row(i)->name, "cluster.", 8) == 0 && option_row(i)->built &&
            is_given(config, (enum option)i))
            return refuse(error, "%s: needs cluster.name", option_row(i)->name);
    return true;
}

static bool read_node(const struct config *config, struct cluster_option *out,
                      char error[CONFIG_ERROR_MAX])
{
    char host[HOST_NAME_BYTES] = { 0 };
    const char *node = config_text(config, OPTION_cluster_node);

    if (node[0] == '\0') {
        if (gethostname(host, sizeof host - 1) != 0)
            return refuse(error, "cluster.node: the machine has no host name; name the node");
        if (!cluster_option_is_name(host, CLUSTER_NODE_BYTES))
            return refuse(error,
                          "cluster.node: the host name %.64s is not 1 to %d of a-z, 0-9 and -; "
                          "name the node",
                          host, CLUSTER_NODE_BYTES);
        node = host;
    }
    if (!cluster_option_is_name(node, CLUSTER_NODE_BYTES))
        return refuse(error, "cluster.node = %.64s: not 1 to %d of a-z, 0-9 and -", node,
                      CLUSTER_NODE_BYTES);
    memcpy(out->node, node, strlen(node) + 1);
    return true;
}

/* host:port with a port from 1 to 65535. */
static bool is_address(const char *text, size_t count)
{
    struct host_list list = { 0 };
    char address[CLUSTER_ADDRESS_BYTES];

    if (count == 0 || count >= sizeof address)
        return false;
    memcpy(address, text, count);
    address[count] = '\0';
    const char *colon = strrchr(address, ':');
    if (colon == NULL || !host_list_add_address(&list, address))
        return false;
    size_t digits = strspn(colon + 1, "0123456789");
    unsigned port = 0;
    for (size_t i = 0; i < digits && i < 6; i++)
        port = port * 10 + (unsigned)(colon[1 + i] - '0');
    return digits > 0 && digits < 6 && colon[1 + digits] == '\0' && port > 0 && port <= UINT16_MAX;
}

static bool read_endpoints(const struct config *config, struct cluster_option *out,
                           char error[CONFIG_ERROR_MAX])
{
    const char *text = config_text(config, OPTION_cluster_etcd);
    struct comma_list list = comma_list_of(text, strlen(text));
    bool is_secure = config_text(config, OPTION_cluster_etcd_ca)[0] != '\0';
    const char *address;
    size_t count;

    if (text[0] == '\0')
        return refuse(error, "cluster.etcd: cluster.name needs 1 to %d addresses of etcd",
                      CLUSTER_ENDPOINTS_MAX);
    while (comma_list_next(&list, &address, &count)) {
        if (out->endpoint_count == CLUSTER_ENDPOINTS_MAX || !is_address(address, count))
            return refuse(error,
                          "cluster.etcd = %.200s: not 1 to %d of HOST:PORT with commas between",
                          text, CLUSTER_ENDPOINTS_MAX);
        char *kept = out->endpoints[out->endpoint_count++];
        memcpy(kept, address, count);
        kept[count] = '\0';
        if (!is_secure && !host_is_loopback(kept))
            return refuse(error,
                          "cluster.etcd: %s is not loopback, which needs cluster.etcd_ca, "
                          "cluster.etcd_certificate and cluster.etcd_key",
                          kept);
    }
    return true;
}

static bool check_certificates(const struct config *config, char error[CONFIG_ERROR_MAX])
{
    static const enum option files[] = { OPTION_cluster_etcd_ca, OPTION_cluster_etcd_certificate,
                                         OPTION_cluster_etcd_key };
    size_t given = 0;

    for (size_t i = 0; i < CC_COUNT(files); i++)
        given += config_text(config, files[i])[0] != '\0';
    return given == 0 || given == CC_COUNT(files) ||
           refuse(error, "cluster.etcd_ca, cluster.etcd_certificate and cluster.etcd_key: "
                         "all three are needed, or none");
}

static bool read_vault(const struct config *config, struct cluster_option *out,
                       char error[CONFIG_ERROR_MAX])
{
    static const char scheme[] = "file:/";
    const char *text = config_text(config, OPTION_cluster_vault);

    if (text[0] == '\0')
        return refuse(error,
                      "cluster.vault: cluster.name needs file:/FOLDER, for the sealed segments");
    if (strncmp(text, scheme, sizeof scheme - 1) != 0)
        return refuse(error, "cluster.vault = %.200s: not file:/FOLDER; no other vault is built",
                      text);
    int count = snprintf(out->vault, sizeof out->vault, "%s/%s", text + sizeof scheme - 2,
                         config_text(config, OPTION_cluster_name));
    return (count > 0 && (size_t)count < sizeof out->vault) ||
           refuse(error, "cluster.vault: too long a path");
}

bool cluster_option_read(const struct config *config, struct cluster_option *out,
                         char error[CONFIG_ERROR_MAX])
{
    const char *advertise = config_text(config, OPTION_cluster_advertise);

    memset(out, 0, sizeof *out);
    if (!cluster_option_is_set(config))
        return check_alone(config, error);
    if (!cluster_option_is_name(config_text(config, OPTION_cluster_name), CLUSTER_NAME_BYTES))
        return refuse(error, "cluster.name = %.64s: not 1 to %d of a-z, 0-9 and -",
                      config_text(config, OPTION_cluster_name), CLUSTER_NAME_BYTES);
    if (config_is(config, OPTION_store_durability, "none") ||
        (config_is(config, OPTION_store_durability, "local") &&
         config->values[OPTION_store_durability].source != CONFIG_DEFAULT))
        return refuse(error, "store.durability = %s: a cluster has replicated and replicated+local",
                      config_text(config, OPTION_store_durability));
    if (advertise[0] != '\0' && !is_address(advertise, strlen(advertise)))
        return refuse(error, "cluster.advertise = %.64s: not HOST:PORT of at most %d bytes",
                      advertise, CLUSTER_ADDRESS_BYTES - 1);
    return check_certificates(config, error) && read_node(config, out, error) &&
           read_endpoints(config, out, error) && read_vault(config, out, error);
}
