#include "perp/request/draft.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/field.h"
#include "crypto/operator_message.h"
#include "crypto/secret.h"

int draft_fresh_id(struct uuid *id)
{
    uint8_t random[10];
    struct timespec now;
    int error = secret_random(random, sizeof random);
    if (error == 0 && clock_gettime(CLOCK_REALTIME, &now) != 0)
        error = -errno;
    if (error == 0)
        *id = uuid_make_v7((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000, random);
    return error;
}

/* W3, code 8. */
enum { BATCH_ITEMS_AT = 24, BATCH_ITEM_BYTES = 64, BATCH_ITEMS_MAX = 64 };

static void begin(struct draft *draft, uint32_t code, uint32_t signature_type,
                  const struct uuid *id, size_t body_bytes)
{
    *draft = (struct draft){ .request = request_find(code) };
    INVARIANT(draft->request != NULL && draft->request->path[0] != '\0');
    draft->path = draft->request->path;
    draft->count = REQUEST_BODY_AT + body_bytes;
    INVARIANT(draft->count % 8 == 0 && draft->count <= sizeof draft->payload);
    draft->payload[0] = REQUEST_VERSION;
    draft->payload[1] = (uint8_t)signature_type;
    cc_store16(draft->payload + 2, (uint16_t)code);
    memcpy(draft->payload + REQUEST_HEADER_BYTES, id->bytes, UUID_BYTES);
}

void draft_begin(struct draft *draft, uint32_t code, uint32_t signature_type, const struct uuid *id)
{
    const struct request *request = request_find(code);
    INVARIANT(request != NULL && request->form == BODY_FIXED);
    begin(draft, code, signature_type, id, request->body_bytes);
}

bool draft_begin_text(struct draft *draft, uint32_t code, const struct uuid *id, const char *text,
                      size_t count)
{
    size_t padded = (count + 7) & ~(size_t)7;
    if (count == 0 || padded > REQUEST_BODY_MAX)
        return false;
    begin(draft, code, SIGNATURE_ED25519, id, padded);
    INVARIANT(draft->request->form == BODY_TEXT);
    memcpy(draft->payload + REQUEST_BODY_AT, text, count);
    return true;
}

void draft_begin_batch(struct draft *draft, const struct uuid *id, uint32_t count)
{
    INVARIANT(count >= 1 && count <= BATCH_ITEMS_MAX);
    begin(draft, REQUEST_order_batch, SIGNATURE_ED25519, id,
          BATCH_ITEMS_AT + (size_t)count * BATCH_ITEM_BYTES);
    draft_set(draft, "count", count);
}

uint8_t *draft_item(struct draft *draft, uint32_t item)
{
    size_t at = REQUEST_BODY_AT + BATCH_ITEMS_AT + (size_t)item * BATCH_ITEM_BYTES;
    INVARIANT(draft->request->form == BODY_BATCH && at + BATCH_ITEM_BYTES <= draft->count);
    return draft->payload + at;
}

static const struct field *find(const struct draft *draft, const char *name)
{
    size_t count;
    const struct field *fields = field_table(draft->request->code, &count);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].kind != FIELD_PAD && strcmp(fields[i].name, name) == 0)
            return &fields[i];
    }
    INVARIANT(!"the request has a field of this name");
    return NULL;
}

void draft_set(struct draft *draft, const char *name, uint64_t value)
{
    const struct field *field = find(draft, name);
    INVARIANT(field->size == 1 || field->size == 2 || field->size == 4 || field->size == 8);
    /* The machine is little-endian, as the wire. */
    memcpy(draft->payload + REQUEST_BODY_AT + field->offset, &value, field->size);
    draft->key_bytes = 0;
}

void draft_set_bytes(struct draft *draft, const char *name, const void *bytes, size_t count)
{
    const struct field *field = find(draft, name);
    INVARIANT(count <= field->size);
    memcpy(draft->payload + REQUEST_BODY_AT + field->offset, bytes, count);
    draft->key_bytes = 0;
}

void draft_set_portfolio(struct draft *draft, const char *name,
                         const struct draft_portfolio *portfolio)
{
    const struct field *field = find(draft, name);
    INVARIANT(field->kind == FIELD_PORTFOLIO);
    uint8_t *bytes = draft->payload + REQUEST_BODY_AT + field->offset;
    cc_store64(bytes, portfolio->account_id);
    cc_store32(bytes + 8, portfolio->subaccount_index);
    cc_store32(bytes + 12, portfolio->portfolio_index);
    draft->key_bytes = 0;
}

bool draft_sign(struct draft *draft, const struct key_file *key, const struct eip712 *eip712)
{
    INVARIANT(draft->payload[1] == key->curve);
    if (key->curve == SIGNATURE_ED25519) {
        uint8_t buffer[OPERATOR_MESSAGE_MAX];
        bool is_bound = draft->request->signer == SIGNER_OPERATOR;
        INVARIANT(!is_bound || eip712 != NULL);
        struct operator_message message = operator_message_of(
            buffer, is_bound ? eip712->salt : NULL, draft->payload, draft->count);
        signer_ed25519_sign(&key->ed25519, message.bytes, message.count, draft->signature);
    } else {
        INVARIANT(eip712 != NULL);
        if (eip712_hash(eip712, draft->payload, draft->count, &draft->hashes) != 0 ||
            !signer_secp256k1_sign(key->secret, draft->hashes.digest, draft->signature))
            return false;
    }
    memcpy(draft->public_key, key->public_key, key->public_bytes);
    draft->key_bytes = key->public_bytes;
    return true;
}

struct uuid draft_id(const struct draft *draft)
{
    struct uuid id;
    uuid_load(&id, draft->payload + REQUEST_HEADER_BYTES);
    return id;
}

static size_t append(char *text, size_t at, const char *words)
{
    size_t count = strlen(words);
    memcpy(text + at, words, count);
    return at + count;
}

size_t draft_envelope(const struct draft *draft, char text[REQUEST_ENVELOPE_MAX])
{
    static_assert(BASE64_TEXT_BYTES(REQUEST_PAYLOAD_MAX) + 256 < REQUEST_ENVELOPE_MAX,
                  "the longest payload fits an envelope");
    INVARIANT(draft->key_bytes != 0);
    size_t at = append(text, 0, "{\"payload\":\"");
    at += base64_encode(text + at, draft->payload, draft->count);
    at = append(text, at, "\",\"signature\":\"");
    at += base64_encode(text + at, draft->signature, sizeof draft->signature);
    at = append(text, at, "\",\"public_key\":\"");
    at += base64_encode(text + at, draft->public_key, draft->key_bytes);
    at = append(text, at, "\"}");
    text[at] = '\0';
    return at;
}

size_t draft_frame(const struct draft *draft, uint8_t bytes[REQUEST_FRAME_MAX])
{
    INVARIANT(draft->key_bytes != 0);
    memcpy(bytes, draft->payload, draft->count);
    memcpy(bytes + draft->count, draft->public_key, draft->key_bytes);
    memcpy(bytes + draft->count + draft->key_bytes, draft->signature, sizeof draft->signature);
    return draft->count + draft->key_bytes + sizeof draft->signature;
}
