#include "store/record.h"

#include <errno.h>

/* The header as it is in the journal. */
struct record_header {
    uint64_t t_ns;
    uint32_t length;
    uint16_t code;
    uint8_t kind;
    uint8_t zero;
    uint16_t payload_bytes;
    uint16_t key_bytes;
    uint16_t extra_bytes;
    uint16_t zero_end;
};

static_assert(sizeof(struct record_header) == RECORD_HEADER_BYTES, "journal.md, Record");
static_assert(offsetof(struct record_header, length) == 8, "journal.md, Record");
static_assert(offsetof(struct record_header, code) == 12, "journal.md, Record");
static_assert(offsetof(struct record_header, kind) == 14, "journal.md, Record");
static_assert(offsetof(struct record_header, payload_bytes) == 16, "journal.md, Record");
static_assert(offsetof(struct record_header, key_bytes) == 18, "journal.md, Record");
static_assert(offsetof(struct record_header, extra_bytes) == 20, "journal.md, Record");
static_assert(RECORD_BYTES_MAX % 8 == 0 &&
                  RECORD_BYTES_MAX >= RECORD_HEADER_BYTES + RECORD_PAYLOAD_MAX + RECORD_KEY_MAX +
                                          RECORD_SIGNATURE_BYTES + RECORD_EXTRA_MAX,
              "the bound holds every part at its largest");

static uint32_t signature_bytes_of(uint8_t kind)
{
    return kind == RECORD_UNSIGNED ? 0U : (uint32_t)RECORD_SIGNATURE_BYTES;
}

static uint32_t unpadded(uint8_t kind, uint32_t payload_bytes, uint32_t key_bytes,
                         uint32_t extra_bytes)
{
    return RECORD_HEADER_BYTES + payload_bytes + key_bytes + signature_bytes_of(kind) + extra_bytes;
}

/* The sizes that a kind may have; what is outside is neither written nor read. */
static bool parts_lawful(uint8_t kind, uint32_t payload_bytes, uint32_t key_bytes,
                         uint32_t extra_bytes)
{
    if (payload_bytes > RECORD_PAYLOAD_MAX || extra_bytes > RECORD_EXTRA_MAX)
        return false;
    if (kind == RECORD_UNSIGNED)
        return key_bytes == 0 && extra_bytes == 0;
    return kind <= RECORD_PASSKEY && payload_bytes >= RECORD_REQUEST_MIN &&
           (key_bytes == 32 || key_bytes == 33);
}

uint32_t record_length(uint8_t kind, uint32_t payload_bytes, uint32_t key_bytes,
                       uint32_t extra_bytes)
{
    return (unpadded(kind, payload_bytes, key_bytes, extra_bytes) + 7U) & ~7U;
}

static uint8_t *part_put(uint8_t *at, const uint8_t *part, size_t count)
{
    if (count > 0)
        memcpy(at, part, count);
    return at + count;
}

uint32_t record_encode(uint8_t *out, const struct record_view *record)
{
    uint32_t length =
        record_length(record->kind, record->payload_bytes, record->key_bytes, record->extra_bytes);
    struct record_header header = {
        .t_ns = record->t_ns,
        .length = length,
        .code = record->code,
        .kind = record->kind,
        .payload_bytes = record->payload_bytes,
        .key_bytes = record->key_bytes,
        .extra_bytes = record->extra_bytes,
    };
    uint8_t *at = out;

    INVARIANT(
        parts_lawful(record->kind, record->payload_bytes, record->key_bytes, record->extra_bytes));
    memcpy(at, &header, sizeof header);
    at = part_put(at + sizeof header, record->payload, record->payload_bytes);
    at = part_put(at, record->key, record->key_bytes);
    at = part_put(at, record->signature, signature_bytes_of(record->kind));
    at = part_put(at, record->extra, record->extra_bytes);
    INVARIANT(at <= out + length && out + length - at < 8);
    memset(at, 0, (size_t)(out + length - at));
    return length;
}

int record_decode(struct record_view *out, const uint8_t *bytes, size_t available)
{
    struct record_header header;
    uint32_t used;

    if (available < sizeof header)
        return -EBADMSG;
    memcpy(&header, bytes, sizeof header);
    if (header.zero != 0 || header.zero_end != 0 || header.length > available ||
        !parts_lawful(header.kind, header.payload_bytes, header.key_bytes, header.extra_bytes))
        return -EBADMSG;
    used = unpadded(header.kind, header.payload_bytes, header.key_bytes, header.extra_bytes);
    if (header.length != ((used + 7U) & ~7U))
        return -EBADMSG;
    for (uint32_t i = used; i < header.length; i++) {
        if (bytes[i] != 0)
            return -EBADMSG;
    }
    *out = (struct record_view){
        .t_ns = header.t_ns,
        .length = header.length,
        .code = header.code,
        .kind = header.kind,
        .payload_bytes = header.payload_bytes,
        .key_bytes = header.key_bytes,
        .extra_bytes = header.extra_bytes,
        .payload = bytes + RECORD_HEADER_BYTES,
    };
    if (header.kind != RECORD_UNSIGNED) {
        out->key = out->payload + header.payload_bytes;
        out->signature = out->key + header.key_bytes;
        out->extra = header.extra_bytes > 0 ? out->signature + RECORD_SIGNATURE_BYTES : NULL;
    }
    return 0;
}
