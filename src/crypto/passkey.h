/* passkey.h - whether a WebAuthn assertion signs a payload (wire.md W4).
 *
 * A passkey does not sign the payload: its authenticator signs the client data, JSON text of a
 * browser, in which the challenge is SHA-256 of the payload.
 *
 * Wait.  Pure computation: one ES256 verification (p256.h), after the cheaper checks.
 * Owner. Any thread after p256_init. All inputs are public. */
#ifndef CRYPTO_PASSKEY_H
#define CRYPTO_PASSKEY_H

#include "base/assertion.h"
#include "base/problem.h"
#include "base/relying_party.h"
#include "crypto/p256.h"

/* Returns PROBLEM_none if the assertion signs the payload under the key, else the first of these in
 * this order, W4's own: malformed_payload (client data that is no JSON object or repeats a member),
 * passkey_type, passkey_challenge, passkey_origin, passkey_cross_origin, passkey_rp_id,
 * passkey_user_presence, passkey_user_verification, invalid_signature. `party` is NULL for a record
 * that was accepted once, under options that may have changed since: origin and id of the relying
 * party are then not compared. The cache may be NULL. */
CC_MUST_USE enum problem passkey_check(const struct relying_party *party, struct p256_cache *cache,
                                       const uint8_t key[P256_KEY_BYTES], const uint8_t *payload,
                                       size_t payload_bytes, const struct assertion *assertion,
                                       const uint8_t signature[P256_SIGNATURE_BYTES]);

/* Writes the digest that the authenticator signs: of its data and SHA-256 of the client data. */
void passkey_digest(const struct assertion *assertion, uint8_t digest[P256_DIGEST_BYTES]);

/* Returns the words for the detail of a problem that passkey_check returns; static storage. */
const char *passkey_problem_text(enum problem problem);

#endif
