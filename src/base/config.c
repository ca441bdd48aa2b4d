#include "base/config.h"

#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/base64.h"
#include "base/cluster_option.h"
#include "base/comma_list.h"
#include "base/decimal.h"
#include "base/hex.h"
#include "base/host.h"
#include "base/origin.h"
#include "base/text.h"
#include "base/text_file.h"

enum {
    LINE_MAX_BYTES = 8192, /* of the file: room for OPTION_TEXT_MAX */
    NAME_MAX_BYTES = 64,
    KEY_BYTES = 32,
    KEY_TEXT_BYTES = 44,
    NEAR = 4, /* a key so many edits away is not what was meant */
};

#define ENVIRONMENT_PREFIX "PERPD_"

/* The source of a value, for messages. */
struct origin {
    enum config_source source;
    const char *file; /* CONFIG_FILE */
};

/* Writes the reason to config->error and returns false. */
static bool refuse(struct config *config, const char *format, ...) CC_PRINTF(2, 3);

static bool refuse(struct config *config, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(config->error, sizeof config->error, format, arguments);
    va_end(arguments);
    return false;
}

static const char *source_name(enum config_source source)
{
    static const char *const names[] = { "default", "file", "environment", "flag" };

    return names[source];
}

static const char *origin_text(struct origin origin)
{
    return origin.source == CONFIG_FILE ? origin.file : source_name(origin.source);
}

static bool is_equal(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* Returns the nearest known key, for the message about an unknown one; NULL: none is near. */
static const char *nearest_key(const char *name)
{
    const char *nearest = NULL;
    unsigned best = NEAR;
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        unsigned distance = text_distance(name, option_row(i)->name, NEAR);
        if (distance < best) {
            best = distance;
            nearest = option_row(i)->name;
        }
    }
    return nearest;
}

/* Ends config->error with what may have been meant; `nearest` may be NULL. False. */
static bool suggest(struct config *config, const char *before, const char *nearest,
                    const char *after)
{
    char *end = config->error + strlen(config->error);
    size_t room = sizeof config->error - (size_t)(end - config->error);
    if (nearest == NULL)
        snprintf(end, room, ": perpd --help lists all");
    else
        snprintf(end, room, ": did you mean %s%s%s?", before, nearest, after);
    return false;
}

/* ------------------------------------------------------------------ values */

static bool parse_number(const char *text, const char *end, uint64_t *value)
{
    if (text == end || end - text > 19)
        return false;
    uint64_t number = 0;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9')
            return false;
        number = number * 10 + (uint64_t)(*text - '0');
    }
    *value = number;
    return true;
}

/* A number, then K, M or G or nothing. */
static bool parse_size(const char *text, uint64_t *value)
{
    const char *end = text + strlen(text);
    unsigned shift = 0;
    if (end > text) {
        char suffix = (char)(end[-1] & ~0x20);
        shift = suffix == 'K' ? 10 : suffix == 'M' ? 20 : suffix == 'G' ? 30 : 0;
    }
    if (!parse_number(text, shift != 0 ? end - 1 : end, value) || *value > UINT64_MAX >> shift)
        return false;
    *value <<= shift;
    return true;
}

static bool is_key(const char *text, size_t count)
{
    uint8_t key[KEY_BYTES];
    return count == KEY_TEXT_BYTES &&
           base64_decode(key, sizeof key, text, count, NULL) == KEY_BYTES;
}

static bool is_key_list(const char *text)
{
    struct comma_list keys = comma_list_of(text, strlen(text));
    unsigned key_count = 0;
    const char *key;
    size_t count;

    while (comma_list_next(&keys, &key, &count))
        if (key_count++ == OPTION_KEYS_MAX || !is_key(key, count))
            return false;
    return true;
}

/* Finds a word of a CHOICE row; *built says whether this binary has it. */
static bool find_choice(const struct option_row *row, const char *word, bool *built)
{
    size_t count = strlen(word);
    for (const char *at = row->help; *at != '\0';) {
        *built = *at == '+';
        at += *built;
        size_t length = strcspn(at, " ");
        if (length == count && memcmp(at, word, count) == 0)
            return true;
        at += length;
        at += *at == ' ';
    }
    return false;
}

