/* request.h - every request code of wire.md W2, W3a and W3b: who signs it, where it goes, what it
 * carries and how it is answered. Enum, names, routes, sizes, documents and tests derive from this
 * list.
 *
 * BUILT says whether this binary has a handler: a code without one has no route (404).
 * Units. Body bytes are those after Header and RequestId; 0 is not fixed, see enum body_form. */
#ifndef BASE_REQUEST_H
#define BASE_REQUEST_H

#include "base/compiler.h"

enum signer {
    SIGNER_NONE,              /* reserved code */
    SIGNER_SESSION,           /* Ed25519 session key */
    SIGNER_SESSION_OR_MASTER, /* a FULL_ACCESS session or a master key */
    SIGNER_MASTER,            /* Secp256k1 or passkey */
    SIGNER_ADMIN,             /* master key of kind admin */
    SIGNER_NEW_SECP256K1,     /* the key of the account that the request creates */
    SIGNER_NEW_PASSKEY,
    SIGNER_OPERATOR, /* Ed25519 key of the configuration */
    SIGNER_NODE,     /* no signature: authored by the node */
};

enum body_form {
    BODY_FIXED,
    BODY_BATCH,      /* 24 + 64 n */
    BODY_CREDENTIAL, /* ends with a credential id of variable length, padded to 8 */
    BODY_TEXT,       /* UTF-8 text padded with zeros to 8, at most REQUEST_BODY_MAX */
};

enum answer_style { ANSWER_ACK, ANSWER_SUCCESS, ANSWER_HTTP };

enum {
    REQUEST_HEADER_BYTES = 8,
    REQUEST_ID_BYTES = 16,
    REQUEST_BODY_AT = REQUEST_HEADER_BYTES + REQUEST_ID_BYTES,
    REQUEST_BODY_MAX = 4120,
    REQUEST_PAYLOAD_MAX = REQUEST_BODY_AT + REQUEST_BODY_MAX, /* 4,144 (W1) */
    REQUEST_FRAME_MAX = REQUEST_PAYLOAD_MAX + 33 + 64,        /* 4,241 (W1) */
    REQUEST_ENVELOPE_MAX = 8192,
    REQUEST_PASSKEY_ENVELOPE_MAX = 16384,
    REQUEST_VERSION = 1,
};

enum signature_type { SIGNATURE_ED25519, SIGNATURE_SECP256K1, SIGNATURE_PASSKEY };

/* clang-format off */
#define PATH_UPDATE  "/api/v1/trading/order/update"
#define PATH_CREATE  "/api/v1/account/create"
#define PATH_ADMIN_ADD "/api/v1/auth/admin-keys/add"
#define PATH_ADMIN_REMOVE "/api/v1/auth/admin-keys/remove"
#define PATH_SCOPED_ADD "/api/v1/auth/scoped-keys/add"
#define PATH_SCOPED_REMOVE "/api/v1/auth/scoped-keys/remove"
#define PATH_OPERATOR "/api/v1/operator"
#define PATH_NONE ""

