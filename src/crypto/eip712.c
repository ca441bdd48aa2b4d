#include "crypto/eip712.h"

#include <errno.h>

#include "base/decimal.h"
#include "base/field.h"
#include "base/hex.h"
#include "base/request.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "base/uuid.h"
#include "crypto/keccak.h"

#define DOMAIN_TYPE "EIP712Domain(string name,string version,bytes32 salt)"

enum { WORD_BYTES = 32, NS_PER_MS = 1000000, AMOUNT_SCALE = 6, LABEL_MAX = 64 };

/* The source of a member. */
enum source { SOURCE_FIELD, SOURCE_ACTION, SOURCE_REQUEST_ID, SOURCE_SIGNED_AT, SOURCE_PAYLOAD };

/* The parts that a portfolio_id expands to. */
enum portfolio_part { PART_ACCOUNT, PART_SUBACCOUNT, PART_PORTFOLIO, PARTS };

struct member {
    const struct field *field; /* SOURCE_FIELD */
    uint8_t source;            /* enum source */
    uint8_t kind;              /* enum field_kind; of a part: its own kind */
    uint8_t part;              /* enum portfolio_part, FIELD_PORTFOLIO only */
};

struct members {
    const struct request *request;
    unsigned count;
    struct member rows[EIP712_MEMBERS_MAX];
};

/* A payload and its body. */
struct payload {
    const uint8_t *bytes;
    size_t count;
    const uint8_t *body;
    size_t body_bytes;
};

/* ----------------------------------------------------------------- members */

bool eip712_is_signable(uint16_t request_type)
{
    /* wire.md W4: 9-11, 13-17, 19, 20, 22-24, 28-36. */
    static const uint64_t codes = UINT64_C(0x7) << 9 | UINT64_C(0x1f) << 13 | UINT64_C(0x3) << 19 |
                                  UINT64_C(0x7) << 22 | UINT64_C(0x1ff) << 28;
    return request_type < EIP712_CODES_MAX && (codes >> request_type & 1) != 0;
}

static void append(struct members *members, struct member member)
{
    INVARIANT(members->count < EIP712_MEMBERS_MAX);
    members->rows[members->count++] = member;
}

static void append_field(struct members *members, const struct field *field)
{
    static const uint8_t part_kinds[PARTS] = { FIELD_ACCOUNT, FIELD_INDEX, FIELD_INDEX };
    if (field->kind == FIELD_PAD || field->kind == FIELD_LENGTH)
        return;
    if (field->kind != FIELD_PORTFOLIO) {
        append(members, (struct member){ .field = field, .kind = field->kind });
        return;
    }
    for (uint8_t part = 0; part < PARTS; part++)
        append(members, (struct member){ .field = field, .kind = part_kinds[part], .part = part });
}

/* Lists the members of a request type. False when the type is not signable. */
static bool list_members(struct members *members, uint16_t request_type)
{
    members->count = 0;
    if (!eip712_is_signable(request_type))
        return false;
    members->request = request_find(request_type);
    size_t field_count;
    const struct field *fields = field_table(request_type, &field_count);
    append(members, (struct member){ .source = SOURCE_ACTION, .kind = FIELD_TEXT });
    for (size_t i = 0; i < field_count; i++)
        append_field(members, &fields[i]);
    append(members, (struct member){ .source = SOURCE_REQUEST_ID, .kind = FIELD_UUID });
    append(members, (struct member){ .source = SOURCE_SIGNED_AT, .kind = FIELD_TIME });
    append(members, (struct member){ .source = SOURCE_PAYLOAD, .kind = FIELD_KEY });
    return true;
}

const char *eip712_type_of(uint32_t kind)
{
    switch (kind) {
    case FIELD_ACCOUNT:
    case FIELD_COUNT64:
        return "uint64";
    case FIELD_INDEX:
    case FIELD_COUNT32:
        return "uint32";
    case FIELD_BOOL:
        return "bool";
    case FIELD_ADDRESS:
        return "address";
    case FIELD_KEY:
    case FIELD_CREDENTIAL:
        return "bytes";
    case FIELD_PIN:
    case FIELD_ENUM:
    case FIELD_AMOUNT:
    case FIELD_TIME:
    case FIELD_UUID:
    case FIELD_TEXT:
        return "string";
    default:
        return NULL;
    }
}

