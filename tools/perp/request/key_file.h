/* key_file.h - a signing key of a client and the file it is kept in.
 *
 * The file is text: a `curve` line (ed25519 or secp256k1), a `public` line and a `secret` line,
 * both standard Base64. A session key that was admitted has a line `exchange` too, 64 hex digits:
 * it signs for that exchange only. The file is made with mode 0600 and refused when others may
 * read it.
 *
 * Owner. One thread. A key in memory is wiped by key_file_wipe. */
#ifndef PERP_REQUEST_KEY_FILE_H
#define PERP_REQUEST_KEY_FILE_H

#include "crypto/signer.h"

enum { KEY_FILE_ERROR_MAX = 4608, KEY_FILE_EXCHANGE_BYTES = 32 };

struct key_file {
    uint8_t curve;        /* enum signature_type: Ed25519 or Secp256k1 */
    uint8_t public_bytes; /* 32 or 33 */
    uint8_t public_key[SIGNER_SECP256K1_KEY_BYTES];
    uint8_t secret[SIGNER_SEED_BYTES];
    bool is_bound; /* signs for exchange_id only */
    uint8_t exchange_id[KEY_FILE_EXCHANGE_BYTES];
    struct signer_ed25519 ed25519; /* curve Ed25519 only */
};

/* "ed25519", "secp256k1". */
const char *key_file_curve_name(uint32_t curve);

/* A key of its secret. False when the secret is not one of the curve. */
CC_MUST_USE bool key_file_from_secret(struct key_file *key, uint32_t curve,
                                      const uint8_t secret[SIGNER_SEED_BYTES]);

/* A fresh random key. 0 or -errno. */
CC_MUST_USE int key_file_make(struct key_file *key, uint32_t curve);

/* Writes the key to a file that does not exist yet (`replace`: or that does). False leaves a
 * sentence in `error` and an existing file as it was. */
CC_MUST_USE bool key_file_write(const struct key_file *key, const char *path, bool replace,
                                char error[KEY_FILE_ERROR_MAX]);

/* False leaves a sentence in `error` that names the file and the line. */
CC_MUST_USE bool key_file_read(struct key_file *key, const char *path,
                               char error[KEY_FILE_ERROR_MAX]);

void key_file_wipe(struct key_file *key);

#endif