/*    name                                code  signer             path                                      body        bytes  answer   built */
#define REQUEST_LIST(X) \
    X(place_limit_order,                     0, SESSION,           "/api/v1/trading/order/place/limit",       FIXED,        48, ACK,     1) \
    X(order_reduction,                       1, SESSION,           PATH_UPDATE,                               FIXED,        56, ACK,     1) \
    X(order_replacement,                     2, SESSION,           PATH_UPDATE,                               FIXED,        72, ACK,     1) \
    X(order_cancel,                          3, SESSION,           "/api/v1/trading/order/cancel",            FIXED,        40, ACK,     1) \
    X(cancel_all_orders,                     4, SESSION,           "/api/v1/trading/order/cancel-all",        FIXED,        24, ACK,     1) \
    X(place_market_order,                    5, SESSION,           "/api/v1/trading/order/place/market",      FIXED,        40, ACK,     1) \
    X(place_conditional_order,               6, SESSION,           "/api/v1/trading/order/place/conditional", FIXED,        80, ACK,     1) \
    X(conditional_order_cancel,              7, SESSION,           "/api/v1/trading/order/cancel/conditional", FIXED,       40, ACK,     1) \
    X(order_batch,                           8, SESSION,           "/api/v1/trading/order/batch",             BATCH,         0, ACK,     1) \
    X(transfer,                              9, SESSION_OR_MASTER, "/api/v1/cash/transfer",                   FIXED,        40, ACK,     1) \
    X(withdraw,                             10, SESSION_OR_MASTER, "/api/v1/cash/withdraw",                   FIXED,        48, ACK,     1) \
    X(create_account_secp256k1,             11, NEW_SECP256K1,     PATH_CREATE,                               FIXED,        80, SUCCESS, 1) \
    X(create_account_passkey,               12, NEW_PASSKEY,       PATH_CREATE,                               FIXED,        80, SUCCESS, 1) \
    X(create_session,                       13, MASTER,            "/api/v1/auth/sessions/create",            FIXED,        56, SUCCESS, 1) \
    X(revoke_session,                       14, MASTER,            "/api/v1/auth/sessions/revoke",            FIXED,        40, SUCCESS, 1) \
    X(revoke_all_sessions,                  15, MASTER,            "/api/v1/auth/sessions/revoke-all",        FIXED,         8, SUCCESS, 1) \
    X(add_admin_secp256k1_master_key,       16, ADMIN,             PATH_ADMIN_ADD,                            FIXED,        48, SUCCESS, 1) \
    X(remove_admin_secp256k1_master_key,    17, ADMIN,             PATH_ADMIN_REMOVE,                         FIXED,        48, SUCCESS, 1) \
    X(reserved_18,                          18, NONE,              PATH_NONE,                                 FIXED,         0, ACK,     0) \
    X(add_admin_passkey_master_key,         19, ADMIN,             PATH_ADMIN_ADD,                            CREDENTIAL,    0, SUCCESS, 1) \
    X(remove_admin_passkey_master_key,      20, ADMIN,             PATH_ADMIN_REMOVE,                         FIXED,        48, SUCCESS, 1) \
    X(reserved_21,                          21, NONE,              PATH_NONE,                                 FIXED,         0, ACK,     0) \
    X(create_subaccount,                    22, MASTER,            "/api/v1/subaccounts/create",              FIXED,         8, ACK,     1) \
    X(close_subaccount,                     23, MASTER,            "/api/v1/subaccounts/close",               FIXED,        16, ACK,     1) \
    X(create_portfolio,                     24, SESSION_OR_MASTER, "/api/v1/portfolio/create",                FIXED,        48, ACK,     1) \
    X(schedule_cancel_all,                  25, SESSION,           "/api/v1/trading/schedule-cancel",         FIXED,        24, ACK,     1) \
    X(set_mmp,                              26, SESSION,           "/api/v1/trading/mmp/set",                 FIXED,        48, ACK,     1) \
    X(reset_mmp,                            27, SESSION,           "/api/v1/trading/mmp/reset",               FIXED,        24, ACK,     1) \
    X(add_scoped_secp256k1_master_key,      28, ADMIN,             PATH_SCOPED_ADD,                           FIXED,        56, SUCCESS, 1) \
    X(remove_scoped_secp256k1_master_key,   29, ADMIN,             PATH_SCOPED_REMOVE,                        FIXED,        48, SUCCESS, 1) \
    X(add_scoped_passkey_master_key,        30, ADMIN,             PATH_SCOPED_ADD,                           CREDENTIAL,    0, SUCCESS, 1) \
    X(remove_scoped_passkey_master_key,     31, ADMIN,             PATH_SCOPED_REMOVE,                        FIXED,        48, SUCCESS, 1) \
    X(close_account,                        32, ADMIN,             "/api/v1/account/close",                   FIXED,         8, ACK,     1) \
    X(login,                                33, SESSION_OR_MASTER, "/api/v1/login",                           FIXED,        24, SUCCESS, 1) \
    X(create_api_key,                       34, SESSION_OR_MASTER, "/api/v1/api-keys",                        FIXED,        48, SUCCESS, 1) \
    X(revoke_api_key,                       35, SESSION_OR_MASTER, "/api/v1/api-keys/revoke",                 FIXED,        24, SUCCESS, 1) \
    X(find_account,                         36, MASTER,            "/api/v1/account/find",                    FIXED,         8, SUCCESS, 1) \
    X(oracle_price,                       1000, OPERATOR,          PATH_OPERATOR,                             FIXED,        24, ACK,     1) \
    X(market_define,                      1001, OPERATOR,          PATH_OPERATOR,                             TEXT,          0, ACK,     1) \
    X(market_state,                       1002, OPERATOR,          PATH_OPERATOR,                             FIXED,         8, ACK,     1) \
    X(deposit_credit,                     1003, OPERATOR,          PATH_OPERATOR,                             FIXED,        56, ACK,     1) \
    X(withdrawal_settle,                  1004, OPERATOR,          PATH_OPERATOR,                             FIXED,        24, ACK,     1) \
    X(suspend_account,                    1005, OPERATOR,          PATH_OPERATOR,                             FIXED,        16, ACK,     1) \
    X(fund_top_up,                        1006, OPERATOR,          PATH_OPERATOR,                             FIXED,         8, ACK,     1) \
    X(operator_cancel,                    1007, OPERATOR,          PATH_OPERATOR,                             FIXED,        40, ACK,     1) \
    X(halt_all,                           1008, OPERATOR,          PATH_OPERATOR,                             FIXED,         8, ACK,     1) \
    X(set_fee_tier,                       1009, OPERATOR,          PATH_OPERATOR,                             FIXED,        16, ACK,     1) \
    X(index_accept,                       1010, OPERATOR,          PATH_OPERATOR,                             FIXED,        16, ACK,     1) \
    X(clock_confirm,                      1011, OPERATOR,          PATH_OPERATOR,                             FIXED,        16, ACK,     1) \
    X(tick,                               2000, NODE,              PATH_NONE,                                 FIXED,         8, ACK,     1) \
    X(set_leverage,                       2001, NODE,              PATH_NONE,                                 FIXED,        40, HTTP,    1) \
    X(portfolio_close,                    2002, NODE,              PATH_NONE,                                 FIXED,        32, HTTP,    1) \
    X(portfolio_reopen,                   2003, NODE,              PATH_NONE,                                 FIXED,        32, HTTP,    1) \
    X(faucet_credit,                      2009, NODE,              PATH_NONE,                                 FIXED,        40, HTTP,    1) \
    X(rename_portfolio,                   2010, NODE,              PATH_NONE,                                 FIXED,        64, HTTP,    1) \
    X(cancel_on_disconnect,               2011, NODE,              PATH_NONE,                                 FIXED,        16, ACK,     1) \
    X(disconnect_arm,                     2012, NODE,              PATH_NONE,                                 FIXED,        56, HTTP,     1) \
    X(configuration,                      2013, NODE,              PATH_NONE,                                 TEXT,          0, ACK,     1) \
    X(boot,                               2014, NODE,              PATH_NONE,                                 FIXED,        24, ACK,     1) \
    X(effects_hash,                       2015, NODE,              PATH_NONE,                                 FIXED,        40, ACK,     1) \
    X(lead,                               2016, NODE,              PATH_NONE,                                 FIXED,        64, ACK,     1) \
    X(restored,                           2017, NODE,              PATH_NONE,                                 FIXED,       128, ACK,     1) \
    X(signing_key,                        2018, NODE,              PATH_NONE,                                 FIXED,        96, ACK,     1)
/* clang-format on */

enum request_type {
#define X(name, code, signer, path, form, bytes, answer, built) REQUEST_##name = (code),
    REQUEST_LIST(X)
#undef X
};

/* One row of the table above; static storage. */
struct request {
    uint16_t code;
    uint16_t body_bytes; /* 0 unless BODY_FIXED */
    uint8_t signer;      /* enum signer */
    uint8_t form;        /* enum body_form */
    uint8_t answer;      /* enum answer_style */
    bool built;
    const char *name; /* snake_case */
    const char *path; /* "" when no client may send it */
};

/* Returns the row of a code, or NULL for a code outside the table. Constant time; static
 * storage. */
const struct request *request_find(uint32_t code);

/* Returns all rows in ascending code order and stores their number in *count. Static storage. */
const struct request *request_table(size_t *count);

#endif
