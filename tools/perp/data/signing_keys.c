#include "perp/data/signing_keys.h"

#include "base/option.h"
#include "base/request.h"
#include "store/frame.h"

static const char *add(struct signing_keys *keys, uint64_t sequence, const uint8_t *key)
{
    if (keys->count == SIGNING_KEYS_MAX)
        return "it is the 1025th signing key, and no more are known here";
    keys->rows[keys->count].sequence = sequence;
    memcpy(keys->rows[keys->count++].key, key, ATTEST_KEY_BYTES);
    return NULL;
}

static const uint8_t *newest(const struct signing_keys *keys)
{
    return keys->count == 0 ? NULL : keys->rows[keys->count - 1].key;
}

static const char *see_configuration(struct signing_keys *keys, uint64_t sequence,
                                     const struct record_view *record)
{
    struct option_engine options;

    if (!option_parse_engine(&options, record->payload, record->payload_bytes) ||
        !options.has_signing_public)
        return NULL; /* the replay judges it; before there were keys it names none */
    if (newest(keys) == NULL)
        return add(keys, sequence, options.signing_public);
    return memcmp(newest(keys), options.signing_public, ATTEST_KEY_BYTES) == 0
               ? NULL
               : "a 2013 names another signing key, and no 2018 before it does";
}

static const char *see_rotation(struct signing_keys *keys, const struct exchange_file *exchange,
                                uint64_t sequence, const struct record_view *record)
{
    if (record->payload_bytes != ATTEST_ROTATION_BYTES)
        return "a 2018 of another length";
    if (newest(keys) == NULL && keys->first_frame == 1)
        return "a 2018, and no 2013 before it names a signing key";
    if (newest(keys) != NULL &&
        !attest_rotation_verify(record->payload, exchange->exchange_id, newest(keys)))
        return "a 2018 that the signing key before it has not signed";
    return add(keys, sequence, record->payload);
}

const char *signing_keys_pass(struct signing_keys *keys, const struct exchange_file *exchange,
                              const struct chain_frame *frame, uint64_t *sequence)
{
    struct frame_records records;
    struct record_view record;
    const char *wrong = NULL;

    if (keys->first_frame == 0)
        keys->first_frame = frame->header.number;
    frame_records_begin(&records, &frame->header, frame->bytes);
    while (wrong == NULL && frame_records_next(&records, &record, sequence) == 1) {
        if (record.code == REQUEST_configuration)
            wrong = see_configuration(keys, *sequence, &record);
        else if (record.code == REQUEST_signing_key)
            wrong = see_rotation(keys, exchange, *sequence, &record);
    }
    return wrong;
}

bool signing_keys_find(const struct signing_keys *keys, const struct exchange_file *exchange,
                       uint64_t sequence,
                       bool (*is_signed)(const void *what, const uint8_t key[ATTEST_KEY_BYTES]),
                       const void *what)
{
    if (keys->count == 0)
        return is_signed(what, exchange->signing_public);
    for (uint32_t i = keys->count; i-- > 0;) {
        if (is_signed(what, keys->rows[i].key))
            return true;
        if (keys->rows[i].sequence <= sequence)
            return false;
    }
    return false;
}