static bool parse_int(struct config *config, const struct option_row *row, const char *text,
                      struct config_value *value)
{
    bool good = row->type == OPTION_TYPE_SIZE
                    ? parse_size(text, &value->number)
                    : parse_number(text, text + strlen(text), &value->number);
    const char *kind = row->type == OPTION_TYPE_SIZE   ? "a size (bytes, or K, M, G)"
                       : row->type == OPTION_TYPE_DAYS ? "forever or a number of days"
                                                       : "a number";
    if (!good)
        return refuse(config, "%s = %s: not %s", row->name, text, kind);
    if (value->number < row->minimum || value->number > row->maximum)
        return refuse(config, "%s = %s: must be %llu to %llu", row->name, text,
                      (unsigned long long)row->minimum, (unsigned long long)row->maximum);
    return true;
}

static bool parse_choice(struct config *config, const struct option_row *row, const char *text)
{
    bool built;
    if (!find_choice(row, text, &built))
        return refuse(config, "%s = %s: must be one of: %s", row->name, text, row->help);
    if (!built)
        return refuse(config, "%s = %s: this binary does not have it", row->name, text);
    return true;
}

/* Checks a value against its row and fills value->number. */
static bool parse_value(struct config *config, const struct option_row *row, const char *text,
                        struct config_value *value)
{
    value->number = 0;
    if (text[0] == '\0') { /* none; allowed only if the row's default is none */
        if (row->initial[0] != '\0')
            return refuse(config, "%s: a value is needed", row->name);
        return true;
    }
    switch ((enum option_type)row->type) {
    case OPTION_TYPE_INT:
    case OPTION_TYPE_SIZE:
        return parse_int(config, row, text, value);
    case OPTION_TYPE_DAYS:
        return is_equal(text, "forever") || parse_int(config, row, text, value);
    case OPTION_TYPE_SWITCH:
        value->number = is_equal(text, "on");
        return is_equal(text, "on") || is_equal(text, "off") ||
               refuse(config, "%s = %s: must be on or off", row->name, text);
    case OPTION_TYPE_TEXT:
        return strlen(text) <= OPTION_TEXT_MAX || refuse(config, "%s: too long", row->name);
    case OPTION_TYPE_KEY:
        return is_key(text, strlen(text)) ||
               refuse(config, "%s: not a Base64 Ed25519 public key", row->name);
    case OPTION_TYPE_KEYS:
        return is_key_list(text) ||
               refuse(config, "%s: not 1 to %d Base64 Ed25519 public keys with commas between",
                      row->name, OPTION_KEYS_MAX);
    case OPTION_TYPE_HEX32: {
        uint8_t bytes[KEY_BYTES];
        return hex_decode(bytes, sizeof bytes, text, strlen(text)) ||
               refuse(config, "%s: not 64 hex digits", row->name);
    }
    case OPTION_TYPE_CHOICE:
        return parse_choice(config, row, text);
    }
    INVARIANT(false);
    return false;
}

/* Returns the canonical text of a checked value on the heap; NULL without memory. */
static char *canonical_text(const struct option_row *row, const char *text, uint64_t number)
{
    char digits[DECIMAL_TEXT_MAX];
    if (text[0] != '\0' && (row->type == OPTION_TYPE_INT || row->type == OPTION_TYPE_SIZE)) {
        decimal_format_uint(digits, number);
        text = digits;
    }
    char *copy = strdup(text);
    for (char *at = copy; copy != NULL && row->type == OPTION_TYPE_HEX32 && *at != '\0'; at++)
        *at = (char)(*at | 0x20);
    return copy;
}

/* Stores a value unless a stronger source has set one. */
static bool set_value(struct config *config, enum option option, const char *text,
                      struct origin origin)
{
    const struct option_row *row = option_row(option);
    struct config_value value = { .source = (uint8_t)origin.source };
    if (origin.source != CONFIG_DEFAULT && !row->built)
        return refuse(config, "%s (%s): this binary does not have that part", row->name,
                      origin_text(origin));
    bool checked = origin.source != CONFIG_DEFAULT || row->built;
    if (checked && !parse_value(config, row, text, &value)) {
        size_t used = strlen(config->error);
        snprintf(config->error + used, sizeof config->error - used, " (%s)", origin_text(origin));
        return false;
    }
    struct config_value *kept = &config->values[option];
    if (kept->text != NULL && kept->source > value.source)
        return true;
    value.text = canonical_text(row, text, value.number);
    if (value.text == NULL)
        return refuse(config, "%s: no memory", row->name);
    free(kept->text);
    *kept = value;
    return true;
}

