#include "net/json/json_typed_data.h"

#include "base/hex.h"
#include "net/http/parameter.h"

/* JSON numbers up to here are exact in every client (J6). */
#define NUMBER_MAX ((UINT64_C(1) << 53) - 1)

void json_typed_data_domain(const struct net_config *config, struct writer *writer)
{
    char salt[2 * sizeof config->exchange_id + 1];
    hex_encode(salt, config->exchange_id, sizeof config->exchange_id);
    WRITER_TEXT(writer, "{\"name\":\"Perpetuals\",\"version\":\"1\",\"salt\":\"0x");
    writer_text(writer, salt);
    WRITER_TEXT(writer, "\"}");
}

/* "types":..,"primaryType":..,"domain":.. */
static void write_types(const struct net_config *config, uint16_t code,
                        const struct eip712_member *members, unsigned count, struct writer *writer)
{
    char name[EIP712_NAME_MAX];
    eip712_primary_type(code, name);
    WRITER_TEXT(writer, "\"types\":{\"EIP712Domain\":[{\"name\":\"name\",\"type\":\"string\"},"
                        "{\"name\":\"version\",\"type\":\"string\"},"
                        "{\"name\":\"salt\",\"type\":\"bytes32\"}],\"");
    writer_text(writer, name);
    WRITER_TEXT(writer, "\":[");
    for (unsigned i = 0; i < count; i++) {
        if (i > 0)
            WRITER_TEXT(writer, ",");
        WRITER_TEXT(writer, "{\"name\":\"");
        writer_text(writer, members[i].name);
        WRITER_TEXT(writer, "\",\"type\":\"");
        writer_text(writer, members[i].type);
        WRITER_TEXT(writer, "\"}");
    }
    WRITER_TEXT(writer, "]},\"primaryType\":\"");
    writer_text(writer, name);
    WRITER_TEXT(writer, "\",\"domain\":");
    json_typed_data_domain(config, writer);
}

void json_typed_data_types(const struct net_config *config, uint16_t code, struct writer *writer)
{
    struct eip712_member members[EIP712_MEMBERS_MAX];
    unsigned count = eip712_members(code, members);
    WRITER_TEXT(writer, "{");
    write_types(config, code, members, count, writer);
    WRITER_TEXT(writer, "}");
}

/* The value of a member in the JSON form of its type. */
static void write_value(const struct eip712_member *member, const char *text, size_t count,
                        struct writer *writer)
{
    uint64_t number = 0;
    bool is_number = member->type[0] == 'u' && parameter_read_number(text, count, &number) &&
                     number <= NUMBER_MAX;
    if (is_number || strcmp(member->type, "bool") == 0)
        writer_bytes(writer, text, count);
    else
        writer_string(writer, text, count);
}

void json_typed_data_preview(const struct context *context, const uint8_t *payload, size_t count,
                             const struct eip712_hashes *hashes, struct writer *writer)
{
    struct eip712_member members[EIP712_MEMBERS_MAX];
    char text[EIP712_VALUE_MAX];
    uint16_t code = cc_load16(payload + 2);
    unsigned member_count = eip712_members(code, members);
    WRITER_TEXT(writer, "{\"typed_data\":{");
    write_types(context->config, code, members, member_count, writer);
    WRITER_TEXT(writer, ",\"message\":{");
    for (unsigned i = 0; i < member_count; i++) {
        ptrdiff_t length = eip712_value(payload, count, i, text);
        INVARIANT(length >= 0);
        writer_text(writer, i > 0 ? ",\"" : "\"");
        writer_text(writer, members[i].name);
        WRITER_TEXT(writer, "\":");
        write_value(&members[i], text, (size_t)length, writer);
    }
    WRITER_TEXT(writer, "}},\"domain_separator\":");
    writer_hex(writer, context->eip712.domain_separator, EIP712_HASH_BYTES);
    WRITER_TEXT(writer, ",\"struct_hash\":");
    writer_hex(writer, hashes->struct_hash, EIP712_HASH_BYTES);
    WRITER_TEXT(writer, ",\"digest\":");
    writer_hex(writer, hashes->digest, EIP712_HASH_BYTES);
    WRITER_TEXT(writer, "}");
}
