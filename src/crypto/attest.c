#include "crypto/attest.h"

#include <sodium.h>

enum { HEAD_SIGNED_BYTES = 160 };

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

void attest_head_sign(const struct attest_head *head, const struct signer_ed25519 *signer,
                      uint8_t out[ATTEST_HEAD_BYTES])
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

bool attest_head_verify(const uint8_t bytes[ATTEST_HEAD_BYTES], const uint8_t key[ATTEST_KEY_BYTES])
{
    return crypto_sign_verify_detached(bytes + HEAD_SIGNED_BYTES, bytes, HEAD_SIGNED_BYTES, key) ==
           0;
}
