#include "sim_sign.h"

#include "base/clock.h"
#include "crypto/ed25519.h"
#include "crypto/operator_message.h"
#include "crypto/second_path.h"

static struct {
    bool is_real;
    uint64_t random;
    struct eip712 eip712;
} signing;

uint64_t __real_ed25519_verify(const struct ed25519_job *jobs, unsigned count);
bool __real_secp256k1_verify(const uint8_t *key, const uint8_t *digest, const uint8_t *signature);
bool __real_second_path_ed25519(enum ed25519_path first, const struct ed25519_job *job);
bool __real_second_path_secp256k1(const uint8_t *key, const uint8_t *digest,
                                  const uint8_t *signature);
uint64_t __wrap_ed25519_verify(const struct ed25519_job *jobs, unsigned count);
bool __wrap_second_path_ed25519(enum ed25519_path first, const struct ed25519_job *job);
bool __wrap_second_path_secp256k1(const uint8_t *key, const uint8_t *digest,
                                  const uint8_t *signature);
bool __wrap_secp256k1_verify(const uint8_t *key, const uint8_t *digest, const uint8_t *signature);
struct clock_rate __wrap_clock_calibrate(void);
int __wrap_secret_random(void *bytes, size_t count);

void sim_sign_begin(bool is_real, uint64_t seed, const uint8_t exchange_id[32])
{
    signing.is_real = is_real;
    signing.random = seed;
    eip712_init(&signing.eip712, exchange_id);
}

/* FNV-1a over key and message, in 64 bits. */
static uint64_t keyed_sum(const uint8_t *key, size_t key_bytes, const uint8_t *message,
                          size_t message_bytes)
{
    uint64_t sum = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < key_bytes; i++)
        sum = (sum ^ key[i]) * UINT64_C(0x100000001B3);
    for (size_t i = 0; i < message_bytes; i++)
        sum = (sum ^ message[i]) * UINT64_C(0x100000001B3);
    return sum;
}

uint64_t __wrap_ed25519_verify(const struct ed25519_job *jobs, unsigned count)
{
    uint64_t good = 0;
    if (signing.is_real)
        return __real_ed25519_verify(jobs, count);
    for (unsigned i = 0; i < count; i++) {
        uint64_t sum =
            keyed_sum(jobs[i].key, ED25519_KEY_BYTES, jobs[i].message, jobs[i].message_bytes);
        good |= (uint64_t)(cc_load64(jobs[i].signature) == sum) << i;
    }
    return good;
}

bool __wrap_secp256k1_verify(const uint8_t *key, const uint8_t *digest, const uint8_t *signature)
{
    if (signing.is_real)
        return __real_secp256k1_verify(key, digest, signature);
    return cc_load64(signature) ==
           keyed_sum(key, SECP256K1_KEY_BYTES, digest, SECP256K1_DIGEST_BYTES);
}

bool __wrap_second_path_ed25519(enum ed25519_path first, const struct ed25519_job *job)
{
    return signing.is_real ? __real_second_path_ed25519(first, job)
                           : __wrap_ed25519_verify(job, 1) == 1;
}

bool __wrap_second_path_secp256k1(const uint8_t *key, const uint8_t *digest,
                                  const uint8_t *signature)
{
    return signing.is_real ? __real_second_path_secp256k1(key, digest, signature)
                           : __wrap_secp256k1_verify(key, digest, signature);
}

/* The protocol measures the cycle counter for 5 ms at its start; here no figure depends on it. */
struct clock_rate __wrap_clock_calibrate(void)
{
    return (struct clock_rate){ UINT64_C(1) << 32 };
}

/* Secrets are a function of the seed, as everything is. */
int __wrap_secret_random(void *bytes, size_t count)
{
    uint8_t *to = bytes;
    for (size_t i = 0; i < count; i++) {
        signing.random = signing.random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        to[i] = (uint8_t)(signing.random >> 56);
    }
    return 0;
}

static const struct signer_ed25519 *signer_of(struct traffic *traffic, struct traffic_sent *sent)
{
    if (sent->signed_by != TRAFFIC_NONE)
        return &traffic->credentials[sent->signed_by].signer;
    const uint8_t *key = command_key(traffic_command(sent));
    return memcmp(key, traffic->oracle.key, 32) == 0 ? &traffic->oracle : &traffic->operator;
}

static void sign_master(struct traffic *traffic, struct traffic_sent *sent, uint8_t *signature)
{
    const struct command *command = traffic_command(sent);
    struct eip712_hashes hashes;
    int hashed =
        eip712_hash(&signing.eip712, command_payload(command), command->payload_bytes, &hashes);
    INVARIANT(hashed == 0);
    if (!signing.is_real) {
        cc_store64(signature, keyed_sum(command_key(command), SECP256K1_KEY_BYTES, hashes.digest,
                                        SECP256K1_DIGEST_BYTES));
        return;
    }
    bool is_signed =
        signer_secp256k1_sign(traffic->accounts[sent->account].secret, hashes.digest, signature);
    INVARIANT(is_signed);
}

void sim_sign(struct traffic *traffic, struct traffic_sent *sent)
{
    struct command *command = traffic_command(sent);
    uint8_t *signature = command->bytes + command->payload_bytes + command->key_bytes;
    uint8_t buffer[OPERATOR_MESSAGE_MAX];
    struct operator_message message = operator_message_of(
        buffer, signing.eip712.salt, command_payload(command), command->payload_bytes);

    if (command->bytes[1] == SIGNATURE_SECP256K1)
        sign_master(traffic, sent, signature);
    else if (signing.is_real)
        signer_ed25519_sign(signer_of(traffic, sent), message.bytes, message.count, signature);
    else
        cc_store64(signature, keyed_sum(command_key(command), ED25519_KEY_BYTES, message.bytes,
                                        message.count));
    if (sent->is_spoilt)
        signature[traffic_below(traffic, 8)] ^= (uint8_t)(1 + traffic_below(traffic, 255));
}
