/* config.h - the configuration of a process: flags, environment and file, by the option table.
 *
 * A flag overrides the environment, which overrides the file, which overrides the default. Keys are
 * `section.key`: a flag `--section.key=value`, a variable PERPD_SECTION_KEY, a line `key = value`
 * under `[section]`. Three things are refused: an unknown key (the message names the nearest one),
 * a key or value of a part that this binary does not have, and a value outside the bounds of its
 * row in base/option.h.
 *
 * Owner. The thread that starts the process; read-only afterwards.
 * Wait.  Reads the file once and allocates.
 * Bound. The file is a regular one of at most 1 MiB of text: another is refused. */
#ifndef BASE_CONFIG_H
#define BASE_CONFIG_H

#include <stdio.h>

#include "base/compiler.h"
#include "base/option.h"
#include "base/relying_party.h"

enum {
    CONFIG_ERROR_MAX = 640,
    CONFIG_ENGINE_TEXT_MAX = 4120, /* bytes of the body of a record 2013 (wire.md W3b) */
};

enum config_outcome {
    CONFIG_RUN,
    CONFIG_HELP,    /* --help: print config_help and exit 0 */
    CONFIG_PRINT,   /* --print-config: print config_print and exit 0 */
    CONFIG_REFUSED, /* config.error has the reason in one line: exit 2 */
};

enum config_source { CONFIG_DEFAULT, CONFIG_FILE, CONFIG_ENVIRONMENT, CONFIG_FLAG };

struct config_value {
    char *text;      /* canonical: numbers in decimal, hex in lower case; "" for none */
    uint64_t number; /* INT, SIZE (bytes) and SWITCH (1 = on) rows; 0 for none */
    uint8_t source;  /* enum config_source */
};

struct config {
    struct config_value values[OPTION_COUNT];
    char error[CONFIG_ERROR_MAX];
    /* $RUNTIME_DIRECTORY and $XDG_RUNTIME_DIR: memory of the environment; NULL: not in it */
    const char *runtime_directory, *user_directory;
};

/* Reads all sources. argv[0] is skipped; `environment` ends with NULL and may itself be NULL. The
 * texts are on the heap: call config_free after any outcome. */
CC_MUST_USE enum config_outcome config_load(struct config *config, int argc,
                                            const char *const *argv,
                                            const char *const *environment);
void config_free(struct config *config);

static inline uint64_t config_number(const struct config *config, enum option option)
{
    INVARIANT((unsigned)option < OPTION_COUNT);
    return config->values[option].number;
}

static inline const char *config_text(const struct config *config, enum option option)
{
    INVARIANT((unsigned)option < OPTION_COUNT);
    return config->values[option].text;
}

static inline bool config_switch(const struct config *config, enum option option)
{
    return config_number(config, option) != 0;
}

/* True if the value of a CHOICE row is `word`. */
bool config_is(const struct config *config, enum option option, const char *word);

/* Reads exchange.passkey_rp_id and exchange.passkey_origins (relying_party.h). config_load has
 * refused values that do not read. */
CC_MUST_USE bool config_relying_party(const struct config *config, struct relying_party *party,
                                      char error[RELYING_PARTY_ERROR_BYTES]);

/* Writes the canonical body of record 2013: a sorted `key=value\n` for each engine option that this
 * binary has, zero-padded to a multiple of 8. `exchange_id` and `signing_public` (NULL: none) are
 * those of the data directory. Returns the number of bytes, or -E2BIG when they exceed
 * CONFIG_ENGINE_TEXT_MAX (exit 2). */
CC_MUST_USE ptrdiff_t config_engine_text(const struct config *config, const uint8_t exchange_id[32],
                                         const uint8_t *signing_public,
                                         uint8_t body[CONFIG_ENGINE_TEXT_MAX]);

/* Prints the text of --help: every key with its default and meaning. */
void config_help(FILE *out);

/* Prints the effective configuration as a file that --config accepts. */
void config_print(const struct config *config, FILE *out);

#endif
