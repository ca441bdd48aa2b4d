#include "crypto/attest.h"

#include <sodium.h>

enum { HEAD_SIGNED_BYTES = 160, RECEIPT_SIGNED_BYTES = 216 };

/* A head as its bytes are (journal.md, Heads). */
struct head_image {
    char magic[16];
    uint8_t exchange_id[32];
    uint8_t journal_id[16];
    uint64_t boot;
    uint64_t frame;
    uint64_t sequence;
    uint64_t wall_ns;
    uint8_t frame_hash[32];
    uint8_t effects_hash[32];
    uint8_t signature[SIGNER_SIGNATURE_BYTES];
};

static_assert(sizeof(struct head_image) == ATTEST_HEAD_BYTES, "journal.md, Heads");
static_assert(offsetof(struct head_image, exchange_id) == 16, "journal.md, Heads");
static_assert(offsetof(struct head_image, journal_id) == 48, "journal.md, Heads");
static_assert(offsetof(struct head_image, boot) == 64, "journal.md, Heads");
static_assert(offsetof(struct head_image, frame) == 72, "journal.md, Heads");
static_assert(offsetof(struct head_image, sequence) == 80, "journal.md, Heads");
static_assert(offsetof(struct head_image, wall_ns) == 88, "journal.md, Heads");
static_assert(offsetof(struct head_image, frame_hash) == 96, "journal.md, Heads");
static_assert(offsetof(struct head_image, effects_hash) == 128, "journal.md, Heads");
static_assert(offsetof(struct head_image, signature) == HEAD_SIGNED_BYTES, "journal.md, Heads");

static const char head_magic[16] = "perpd head 1";

static struct head_image image_of(const struct attest_head *head)
{
    struct head_image image = {
        .boot = head->boot,
        .frame = head->frame,
        .sequence = head->sequence,
        .wall_ns = head->wall_ns,
    };

    memcpy(image.magic, head_magic, sizeof image.magic);
    memcpy(image.exchange_id, head->exchange_id, sizeof image.exchange_id);
    memcpy(image.journal_id, head->journal_id, sizeof image.journal_id);
    memcpy(image.frame_hash, head->frame_hash, sizeof image.frame_hash);
    memcpy(image.effects_hash, head->effects_hash, sizeof image.effects_hash);
    return image;
}

void attest_head_sign(const struct attest_head *head, const struct signer_ed25519 *signer,
                      uint8_t out[ATTEST_HEAD_BYTES])
{
    struct head_image image = image_of(head);

    signer_ed25519_sign(signer, &image, HEAD_SIGNED_BYTES, image.signature);
    memcpy(out, &image, sizeof image);
}

bool attest_head_read(struct attest_head *head, const uint8_t bytes[ATTEST_HEAD_BYTES])
{
    struct head_image image;

    memcpy(&image, bytes, sizeof image);
    if (memcmp(image.magic, head_magic, sizeof image.magic) != 0)
        return false;
    head->boot = image.boot;
    head->frame = image.frame;
    head->sequence = image.sequence;
    head->wall_ns = image.wall_ns;
    memcpy(head->exchange_id, image.exchange_id, sizeof head->exchange_id);
    memcpy(head->journal_id, image.journal_id, sizeof head->journal_id);
    memcpy(head->frame_hash, image.frame_hash, sizeof head->frame_hash);
    memcpy(head->effects_hash, image.effects_hash, sizeof head->effects_hash);
    return true;
}

bool attest_head_is_signed(const struct attest_head *head,
                           const uint8_t signature[SIGNER_SIGNATURE_BYTES],
                           const uint8_t key[ATTEST_KEY_BYTES])
{
    struct head_image image = image_of(head);

    return crypto_sign_verify_detached(signature, (const uint8_t *)&image, HEAD_SIGNED_BYTES,
                                       key) == 0;
}

/* ---- receipts -------------------------------------------------------------------------------- */

/* A receipt as its bytes are (journal.md, Receipts). */
struct receipt_image {
    char magic[16];
    uint8_t exchange_id[32];
    uint8_t journal_id[16];
    uint8_t request_id[16];
    uint8_t payload_hash[32];
    uint8_t key_hash[32];
    uint64_t account_id;
    uint64_t sequence;
    uint64_t processed_at_ns;
    uint64_t frame;
    uint8_t frame_hash[32];
    uint16_t status;
    uint8_t reason;
    uint8_t pad[5];
    uint8_t signature[SIGNER_SIGNATURE_BYTES];
};

static_assert(sizeof(struct receipt_image) == ATTEST_RECEIPT_BYTES, "journal.md, Receipts");
static_assert(offsetof(struct receipt_image, exchange_id) == 16, "journal.md, Receipts");
static_assert(offsetof(struct receipt_image, journal_id) == 48, "journal.md, Receipts");
static_assert(offsetof(struct receipt_image, request_id) == 64, "journal.md, Receipts");
static_assert(offsetof(struct receipt_image, payload_hash) == 80, "journal.md, Receipts");
static_assert(offsetof(struct receipt_image, key_hash) == 112, "journal.md, Receipts");
static_assert(offsetof(struct receipt_image, account_id) == 144, "journal.md, Receipts");
static_assert(offsetof(struct receipt_image, sequence) == 152, "journal.md, Receipts");
static_assert(offsetof(struct receipt_image, processed_at_ns) == 160, "journal.md, Receipts");
static_assert(offsetof(struct receipt_image, frame) == 168, "journal.md, Receipts");
static_assert(offsetof(struct receipt_image, frame_hash) == 176, "journal.md, Receipts");
static_assert(offsetof(struct receipt_image, status) == 208, "journal.md, Receipts");
static_assert(offsetof(struct receipt_image, reason) == 210, "journal.md, Receipts");
static_assert(offsetof(struct receipt_image, signature) == RECEIPT_SIGNED_BYTES, "as it says");

