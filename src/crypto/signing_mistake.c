#include "crypto/signing_mistake.h"

#include <openssl/sha.h>

#include "base/base64.h"
#include "base/decimal.h"
#include "base/hex.h"
#include "base/json_scan.h"
#include "base/request.h"
#include "crypto/ed25519.h"
#include "crypto/keccak.h"
#include "crypto/operator_message.h"
#include "crypto/secp256k1.h"
#include "crypto/signing_variant.h"

enum {
    TEXT_MAX = 2 + 2 * REQUEST_PAYLOAD_MAX + 1, /* the payload in hex with 0x */
    ADDRESS_BYTES = 20,
    POINT_BYTES = 65,
    WALLET_BYTES = 65,
};

/* A search: what was sent, in the form in which it can be verified. */
struct search {
    const struct signing_case *sent;
    uint8_t key[33];
    uint8_t signature[64];
    uint32_t mistakes;
};

/* ------------------------------------------------------------------ verdicts */

static bool ed25519_fits(const struct search *search, const void *message, size_t count)
{
    const struct ed25519_job job = { .key = search->key,
                                     .signature = search->signature,
                                     .message = message,
                                     .message_bytes = count };
    return ed25519_verify(&job, 1) == 1;
}

static bool digest_fits(const struct search *search, const uint8_t digest[32])
{
    return secp256k1_verify(search->key, digest, search->signature);
}

static bool keccak_fits(const struct search *search, const void *bytes, size_t count)
{
    uint8_t digest[KECCAK_BYTES];
    keccak_256(digest, bytes, count);
    return digest_fits(search, digest);
}

static bool sha256_fits(const struct search *search, const void *bytes, size_t count)
{
    uint8_t digest[SHA256_DIGEST_LENGTH];
    SHA256(bytes, count, digest);
    return digest_fits(search, digest);
}

/* The message of personal_sign (EIP-191, version 0x45). */
static bool personal_fits(const struct search *search, const void *bytes, size_t count)
{
    static const char prefix[] = "\x19"
                                 "Ethereum Signed Message:\n";
    char length[DECIMAL_TEXT_MAX];
    uint8_t digest[KECCAK_BYTES];
    struct keccak_state state;
    keccak_begin(&state);
    keccak_add(&state, prefix, sizeof prefix - 1);
    keccak_add(&state, length, decimal_format_uint(length, count));
    keccak_add(&state, bytes, count);
    keccak_end(&state, KECCAK_PAD_ETHEREUM, digest);
    return digest_fits(search, digest);
}

/* ------------------------------------------------------------ texts of a payload */

/* Base64 of the payload: standard, URL-safe, without padding. Returns the length. */
static size_t make_base64(const struct signing_case *sent, unsigned form, char text[TEXT_MAX])
{
    size_t count = base64_encode(text, sent->payload, sent->payload_bytes);
    for (size_t i = 0; form > 0 && i < count; i++)
        text[i] = (char)(text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i]);
    while (form == 2 && count > 0 && text[count - 1] == '=')
        count--;
    return count;
}

/* Hex of bytes: lower case, upper case, with 0x. Returns the length. */
static size_t make_hex(const uint8_t *bytes, size_t count, unsigned form, char text[TEXT_MAX])
{
    size_t at = form == 2 ? 2 : 0;
    memcpy(text, "0x", 2);
    hex_encode(text + at, bytes, count);
    for (size_t i = 0; form == 1 && i < 2 * count; i++)
        text[i] = (char)(text[i] >= 'a' ? text[i] & ~0x20 : text[i]);
    return at + 2 * count;
}

enum { TEXT_FORMS = 3 };

/* ------------------------------------------------------------------- Ed25519 */

