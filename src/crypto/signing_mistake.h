/* signing_mistake.h - the usual mistakes of clients that sign: finds those that made a signature
 * fail, and those that a payload shows by itself.
 *
 * A signature that does not verify is tried under each mistake in turn: it is verified over what a
 * client would have signed by that mistake. A mistake that is found so is proved. Nothing here
 * decides about a request; it explains a refusal.
 *
 * Wait.  Pure computation: at most SIGNING_MISTAKE_TRIES verifications, about 3 ms.
 * Owner. Any thread after ed25519_init and secp256k1_init. All inputs are public. */
#ifndef CRYPTO_SIGNING_MISTAKE_H
#define CRYPTO_SIGNING_MISTAKE_H

#include "crypto/eip712.h"

enum { SIGNING_MISTAKE_TRIES = 64 };

/* clang-format off */
/*    name               what is wrong, and what is right */
#define SIGNING_MISTAKE_LIST(X) \
    X(url_safe_base64,   "the Base64 text has - or _; the standard alphabet has + and /") \
    X(unpadded_base64,   "the Base64 text lacks = at its end; its length is a multiple of 4") \
    X(der_signature,     "the signature is in DER form; send r and s, 32 bytes each") \
    X(wallet_signature,  "the signature has 65 bytes, r, s and v, as wallets give it; leave out v") \
    X(high_s,            "s is above half the order of the curve; send the group order minus s") \
    X(uncompressed_key,  "the public key is uncompressed; send its 33-byte compressed form") \
    X(address_as_key,    "public_key is an address of 20 bytes; send the 33-byte key, which the first " \
                         "signature of the wallet reveals") \
    X(base64_signed,     "the Base64 text of the payload was signed; sign its bytes") \
    X(hex_signed,        "the hex text of the payload was signed; sign its bytes") \
    X(hash_signed,       "a hash of the payload was signed; sign what W4 says for the curve") \
    X(header_missing,    "the Header of 8 bytes is missing before the request id") \
    X(padding_missing,   "pad bytes are missing; every pad of the layout is written as zeros") \
    X(big_endian,        "integers are big-endian; they are little-endian") \
    X(id_as_text,        "the request id is text; it is 16 bytes") \
    X(id_v4,             "the request id is a random UUID, version 4; it is a UUIDv7 of the current time") \
    X(time_unit,         "a time is in seconds, milliseconds or microseconds; times are nanoseconds, and " \
                         "the time inside the request id is milliseconds") \
    X(wrong_salt,        "the typed data has another salt or chainId; the salt is exchange_id of GET /exchange, " \
                         "and there is no chainId") \
    X(domain_missing,    "the hash of the struct alone was signed; the digest has the domain too") \
    X(personal_sign,     "the wallet signed a message (personal_sign); use eth_signTypedData_v4") \
    X(payload_challenge, "the challenge is the payload; it is the SHA-256 of the payload") \
    X(operator_domain,   "the payload alone was signed; a code from 1000 on is signed over operator_domain " \
                         "and exchange_id of GET /exchange, 16 and 32 bytes, and the payload")
/* clang-format on */

enum signing_mistake {
#define X(name, text) SIGNING_MISTAKE_##name,
    SIGNING_MISTAKE_LIST(X)
#undef X
        SIGNING_MISTAKE_COUNT
};

#define SIGNING_MISTAKE(name) (UINT32_C(1) << SIGNING_MISTAKE_##name)

static_assert(SIGNING_MISTAKE_COUNT <= 32, "a set of mistakes is one word");

/* What a client sent, decoded. */
struct signing_case {
    const uint8_t *payload;
    size_t payload_bytes; /* at most 4,144 */
    const uint8_t *key;   /* of any length: 32 Ed25519; 33, 64, 65 or an address of 20 Secp256k1 */
    size_t key_bytes;
    const uint8_t *signature; /* of any length */
    size_t signature_bytes;
    const struct eip712
        *eip712;             /* of the exchange; NULL: unknown, nothing of Secp256k1 is proved */
    const char *client_data; /* JSON of a passkey; NULL: no passkey */
    size_t client_data_bytes;
};

struct signing_finding {
    bool good;         /* the signature verifies as it was sent */
    bool proved;       /* it verifies once `mistakes` are undone */
    uint32_t mistakes; /* set of SIGNING_MISTAKE(name): of the signature and of the payload */
};

void signing_mistake_find(const struct signing_case *sent, struct signing_finding *finding);

/* Decodes Base64, also URL-safe and without padding; *mistakes says so. Returns the bytes, or -1
 * for text that is no Base64 at all or does not fit. */
CC_MUST_USE ptrdiff_t signing_mistake_decode(uint8_t *bytes, size_t capacity, const char *text,
                                             size_t count, uint32_t *mistakes);

/* Returns "high_s", or its sentence for people; static storage. */
const char *signing_mistake_name(enum signing_mistake mistake);
const char *signing_mistake_text(enum signing_mistake mistake);

#endif