static bool set_named(struct config *config, const char *name, const char *text,
                      struct origin origin)
{
    for (unsigned i = 0; i < OPTION_COUNT; i++)
        if (is_equal(option_row(i)->name, name))
            return set_value(config, (enum option)i, text, origin);
    refuse(config, "unknown key %s (%s)", name, origin_text(origin));
    return suggest(config, "", nearest_key(name), "");
}

/* -------------------------------------------------------------------- file */

struct file_reader {
    struct config *config;
    const char *path;
    bool seen[OPTION_COUNT];
};

/* inih's callback: 0 stops at this line. */
static int read_file_line(void *user, const char *section, const char *name, const char *text)
{
    struct file_reader *reader = user;
    char key[NAME_MAX_BYTES];
    int length = section[0] != '\0' ? snprintf(key, sizeof key, "%s.%s", section, name)
                                    : snprintf(key, sizeof key, "%s", name);
    if (length >= (int)sizeof key)
        return refuse(reader->config, "unknown key %s... (%s)", key, reader->path);
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        if (!is_equal(option_row(i)->name, key))
            continue;
        if (reader->seen[i])
            return refuse(reader->config, "%s appears twice (%s)", key, reader->path);
        reader->seen[i] = true;
    }
    return set_named(reader->config, key, text, (struct origin){ CONFIG_FILE, reader->path });
}

static bool load_file(struct config *config, const char *path)
{
    char why[TEXT_FILE_WHY];
    size_t count;
    char *text = text_file_read(path, &count, why);
    if (text == NULL)
        return refuse(config, "%s: %s", path, why);
    ini_use_stack = true; /* one buffer of ini_max_line bytes; the heap variant starts at 200 */
    ini_max_line = LINE_MAX_BYTES;
    ini_allow_multiline = false;
    ini_stop_on_first_error = true;
    struct file_reader reader = { .config = config, .path = path };
    int line = ini_parse_string(text, read_file_line, &reader);
    free(text);
    if (line == 0)
        return true;
    if (config->error[0] == '\0')
        return refuse(config, "%s:%d: neither a section nor key = value", path, line);
    size_t used = strlen(config->error);
    snprintf(config->error + used, sizeof config->error - used, " line %d", line);
    return false;
}

/* ------------------------------------------------- environment and flags */

/* PERPD_NET_LISTEN for net.listen. */
static void environment_name(const char *key, char name[NAME_MAX_BYTES])
{
    int length = snprintf(name, NAME_MAX_BYTES, ENVIRONMENT_PREFIX "%s", key);
    INVARIANT(length < NAME_MAX_BYTES);
    for (char *at = name; *at != '\0'; at++)
        *at = *at == '.' ? '_' : *at >= 'a' && *at <= 'z' ? (char)(*at & ~0x20) : *at;
}

/* True for PERPD_<one of our sections>_...; other variables with the prefix are not ours. */
static bool names_section(const char *variable)
{
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        char known[NAME_MAX_BYTES];
        environment_name(option_row(i)->name, known);
        size_t section = strcspn(option_row(i)->name, ".") + strlen(ENVIRONMENT_PREFIX) + 1;
        if (strncmp(variable, known, section) == 0)
            return true;
    }
    return false;
}

static bool load_variable(struct config *config, const char *variable)
{
    char name[NAME_MAX_BYTES];
    size_t length = strcspn(variable, "=");
    if (variable[length] == '\0' || !names_section(variable))
        return true;
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        environment_name(option_row(i)->name, name);
        if (strlen(name) == length && memcmp(name, variable, length) == 0)
            return set_value(config, (enum option)i, variable + length + 1,
                             (struct origin){ .source = CONFIG_ENVIRONMENT });
    }
    char key[NAME_MAX_BYTES];
    const char *rest = variable + strlen(ENVIRONMENT_PREFIX);
    snprintf(key, sizeof key, "%.*s", (int)(length - strlen(ENVIRONMENT_PREFIX)), rest);
    for (char *at = key; *at != '\0'; at++)
        *at = *at >= 'A' && *at <= 'Z' ? (char)(*at | 0x20) : *at;
    key[strcspn(key, "_")] = '.';
    const char *nearest = nearest_key(key);
    if (nearest != NULL)
        environment_name(nearest, name);
    refuse(config, "unknown variable %.*s", (int)length, variable);
    return suggest(config, "", nearest != NULL ? name : NULL, "");
}