static bool ed25519_hash_fits(const struct search *search)
{
    const struct signing_case *sent = search->sent;
    uint8_t hash[SHA512_DIGEST_LENGTH];
    char text[2 * SHA512_DIGEST_LENGTH + 1];
    SHA256(sent->payload, sent->payload_bytes, hash);
    hex_encode(text, hash, SHA256_DIGEST_LENGTH);
    if (ed25519_fits(search, hash, SHA256_DIGEST_LENGTH) ||
        ed25519_fits(search, text, 2 * SHA256_DIGEST_LENGTH))
        return true;
    SHA512(sent->payload, sent->payload_bytes, hash);
    hex_encode(text, hash, SHA512_DIGEST_LENGTH);
    if (ed25519_fits(search, hash, SHA512_DIGEST_LENGTH) ||
        ed25519_fits(search, text, 2 * SHA512_DIGEST_LENGTH))
        return true;
    keccak_256(hash, sent->payload, sent->payload_bytes);
    return ed25519_fits(search, hash, KECCAK_BYTES);
}

/* The mistake by which the message was made; 0: none of these. */
static uint32_t search_ed25519(const struct search *search)
{
    const struct signing_case *sent = search->sent;
    char text[TEXT_MAX];
    struct signing_variant variant;
    for (unsigned form = 0; form < TEXT_FORMS; form++)
        if (ed25519_fits(search, text, make_base64(sent, form, text)))
            return SIGNING_MISTAKE(base64_signed) |
                   (form > 0 ? SIGNING_MISTAKE(url_safe_base64) : 0);
    for (unsigned form = 0; form < TEXT_FORMS; form++)
        if (ed25519_fits(search, text, make_hex(sent->payload, sent->payload_bytes, form, text)))
            return SIGNING_MISTAKE(hex_signed);
    if (ed25519_hash_fits(search))
        return SIGNING_MISTAKE(hash_signed);
    for (unsigned i = 0; i < SIGNING_VARIANT_COUNT; i++)
        if (signing_variant_make(&variant, i, sent->payload, sent->payload_bytes) &&
            ed25519_fits(search, variant.bytes, variant.count))
            return UINT32_C(1) << variant.mistake;
    return 0;
}

/* ----------------------------------------------------------------- Secp256k1 */

/* Other domains: no salt at all, chainId 1 instead, and salts that are not this exchange's. */
static bool other_domain_fits(const struct search *search)
{
    const struct signing_case *sent = search->sent;
    struct eip712 other = *sent->eip712;
    struct eip712_hashes hashes;
    for (unsigned i = 0; i < SIGNING_DOMAIN_COUNT; i++) {
        signing_variant_domain(i, sent->eip712->salt, other.domain_separator);
        if (eip712_hash(&other, sent->payload, sent->payload_bytes, &hashes) == 0 &&
            digest_fits(search, hashes.digest))
            return true;
    }
    return false;
}

/* A text that was given to a wallet or a hash instead of the typed data. */
static uint32_t search_text(const struct search *search, const void *bytes, size_t count,
                            uint32_t mistake)
{
    if (personal_fits(search, bytes, count))
        return SIGNING_MISTAKE(personal_sign);
    if (keccak_fits(search, bytes, count) || sha256_fits(search, bytes, count))
        return mistake;
    return 0;
}

static uint32_t search_secp256k1(const struct search *search, const struct eip712_hashes *hashes)
{
    const struct signing_case *sent = search->sent;
    char text[TEXT_MAX];
    struct signing_variant variant;
    struct eip712_hashes other;
    if (other_domain_fits(search))
        return SIGNING_MISTAKE(wrong_salt);
    if (digest_fits(search, hashes->struct_hash))
        return SIGNING_MISTAKE(domain_missing);
    uint32_t found =
        search_text(search, sent->payload, sent->payload_bytes, SIGNING_MISTAKE(hash_signed));
    if (found == 0)
        found = search_text(search, hashes->digest, sizeof hashes->digest,
                            SIGNING_MISTAKE(hash_signed));
    for (unsigned form = 0; form < TEXT_FORMS && found == 0; form++) {
        found = search_text(search, text, make_base64(sent, form, text),
                            SIGNING_MISTAKE(base64_signed));
        if (found == 0)
            found =
                search_text(search, text, make_hex(sent->payload, sent->payload_bytes, form, text),
                            SIGNING_MISTAKE(hex_signed));
        if (found == 0)
            found = search_text(search, text, make_hex(hashes->digest, 32, form, text),
                                SIGNING_MISTAKE(hex_signed));
    }
    for (unsigned i = 0; i < SIGNING_VARIANT_COUNT && found == 0; i++)
        if (signing_variant_make(&variant, i, sent->payload, sent->payload_bytes) &&
            eip712_hash(sent->eip712, variant.bytes, variant.count, &other) == 0 &&
            digest_fits(search, other.digest))
            found = UINT32_C(1) << variant.mistake;
    return found;
}

