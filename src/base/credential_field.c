#include "base/credential_field.h"

#include "base/assertion.h"
#include "base/field.h"

bool credential_field_find(uint32_t request_code, const uint8_t *body, size_t body_bytes,
                           const uint8_t **id, uint32_t *id_bytes)
{
    size_t count;
    const struct field *fields = field_table(request_code, &count);

    *id = NULL;
    *id_bytes = 0;
    if (count < 2 || fields[count - 1].kind != FIELD_CREDENTIAL)
        return false;
    uint32_t id_at = fields[count - 1].offset, length_at = fields[count - 2].offset;
    INVARIANT(fields[count - 2].kind == FIELD_LENGTH && length_at < id_at);
    if (body_bytes < id_at)
        return false;
    uint32_t length = cc_load16(body + length_at);
    if (length < 1 || length > ASSERTION_CREDENTIAL_MAX ||
        body_bytes != ((id_at + length + 7) & ~(size_t)7))
        return false;
    *id = body + id_at;
    *id_bytes = length;
    return true;
}