static const char receipt_magic[16] = "perpd receipt 1";

void attest_hash(uint8_t out[ATTEST_HASH_BYTES], const uint8_t *bytes, size_t count)
{
    crypto_hash_sha256(out, bytes, count);
}

void attest_receipt_sign(const struct attest_receipt *receipt, const struct signer_ed25519 *signer,
                         uint8_t out[ATTEST_RECEIPT_BYTES])
{
    struct receipt_image image = {
        .account_id = receipt->account_id,
        .sequence = receipt->sequence,
        .processed_at_ns = receipt->processed_at_ns,
        .frame = receipt->frame,
        .status = receipt->status,
        .reason = receipt->reason,
    };

    memcpy(image.magic, receipt_magic, sizeof image.magic);
    memcpy(image.exchange_id, receipt->exchange_id, sizeof image.exchange_id);
    memcpy(image.journal_id, receipt->journal_id, sizeof image.journal_id);
    memcpy(image.request_id, receipt->request_id, sizeof image.request_id);
    memcpy(image.payload_hash, receipt->payload_hash, sizeof image.payload_hash);
    memcpy(image.key_hash, receipt->key_hash, sizeof image.key_hash);
    memcpy(image.frame_hash, receipt->frame_hash, sizeof image.frame_hash);
    signer_ed25519_sign(signer, &image, RECEIPT_SIGNED_BYTES, image.signature);
    memcpy(out, &image, sizeof image);
}

bool attest_receipt_read(struct attest_receipt *receipt, const uint8_t bytes[ATTEST_RECEIPT_BYTES])
{
    static const uint8_t zero[5];
    struct receipt_image image;

    memcpy(&image, bytes, sizeof image);
    if (memcmp(image.magic, receipt_magic, sizeof image.magic) != 0 ||
        memcmp(image.pad, zero, sizeof zero) != 0)
        return false;
    receipt->account_id = image.account_id;
    receipt->sequence = image.sequence;
    receipt->processed_at_ns = image.processed_at_ns;
    receipt->frame = image.frame;
    receipt->status = image.status;
    receipt->reason = image.reason;
    memcpy(receipt->exchange_id, image.exchange_id, sizeof receipt->exchange_id);
    memcpy(receipt->journal_id, image.journal_id, sizeof receipt->journal_id);
    memcpy(receipt->request_id, image.request_id, sizeof receipt->request_id);
    memcpy(receipt->payload_hash, image.payload_hash, sizeof receipt->payload_hash);
    memcpy(receipt->key_hash, image.key_hash, sizeof receipt->key_hash);
    memcpy(receipt->frame_hash, image.frame_hash, sizeof receipt->frame_hash);
    return true;
}

bool attest_receipt_verify(const uint8_t bytes[ATTEST_RECEIPT_BYTES],
                           const uint8_t key[ATTEST_KEY_BYTES])
{
    return crypto_sign_verify_detached(bytes + RECEIPT_SIGNED_BYTES, bytes, RECEIPT_SIGNED_BYTES,
                                       key) == 0;
}

/* ---- rotations ------------------------------------------------------------------------------- */

/* What the former key signs (journal.md, Signing key). */
struct rotation_message {
    char magic[16];
    uint8_t exchange_id[32];
    uint8_t key[ATTEST_KEY_BYTES];
};

static_assert(sizeof(struct rotation_message) == 80, "journal.md, Signing key");

static struct rotation_message rotation_of(const uint8_t exchange_id[32],
                                           const uint8_t key[ATTEST_KEY_BYTES])
{
    struct rotation_message message = { .magic = "perpd rotate 1" };

    memcpy(message.exchange_id, exchange_id, sizeof message.exchange_id);
    memcpy(message.key, key, sizeof message.key);
    return message;
}

void attest_rotation_sign(const uint8_t exchange_id[32], const uint8_t key[ATTEST_KEY_BYTES],
                          const struct signer_ed25519 *former, uint8_t out[ATTEST_ROTATION_BYTES])
{
    struct rotation_message message = rotation_of(exchange_id, key);

    memcpy(out, key, ATTEST_KEY_BYTES);
    signer_ed25519_sign(former, &message, sizeof message, out + ATTEST_KEY_BYTES);
}

bool attest_rotation_verify(const uint8_t body[ATTEST_ROTATION_BYTES],
                            const uint8_t exchange_id[32], const uint8_t former[ATTEST_KEY_BYTES])
{
    struct rotation_message message = rotation_of(exchange_id, body);

    return crypto_sign_verify_detached(body + ATTEST_KEY_BYTES, (const uint8_t *)&message,
                                       sizeof message, former) == 0;
}
