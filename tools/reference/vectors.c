#include "reference/vectors.h"

#include <openssl/sha.h>
#include <stdio.h>

#include "base/base64.h"
#include "base/hex.h"
#include "crypto/ed25519.h"
#include "crypto/eip712.h"
#include "crypto/operator_message.h"
#include "crypto/p256.h"
#include "crypto/secp256k1.h"
#include "crypto/signer.h"

enum { TEXT_MAX = 2048, BYTES_MAX = 1024 };

/* wire.md W4: an order of account 7, and a session for the key of that order. */
static const char order_payload[] =
    "AQAAAAAAAAABmMDeAABwAIAAAAAAAAChBwAAAAAAAAAAAAAAAAAAAEBCDwAAAAAAsDz"
    "//////////////////wEAAAABAAAA";
static const char session_payload[] =
    "AQENAAAAAAABmMDeAABwAIAAAAAAAAChBwAAAAAAAAADoQe/884Qvh1w3RjnS8CZZ+TWMJulDV8d3IZkElUxuAAAAAAAAA"
    "AA/////wAAAAA=";

/* An account with that session, label `treasury`; a price of 100,000 in market 1, three sources. */
static const char account_payload[] =
    "AQELAAAAAAABmMDeAABwAIAAAAAAAAChA6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbgAAAAAAAAAAHRy"
    "ZWFzdXJ5AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
static const char price_payload[] =
    "AQDoAwAAAAABmMDeAABwAIAAAAAAAAChAACAc+sUXRhAQg8AAAAAAAEAAAADAAAA";

/* An assertion of a soft authenticator for rp id localhost; ES256 is not deterministic. */
static const char passkey_payload[] =
    "AQINAAAAAAABmMDeAABxAbUdUhACQds9BwAAAAAAAADhNV8yrWq5q4IiMOZw85+gasIpQLwHIRRvINHhJHdVcQAAAAAAAA"
    "AA/////wAAAAA=";
static const char passkey_data[] = "SZYN5YgOjGh0NBcPZHZgW4/krrmihjLHmVzzuoMdl2MFAAAAAQ==";
static const char passkey_client[] =
    "{\"type\":\"webauthn.get\",\"challenge\":\"3zKWT10omAbEnDZSPn6kIZoeeiQQ8zkjLCvbZoEyyXs\","
    "\"origin\":\"http://localhost:8080\",\"crossOrigin\":false}";
static const char passkey_key[] = "A4x5ajPuRejndCuEO9Oi2XEyhgPwB1OtQLPydidA/gMs";
static const char passkey_signature[] =
    "xoJJXAc1Fq+QC1NlukLZCLor452b1UsUBobE1zjy7FFq54BMBKWuMl+qtDKpY1bOP469WPNTlv/Z1m5wR2kHxA==";

static size_t decode(uint8_t bytes[BYTES_MAX], const char *text)
{
    ptrdiff_t count = base64_decode(bytes, BYTES_MAX, text, strlen(text), NULL);
    INVARIANT(count >= 0);
    return (size_t)count;
}

static void print_base64(const char *name, const uint8_t *bytes, size_t count)
{
    char text[TEXT_MAX];
    base64_encode(text, bytes, count);
    printf("%-18s %s\n", name, text);
}

static void print_hex(const char *name, const uint8_t *bytes, size_t count)
{
    char text[TEXT_MAX];
    hex_encode(text, bytes, count);
    printf("%-18s %s\n", name, text);
}

/* The secret of both curves that are signed here: 00 01 .. 1f. */
static void make_secret(uint8_t secret[SIGNER_SEED_BYTES])
{
    for (uint8_t i = 0; i < SIGNER_SEED_BYTES; i++)
        secret[i] = i;
}

/* The signature is over the payload, or of an operator's code over what binds it to an exchange. */
static bool print_ed25519(const char *title, const char *text)
{
    uint8_t payload[BYTES_MAX], secret[SIGNER_SEED_BYTES], signature[SIGNER_SIGNATURE_BYTES];
    uint8_t buffer[OPERATOR_MESSAGE_MAX];
    struct signer_ed25519 signer;
    size_t count = decode(payload, text);
    make_secret(secret); /* the exchange id too */
    struct operator_message message = operator_message_of(buffer, secret, payload, count);
    signer_ed25519(&signer, secret);
    signer_ed25519_sign(&signer, message.bytes, message.count, signature);
    printf("\n%s\n\n```\n", title);
    print_hex("secret", secret, sizeof secret);
    if (operator_message_is_needed(payload, count))
        print_hex("exchange_id", secret, sizeof secret);
    print_base64("payload", payload, count);
    if (operator_message_is_needed(payload, count))
        print_hex("signed bytes", message.bytes, message.count);
    print_base64("public_key", signer.key, sizeof signer.key);
    print_base64("signature", signature, sizeof signature);
    printf("```\n");
    const struct ed25519_job job = { .key = signer.key,
                                     .signature = signature,
                                     .message = message.bytes,
                                     .message_bytes = message.count };
    return ed25519_verify(&job, 1) == 1;
}

