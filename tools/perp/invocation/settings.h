/* settings.h - where perp talks to and as whom: one table of settings, each a flag, an environment
 * variable PERP_<NAME> and a line of a profile, in this order of precedence, then its default.
 *
 * Profiles are the sections of an INI file: --config, else PERP_CONFIG, else
 * $XDG_CONFIG_HOME/perp/config, else ~/.config/perp/config; the section is --profile, else
 * PERP_PROFILE, else "default". A missing default file is an empty one. */
#ifndef PERP_INVOCATION_SETTINGS_H
#define PERP_INVOCATION_SETTINGS_H

#include "base/compiler.h"

enum { SETTINGS_VALUE_MAX = 4096, SETTINGS_ERROR_MAX = 4800 };

/* clang-format off */
/*    name          value       default                  what it is */
#define SETTINGS_LIST(X) \
    X(url,          "URL",      "http://127.0.0.1:8080", "address of the exchange, or a list of addresses") \
    X(ca,           "FILE",     "",                      "PEM file of the authorities trusted with https, not the system's") \
    X(account,      "ID",       "",                      "account") \
    X(subaccount,   "INDEX",    "0",                     "subaccount of the account") \
    X(portfolio,    "INDEX",    "0",                     "portfolio of the subaccount") \
    X(session_key,  "FILE",     "",                      "Ed25519 key file that signs orders") \
    X(master_key,   "FILE",     "",                      "Secp256k1 key file that signs sessions") \
    X(operator_key, "FILE",     "",                      "Ed25519 key file of the operator") \
    X(oracle_key,   "FILE",     "",                      "Ed25519 key file of an oracle") \
    X(api_key,      "KEY",      "",                      "API key for reads, or @FILE") \
    X(device_key,   "KEY",      "",                      "device key for logout and streams, or @FILE") \
    X(timeout_ms,   "MS",       "10000",                 "longest wait for an answer")
/* clang-format on */

enum setting {
#define X(name, value, initial, help) SETTING_##name,
    SETTINGS_LIST(X)
#undef X
        SETTINGS_COUNT
};

struct settings {
    char values[SETTINGS_COUNT][SETTINGS_VALUE_MAX]; /* "" = not set */
    const char *from[SETTINGS_COUNT]; /* "flag", "environment", "profile", "default" */
    char config_path[SETTINGS_VALUE_MAX];
    char profile[64];
};

/* snake_case name of a setting. */
const char *settings_name(enum setting setting);

/* Fills all settings. `flags[i]` is the value of a flag or NULL; `config` and `profile` are those
 * flags or NULL; a command that `saves` makes the file and the profile that are not there. False
 * leaves a sentence in `error` that names file and line. */
CC_MUST_USE bool settings_load(struct settings *settings, const char *const flags[SETTINGS_COUNT],
                               const char *config, const char *profile, bool saves,
                               char error[SETTINGS_ERROR_MAX]);

/* Writes one setting into the profile's section, making file (mode 0600) and section where they are
 * missing; other lines stay as they are. False leaves a sentence in `error`. */
CC_MUST_USE bool settings_save(const struct settings *settings, enum setting setting,
                               const char *value, char error[SETTINGS_ERROR_MAX]);

/* Writes a setting that is a file as its whole path, for a profile is read from any folder. */
CC_MUST_USE bool settings_save_path(const struct settings *settings, enum setting setting,
                                    char error[SETTINGS_ERROR_MAX]);

#endif
