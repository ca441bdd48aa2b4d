/* provision.h - what must exist before the demo begins: keys, the market file, accounts with cash.
 *
 * Everything goes through the client of perp: accounts are made with EIP-712 signatures of fresh
 * master keys, cash comes from signed operator deposits.
 *
 * Owner. The scene's thread; provision_greet: any process of the demo. */
#ifndef PERP_DEMO_PROVISION_H
#define PERP_DEMO_PROVISION_H

#include "perp/request/client.h"
#include "perp/request/draft.h"
#include "perp/request/outcome.h"

enum { PROVISION_PATH_MAX = 3072, PROVISION_NAME_MAX = 32 };

struct provision {
    char folder[PROVISION_PATH_MAX];
    struct key_file operator_key, oracle_key;
    struct eip712 eip712; /* after provision_greet, as durability */
    char durability[PROVISION_NAME_MAX];
};

struct provision_account {
    char name[PROVISION_NAME_MAX];
    uint64_t account_id;
    int64_t deposit; /* micro-USDC */
    char key_path[PROVISION_PATH_MAX + 64];
    char api_key_path[PROVISION_PATH_MAX + 64];
    char api_key[OUTCOME_TEXT_MAX];
};

/* Makes operator and oracle keys and the file of the markets in the folder. False: a message was
 * printed. */
CC_MUST_USE bool provision_files(struct provision *provision, const char *folder);

/* Learns the exchange id and how durable an acknowledgement is. */
CC_MUST_USE bool provision_greet(struct provision *provision, struct client *client);

/* Publishes the first index prices, so that the markets have marks. */
CC_MUST_USE bool provision_prices(struct provision *provision, struct client *client);

/* Opens an account with keys in the folder, an API key and a deposit. */
CC_MUST_USE bool provision_account(struct provision *provision, struct client *client,
                                   const char *name, int64_t deposit,
                                   struct provision_account *account);

/* Sets the leverage of the account in every market. */
CC_MUST_USE bool provision_leverage(struct client *client, const struct provision_account *account,
                                    uint32_t leverage);

/* Writes the profile with which perp acts as this account, and as operator and oracle. */
CC_MUST_USE bool provision_profile(const struct provision *provision, const char *url,
                                   const struct provision_account *account, const char *path);

#endif
