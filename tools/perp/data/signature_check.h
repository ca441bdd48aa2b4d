/* signature_check.h - whether a journalled record carries the signature that its code asks for:
 * Ed25519 over the payload, which codes from 1000 on bind to the exchange, Secp256k1 over its
 * EIP-712 digest, a passkey over its assertion (wire.md W2 and W4).
 *
 * Whether the key was allowed to sign is the engine's to decide, and a replay asks it again. */
#ifndef PERP_DATA_SIGNATURE_CHECK_H
#define PERP_DATA_SIGNATURE_CHECK_H

#include "crypto/eip712.h"
#include "store/record.h"

/* Once before the other; `exchange_id` is the salt of the EIP-712 domain. 0 or -errno. */
CC_MUST_USE int signature_check_init(struct eip712 *eip712, const uint8_t exchange_id[32]);

/* NULL when the record is as it must be under the rules_version of the 2014 before it, else why
 * not: a sentence that lives as long as the program. */
CC_MUST_USE const char *signature_check_record(const struct eip712 *eip712, uint32_t rules_version,
                                               const struct record_view *record);

#endif
