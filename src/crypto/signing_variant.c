#include "crypto/signing_variant.h"

#include "base/field.h"
#include "base/uuid.h"
#include "crypto/keccak.h"
#include "crypto/signing_mistake.h"

enum { CODE_AT = 2, ITEMS_AT = 24 };

/* ---- fields ------------------------------------------------------------------------------- */

/* A payload that may be changed. */
struct draft {
    uint8_t *bytes;
    size_t count;
    const struct field *fields; /* of its request type; NULL: unknown */
    size_t field_count;
};

typedef void field_change(const struct field *field, uint8_t *bytes, size_t size, uint64_t number);

static void change_row(const struct draft *draft, size_t at, const struct field *field,
                       field_change *change, uint64_t number)
{
    size_t offset = at + field->offset;
    if (offset + field->size <= draft->count)
        change(field, draft->bytes + offset, field->size, number);
}

/* Applies the change to every field, those of batch items too. */
static void change_fields(const struct draft *draft, field_change *change, uint64_t number)
{
    size_t item_count;
    const struct field *items = field_batch_item(&item_count);
    for (size_t i = 0; i < draft->field_count; i++) {
        if (draft->fields[i].kind != FIELD_ITEMS) {
            change_row(draft, REQUEST_BODY_AT, &draft->fields[i], change, number);
            continue;
        }
        for (size_t at = REQUEST_BODY_AT + ITEMS_AT; at + FIELD_ITEM_BYTES <= draft->count;
             at += FIELD_ITEM_BYTES)
            for (size_t k = 0; k < item_count; k++)
                change_row(draft, at, &items[k], change, number);
    }
}

static void reverse(uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        uint8_t byte = bytes[i];
        bytes[i] = bytes[count - 1 - i];
        bytes[count - 1 - i] = byte;
    }
}

static bool is_integer(const struct field *field)
{
    switch ((enum field_kind)field->kind) {
    case FIELD_UUID:
    case FIELD_ADDRESS:
    case FIELD_TEXT:
    case FIELD_KEY:
    case FIELD_HASH:
    case FIELD_CREDENTIAL:
    case FIELD_ITEMS:
    case FIELD_DOCUMENT:
    case FIELD_PAD:
        return false;
    default:
        return true;
    }
}

static void swap_bytes(const struct field *field, uint8_t *bytes, size_t size, uint64_t number)
{
    (void)number;
    if (field->kind == FIELD_PORTFOLIO) {
        reverse(bytes, 8);
        reverse(bytes + 8, 4);
        reverse(bytes + 12, 4);
    } else if (is_integer(field)) {
        reverse(bytes, size);
    }
}

static bool is_time(const struct field *field, uint64_t value)
{
    if (field->kind == FIELD_EXPIRY)
        return value > 1 && value != UINT64_MAX;
    return field->kind == FIELD_TIME && value != 0;
}

static void divide_time(const struct field *field, uint8_t *bytes, size_t size, uint64_t divisor)
{
    if (size == 8 && is_time(field, cc_load64(bytes)))
        cc_store64(bytes, cc_load64(bytes) / divisor);
}

/* Removes the pads of the body; without `all` only those at its end. */
static void drop_pads(struct draft *draft, bool all)
{
    size_t end = draft->count;
    for (size_t i = draft->field_count; i-- > 0;) {
        const struct field *field = &draft->fields[i];
        size_t offset = REQUEST_BODY_AT + field->offset, after = offset + field->size;
        if (field->kind != FIELD_PAD && !all)
            break;
        if (field->kind != FIELD_PAD || after > end)
            continue;
        memmove(draft->bytes + offset, draft->bytes + after, end - after);
        end -= field->size;
    }
    draft->count = end;
}

static void drop_front(struct draft *draft, size_t count)
{
    if (draft->count < count)
        return;
    memmove(draft->bytes, draft->bytes + count, draft->count - count);
    draft->count -= count;
}