/* The key in its compressed form. False: it is none. */
static bool accept_key(struct search *search)
{
    const struct signing_case *sent = search->sent;
    uint8_t point[POINT_BYTES] = { 4 };
    if (sent->key_bytes == sizeof search->key) {
        memcpy(search->key, sent->key, sizeof search->key);
        return true;
    }
    if (sent->key_bytes == ADDRESS_BYTES)
        search->mistakes |= SIGNING_MISTAKE(address_as_key);
    if (sent->key_bytes != POINT_BYTES && sent->key_bytes != POINT_BYTES - 1)
        return false;
    search->mistakes |= SIGNING_MISTAKE(uncompressed_key);
    memcpy(point + (POINT_BYTES - sent->key_bytes), sent->key, sent->key_bytes);
    return secp256k1_compress(point, search->key);
}

/* r and s, 32 bytes each. False: nothing that holds them. */
static bool accept_signature(struct search *search)
{
    const struct signing_case *sent = search->sent;
    if (sent->signature_bytes == sizeof search->signature) {
        memcpy(search->signature, sent->signature, sizeof search->signature);
        return true;
    }
    if (sent->signature_bytes == WALLET_BYTES) {
        search->mistakes |= SIGNING_MISTAKE(wallet_signature);
        memcpy(search->signature, sent->signature, sizeof search->signature);
        return true;
    }
    if (!secp256k1_from_der(sent->signature, sent->signature_bytes, search->signature))
        return false;
    search->mistakes |= SIGNING_MISTAKE(der_signature);
    return true;
}

static void find_secp256k1(struct search *search, struct signing_finding *finding)
{
    const struct signing_case *sent = search->sent;
    struct eip712_hashes hashes;
    bool has_key = accept_key(search), has_signature = accept_signature(search);
    if (has_signature && secp256k1_lower_s(search->signature))
        search->mistakes |= SIGNING_MISTAKE(high_s);
    finding->mistakes |= search->mistakes;
    if (!has_key || !has_signature || sent->eip712 == NULL ||
        eip712_hash(sent->eip712, sent->payload, sent->payload_bytes, &hashes) != 0)
        return;
    if (digest_fits(search, hashes.digest)) {
        finding->good = search->mistakes == 0;
        finding->proved = !finding->good;
        return;
    }
    uint32_t found = search_secp256k1(search, &hashes);
    finding->mistakes |= found;
    finding->proved = found != 0;
}

/* Of an operator's code; without the exchange's id nothing is proved but the usual mistake. */
static void find_operator(const struct search *search, struct signing_finding *finding)
{
    const struct signing_case *sent = search->sent;
    uint8_t buffer[OPERATOR_MESSAGE_MAX];
    if (sent->eip712 != NULL) {
        struct operator_message message =
            operator_message_of(buffer, sent->eip712->salt, sent->payload, sent->payload_bytes);
        finding->good = ed25519_fits(search, message.bytes, message.count);
    }
    if (!finding->good && ed25519_fits(search, sent->payload, sent->payload_bytes)) {
        finding->mistakes |= SIGNING_MISTAKE(operator_domain);
        finding->proved = true;
    }
}

