#include "node/run/signing_key.h"

#include <errno.h>

#include "store/file_head.h"
#include "store/small_file.h"

#define FILE_NAME "signing.key"

/* The file as its bytes are (journal.md, Signing key). */
struct key_image {
    struct file_head head;
    uint8_t exchange_id[32];
    uint8_t seed[SIGNER_SEED_BYTES];
    uint8_t public[SIGNER_ED25519_KEY_BYTES];
    uint8_t zero[16];
};

static_assert(sizeof(struct key_image) == 128, "journal.md, Signing key");
static_assert(offsetof(struct key_image, exchange_id) == 16, "journal.md, Signing key");
static_assert(offsetof(struct key_image, seed) == 48, "journal.md, Signing key");
static_assert(offsetof(struct key_image, public) == 80, "journal.md, Signing key");

static const struct file_kind key_kind = {
    .magic = { 'p', 'e', 'r', 'p', 'd', 'K', 'E', 'Y' },
    .format_version = 1,
    .header_bytes = sizeof(struct key_image),
};

static enum refusal_kind refuse(struct refusal *refusal, const char *text)
{
    return refusal_set(refusal, REFUSAL_signing_key, "%s", text);
}

static enum refusal_kind make(struct disk *disk, const struct exchange_file *exchange,
                              struct signer_ed25519 *signer, struct refusal *refusal)
{
    struct key_image image = { 0 };

    if (!cc_is_zero(exchange->signing_public, sizeof exchange->signing_public))
        return refuse(refusal, "signing.key is missing; put a copy of it back");
    memcpy(image.exchange_id, exchange->exchange_id, sizeof image.exchange_id);
    disk_random(disk, image.seed, sizeof image.seed);
    signer_ed25519(signer, image.seed);
    memcpy(image.public, signer->key, sizeof image.public);
    file_head_seal((uint8_t *)&image, sizeof image, &key_kind);
    int error = small_file_replace(disk, FILE_NAME, &image, sizeof image);
    explicit_bzero(&image, sizeof image);
    return error < 0 ? refusal_machine(refusal, "writing signing.key", error) : REFUSAL_none;
}

/* What is in the file; *is_there false: no file. */
static enum refusal_kind read(struct disk *disk, const struct exchange_file *exchange,
                              struct signer_ed25519 *signer, bool *is_there,
                              struct refusal *refusal)
{
    uint8_t bytes[sizeof(struct key_image) + 1];
    struct key_image image;
    int file = disk_open(disk, FILE_NAME, DISK_SECRET);

    *is_there = file != -ENOENT;
    if (!*is_there)
        return REFUSAL_none;
    if (file == -EPERM)
        return refuse(refusal, "signing.key is open to group or others; its mode must be 0600");
    if (file < 0)
        return refusal_machine(refusal, "opening signing.key", file);
    int64_t count = disk_read(disk, file, 0, bytes, sizeof bytes);
    disk_close(disk, file);
    if (count < 0)
        return refusal_machine(refusal, "reading signing.key", (int)count);
    memcpy(&image, bytes, sizeof image);
    bool is_whole = count == sizeof image && file_head_is(bytes, &key_kind) &&
                    file_head_is_intact(bytes, sizeof image) &&
                    cc_is_zero(image.zero, sizeof image.zero);
    bool is_own = memcmp(image.exchange_id, exchange->exchange_id, sizeof image.exchange_id) == 0;
    signer_ed25519(signer, image.seed);
    bool is_pair = memcmp(image.public, signer->key, sizeof image.public) == 0;
    explicit_bzero(&image, sizeof image);
    explicit_bzero(bytes, sizeof bytes);
    if (!is_whole || !is_pair)
        return refuse(refusal, "signing.key is damaged; put a copy of it back");
    return is_own ? REFUSAL_none : refuse(refusal, "signing.key is another exchange's");
}

enum refusal_kind signing_key_open(struct disk *disk, const struct exchange_file *exchange,
                                   const uint8_t *wanted, struct signer_ed25519 *signer,
                                   struct refusal *refusal)
{
    bool is_there;
    enum refusal_kind kind = read(disk, exchange, signer, &is_there, refusal);

    if (kind == REFUSAL_none && !is_there)
        kind = make(disk, exchange, signer, refusal);
    if (kind != REFUSAL_none)
        return kind;
    if (!cc_is_zero(exchange->signing_public, sizeof exchange->signing_public) &&
        memcmp(exchange->signing_public, signer->key, sizeof signer->key) != 0)
        return refuse(refusal, "signing.key is another key than the one that `exchange` names");
    if (wanted != NULL && memcmp(wanted, signer->key, sizeof signer->key) != 0)
        return refuse(refusal, "signing.key is another key than exchange.signing_public");
    return REFUSAL_none;
}