static bool load_flag(struct config *config, const char *argument)
{
    if (strncmp(argument, "--", 2) != 0)
        return refuse(config, "unknown argument %s: flags are --section.key=value", argument);
    size_t length = strcspn(argument + 2, "=");
    char key[NAME_MAX_BYTES];
    int written = snprintf(key, sizeof key, "%.*s", (int)length, argument + 2);
    if (written >= (int)sizeof key)
        return refuse(config, "unknown flag %s", argument);
    if (is_equal(key, "version") || is_equal(key, "help"))
        return refuse(config, "--%s stands alone, without a value: perpd --%s", key, key);
    struct origin origin = { .source = CONFIG_FLAG };
    const char *text = argument + 2 + length;
    if (*text == '=')
        return set_named(config, key, text + 1, origin);
    const char *nearest = nearest_key(key);
    if (nearest != NULL && is_equal(nearest, key))
        return refuse(config, "--%s needs a value: --%s=VALUE", key, key);
    refuse(config, "unknown flag --%s", key);
    return suggest(config, "--", nearest, "=VALUE");
}

/* -------------------------------------------------------------- the whole */

/* TLS needs both of its files. */
static bool check_tls(struct config *config)
{
    bool has_certificate = config_text(config, OPTION_net_tls_certificate)[0] != '\0';
    bool has_key = config_text(config, OPTION_net_tls_key)[0] != '\0';
    return has_certificate == has_key ||
           refuse(config, "%s needs %s: both PEM files, or neither",
                  option_row(has_key ? OPTION_net_tls_key : OPTION_net_tls_certificate)->name,
                  option_row(has_key ? OPTION_net_tls_certificate : OPTION_net_tls_key)->name);
}

/* A listener: HOST:PORT, plain HTTP beyond loopback is asked for, and its hosts are known. */
static bool check_listener(struct config *config, enum option listen, enum option allow_plain)
{
    const char *address = config_text(config, listen);
    const char *name = option_row(listen)->name;
    if (!host_has_port(address))
        return refuse(config, "%s = %s (%s): not HOST:PORT, as in 127.0.0.1:8080", name, address,
                      source_name(config->values[listen].source));
    bool is_secure =
        listen == OPTION_net_listen && config_text(config, OPTION_net_tls_certificate)[0] != '\0';
    if (!is_secure && !host_is_loopback(address) && !config_switch(config, allow_plain))
        return refuse(config,
                      "%s = %s: plain HTTP on an address that is not loopback needs %s = on", name,
                      address, option_row(allow_plain)->name);
    if (host_is_wildcard(address) && config_text(config, OPTION_net_hosts)[0] == '\0')
        return refuse(config,
                      "%s = %s: every address of the machine needs net.hosts, the names that "
                      "clients use",
                      name, address);
    return true;
}

static bool check_hosts(struct config *config)
{
    struct host_list list = { 0 };
    const char *hosts = config_text(config, OPTION_net_hosts);
    if (hosts[0] == '\0' || host_list_add(&list, hosts))
        return true;
    return refuse(config,
                  "net.hosts = %.200s: not 1 to %d hosts without ports, with commas between", hosts,
                  HOST_LIST_MAX);
}

static bool check_origins(struct config *config)
{
    struct origin_list list;
    const char *origins = config_text(config, OPTION_net_cors_origins);
    return origin_list_read(&list, origins) ||
           refuse(config,
                  "net.cors_origins = %.200s: not *, nor 1 to %d of http://HOST:PORT or "
                  "https://HOST:PORT in lower case, with commas between",
                  origins, ORIGIN_LIST_MAX);
}

bool config_relying_party(const struct config *config, struct relying_party *party,
                          char error[RELYING_PARTY_ERROR_BYTES])
{
    return relying_party_read(party, config_text(config, OPTION_exchange_passkey_rp_id),
                              config_text(config, OPTION_exchange_passkey_origins),
                              config_switch(config, OPTION_exchange_testnet), error);
}

/* A cluster's durability is replicated unless it is named. */
static bool check_cluster(struct config *config)
{
    struct cluster_option cluster;
    struct config_value *durability = &config->values[OPTION_store_durability];

    if (!cluster_option_read(config, &cluster, config->error))
        return false;
    return !cluster_option_is_set(config) || durability->source != CONFIG_DEFAULT ||
           set_value(config, OPTION_store_durability, "replicated",
                     (struct origin){ .source = CONFIG_DEFAULT });
}

