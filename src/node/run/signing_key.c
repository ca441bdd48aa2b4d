#include "node/run/signing_key.h"

#include <errno.h>

#include "store/file_head.h"
#include "store/small_file.h"

#define FILE_NAME "signing.key"

/* The file as its bytes are (journal.md, Signing key); `count` rotations of it are there. */
struct key_image {
    struct file_head head;
    uint8_t exchange_id[32];
    uint8_t seed[SIGNER_SEED_BYTES];
    uint8_t public[SIGNER_ED25519_KEY_BYTES];
    uint8_t zero[16];
    uint8_t rotations[SIGNING_KEY_ROTATIONS_MAX][ATTEST_ROTATION_BYTES];
};

enum { HEADER_BYTES = 128 };

static_assert(offsetof(struct key_image, rotations) == HEADER_BYTES, "journal.md, Signing key");
static_assert(offsetof(struct key_image, exchange_id) == 16, "journal.md, Signing key");
static_assert(offsetof(struct key_image, seed) == 48, "journal.md, Signing key");
static_assert(offsetof(struct key_image, public) == 80, "journal.md, Signing key");

static const struct file_kind key_kind = {
    .magic = { 'p', 'e', 'r', 'p', 'd', 'K', 'E', 'Y' },
    .format_version = 1,
    .header_bytes = HEADER_BYTES,
};

static enum refusal_kind refuse(struct refusal *refusal, const char *text)
{
    return refusal_set(refusal, REFUSAL_signing_key, "%s", text);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Writes a file with a fresh seed and the rotations of `key`, whose key it becomes. With `former`
 * the rotation to it, signed by that, is added. */
static enum refusal_kind write_new(struct disk *disk, const struct exchange_file *exchange,
                                   struct signing_key *key, const struct signer_ed25519 *former,
                                   struct refusal *refusal)
{
    struct key_image image = { 0 };

    memcpy(image.exchange_id, exchange->exchange_id, sizeof image.exchange_id);
    disk_random(disk, image.seed, sizeof image.seed);
    signer_ed25519(&key->signer, image.seed);
    memcpy(image.public, key->signer.key, sizeof image.public);
    if (former != NULL)
        attest_rotation_sign(exchange->exchange_id, key->signer.key, former,
                             key->rotations[key->count++]);
    size_t count = HEADER_BYTES + key->count * sizeof key->rotations[0];
    memcpy(image.rotations, key->rotations, key->count * sizeof key->rotations[0]);
    file_head_seal((uint8_t *)&image, count, &key_kind);
    int error = small_file_replace(disk, FILE_NAME, &image, count);
    explicit_bzero(&image, sizeof image);
    return error < 0 ? refusal_machine(refusal, "writing signing.key", error) : REFUSAL_none;
}

static enum refusal_kind make(struct disk *disk, const struct exchange_file *exchange,
                              struct signing_key *key, struct refusal *refusal)
{
    if (!cc_is_zero(exchange->signing_public, sizeof exchange->signing_public))
        return refuse(refusal, "signing.key is missing; put a copy of it back");
    return write_new(disk, exchange, key, NULL, refusal);
}

/* Whether these bytes are a file, whose key is then in *key. */
static bool decode(struct signing_key *key, const struct key_image *image, size_t count)
{
    size_t rest = count - HEADER_BYTES;

    if (count < HEADER_BYTES || count > sizeof *image || rest % ATTEST_ROTATION_BYTES != 0 ||
        !file_head_is((const uint8_t *)image, &key_kind) ||
        !file_head_is_intact((const uint8_t *)image, count) ||
        !cc_is_zero(image->zero, sizeof image->zero))
        return false;
    signer_ed25519(&key->signer, image->seed);
    key->count = (uint32_t)(rest / ATTEST_ROTATION_BYTES);
    memcpy(key->rotations, image->rotations, rest);
    return memcmp(image->public, key->signer.key, sizeof image->public) == 0;
}

/* What is in the file; *is_there false: no file. */
static enum refusal_kind read(struct disk *disk, const struct exchange_file *exchange,
                              struct signing_key *key, bool *is_there, struct refusal *refusal)
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
    bool is_own = memcmp(image.exchange_id, exchange->exchange_id, sizeof image.exchange_id) == 0;
    bool is_whole = decode(key, &image, (size_t)count);
    explicit_bzero(&image, sizeof image);
    explicit_bzero(bytes, sizeof bytes);
    if (!is_whole)
        return refuse(refusal, "signing.key is damaged; put a copy of it back");
    return is_own ? REFUSAL_none : refuse(refusal, "signing.key is another exchange's");
}

enum refusal_kind signing_key_open(struct disk *disk, const struct exchange_file *exchange,
                                   const uint8_t *wanted, struct signing_key *key,
                                   struct refusal *refusal)
{
    bool is_there;

    *key = (struct signing_key){ 0 };
    enum refusal_kind kind = read(disk, exchange, key, &is_there, refusal);
    if (kind == REFUSAL_none && !is_there)
        kind = make(disk, exchange, key, refusal);
    if (kind != REFUSAL_none)
        return kind;
    if (!cc_is_zero(exchange->signing_public, sizeof exchange->signing_public) &&
        signing_key_after(key, exchange->exchange_id, exchange->signing_public) < 0)
        return refuse(refusal, "signing.key is another key than the one that `exchange` names");
    if (wanted != NULL && memcmp(wanted, key->signer.key, sizeof key->signer.key) != 0)
        return refuse(refusal, "signing.key is another key than exchange.signing_public");
    return REFUSAL_none;
}

/* ---- rotation -------------------------------------------------------------------------------- */

int signing_key_after(const struct signing_key *key, const uint8_t exchange_id[32],
                      const uint8_t former[SIGNER_ED25519_KEY_BYTES])
{
    const uint8_t *last = former;
    uint32_t first = 0;

    for (uint32_t i = 0; i < key->count; i++)
        if (memcmp(key->rotations[i], former, SIGNER_ED25519_KEY_BYTES) == 0)
            first = i + 1;
    for (uint32_t i = first; i < key->count; i++) {
        if (!attest_rotation_verify(key->rotations[i], exchange_id, last))
            return -1;
        last = key->rotations[i];
    }
    return memcmp(last, key->signer.key, SIGNER_ED25519_KEY_BYTES) == 0 ? (int)first : -1;
}

enum refusal_kind signing_key_rotate(struct disk *disk, const struct exchange_file *exchange,
                                     struct signing_key *key, struct refusal *refusal)
{
    struct signer_ed25519 former = key->signer;

    if (key->count == SIGNING_KEY_ROTATIONS_MAX)
        memmove(key->rotations[0], key->rotations[1], --key->count * sizeof key->rotations[0]);
    enum refusal_kind kind = write_new(disk, exchange, key, &former, refusal);
    explicit_bzero(&former, sizeof former);
    return kind;
}
