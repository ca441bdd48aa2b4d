/* keys.h - API keys of a test's accounts, and what the node does on their behalf. */
#ifndef TESTS_ENGINE_KEYS_H
#define TESTS_ENGINE_KEYS_H

#include "host.h"

enum { KEYS_READ = 0, KEYS_READ_WRITE = 1, KEYS_NO_PIN = -1 };

struct keys_id {
    uint8_t bytes[16];
};

/* Code 34, signed by the session of account n; CHECKs success. */
struct keys_id keys_make(struct host *host, uint32_t n, uint8_t scope, int32_t pin);

/* Code 35, signed by the session of account n. */
enum status keys_revoke(struct host *host, uint32_t n, struct keys_id key);

/* Code 2001: portfolio 0/0 of account n. */
enum status keys_leverage(struct host *host, struct keys_id key, uint32_t n, uint16_t asset,
                          uint32_t leverage);

#endif
