#include "perp/request/key_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/hex.h"
#include "base/request.h"
#include "crypto/secret.h"

enum { FILE_MAX = 1024, PATH_TEXT_MAX = 4096 };

const char *key_file_curve_name(uint32_t curve)
{
    return curve == SIGNATURE_ED25519 ? "ed25519" : "secp256k1";
}

bool key_file_from_secret(struct key_file *key, uint32_t curve,
                          const uint8_t secret[SIGNER_SEED_BYTES])
{
    *key = (struct key_file){ .curve = (uint8_t)curve };
    memcpy(key->secret, secret, SIGNER_SEED_BYTES);
    if (curve == SIGNATURE_SECP256K1) {
        key->public_bytes = SIGNER_SECP256K1_KEY_BYTES;
        return signer_secp256k1_key(secret, key->public_key);
    }
    key->public_bytes = SIGNER_ED25519_KEY_BYTES;
    signer_ed25519(&key->ed25519, secret);
    memcpy(key->public_key, key->ed25519.key, SIGNER_ED25519_KEY_BYTES);
    return true;
}

int key_file_make(struct key_file *key, uint32_t curve)
{
    uint8_t secret[SIGNER_SEED_BYTES];
    int error;
    /* A draw that is not a secp256k1 secret has a chance of 2^-128. */
    do
        error = secret_random(secret, sizeof secret);
    while (error == 0 && !key_file_from_secret(key, curve, secret));
    secret_wipe(secret, sizeof secret);
    return error;
}