static const char *member_type(const struct member *member)
{
    const char *type = eip712_type_of(member->kind);
    INVARIANT(type != NULL);
    return type;
}

/* Appends snake_case words as CamelCase, the first letter in upper case when `capital`. */
static char *put_camel(char *at, const char *end, const char *words, bool capital)
{
    for (; *words != '\0'; words++) {
        if (*words == '_') {
            capital = true;
            continue;
        }
        INVARIANT(at + 1 < end);
        bool lower = *words >= 'a' && *words <= 'z';
        *at++ = capital && lower ? (char)(*words & ~0x20) : *words;
        capital = false;
    }
    *at = '\0';
    return at;
}

static void member_name(const struct member *member, char name[EIP712_NAME_MAX])
{
    static const char *const sources[] = { [SOURCE_ACTION] = "action",
                                           [SOURCE_REQUEST_ID] = "request_id",
                                           [SOURCE_SIGNED_AT] = "signed_at",
                                           [SOURCE_PAYLOAD] = "payload" };
    static const char *const parts[PARTS] = { "account_id", "subaccount_index", "portfolio_index" };
    const char *end = name + EIP712_NAME_MAX;
    if (member->source != SOURCE_FIELD) {
        put_camel(name, end, sources[member->source], false);
        return;
    }
    if (member->field->kind != FIELD_PORTFOLIO) {
        put_camel(name, end, member->field->name, false);
        return;
    }
    bool prefixed = strcmp(member->field->name, "portfolio_id") != 0;
    char *at = prefixed ? put_camel(name, end, member->field->name, false) : name;
    put_camel(at, end, parts[member->part], prefixed);
}

unsigned eip712_members(uint16_t request_type, struct eip712_member rows[EIP712_MEMBERS_MAX])
{
    struct members members;
    if (!list_members(&members, request_type))
        return 0;
    for (unsigned i = 0; i < members.count; i++) {
        const char *type = member_type(&members.rows[i]);
        member_name(&members.rows[i], rows[i].name);
        memcpy(rows[i].type, type, strlen(type) + 1);
    }
    return members.count;
}

void eip712_primary_type(uint16_t request_type, char name[EIP712_NAME_MAX])
{
    const struct request *request = request_find(request_type);
    name[0] = '\0';
    if (request != NULL)
        put_camel(name, name + EIP712_NAME_MAX, request->name, true);
}

static char *put_text(char *at, const char *end, const char *text)
{
    size_t count = strlen(text);
    INVARIANT(count < (size_t)(end - at));
    memcpy(at, text, count + 1);
    return at + count;
}

size_t eip712_encode_type(uint16_t request_type, char text[EIP712_TYPE_MAX])
{
    struct members members;
    text[0] = '\0';
    if (!list_members(&members, request_type))
        return 0;
    const char *end = text + EIP712_TYPE_MAX;
    char *at = put_camel(text, end, members.request->name, true);
    for (unsigned i = 0; i < members.count; i++) {
        char name[EIP712_NAME_MAX];
        member_name(&members.rows[i], name);
        at = put_text(at, end, i == 0 ? "(" : ",");
        at = put_text(at, end, member_type(&members.rows[i]));
        at = put_text(at, end, " ");
        at = put_text(at, end, name);
    }
    at = put_text(at, end, ")");
    return (size_t)(at - text);
}

/* ------------------------------------------------------------------ values */

/* Splits a payload. False when its code is not signable or its length is not that of the code. */
static bool open_payload(struct payload *payload, struct members *members, const uint8_t *bytes,
                         size_t count)
{
    if (count < REQUEST_BODY_AT || count > REQUEST_PAYLOAD_MAX)
        return false;
    if (!list_members(members, cc_load16(bytes + 2)))
        return false;
    *payload = (struct payload){ bytes, count, bytes + REQUEST_BODY_AT, count - REQUEST_BODY_AT };
    if (members->request->form == BODY_FIXED)
        return payload->body_bytes == members->request->body_bytes;

    INVARIANT(members->request->form == BODY_CREDENTIAL);
    const struct field *last = members->rows[members->count - 4].field;
    INVARIANT(last != NULL);
    INVARIANT(last->kind == FIELD_CREDENTIAL && last[-1].kind == FIELD_LENGTH);
    if (payload->body_bytes < last->offset)
        return false;
    size_t length = cc_load16(payload->body + last[-1].offset);
    return length >= 1 && length <= 256 &&
           payload->body_bytes == ((last->offset + length + 7) & ~(size_t)7);
}

