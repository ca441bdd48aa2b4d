/* context.h - one run of a command: settings, connection, keys, and how an answer is shown.
 *
 * A function that returns false has printed an error on standard error and set `exit_code`.
 *
 * Owner. The command's thread. */
#ifndef PERP_INVOCATION_CONTEXT_H
#define PERP_INVOCATION_CONTEXT_H

#include "base/dump.h"
#include "perp/request/client.h"
#include "perp/request/draft.h"
#include "perp/request/instrument.h"
#include "perp/request/outcome.h"

struct arguments;
struct settings;

enum { CONTEXT_DEVICE_KEY_MAX = 45 }; /* Base64 of 32 bytes, with its closing zero */

struct context {
    const struct arguments *arguments;
    const struct settings *settings;
    struct client client;
    bool client_ready;
    bool hide_secret;       /* leave `api_key` or `device_key` out of the answer shown */
    const char *ack_header; /* of --ack or of logout, NULL without it */
    int exit_code;
    struct instrument record; /* of the command's market, when asked for */
    bool has_record;
    struct eip712 eip712;
    uint8_t exchange_id[KEY_FILE_EXCHANGE_BYTES];
    bool has_eip712; /* and exchange_id */
};

/* Prints "perp COMMAND: ..." and sets the exit code; always false. */
CC_PRINTF(3, 4) bool context_fail(struct context *context, int exit_code, const char *format, ...);

/* The key file of a setting. `make`: a file that does not exist is made. */
CC_MUST_USE bool context_key(struct context *context, uint32_t setting, uint32_t curve, bool make,
                             struct key_file *key);
/* The same for a path; `what` names it in messages. */
CC_MUST_USE bool context_key_at(struct context *context, const char *path, const char *what,
                                uint32_t curve, bool make, struct key_file *key);

/* Binds a session key that is to be admitted to the exchange of the settings, in its file at `path`
 * too, but not by --dry-run. False after a printed error, also for a key of another exchange. */
CC_MUST_USE bool context_bind(struct context *context, const char *path, struct key_file *key);

/* The device key of the settings (or its file), as text. */
CC_MUST_USE bool context_device_key(struct context *context, char text[CONTEXT_DEVICE_KEY_MAX]);

/* A setting that must be an integer of 0..maximum. */
CC_MUST_USE bool context_number(struct context *context, uint32_t setting, uint64_t maximum,
                                uint64_t *value);
/* Account, subaccount and portfolio of the settings. */
CC_MUST_USE bool context_portfolio(struct context *context, struct draft_portfolio *portfolio);

/* The market's record from GET /markets, kept in `record`. */
CC_MUST_USE bool context_market(struct context *context, const char *market);

/* The id of --id, or a fresh one. */
CC_MUST_USE bool context_id(struct context *context, struct uuid *id);

/* Signs, explains and sends, by the flags, and shows the answer. Gives the exit code. After
 * --dry-run, or when there was no answer, outcome->kind is OUTCOME_UNREADABLE. */
int context_write(struct context *context, struct draft *draft, const struct key_file *key,
                  struct outcome *outcome);

/* Fills a request. False after a printed error. */
typedef bool context_fill(struct context *context, struct draft *draft);

/* The whole of a command that signs one request with the key of a setting. Gives the exit code. */
int context_submit(struct context *context, uint32_t setting, uint32_t curve, context_fill *fill);

/* Another connection to the exchange of the settings, for client_close to end. */
CC_MUST_USE bool context_connection(struct context *context, struct client *client);

/* Shows an answer that refuses, and sets the exit code. */
void context_refuse(struct context *context, const struct client_answer *answer);

/* The API key of the settings (or of its file), as text of SETTINGS_VALUE_MAX bytes at most. */
CC_MUST_USE bool context_api_key(struct context *context, char *text);

/* Sends a request that no key signs. False unless it answered 200 or 201. */
CC_MUST_USE bool context_call(struct context *context, const struct client_request *request,
                              struct client_answer *answer);

/* GET of a target. False unless it answered 200. */
CC_MUST_USE bool context_get(struct context *context, const char *target, bool with_api_key,
                             struct client_answer *answer);

/* A plain JSON write with the API key. False unless it answered 200. */
CC_MUST_USE bool context_plain(struct context *context, const char *method, const char *target,
                               const char *body, struct client_answer *answer);

/* Was this setting given, by flag, environment or profile. */
bool context_is_set(const struct context *context, uint32_t setting);

/* GET, then shows the answer by -o. Gives the exit code. */
int context_read(struct context *context, const char *target, bool with_api_key);

void context_end(struct context *context);

#endif