static void put_id_text(struct draft *draft)
{
    struct uuid id;
    char text[UUID_TEXT_BYTES + 1];
    uint8_t *body = draft->bytes + REQUEST_BODY_AT;
    if (draft->count < REQUEST_BODY_AT)
        return;
    uuid_load(&id, draft->bytes + REQUEST_HEADER_BYTES);
    uuid_format(&id, text);
    memmove(draft->bytes + REQUEST_HEADER_BYTES + UUID_TEXT_BYTES, body,
            draft->count - REQUEST_BODY_AT);
    memcpy(draft->bytes + REQUEST_HEADER_BYTES, text, UUID_TEXT_BYTES);
    draft->count += UUID_TEXT_BYTES - UUID_BYTES;
}

/* ---- variants ------------------------------------------------------------------------------- */

bool signing_variant_make(struct signing_variant *variant, unsigned number, const uint8_t *payload,
                          size_t count)
{
    static const uint8_t mistakes[SIGNING_VARIANT_COUNT] = {
        SIGNING_MISTAKE_header_missing,  SIGNING_MISTAKE_header_missing,
        SIGNING_MISTAKE_padding_missing, SIGNING_MISTAKE_padding_missing,
        SIGNING_MISTAKE_padding_missing, SIGNING_MISTAKE_big_endian,
        SIGNING_MISTAKE_big_endian,      SIGNING_MISTAKE_id_as_text,
        SIGNING_MISTAKE_time_unit,       SIGNING_MISTAKE_time_unit,
        SIGNING_MISTAKE_time_unit,
    };
    INVARIANT(number < SIGNING_VARIANT_COUNT && count <= REQUEST_PAYLOAD_MAX);
    struct draft draft = { .bytes = variant->bytes, .count = count };
    memcpy(variant->bytes, payload, count);
    if (count >= REQUEST_BODY_AT)
        draft.fields = field_table(cc_load16(payload + CODE_AT), &draft.field_count);
    variant->mistake = mistakes[number];
    switch (number) {
    case 0:
        drop_front(&draft, REQUEST_HEADER_BYTES);
        break;
    case 1:
        drop_front(&draft, REQUEST_BODY_AT);
        break;
    case 2:
    case 3:
        drop_pads(&draft, number == 3);
        break;
    case 4: /* the pads of the Header too */
        drop_pads(&draft, true);
        drop_front(&draft, 4);
        if (count >= 4)
            memcpy(draft.bytes, payload, 4);
        break;
    case 5:
    case 6:
        change_fields(&draft, swap_bytes, 0);
        if (number == 6 && count >= 4)
            reverse(draft.bytes + CODE_AT, 2);
        break;
    case 7:
        put_id_text(&draft);
        break;
    default:
        change_fields(&draft, divide_time,
                      number == 8   ? UINT64_C(1000)
                      : number == 9 ? UINT64_C(1000000)
                                    : UINT64_C(1000000000));
        break;
    }
    variant->count = draft.count;
    return draft.count != count || memcmp(variant->bytes, payload, count) != 0;
}

/* ---- what a payload shows ------------------------------------------------------------------- */

/* 10^9 to 10^10 seconds (2001 to 2286), or that in milliseconds or microseconds. */
static bool has_other_unit(uint64_t value)
{
    static const uint64_t units[] = { UINT64_C(1), UINT64_C(1000), UINT64_C(1000000) };
    for (size_t i = 0; i < CC_COUNT(units); i++)
        if (value >= UINT64_C(1000000000) * units[i] && value < UINT64_C(10000000000) * units[i])
            return true;
    return false;
}

static bool is_v7(const uint8_t *bytes)
{
    struct uuid id;
    uuid_load(&id, bytes);
    return uuid_is_v7(&id);
}

static bool is_id_text(const uint8_t *bytes)
{
    for (unsigned i = 0; i < UUID_TEXT_BYTES; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        uint8_t c = bytes[i];
        bool digit = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
        if (dash ? c != '-' : !digit)
            return false;
    }
    return true;
}