/* Checks that involve several rows. */
static bool check_together(struct config *config)
{
    if (!check_hosts(config) || !check_origins(config) || !check_tls(config) ||
        !check_listener(config, OPTION_net_listen, OPTION_net_allow_plain) ||
        !check_listener(config, OPTION_admin_listen, OPTION_admin_allow_plain))
        return false;
    struct relying_party party;
    char error[RELYING_PARTY_ERROR_BYTES];
    if (!config_relying_party(config, &party, error))
        return refuse(config, "%s", error);
    if (config_number(config, OPTION_limits_session_life_default_s) >
        config_number(config, OPTION_limits_session_life_max_s))
        return refuse(config, "limits.session_life_default_s is above limits.session_life_max_s");
    return check_cluster(config);
}

/* Handles the arguments other than `--section.key=value`: --config, --help, --print-config. */
static enum config_outcome read_commands(struct config *config, int argc, const char *const *argv,
                                         const char **path)
{
    enum config_outcome outcome = CONFIG_RUN;
    for (int i = 1; i < argc; i++) {
        if (is_equal(argv[i], "--help") || is_equal(argv[i], "-h"))
            return CONFIG_HELP;
        if (is_equal(argv[i], "--print-config")) {
            outcome = CONFIG_PRINT;
        } else if (strncmp(argv[i], "--config=", 9) == 0) {
            *path = argv[i] + 9;
        } else if (is_equal(argv[i], "--config")) {
            if (++i == argc) {
                refuse(config, "--config needs a file");
                return CONFIG_REFUSED;
            }
            *path = argv[i];
        }
    }
    return outcome;
}

static bool is_command(const char *argument)
{
    return is_equal(argument, "--print-config") || strncmp(argument, "--config=", 9) == 0;
}

/* The value of an environment variable, or NULL. */
static const char *variable(const char *const *environment, const char *name)
{
    size_t count = strlen(name);

    for (size_t i = 0; environment != NULL && environment[i] != NULL; i++)
        if (strncmp(environment[i], name, count) == 0 && environment[i][count] == '=')
            return environment[i] + count + 1;
    return NULL;
}

static bool load_all(struct config *config, int argc, const char *const *argv,
                     const char *const *environment, const char *path)
{
    for (unsigned i = 0; i < OPTION_COUNT; i++)
        if (!set_value(config, (enum option)i, option_row(i)->initial,
                       (struct origin){ .source = CONFIG_DEFAULT }))
            return false;
    for (int i = 1; i < argc; i++) {
        if (is_equal(argv[i], "--config"))
            i++;
        else if (!is_command(argv[i]) && !load_flag(config, argv[i]))
            return false;
    }
    config->runtime_directory = variable(environment, "RUNTIME_DIRECTORY");
    config->user_directory = variable(environment, "XDG_RUNTIME_DIR");
    for (size_t i = 0; environment != NULL && environment[i] != NULL; i++)
        if (strncmp(environment[i], ENVIRONMENT_PREFIX, strlen(ENVIRONMENT_PREFIX)) == 0 &&
            !load_variable(config, environment[i]))
            return false;
    return (path == NULL || load_file(config, path)) && check_together(config);
}

enum config_outcome config_load(struct config *config, int argc, const char *const *argv,
                                const char *const *environment)
{
    memset(config, 0, sizeof *config);
    const char *path = NULL;
    enum config_outcome outcome = read_commands(config, argc, argv, &path);
    if (outcome == CONFIG_HELP || outcome == CONFIG_REFUSED)
        return outcome;
    if (load_all(config, argc, argv, environment, path))
        return outcome;
    text_make_printable(config->error, strlen(config->error)); /* what was given may be any bytes */
    return CONFIG_REFUSED;
}

void config_free(struct config *config)
{
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        free(config->values[i].text);
        config->values[i].text = NULL;
    }
}

bool config_is(const struct config *config, enum option option, const char *word)
{
    INVARIANT(option_row(option)->type == OPTION_TYPE_CHOICE);
    return is_equal(config->values[option].text, word);
}

void config_print(const struct config *config, FILE *out)
{
    size_t section_count = 0;
    const char *section = "";
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = option_row(i);
        if (!row->built)
            continue;
        size_t count = strcspn(row->name, ".");
        if (count != section_count || memcmp(row->name, section, count) != 0) {
            fprintf(out, "%s[%.*s]\n", section_count == 0 ? "" : "\n", (int)count, row->name);
            section = row->name;
            section_count = count;
        }
        fprintf(out, "%s = %s ; %s\n", row->name + count + 1, config->values[i].text,
                source_name(config->values[i].source));
    }
}
