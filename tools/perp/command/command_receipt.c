/* command_receipt.c - signed receipts of requests: fetches one, and proves one. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "base/base64.h"
#include "base/hex.h"
#include "base/status.h"
#include "base/uuid.h"
#include "crypto/attest.h"
#include "perp/command/command.h"
#include "perp/data/chain_walk.h"
#include "perp/data/signing_keys.h"
#include "perp/invocation/choice.h"
#include "perp/print/report.h"
#include "perp/request/client_rule.h"

enum {
    TARGET_MAX = 256,
    FILE_MAX = 4096,
    ID_AT = 8,
    SIGNED_BYTES = ATTEST_RECEIPT_BYTES - SIGNER_SIGNATURE_BYTES
};

/* One proof under way. */
struct proof {
    struct context *context;
    const struct exchange_file *exchange; /* of the directory */
    struct attest_receipt receipt;
    uint8_t bytes[ATTEST_RECEIPT_BYTES];
    bool is_found; /* its frame was compared */
    bool is_equal;
    bool is_signed;
    bool is_asked_again; /* the exchange signed the same again with its present key */
    struct signing_keys keys;
};

static void write_target(char target[TARGET_MAX], const struct uuid *uuid)
{
    char id[UUID_TEXT_BYTES + 1];

    uuid_format(uuid, id);
    snprintf(target, TARGET_MAX, "/api/v1/requests/%s/receipt", id);
}

int command_receipt_get(struct context *context)
{
    char target[TARGET_MAX];
    struct uuid uuid;

    if (!choice_uuid(context, "REQUEST_ID", context->arguments->words[0], &uuid))
        return context->exit_code;
    write_target(target, &uuid);
    return context_read(context, target, true);
}

/* ---- verify ---------------------------------------------------------------------------------- */

static bool rejected(struct proof *proof, const char *text)
{
    return context_fail(proof->context, EXIT_CODE_rejected, "%s", text);
}

/* Whether this is the JSON of a receipt, whose bytes are then in `out`. */
static bool read_json(const char *text, size_t count, uint8_t out[ATTEST_RECEIPT_BYTES])
{
    json_t *root = json_loadb(text, count, 0, NULL);
    const char *coded = json_string_value(json_object_get(root, "receipt"));
    bool good = coded != NULL && base64_decode(out, ATTEST_RECEIPT_BYTES, coded, strlen(coded),
                                               NULL) == ATTEST_RECEIPT_BYTES;

    json_decref(root);
    return good;
}

/* The file has the bytes of a receipt, or the JSON of one. */
static bool read_file(struct proof *proof, const char *path)
{
    char text[FILE_MAX];
    FILE *file = fopen(path, "re");

    if (file == NULL)
        return context_fail(proof->context, EXIT_CODE_usage, "cannot read %s: %s", path,
                            strerror(errno));
    size_t count = fread(text, 1, sizeof text, file);
    fclose(file);
    if (count == sizeof proof->bytes) {
        memcpy(proof->bytes, text, sizeof proof->bytes);
        return true;
    }
    return read_json(text, count, proof->bytes) ||
           context_fail(proof->context, EXIT_CODE_usage, "%s holds no receipt", path);
}

static bool read_receipt(struct proof *proof, const uint8_t exchange_id[32],
                         const uint8_t key[ATTEST_KEY_BYTES])
{
    if (!attest_receipt_read(&proof->receipt, proof->bytes))
        return context_fail(proof->context, EXIT_CODE_usage, "the file holds no receipt");
    if (memcmp(proof->receipt.exchange_id, exchange_id, sizeof proof->receipt.exchange_id) != 0)
        return rejected(proof, "the receipt is of another exchange");
    proof->is_signed = attest_receipt_verify(proof->bytes, key);
    return true;
}

static bool reject_signature(struct proof *proof)
{
    return rejected(proof, "the exchange's key has not signed this receipt");
}