static bool print_secp256k1(const char *title, const char *text)
{
    uint8_t payload[BYTES_MAX], secret[SIGNER_SEED_BYTES], key[SIGNER_SECP256K1_KEY_BYTES];
    uint8_t signature[SIGNER_SIGNATURE_BYTES];
    char type[EIP712_TYPE_MAX];
    struct eip712 eip712;
    struct eip712_hashes hashes;
    size_t count = decode(payload, text);
    make_secret(secret);
    eip712_init(&eip712, secret); /* the exchange id is 00 01 .. 1f too */
    eip712_encode_type(cc_load16(payload + 2), type);
    if (eip712_hash(&eip712, payload, count, &hashes) != 0 || !signer_secp256k1_key(secret, key) ||
        !signer_secp256k1_sign(secret, hashes.digest, signature))
        return false;
    printf("\n%s\n\n```\n", title);
    print_hex("secret", secret, sizeof secret);
    print_hex("exchange_id", secret, sizeof secret);
    print_base64("payload", payload, count);
    printf("%-18s %s\n", "type", type);
    print_hex("domain separator", eip712.domain_separator, EIP712_HASH_BYTES);
    print_hex("struct hash", hashes.struct_hash, EIP712_HASH_BYTES);
    print_hex("digest", hashes.digest, EIP712_HASH_BYTES);
    print_base64("public_key", key, sizeof key);
    print_base64("signature", signature, sizeof signature);
    printf("```\n");
    return secp256k1_verify(key, hashes.digest, signature);
}

static bool print_passkey(void)
{
    uint8_t payload[BYTES_MAX], signed_bytes[BYTES_MAX], key[BYTES_MAX], signature[BYTES_MAX];
    uint8_t digest[SHA256_DIGEST_LENGTH];
    size_t payload_bytes = decode(payload, passkey_payload);
    size_t data_bytes = decode(signed_bytes, passkey_data);
    size_t key_bytes = decode(key, passkey_key);
    size_t signature_bytes = decode(signature, passkey_signature);
    printf(
        "\n### 2 Passkey\ncreate_session, rp id `localhost`. The challenge is the SHA-256 of the "
        "payload in Base64url without\npadding; the signature is ES256 over authenticator_data "
        "and the SHA-256 of client_data_json.\n\n```\n");
    print_base64("payload", payload, payload_bytes);
    SHA256(payload, payload_bytes, digest);
    print_hex("SHA-256 of it", digest, sizeof digest);
    printf("%-18s %s\n%-18s %s\n", "client data", passkey_client, "authenticator_data",
           passkey_data);
    print_base64("public_key", key, key_bytes);
    print_base64("signature", signature, signature_bytes);
    printf("```\n");
    SHA256((const uint8_t *)passkey_client, strlen(passkey_client), signed_bytes + data_bytes);
    SHA256(signed_bytes, data_bytes + SHA256_DIGEST_LENGTH, digest);
    return p256_verify(NULL, key, digest, signature);
}

bool vectors_print(void)
{
    if (signer_init() != 0 || ed25519_init(ED25519_LIBRARY) != 0 || secp256k1_init() != 0 ||
        p256_init() != 0)
        return false;
    printf("\n## Worked signatures\nOf each signature_type. Base64 is what the envelope carries, "
           "the rest is hex.\n");
    return print_ed25519("### 0 Ed25519\nplace_limit_order; the signature is over the bytes of the "
                         "payload.",
                         order_payload) &&
           print_ed25519(
               "### 0 Ed25519, an operator\noracle_price; from code 1000 on the signature is "
               "over operator_domain, exchange_id and the payload.",
               price_payload) &&
           print_secp256k1(
               "### 1 Secp256k1\ncreate_session on the exchange of that id; the signature "
               "is over the EIP-712 digest.",
               session_payload) &&
           print_secp256k1(
               "### 1 Secp256k1, a new account\ncreate_account_secp256k1, signed by the "
               "key that it makes the first admin key.",
               account_payload) &&
           print_passkey();
}
