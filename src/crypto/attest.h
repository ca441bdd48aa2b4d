/* attest.h - what the exchange signs about itself (journal.md, Heads, Receipts): a head names the
 * end of its journal at a moment, a receipt one request and the frame that holds it. Who keeps one
 * can prove later whether the journal still contains it. */
#ifndef CRYPTO_ATTEST_H
#define CRYPTO_ATTEST_H

#include "crypto/signer.h"

enum {
    ATTEST_ROTATION_BYTES = 96,
    ATTEST_HEAD_BYTES = 224,
    ATTEST_RECEIPT_BYTES = 280,
    ATTEST_HASH_BYTES = 32,
    ATTEST_KEY_BYTES = 32,
};

struct attest_head {
    uint8_t exchange_id[32];
    uint8_t journal_id[16];
    uint64_t boot;
    uint64_t frame;    /* number */
    uint64_t sequence; /* the last one up to that frame */
    uint64_t wall_ns;  /* node clock */
    uint8_t frame_hash[ATTEST_HASH_BYTES];
    uint8_t effects_hash[ATTEST_HASH_BYTES]; /* after that sequence */
};

struct attest_receipt {
    uint8_t exchange_id[32];
    uint8_t journal_id[16];
    uint8_t request_id[16];
    uint8_t payload_hash[ATTEST_HASH_BYTES]; /* attest_hash of what was signed */
    uint8_t key_hash[ATTEST_HASH_BYTES];     /* and of the public key */
    uint64_t account_id;
    uint64_t sequence;
    uint64_t processed_at_ns;
    uint64_t frame; /* number */
    uint8_t frame_hash[ATTEST_HASH_BYTES];
    uint16_t status; /* enum status */
    uint8_t reason;  /* enum reason */
};

/* SHA-256. */
void attest_hash(uint8_t out[ATTEST_HASH_BYTES], const uint8_t *bytes, size_t count);

/* Writes and signs a receipt. */
void attest_receipt_sign(const struct attest_receipt *receipt, const struct signer_ed25519 *signer,
                         uint8_t out[ATTEST_RECEIPT_BYTES]);

/* Reads a receipt. False if the bytes are none; the signature is not looked at. */
CC_MUST_USE bool attest_receipt_read(struct attest_receipt *receipt,
                                     const uint8_t bytes[ATTEST_RECEIPT_BYTES]);

/* Whether the key signed this receipt. */
CC_MUST_USE bool attest_receipt_verify(const uint8_t bytes[ATTEST_RECEIPT_BYTES],
                                       const uint8_t key[ATTEST_KEY_BYTES]);

/* Writes and signs a head. */
void attest_head_sign(const struct attest_head *head, const struct signer_ed25519 *signer,
                      uint8_t out[ATTEST_HEAD_BYTES]);

/* Reads a head. False if the bytes are none; the signature is not looked at. */
CC_MUST_USE bool attest_head_read(struct attest_head *head, const uint8_t bytes[ATTEST_HEAD_BYTES]);

/* Whether the key signed this head, with the signature that ends its bytes. */
CC_MUST_USE bool attest_head_is_signed(const struct attest_head *head,
                                       const uint8_t signature[SIGNER_SIGNATURE_BYTES],
                                       const uint8_t key[ATTEST_KEY_BYTES]);

/* Writes the body of a record 2018: the new key, signed by the former one. */
void attest_rotation_sign(const uint8_t exchange_id[32], const uint8_t key[ATTEST_KEY_BYTES],
                          const struct signer_ed25519 *former, uint8_t out[ATTEST_ROTATION_BYTES]);

/* Whether the key `former` gave its place to the key that `body` begins with. */
CC_MUST_USE bool attest_rotation_verify(const uint8_t body[ATTEST_ROTATION_BYTES],
                                        const uint8_t exchange_id[32],
                                        const uint8_t former[ATTEST_KEY_BYTES]);

#endif