/* Returns the bytes of a member in the payload and stores their number. */
static const uint8_t *member_bytes(const struct payload *payload, const struct member *member,
                                   size_t *count)
{
    static const uint8_t part_offsets[PARTS] = { 0, 8, 12 };
    static const uint8_t part_bytes[PARTS] = { 8, 4, 4 };
    const struct field *field = member->field;
    switch ((enum source)member->source) {
    case SOURCE_ACTION:
        *count = 0;
        return payload->bytes;
    case SOURCE_REQUEST_ID:
    case SOURCE_SIGNED_AT:
        *count = UUID_BYTES;
        return payload->bytes + REQUEST_HEADER_BYTES;
    case SOURCE_PAYLOAD:
        *count = payload->count;
        return payload->bytes;
    case SOURCE_FIELD:
        break;
    }
    if (field->kind == FIELD_PORTFOLIO) {
        *count = part_bytes[member->part];
        return payload->body + field->offset + part_offsets[member->part];
    }
    *count =
        field->kind == FIELD_CREDENTIAL ? cc_load16(payload->body + field[-1].offset) : field->size;
    return payload->body + field->offset;
}

static size_t put_enum(const struct field *field, uint8_t value, char text[LABEL_MAX])
{
    const char *name = field_enum_name(field, value);
    if (name == NULL)
        return decimal_format_uint(text, value);
    return (size_t)(put_text(text, text + LABEL_MAX, name) - text);
}

static size_t put_pin(int32_t pin, char text[LABEL_MAX])
{
    if (pin == -1)
        return (size_t)(put_text(text, text + LABEL_MAX, "whole account") - text);
    char *at = put_text(text, text + LABEL_MAX, "subaccount ");
    return (size_t)(at - text) + decimal_format(at, pin, 0);
}

static size_t put_amount(uint64_t amount, char text[LABEL_MAX])
{
    size_t count = decimal_format(text, amount, AMOUNT_SCALE);
    return (size_t)(put_text(text + count, text + LABEL_MAX, " USDC") - text);
}

static size_t put_time(uint64_t time_ns, char text[LABEL_MAX])
{
    if (time_ns == 0)
        return (size_t)(put_text(text, text + LABEL_MAX, "default") - text);
    return timestamp_format_ms(time_ns / NS_PER_MS, text);
}

/* Returns the text of a `string` member: made in `label`, or part of the payload. */
static const char *member_string(const struct payload *payload, const struct members *members,
                                 const struct member *member, char label[LABEL_MAX], size_t *count)
{
    size_t byte_count;
    const uint8_t *bytes = member_bytes(payload, member, &byte_count);
    if (member->source == SOURCE_ACTION) {
        *count = strlen(members->request->name);
        return members->request->name;
    }
    struct uuid uuid;
    switch ((enum field_kind)member->kind) {
    case FIELD_UUID:
        uuid_load(&uuid, bytes);
        uuid_format(&uuid, label);
        *count = UUID_TEXT_BYTES;
        return label;
    case FIELD_TIME:
        if (member->source == SOURCE_SIGNED_AT) {
            uuid_load(&uuid, bytes);
            *count = timestamp_format_ms(uuid_time_ms(&uuid), label);
        } else {
            *count = put_time(cc_load64(bytes), label);
        }
        return label;
    case FIELD_PIN:
        *count = put_pin((int32_t)cc_load32(bytes), label);
        return label;
    case FIELD_ENUM:
        *count = put_enum(member->field, bytes[0], label);
        return label;
    case FIELD_AMOUNT:
        *count = put_amount(cc_load64(bytes), label);
        return label;
    default:
        INVARIANT(member->kind == FIELD_TEXT);
        *count = text_trim((const char *)bytes, byte_count);
        return (const char *)bytes;
    }
}

static uint64_t member_uint(const uint8_t *bytes, size_t count)
{
    return count == 8 ? cc_load64(bytes) : count == 4 ? cc_load32(bytes) : bytes[0];
}