static bool leave_open(struct proof *proof, const char *text)
{
    return context_fail(proof->context, EXIT_CODE_problem,
                        "not proved and not refuted: the key in force has not signed this receipt, "
                        "and which keys were before it only the journal tells; %s, or give "
                        "--journal DATA",
                        text);
}

/* Another key than `key` signed the receipt, perhaps a former one. A client that may see the
 * request asks for its receipt again, signed by `key`: both must say the same. */
static bool judge_by_asking_again(struct proof *proof, const uint8_t key[ATTEST_KEY_BYTES])
{
    struct context *context = proof->context;
    char target[TARGET_MAX], api_key[SETTINGS_VALUE_MAX];
    struct client_request request = { .method = "GET", .target = target, .api_key = api_key };
    struct client_answer answer;
    uint8_t again[ATTEST_RECEIPT_BYTES];
    struct uuid uuid;

    if (context->settings->values[SETTING_api_key][0] == '\0')
        return leave_open(proof, "give --api-key of its account, to ask for it again");
    if (!context_api_key(context, api_key))
        return false;
    uuid_load(&uuid, proof->receipt.request_id);
    write_target(target, &uuid);
    if (client_rule_call(&context->client, &request, true, &answer) != 0)
        return context_fail(context, EXIT_CODE_connection, "%s", context->client.error);
    if (answer.status != 200 || !read_json(answer.body, answer.body_count, again) ||
        !attest_receipt_verify(again, key))
        return leave_open(proof, "the exchange shows this API key no receipt of its request: give "
                                 "that of its account");
    proof->is_asked_again = memcmp(again, proof->bytes, SIGNED_BYTES) == 0;
    return proof->is_asked_again ||
           rejected(proof, "asked again, the exchange signs something else of this request than "
                           "the receipt says");
}

/* Without a directory: by the key that the exchange shows. */
static bool judge_by_exchange(struct proof *proof)
{
    struct context *context = proof->context;
    struct client_answer answer;
    uint8_t id[32], key[ATTEST_KEY_BYTES];

    if (!context_get(context, "/api/v1/exchange", false, &answer))
        return false;
    json_t *root = json_loadb(answer.body, answer.body_count, 0, NULL);
    const char *hex = json_string_value(json_object_get(root, "exchange_id"));
    const char *coded = json_string_value(json_object_get(root, "signing_public"));
    bool good = hex != NULL && coded != NULL && hex_decode(id, sizeof id, hex, strlen(hex)) &&
                base64_decode(key, sizeof key, coded, strlen(coded), NULL) == sizeof key;
    json_decref(root);
    if (!good)
        return context_fail(context, EXIT_CODE_problem,
                            "the answer of /api/v1/exchange names no key that signs receipts");
    return read_receipt(proof, id, key) && (proof->is_signed || judge_by_asking_again(proof, key));
}

/* Compares the record in a frame with the receipt. */
static bool has_record(const struct proof *proof, const struct chain_frame *frame)
{
    const struct attest_receipt *receipt = &proof->receipt;
    uint8_t payload[ATTEST_HASH_BYTES], key[ATTEST_HASH_BYTES];
    struct frame_records records;
    struct record_view record;
    uint64_t sequence;

    frame_records_begin(&records, &frame->header, frame->bytes);
    while (frame_records_next(&records, &record, &sequence) == 1) {
        if (sequence != receipt->sequence)
            continue;
        if (record.kind == RECORD_UNSIGNED)
            return false;
        attest_hash(payload, record.payload, record.payload_bytes);
        attest_hash(key, record.key, record.key_bytes);
        return record.t_ns == receipt->processed_at_ns &&
               memcmp(record.payload + ID_AT, receipt->request_id, sizeof receipt->request_id) ==
                   0 &&
               memcmp(payload, receipt->payload_hash, sizeof payload) == 0 &&
               memcmp(key, receipt->key_hash, sizeof key) == 0;
    }
    return false;
}

