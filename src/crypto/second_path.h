/* second_path.h - verdicts on signatures by a path that shares no arithmetic of the curve with the
 * first one (signatures.md, Two paths).
 *
 *   key          first path                    second path
 *   Ed25519      ed25519.h, path in use        its judge: the library; of the library the comb
 *   secp256k1    libsecp256k1                  OpenSSL
 *   P-256        OpenSSL's own code of P-256   OpenSSL's code of any curve
 *
 * A path judges only if it has passed its own self-test and no verdict of it was found wrong.
 *
 * Wait.  Pure computation: about 50 us for Ed25519, 0.3 ms for the other two.
 * Owner. Any thread after second_path_init. All inputs are public.
 * Bound. A verification allocates what OpenSSL needs and frees it before it returns. */
#ifndef CRYPTO_SECOND_PATH_H
#define CRYPTO_SECOND_PATH_H

#include "crypto/ed25519.h"
#include "crypto/p256.h"
#include "crypto/secp256k1.h"

/* Loads the curves and verifies known signatures, right and wrong. Call it once at start, before
 * threads; again it only tests again. Returns 0, -ENOMEM, or -EBADMSG if a verdict is wrong. */
CC_MUST_USE int second_path_init(void);

/* The verdict on a job by the judge of `first`, without the job's table. False as well when no path
 * can judge: ed25519_judge_of says so. */
CC_MUST_USE bool second_path_ed25519(enum ed25519_path first, const struct ed25519_job *job);

/* What secp256k1_verify decides. */
CC_MUST_USE bool second_path_secp256k1(const uint8_t key[SECP256K1_KEY_BYTES],
                                       const uint8_t digest[SECP256K1_DIGEST_BYTES],
                                       const uint8_t signature[SECP256K1_SIGNATURE_BYTES]);

/* What p256_verify decides. */
CC_MUST_USE bool second_path_p256(const uint8_t key[P256_KEY_BYTES],
                                  const uint8_t digest[P256_DIGEST_BYTES],
                                  const uint8_t signature[P256_SIGNATURE_BYTES]);

#endif