/* Writes the 32 bytes of one member of encodeData. */
static void encode_member(const struct payload *payload, const struct members *members,
                          const struct member *member, uint8_t word[WORD_BYTES])
{
    char label[LABEL_MAX];
    size_t count;
    const uint8_t *bytes = member_bytes(payload, member, &count);
    switch (member_type(member)[0]) {
    case 's': { /* string */
        const char *text = member_string(payload, members, member, label, &count);
        keccak_256(word, text, count);
        return;
    }
    case 'u': /* uint64, uint32: big-endian */
        memset(word, 0, WORD_BYTES);
        cc_store64(word + WORD_BYTES - 8, __builtin_bswap64(member_uint(bytes, count)));
        return;
    case 'a': /* address: in the low bytes */
        memset(word, 0, WORD_BYTES);
        memcpy(word + WORD_BYTES - count, bytes, count);
        return;
    default:
        break;
    }
    if (member->kind == FIELD_BOOL) {
        memset(word, 0, WORD_BYTES);
        word[WORD_BYTES - 1] = bytes[0];
        return;
    }
    keccak_256(word, bytes, count); /* bytes */
}

ptrdiff_t eip712_value(const uint8_t *bytes, size_t count, unsigned index,
                       char text[EIP712_VALUE_MAX])
{
    struct members members;
    struct payload payload;
    if (!open_payload(&payload, &members, bytes, count) || index >= members.count)
        return -EINVAL;
    const struct member *member = &members.rows[index];
    char label[LABEL_MAX];
    size_t value_count;
    const uint8_t *value = member_bytes(&payload, member, &value_count);
    switch (member_type(member)[0]) {
    case 's': {
        const char *string = member_string(&payload, &members, member, label, &value_count);
        memcpy(text, string, value_count);
        text[value_count] = '\0';
        return (ptrdiff_t)value_count;
    }
    case 'u':
        return (ptrdiff_t)decimal_format_uint(text, member_uint(value, value_count));
    default:
        break;
    }
    if (member->kind == FIELD_BOOL) {
        const char *word = value[0] != 0 ? "true" : "false";
        return put_text(text, text + EIP712_VALUE_MAX, word) - text;
    }
    text[0] = '0';
    text[1] = 'x';
    hex_encode(text + 2, value, value_count);
    return (ptrdiff_t)(2 + 2 * value_count);
}

/* ------------------------------------------------------------------ hashes */

void eip712_init(struct eip712 *eip712, const uint8_t exchange_id[32])
{
    uint8_t words[4][WORD_BYTES];
    keccak_256(words[0], DOMAIN_TYPE, strlen(DOMAIN_TYPE));
    keccak_256(words[1], "Perpetuals", strlen("Perpetuals"));
    keccak_256(words[2], "1", strlen("1"));
    memcpy(words[3], exchange_id, WORD_BYTES);
    memcpy(eip712->salt, exchange_id, WORD_BYTES);
    keccak_256(eip712->domain_separator, words, sizeof words);

    for (uint16_t code = 0; code < EIP712_CODES_MAX; code++) {
        char text[EIP712_TYPE_MAX];
        size_t count = eip712_encode_type(code, text);
        eip712->signable[code] = count > 0;
        memset(eip712->type_hash[code], 0, EIP712_HASH_BYTES);
        if (count > 0)
            keccak_256(eip712->type_hash[code], text, count);
    }
}

int eip712_hash(const struct eip712 *eip712, const uint8_t *bytes, size_t count,
                struct eip712_hashes *hashes)
{
    struct members members;
    struct payload payload;
    if (!open_payload(&payload, &members, bytes, count))
        return -EINVAL;
    struct keccak_state state;
    keccak_begin(&state);
    keccak_add(&state, eip712->type_hash[members.request->code], EIP712_HASH_BYTES);
    for (unsigned i = 0; i < members.count; i++) {
        uint8_t word[WORD_BYTES];
        encode_member(&payload, &members, &members.rows[i], word);
        keccak_add(&state, word, sizeof word);
    }
    keccak_end(&state, KECCAK_PAD_ETHEREUM, hashes->struct_hash);

    static const uint8_t prefix[2] = { 0x19, 0x01 };
    keccak_begin(&state);
    keccak_add(&state, prefix, sizeof prefix);
    keccak_add(&state, eip712->domain_separator, EIP712_HASH_BYTES);
    keccak_add(&state, hashes->struct_hash, EIP712_HASH_BYTES);
    keccak_end(&state, KECCAK_PAD_ETHEREUM, hashes->digest);
    return 0;
}
