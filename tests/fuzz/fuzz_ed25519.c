/* Ed25519 (wire.md W4, signatures.md): every path of verification decides as libsodium does, for
 * signatures that input makes from good ones.
 *
 * A call of jobs, 1 to 16: each is 3 bytes and what they ask for. Of the first, bits 0-1 choose the
 * table (wide, small, none, another key's), bits 2-3 the key, bits 4-7 how many bytes of the
 * signature and key are changed; the second is the length of the message, times 5; the third its
 * first byte. A change is its place (of 96: signature, then key) and what is exclusive-ored
 * there. */
#include <sodium.h>
#include <stdlib.h>

#include "crypto/ed25519.h"
#include "crypto/signer.h"

enum { KEYS = 4, JOBS_MAX = 16, JOB_HEAD = 3, MESSAGE_MAX = 255 * 5, MIXED = KEYS - 1 };

struct signature {
    uint8_t bytes[ED25519_SIGNATURE_BYTES];
    uint8_t key[ED25519_KEY_BYTES];
    uint8_t message[MESSAGE_MAX];
};

struct entries {
    alignas(ED25519_TABLE_ALIGN) struct ed25519_multiple
        entries[ED25519_TABLE_POSITIONS * ED25519_TABLE_MULTIPLES];
};

static struct signer_ed25519 signers[KEYS];
static struct ed25519_table tables[KEYS][2];

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The last key has a part of small order: its signatures hold for one message of two, four or
 * eight. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static struct entries memory[KEYS][2];
    static const uint32_t sizes[] = { ED25519_TABLE_POSITIONS, ED25519_TABLE_POSITIONS_SMALL };
    static const uint8_t order_four[32] = { 0 };
    (void)argc;
    (void)argv;
    if (ed25519_init(ED25519_LANES) != 0 || signer_init() != 0)
        abort();
    for (unsigned i = 0; i < KEYS; i++) {
        signer_ed25519(&signers[i], (const uint8_t[SIGNER_SEED_BYTES]){ (uint8_t)i });
        if (i == MIXED && crypto_core_ed25519_add(signers[i].key, signers[i].key, order_four) != 0)
            abort();
        memcpy(signers[i].secret + 32, signers[i].key, 32); /* hashed when it signs */
        for (unsigned k = 0; k < 2; k++) {
            struct ed25519_multiple *entries = memory[i][k].entries;
            if (ed25519_table_build(entries, sizes[k], signers[i].key) != 0)
                abort();
            tables[i][k] = (struct ed25519_table){ .multiples = entries, .positions = sizes[k] };
            memcpy(tables[i][k].key, signers[i].key, ED25519_KEY_BYTES);
        }
    }
    return 0;
}

/* Makes the job that the input asks for; gives the bytes of it that it used, 0 when there is none
 * whole. */
static size_t read_job(struct ed25519_job *job, struct signature *signature, const uint8_t *data,
                       size_t size)
{
    if (size < JOB_HEAD)
        return 0;
    unsigned table = data[0] & 3u, key = data[0] >> 2 & 3u, changes = data[0] >> 4;
    size_t used = JOB_HEAD + 2 * (size_t)changes;
    if (size < used)
        return 0;
    size_t message_bytes = (size_t)data[1] * 5;
    memset(signature->message, data[2], sizeof signature->message);
    memcpy(signature->key, signers[key].key, sizeof signature->key);
    signer_ed25519_sign(&signers[key], signature->message, message_bytes, signature->bytes);
    for (unsigned i = 0; i < changes; i++) {
        unsigned place = data[JOB_HEAD + 2 * i] % 96u;
        uint8_t *byte = place < 64 ? &signature->bytes[place] : &signature->key[place - 64];
        *byte ^= data[JOB_HEAD + 2 * i + 1];
    }
    const struct ed25519_table *known[] = { &tables[key][0], &tables[key][1], NULL,
                                            &tables[(key + 1) % KEYS][changes & 1] };
    *job = (struct ed25519_job){ signature->key, signature->bytes, signature->message,
                                 message_bytes, known[table] };
    return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct signature signatures[JOBS_MAX];
    struct ed25519_job jobs[JOBS_MAX];
    unsigned count = 0;
    for (size_t used; count < JOBS_MAX; data += used, size -= used) {
        used = read_job(&jobs[count], &signatures[count], data, size);
        if (used == 0)
            break;
        count++;
    }
    uint64_t want = ed25519_verify_by(ED25519_LIBRARY, jobs, count);
    if (ed25519_verify_by(ED25519_COMB, jobs, count) != want)
        abort();
    if (ed25519_refusal(ED25519_LANES) == NULL &&
        ed25519_verify_by(ED25519_LANES, jobs, count) != want)
        abort();
    return 0;
}
