/* credential_kind.h - the kinds of credentials and their scopes, as images and commands number them
 * (rules.md R10). */
#ifndef ENGINE_STATE_CREDENTIAL_KIND_H
#define ENGINE_STATE_CREDENTIAL_KIND_H

enum credential_kind {
    CREDENTIAL_SESSION,
    CREDENTIAL_API_KEY,
    CREDENTIAL_MASTER_SECP256K1, /* admin keys */
    CREDENTIAL_MASTER_PASSKEY,
    CREDENTIAL_SCOPED_SECP256K1,
    CREDENTIAL_SCOPED_PASSKEY,
    CREDENTIAL_DEVICE_KEY,
};

/* Scope of sessions and master keys, and that of API keys (W3); a device key has
 * SCOPE_READ_WRITE. */
enum credential_scope { SCOPE_FULL_ACCESS, SCOPE_TRADING_ONLY };
enum credential_key_scope { SCOPE_READ, SCOPE_READ_WRITE };

#endif