static uint32_t seen_in_id(const uint8_t *payload, size_t count)
{
    struct uuid id;
    const uint8_t *at = payload + REQUEST_HEADER_BYTES;
    if (count >= REQUEST_HEADER_BYTES + UUID_TEXT_BYTES && is_id_text(at))
        return SIGNING_MISTAKE(id_as_text);
    if (!is_v7(at) && is_v7(payload))
        return SIGNING_MISTAKE(header_missing);
    uuid_load(&id, at);
    if (at[6] >> 4 == 4 && at[8] >> 6 == 2)
        return SIGNING_MISTAKE(id_v4);
    if (uuid_is_v7(&id) && uuid_time_ms(&id) >= UINT64_C(1000000000) &&
        uuid_time_ms(&id) < UINT64_C(10000000000))
        return SIGNING_MISTAKE(time_unit);
    return 0;
}

static uint32_t seen_in_body(const struct request *request, const uint8_t *body, size_t body_bytes)
{
    size_t count, pads = 0;
    uint32_t seen = 0;
    const struct field *fields = field_table(request->code, &count);
    for (size_t i = 0; i < count; i++) {
        const struct field *field = &fields[i];
        pads += field->kind == FIELD_PAD ? field->size : 0;
        if (field->size != 8 && field->kind != FIELD_PORTFOLIO)
            continue;
        if (field->offset + (size_t)8 > body_bytes)
            break;
        uint64_t value = cc_load64(body + field->offset);
        if (is_time(field, value) && has_other_unit(value))
            seen |= SIGNING_MISTAKE(time_unit);
        bool is_account = field->kind == FIELD_ACCOUNT || field->kind == FIELD_PORTFOLIO;
        if (is_account && value >> 40 != 0 && __builtin_bswap64(value) >> 24 == 0)
            seen |= SIGNING_MISTAKE(big_endian);
    }
    if (request->form == BODY_FIXED && body_bytes < request->body_bytes &&
        body_bytes + pads >= request->body_bytes)
        seen |= SIGNING_MISTAKE(padding_missing);
    return seen;
}

uint32_t signing_variant_seen(const uint8_t *payload, size_t count)
{
    if (count < REQUEST_BODY_AT)
        return 0;
    uint16_t code = cc_load16(payload + CODE_AT);
    const struct request *request = request_find(code);
    uint32_t seen = seen_in_id(payload, count);
    if (request == NULL)
        return seen != 0 || request_find(__builtin_bswap16(code)) == NULL
                   ? seen
                   : SIGNING_MISTAKE(big_endian);
    if ((seen & SIGNING_MISTAKE(id_as_text)) != 0)
        return seen;
    return seen | seen_in_body(request, payload + REQUEST_BODY_AT, count - REQUEST_BODY_AT);
}

/* ---- domains -------------------------------------------------------------------------------- */

void signing_variant_domain(unsigned number, const uint8_t salt[32], uint8_t separator[32])
{
    static const char *const types[] = {
        "EIP712Domain(string name,string version,bytes32 salt)",
        "EIP712Domain(string name,string version)",
        "EIP712Domain(string name,string version,uint256 chainId)",
        "EIP712Domain(string name,string version,uint256 chainId,bytes32 salt)",
    };
    static const struct {
        uint8_t type, word_count;
    } forms[SIGNING_DOMAIN_COUNT] = { { 0, 4 }, { 0, 4 }, { 0, 4 }, { 1, 3 }, { 2, 4 }, { 3, 5 } };
    uint8_t words[5][32] = { 0 };
    INVARIANT(number < SIGNING_DOMAIN_COUNT);
    const char *type = types[forms[number].type];
    keccak_256(words[0], type, strlen(type));
    keccak_256(words[1], "Perpetuals", 10);
    keccak_256(words[2], "1", 1);
    /* Zeros; the salt of the published vectors; the salt backwards; none; chainId 1; both. */
    for (uint8_t i = 0; i < 32; i++)
        words[3][i] = number == 1 ? i : number == 2 ? salt[31 - i] : 0;
    words[3][31] |= number >= 4 ? 1 : 0;
    memcpy(words[4], salt, 32);
    keccak_256(separator, words, (size_t)forms[number].word_count * 32);
}