static bool write_all(int fd, const char *text, size_t count)
{
    while (count > 0) {
        ssize_t written = write(fd, text, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        text += written;
        count -= (size_t)written;
    }
    return true;
}

bool key_file_write(const struct key_file *key, const char *path, bool replace,
                    char error[KEY_FILE_ERROR_MAX])
{
    char public_text[BASE64_TEXT_BYTES(SIGNER_SECP256K1_KEY_BYTES) + 1];
    char secret_text[BASE64_TEXT_BYTES(SIGNER_SEED_BYTES) + 1];
    char text[FILE_MAX], draft[PATH_TEXT_MAX];
    base64_encode(public_text, key->public_key, key->public_bytes);
    base64_encode(secret_text, key->secret, SIGNER_SEED_BYTES);
    int count = snprintf(text, sizeof text,
                         "# A key of perp. Its `secret` is all that signing needs.\n"
                         "curve = %s\npublic = %s\nsecret = %s\n",
                         key_file_curve_name(key->curve), public_text, secret_text);
    if (key->is_bound) {
        char exchange[2 * KEY_FILE_EXCHANGE_BYTES + 1];
        hex_encode(exchange, key->exchange_id, KEY_FILE_EXCHANGE_BYTES);
        count += snprintf(text + count, sizeof text - (size_t)count, "exchange = %s\n", exchange);
    }
    if ((size_t)snprintf(draft, sizeof draft, "%s.XXXXXX", path) >= sizeof draft) {
        snprintf(error, KEY_FILE_ERROR_MAX, "the path of the key file is too long");
        return false;
    }
    /* Whole or not at all: a draft beside it, a file that was not there, then link or rename. */
    int fd = mkostemp(draft, O_CLOEXEC);
    bool good = fd >= 0 && write_all(fd, text, (size_t)count) && fsync(fd) == 0;
    int reason = errno;
    if (fd >= 0)
        close(fd);
    if (good) {
        good = replace ? rename(draft, path) == 0 : link(draft, path) == 0;
        reason = errno;
    }
    if (fd >= 0)
        unlink(draft);
    secret_wipe(text, sizeof text);
    secret_wipe(secret_text, sizeof secret_text);
    if (!good && reason == EEXIST)
        snprintf(error, KEY_FILE_ERROR_MAX,
                 "%s exists; a key that is overwritten is lost: choose another name, or --force",
                 path);
    else if (!good)
        snprintf(error, KEY_FILE_ERROR_MAX, "cannot write %s: %s", path, strerror(reason));
    return good;
}

/* The value of `name = value` in text; NULL when there is no such line. */
static const char *value_of(const char *text, const char *name, size_t *count)
{
    size_t name_count = strlen(name);
    for (const char *line = text; *line != '\0';) {
        size_t line_count = strcspn(line, "\n");
        if (strncmp(line, name, name_count) == 0) {
            size_t at = name_count + strspn(line + name_count, " ");
            if (line[at] == '=') {
                at += 1 + strspn(line + at + 1, " ");
                size_t end = line_count;
                while (end > at && (line[end - 1] == ' ' || line[end - 1] == '\r'))
                    end--;
                *count = end - at;
                return line + at;
            }
        }
        line += line_count + (line[line_count] == '\n');
    }
    return NULL;
}

static bool decode_exactly(uint8_t *bytes, size_t bytes_count, const char *text, size_t count)
{
    return text != NULL &&
           base64_decode(bytes, bytes_count, text, count, NULL) == (ptrdiff_t)bytes_count;
}

/* The exchange of a file whose key has been read. */
static bool parse_exchange(struct key_file *key, const char *text, const char *path, char *error)
{
    size_t count = 0;
    const char *exchange = value_of(text, "exchange", &count);
    key->is_bound = exchange != NULL;
    if (exchange == NULL || hex_decode(key->exchange_id, KEY_FILE_EXCHANGE_BYTES, exchange, count))
        return true;
    snprintf(error, KEY_FILE_ERROR_MAX, "%s: 'exchange' is not the 64 hex digits of an exchange_id",
             path);
    key_file_wipe(key);
    return false;
}

static bool parse(struct key_file *key, const char *text, const char *path, char *error)
{
    size_t curve_count = 0, secret_count = 0, public_count = 0;
    const char *curve = value_of(text, "curve", &curve_count);
    const char *secret_text = value_of(text, "secret", &secret_count);
    const char *public_text = value_of(text, "public", &public_count);
    if (curve == NULL || secret_text == NULL || public_text == NULL) {
        snprintf(error, KEY_FILE_ERROR_MAX, "%s is no key file: it has no '%s =' line", path,
                 curve == NULL         ? "curve"
                 : secret_text == NULL ? "secret"
                                       : "public");
        return false;
    }
    uint32_t type = SIGNATURE_ED25519;
    if (curve_count == 9 && strncmp(curve, "secp256k1", 9) == 0) {
        type = SIGNATURE_SECP256K1;
    } else if (curve_count != 7 || strncmp(curve, "ed25519", 7) != 0) {
        snprintf(error, KEY_FILE_ERROR_MAX, "%s: curve '%.*s' is neither ed25519 nor secp256k1",
                 path, (int)(curve_count < 64 ? curve_count : 64), curve);
        return false;
    }
    uint8_t secret[SIGNER_SEED_BYTES], public_key[SIGNER_SECP256K1_KEY_BYTES];
    bool good = decode_exactly(secret, sizeof secret, secret_text, secret_count) &&
                key_file_from_secret(key, type, secret);
    secret_wipe(secret, sizeof secret);
    if (!good) {
        snprintf(error, KEY_FILE_ERROR_MAX, "%s: 'secret' is not the Base64 of a %s secret", path,
                 key_file_curve_name(type));
        return false;
    }
    if (!decode_exactly(public_key, key->public_bytes, public_text, public_count) ||
        memcmp(public_key, key->public_key, key->public_bytes) != 0) {
        snprintf(error, KEY_FILE_ERROR_MAX, "%s: 'public' is not the public key of 'secret'", path);
        key_file_wipe(key);
        return false;
    }
    return parse_exchange(key, text, path, error);
}

bool key_file_read(struct key_file *key, const char *path, char error[KEY_FILE_ERROR_MAX])
{
    struct stat status;
    char text[FILE_MAX];
    /* A pipe without a writer opens at once. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_file = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    if (!is_file) {
        snprintf(error, KEY_FILE_ERROR_MAX, "cannot read the key file %s: %s", path,
                 fd < 0 ? strerror(errno) : "it is no regular file");
        if (fd >= 0)
            close(fd);
        return false;
    }
    if ((status.st_mode & 077) != 0) {
        close(fd);
        snprintf(error, KEY_FILE_ERROR_MAX,
                 "others may read the key file %s (mode %04o): chmod 600 it, and think of the key "
                 "as known",
                 path, (unsigned)status.st_mode & 07777);
        return false;
    }
    ssize_t count = read(fd, text, sizeof text - 1);
    close(fd);
    text[count > 0 ? count : 0] = '\0';
    bool good = parse(key, text, path, error);
    secret_wipe(text, sizeof text);
    return good;
}

void key_file_wipe(struct key_file *key)
{
    secret_wipe(key, sizeof *key);
}