static bool see_frame(void *context, const struct chain_frame *frame)
{
    struct proof *proof = context;
    uint8_t hash[HASH_BYTES];

    if (frame->header.number < proof->receipt.frame)
        return true;
    hash_blake2b256(hash, frame->bytes, frame->header.length);
    proof->is_found = frame->header.number == proof->receipt.frame;
    proof->is_equal = proof->is_found &&
                      memcmp(hash, proof->receipt.frame_hash, sizeof hash) == 0 &&
                      memcmp(frame->header.journal_id, proof->receipt.journal_id,
                             sizeof proof->receipt.journal_id) == 0 &&
                      has_record(proof, frame);
    return false;
}

static bool is_signed(const void *what, const uint8_t key[ATTEST_KEY_BYTES])
{
    return attest_receipt_verify(what, key);
}

static bool see_keys(void *context, const struct chain_frame *frame)
{
    struct proof *proof = context;
    uint64_t sequence;

    return signing_keys_pass(&proof->keys, proof->exchange, frame, &sequence) == NULL;
}

/* By the key that the journal had at the receipt's sequence, or had later: reads it whole. */
static bool judge_by_former(struct proof *proof, const struct data_directory *directory,
                            struct refusal *refusal)
{
    struct chain_walk walk = { 0 };

    proof->exchange = &directory->exchange;
    if (chain_walk_run(directory, &walk, see_keys, proof, refusal) != REFUSAL_none)
        return data_directory_refused(proof->context, directory, refusal);
    if (walk.ended)
        return rejected(proof, "the journal has a signing key that the one before has not signed");
    return signing_keys_find(&proof->keys, proof->exchange, proof->receipt.sequence, is_signed,
                             proof->bytes) ||
           reject_signature(proof);
}

/* By the directory: its key, and what its journal has at the receipt's place. */
static bool judge_by_journal(struct proof *proof, const char *path)
{
    struct context *context = proof->context;
    struct data_directory directory;
    struct chain_walk walk = { 0 };
    struct refusal refusal;

    if (!data_directory_open(context, path, &directory))
        return false;
    bool good =
        read_receipt(proof, directory.exchange.exchange_id, directory.exchange.signing_public) &&
        (proof->is_signed || judge_by_former(proof, &directory, &refusal));
    if (good &&
        (chain_walk_skip(&directory, &walk, proof->receipt.sequence, &refusal) != REFUSAL_none ||
         chain_walk_run(&directory, &walk, see_frame, proof, &refusal) != REFUSAL_none))
        good = data_directory_refused(context, &directory, &refusal);
    data_directory_close(&directory);
    if (good && !proof->is_found)
        good = rejected(proof, "the journal does not have the frame that the receipt names");
    if (good && !proof->is_equal)
        good = rejected(proof, "the journal has something else than the receipt says: the request "
                               "was dropped, moved or changed after it was acknowledged");
    return good;
}

static void show(const struct proof *proof)
{
    const struct attest_receipt *receipt = &proof->receipt;
    char id[UUID_TEXT_BYTES + 1];
    struct uuid uuid;

    uuid_load(&uuid, receipt->request_id);
    uuid_format(&uuid, id);
    json_t *object = json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:s, s:b, s:b}", "request_id", id, "account_id",
        (json_int_t)receipt->account_id, "sequence", (json_int_t)receipt->sequence,
        "processed_at_ns", (json_int_t)receipt->processed_at_ns, "frame",
        (json_int_t)receipt->frame, "status",
        receipt->status < STATUS_COUNT ? status_name((enum status)receipt->status) : "unknown",
        "in_journal", proof->is_equal, "asked_again", proof->is_asked_again);
    INVARIANT(object != NULL);
    report_object(stdout, object, proof->context->arguments->json);
}

int command_receipt_verify(struct context *context)
{
    const struct arguments *arguments = context->arguments;
    const char *journal = arguments->values[FLAG_journal];
    static struct proof proof;

    proof.context = context;
    if (!read_file(&proof, arguments->words[0]))
        return context->exit_code;
    bool good = journal != NULL ? judge_by_journal(&proof, journal) : judge_by_exchange(&proof);
    if (good)
        show(&proof);
    return context->exit_code;
}