static void find_ed25519(struct search *search, struct signing_finding *finding)
{
    const struct signing_case *sent = search->sent;
    if (sent->signature_bytes != sizeof search->signature)
        return;
    memcpy(search->key, sent->key, sent->key_bytes);
    memcpy(search->signature, sent->signature, sizeof search->signature);
    if (operator_message_is_needed(sent->payload, sent->payload_bytes)) {
        find_operator(search, finding);
        return;
    }
    finding->good = ed25519_fits(search, sent->payload, sent->payload_bytes);
    if (finding->good)
        return;
    uint32_t found = search_ed25519(search);
    finding->mistakes |= found;
    finding->proved = found != 0;
}

/* The challenge of a passkey is text inside its client data; its signature is not looked at. */
static void find_passkey(struct search *search, struct signing_finding *finding)
{
    const struct signing_case *sent = search->sent;
    struct json_member challenge = JSON_MEMBER("challenge");
    char text[2048], wrong[TEXT_MAX];
    size_t error_at = 0;
    if (sent->signature_bytes != sizeof search->signature)
        (void)accept_signature(search);
    if (sent->key_bytes == POINT_BYTES)
        search->mistakes |= SIGNING_MISTAKE(uncompressed_key);
    finding->mistakes |= search->mistakes;
    if (json_scan_members(sent->client_data, sent->client_data_bytes, &challenge, 1, &error_at) !=
            JSON_OK ||
        challenge.kind != JSON_STRING)
        return;
    ptrdiff_t count = json_scan_unescape(&challenge.value, text, sizeof text);
    size_t wanted = make_base64(sent, 2, wrong);
    if (count == (ptrdiff_t)wanted && memcmp(text, wrong, wanted) == 0) {
        finding->mistakes |= SIGNING_MISTAKE(payload_challenge);
        finding->proved = true;
    }
}

void signing_mistake_find(const struct signing_case *sent, struct signing_finding *finding)
{
    struct search search = { .sent = sent };
    *finding = (struct signing_finding){ 0 };
    if (sent->payload_bytes > REQUEST_PAYLOAD_MAX)
        return;
    finding->mistakes = signing_variant_seen(sent->payload, sent->payload_bytes);
    if (sent->client_data != NULL)
        find_passkey(&search, finding);
    else if (sent->key_bytes == ED25519_KEY_BYTES)
        find_ed25519(&search, finding);
    else
        find_secp256k1(&search, finding);
}

ptrdiff_t signing_mistake_decode(uint8_t *bytes, size_t capacity, const char *text, size_t count,
                                 uint32_t *mistakes)
{
    enum { LENGTH_MAX = 8192 };
    char standard[LENGTH_MAX + 4];
    uint32_t found = 0;
    if (count > LENGTH_MAX)
        return -1;
    for (size_t i = 0; i < count; i++) {
        char c = text[i];
        found |= c == '-' || c == '_' ? SIGNING_MISTAKE(url_safe_base64) : 0;
        standard[i] = (char)(c == '-' ? '+' : c == '_' ? '/' : c);
    }
    while (count % 4 != 0) {
        standard[count++] = '=';
        found |= SIGNING_MISTAKE(unpadded_base64);
    }
    ptrdiff_t length = base64_decode(bytes, capacity, standard, count, NULL);
    if (length < 0)
        return -1;
    *mistakes |= found;
    return length;
}

const char *signing_mistake_name(enum signing_mistake mistake)
{
    static const char *const names[] = {
#define X(name, text) #name,
        SIGNING_MISTAKE_LIST(X)
#undef X
    };
    INVARIANT((unsigned)mistake < SIGNING_MISTAKE_COUNT);
    return names[mistake];
}

const char *signing_mistake_text(enum signing_mistake mistake)
{
    switch (mistake) {
#define X(name, text)            \
    case SIGNING_MISTAKE_##name: \
        return text;
        SIGNING_MISTAKE_LIST(X)
#undef X
    case SIGNING_MISTAKE_COUNT:
        break;
    }
    INVARIANT(mistake < SIGNING_MISTAKE_COUNT);
    return NULL;
}
