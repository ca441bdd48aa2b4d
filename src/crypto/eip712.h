/* eip712.h - the typed data that a wallet shows and signs, rebuilt from the payload (wire.md W4).
 *
 * Every member is a pure function of the payload bytes: names, types and values derive from the
 * table of body fields (base/field.h). eip712_init computes domain separator and type hashes once.
 *
 * Owner. eip712_init writes struct eip712; read-only afterwards, for any number of threads.
 * Bound. No allocation; a payload has at most 4,144 bytes. */
#ifndef CRYPTO_EIP712_H
#define CRYPTO_EIP712_H

#include "base/compiler.h"

enum {
    EIP712_HASH_BYTES = 32,
    EIP712_CODES_MAX = 37, /* request types that a client signs: 0..36 */
    EIP712_MEMBERS_MAX = 24,
    EIP712_NAME_MAX = 48,                /* member and type names with a closing zero */
    EIP712_TYPE_MAX = 640,               /* encodeType text with a closing zero */
    EIP712_VALUE_MAX = 2 + 2 * 4144 + 1, /* the longest value, the payload in hex */
};

struct eip712 {
    uint8_t salt[EIP712_HASH_BYTES]; /* the exchange id */
    uint8_t domain_separator[EIP712_HASH_BYTES];
    uint8_t type_hash[EIP712_CODES_MAX][EIP712_HASH_BYTES];
    bool signable[EIP712_CODES_MAX];
};

/* The parts of a digest, for `--explain` and tests. */
struct eip712_hashes {
    uint8_t struct_hash[EIP712_HASH_BYTES];
    uint8_t digest[EIP712_HASH_BYTES];
};

struct eip712_member {
    char name[EIP712_NAME_MAX]; /* lowerCamelCase */
    char type[8];               /* "uint64", "uint32", "bool", "string", "bytes", "address" */
};

/* Returns the type of the member that a field of this kind (base/field.h) becomes; NULL for a
 * portfolio id, which becomes three, and for kinds of no signable request. Static storage. */
const char *eip712_type_of(uint32_t kind);

/* Computes the domain separator, whose salt is the 32-byte exchange id, and the type hashes. */
void eip712_init(struct eip712 *eip712, const uint8_t exchange_id[32]);

/* True if a secp256k1 master key may sign this request type (W4's list). */
CC_MUST_USE bool eip712_is_signable(uint16_t request_type);

/* Computes the digest of a payload whose Header and body length are checked (R11 step 6). Returns
 * 0, or -EINVAL for a request type that is not signable and for a length that is not that of the
 * type. */
CC_MUST_USE int eip712_hash(const struct eip712 *eip712, const uint8_t *payload, size_t count,
                            struct eip712_hashes *hashes);

/* Lists the members of the primary type in order and returns their number; 0 when the type is not
 * signable. */
unsigned eip712_members(uint16_t request_type, struct eip712_member members[EIP712_MEMBERS_MAX]);

/* Writes the name of the primary type ("CreateSession") and a closing zero. */
void eip712_primary_type(uint16_t request_type, char name[EIP712_NAME_MAX]);

/* Writes encodeType and a closing zero. Returns the length, 0 when the type is not signable. */
size_t eip712_encode_type(uint16_t request_type, char text[EIP712_TYPE_MAX]);

/* Writes the value of the index-th member as the wallet gets it: the text of a string, decimal
 * digits, "true" or "false", 0x-hex. Returns the length without the closing zero; -EINVAL as
 * eip712_hash. */
CC_MUST_USE ptrdiff_t eip712_value(const uint8_t *payload, size_t count, unsigned index,
                                   char text[EIP712_VALUE_MAX]);

#endif
