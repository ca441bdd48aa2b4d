#include "perp/request/pairing_cipher.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "crypto/secret.h"

enum { KEY_BYTES = 32, TAG_BYTES = 16, NONCE_BYTES = 12, LABEL_BYTES = 11, SESSION_BYTES = 32 };

static const char label[LABEL_BYTES + 1] = "perp pair 1";
static const uint8_t nonce[NONCE_BYTES];

bool pairing_key_make(struct pairing_key *key)
{
    size_t count = 0;

    key->key = EVP_EC_gen("P-256");
    bool good = key->key != NULL &&
                EVP_PKEY_get_octet_string_param(key->key, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY,
                                                key->point, sizeof key->point, &count) == 1 &&
                count == PAIRING_POINT_BYTES;
    if (!good)
        pairing_key_free(key);
    return good;
}

void pairing_key_free(struct pairing_key *key)
{
    EVP_PKEY_free(key->key);
    key->key = NULL;
}

/* The key of a point, NULL if it is none of the curve. */
static EVP_PKEY *key_of_point(const uint8_t point[PAIRING_POINT_BYTES])
{
    uint8_t bytes[PAIRING_POINT_BYTES];
    char group[] = "P-256";
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, bytes, sizeof bytes),
        OSSL_PARAM_construct_end(),
    };

    memcpy(bytes, point, sizeof bytes);
    if (context == NULL || EVP_PKEY_fromdata_init(context) != 1 ||
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1)
        key = NULL;
    EVP_PKEY_CTX_free(context);
    return key;
}

static bool hash(uint8_t digest[KEY_BYTES], const void *text, size_t count)
{
    size_t length = 0;

    return EVP_Q_digest(NULL, "SHA256", NULL, text, count, digest, &length) == 1 &&
           length == KEY_BYTES;
}

/* The key that both sides derive: of one's own key, the other's point, and both points in the order
 * of sender and receiver. */
static bool derive(EVP_PKEY *own, const uint8_t *other, const struct uuid *pairing_id,
                   const uint8_t *sender, const uint8_t *receiver, uint8_t key[KEY_BYTES])
{
    uint8_t text[LABEL_BYTES + KEY_BYTES + UUID_BYTES + 2 * PAIRING_POINT_BYTES];
    uint8_t *shared = text + LABEL_BYTES;
    size_t count = KEY_BYTES;
    EVP_PKEY *peer = key_of_point(other);
    EVP_PKEY_CTX *context = peer == NULL ? NULL : EVP_PKEY_CTX_new(own, NULL);
    bool good = context != NULL && EVP_PKEY_derive_init(context) == 1 &&
                EVP_PKEY_derive_set_peer(context, peer) == 1 &&
                EVP_PKEY_derive(context, shared, &count) == 1 && count == KEY_BYTES;

    if (good) {
        memcpy(text, label, LABEL_BYTES);
        memcpy(shared + KEY_BYTES, pairing_id->bytes, UUID_BYTES);
        memcpy(shared + KEY_BYTES + UUID_BYTES, sender, PAIRING_POINT_BYTES);
        memcpy(shared + KEY_BYTES + UUID_BYTES + PAIRING_POINT_BYTES, receiver,
               PAIRING_POINT_BYTES);
        good = hash(key, text, sizeof text);
    }
    secret_wipe(text, sizeof text);
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(peer);
    return good;
}

/* Encrypts, or decrypts and checks the tag. */
static bool cipher(const uint8_t key[KEY_BYTES], bool encrypts, const uint8_t *in, size_t count,
                   uint8_t *out, uint8_t tag[TAG_BYTES])
{
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int length = 0, end = 0;
    bool good = context != NULL &&
                EVP_CipherInit_ex2(context, EVP_aes_256_gcm(), key, nonce, encrypts, NULL) == 1 &&
                EVP_CipherUpdate(context, out, &length, in, (int)count) == 1;

    if (good && !encrypts)
        good = EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, TAG_BYTES, tag) == 1;
    good = good && EVP_CipherFinal_ex(context, out + length, &end) == 1 &&
           (size_t)length + (size_t)end == count;
    if (good && encrypts)
        good = EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, TAG_BYTES, tag) == 1;
    EVP_CIPHER_CTX_free(context);
    return good;
}

size_t pairing_seal(const uint8_t point[PAIRING_POINT_BYTES], const struct uuid *pairing_id,
                    const void *text, size_t count, uint8_t sealed[PAIRING_SEALED_MAX])
{
    struct pairing_key own;
    uint8_t key[KEY_BYTES];

    INVARIANT(count <= PAIRING_TEXT_MAX);
    if (!pairing_key_make(&own))
        return 0;
    memcpy(sealed, own.point, PAIRING_POINT_BYTES);
    bool good = derive(own.key, point, pairing_id, own.point, point, key) &&
                cipher(key, true, text, count, sealed + PAIRING_POINT_BYTES,
                       sealed + PAIRING_POINT_BYTES + count);
    secret_wipe(key, sizeof key);
    pairing_key_free(&own);
    return good ? PAIRING_POINT_BYTES + count + TAG_BYTES : 0;
}

size_t pairing_open(const struct pairing_key *key, const struct uuid *pairing_id,
                    const uint8_t *sealed, size_t count, uint8_t text[PAIRING_TEXT_MAX])
{
    uint8_t derived[KEY_BYTES], tag[TAG_BYTES];

    if (count <= PAIRING_POINT_BYTES + TAG_BYTES || count > PAIRING_SEALED_MAX)
        return 0;
    size_t text_bytes = count - PAIRING_POINT_BYTES - TAG_BYTES;
    memcpy(tag, sealed + count - TAG_BYTES, TAG_BYTES);
    bool good = derive(key->key, sealed, pairing_id, sealed, key->point, derived) &&
                cipher(derived, false, sealed + PAIRING_POINT_BYTES, text_bytes, text, tag);
    secret_wipe(derived, sizeof derived);
    return good ? text_bytes : 0;
}

bool pairing_code(const struct uuid *pairing_id, const uint8_t point[PAIRING_POINT_BYTES],
                  const uint8_t session_key[SESSION_BYTES], char code[PAIRING_CODE_MAX])
{
    static const char digits[] = "23456789abcdefghijkmnpqrstuvwxyz"; /* none looks like another */
    uint8_t text[LABEL_BYTES + UUID_BYTES + PAIRING_POINT_BYTES + SESSION_BYTES];
    uint8_t digest[KEY_BYTES];

    memcpy(text, label, LABEL_BYTES);
    memcpy(text + LABEL_BYTES, pairing_id->bytes, UUID_BYTES);
    memcpy(text + LABEL_BYTES + UUID_BYTES, point, PAIRING_POINT_BYTES);
    memcpy(text + LABEL_BYTES + UUID_BYTES + PAIRING_POINT_BYTES, session_key, SESSION_BYTES);
    if (!hash(digest, text, sizeof text))
        return false;
    for (unsigned i = 0, at = 0; i < 12; i++) {
        if (i == 4 || i == 8)
            code[at++] = '-';
        code[at++] = digits[digest[i] % 32];
    }
    code[PAIRING_CODE_MAX - 1] = '\0';
    return true;
}
