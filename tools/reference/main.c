/* main.c - makes documents from the tables of src/base and src/crypto;
 * a test compares each with the one in the tree.
 *
 *   perp-reference             docs/reference.md: the bytes of a signed request, requests with
 *                              every field, statuses, reasons and problem codes with their
 *                              meanings, mistakes of signers, worked signatures, options
 *   perp-reference --json      the same tables and the routes as JSON
 *   perp-reference DOCUMENT    the document with the tables between its markers made again:
 *                              <!-- steps -->, <!-- rows --> (R11) up to <!-- end --> */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/field.h"
#include "base/operator_rule.h"
#include "base/option.h"
#include "base/problem.h"
#include "base/reason.h"
#include "base/request.h"
#include "base/rule.h"
#include "base/status.h"
#include "base/version.h"
#include "crypto/eip712.h"
#include "crypto/signing_mistake.h"
#include "reference/basics.h"
#include "reference/meanings.h"
#include "reference/tables.h"
#include "reference/vectors.h"

enum { LINE_BYTES = 4096 };

static const char *const signer_names[] = {
    [SIGNER_NONE] = "nobody",
    [SIGNER_SESSION] = "session",
    [SIGNER_SESSION_OR_MASTER] = "FULL_ACCESS session or master key",
    [SIGNER_MASTER] = "master key",
    [SIGNER_ADMIN] = "admin master key",
    [SIGNER_NEW_SECP256K1] = "the new master key",
    [SIGNER_NEW_PASSKEY] = "the new passkey",
    [SIGNER_OPERATOR] = "the operator key",
    [SIGNER_NODE] = "node",
};

static const char *const kind_names[] = {
    [FIELD_PORTFOLIO] = "portfolio id",
    [FIELD_ACCOUNT] = "account id",
    [FIELD_COUNT64] = "u64",
    [FIELD_SIGNED64] = "i64",
    [FIELD_INDEX] = "index u32",
    [FIELD_COUNT32] = "u32",
    [FIELD_COUNT16] = "u16",
    [FIELD_COUNT8] = "u8",
    [FIELD_BOOL] = "bool",
    [FIELD_PIN] = "pin i32",
    [FIELD_ENUM] = "enum u8",
    [FIELD_AMOUNT] = "micro-USDC u64",
    [FIELD_TIME] = "unix ns u64",
    [FIELD_EXPIRY] = "expiry u64",
    [FIELD_PRICE] = "raw price u64",
    [FIELD_QUANTITY] = "raw quantity i64",
    [FIELD_SIZE] = "raw size u64",
    [FIELD_ASSET] = "market id u16",
    [FIELD_UUID] = "uuid",
    [FIELD_ADDRESS] = "address",
    [FIELD_TEXT] = "text, zero-padded",
    [FIELD_KEY] = "public key",
    [FIELD_HASH] = "32 bytes",
    [FIELD_LENGTH] = "length u16",
    [FIELD_CREDENTIAL] = "credential id",
    [FIELD_ITEMS] = "items of 64 bytes",
    [FIELD_DOCUMENT] = "text to the end",
    [FIELD_PAD] = "zero",
};

static void print_fields(uint32_t code)
{
    size_t count;
    const struct field *fields = field_table(code, &count);

    for (size_t i = 0; i < count; i++) {
        const struct field *field = &fields[i];
        if (field->size != 0)
            printf("| %u | %u | `%s` | %s", field->offset, field->size, field->name,
                   kind_names[field->kind]);
        else
            printf("| %u | rest | `%s` | %s", field->offset, field->name, kind_names[field->kind]);
        for (uint32_t value = 0; field->kind == FIELD_ENUM && field->names[value] != NULL; value++)
            printf("%s %u %s", value == 0 ? ":" : ",", value, field->names[value]);
        printf(" |\n");
    }
}

/* The type that a wallet signs, where one may. */
static void print_typed_data(uint16_t code)
{
    char text[EIP712_TYPE_MAX];

    if (eip712_encode_type(code, text) > 0)
        printf("\nTyped data: `%s`\n", text);
}

/* Who signs a request. The operator hands prices to oracle keys and money to the treasury's
 * (rules.md R10). */
static const char *signer_of(const struct request *request)
{
    switch (request->code) {
    case REQUEST_oracle_price:
        return "an oracle key";
    case REQUEST_deposit_credit:
    case REQUEST_withdrawal_settle:
    case REQUEST_fund_top_up:
        return "the operator key, or the treasury key if one is set";
    default:
        return signer_names[request->signer];
    }
}

static void print_requests(void)
{
    size_t count;
    const struct request *requests = request_table(&count);

    printf(
        "## Requests\nOffsets are bytes from the start of the body. A request that is not served "
        "by this version has no\nroute (404).\n");
    for (size_t i = 0; i < count; i++) {
        const struct request *request = &requests[i];
        if (request->signer == SIGNER_NONE)
            continue;
        printf("\n### %u %s\n", request->code, request->name);
        printf("Signed by: %s.%s%s%s %s.\n", signer_of(request),
               request->path[0] != '\0' ? " POST `" : "", request->path,
               request->path[0] != '\0' ? "`." : "",
               request->built ? "Served" : "Not served by this version");
        if (request->code == REQUEST_revoke_session)
            printf("POST `/api/v1/logout` takes it too, signed by the session that it names.\n");
        printf("\n| offset | bytes | field | kind |\n|---|---|---|---|\n");
        print_fields(request->code);
        if (request->code == REQUEST_market_define)
            printf(
                "\nThe members of the record are those of GET /markets, with their units: "
                "[Market](reads.md#market),\n[Tier](reads.md#tier), [Fee](reads.md#fee). Which are "
                "required, their bounds and the rules that refuse\na record: "
                "[below](#rules-of-the-operators-bodies).\n");
        print_typed_data(request->code);
    }
}

static void print_lists(void)
{
    printf("\n## Statuses\nThe `status` of a RequestAck, the `message` of a success answer; what "
           "each request type may answer, and in\nwhich order, is in [R11](spec/rules.md).\n\n"
           "| number | name | meaning |\n|---|---|---|\n");
    for (uint32_t status = 0; status < STATUS_COUNT; status++)
        printf("| %u | `%s` | %s |\n", status, status_name((enum status)status),
               meaning_of_status(status));
    printf("\n## Reasons\nWhy a request was refused or an order ended, beside its status. 0 is "
           "none, 1 to 127 are the status of\nthat number.\n\n"
           "| number | name | meaning |\n|---|---|---|\n");
    for (uint32_t reason = REASON_FIRST; reason < REASON_END; reason++)
        printf("| %u | `%s` | %s |\n", reason, reason_name(reason), meaning_of_reason(reason));
    printf(
        "\n## Rules of the operator's bodies\n\nA refused code 1001, 1002, 1004 or 1008 names the "
        "field that breaks a rule and what it\nmust be (`field` and `rule`, "
        "[json.md](spec/json.md) J4).\n\n| number | field | must be |\n|---|---|---|\n");
    for (uint32_t rule = OPERATOR_RULE_none + 1; rule < OPERATOR_RULE_END; rule++)
        printf("| %u | `%s` | %s |\n", rule, operator_rule_field(rule), operator_rule_text(rule));
    printf(
        "\n## Problem codes\nThe `code` of a problem object (J8 of [json.md](spec/json.md)): the "
        "request was not executed, and its id\nis unused.\n\n"
        "| HTTP | code | meaning |\n|---|---|---|\n");
    for (uint32_t problem = PROBLEM_none + 1; problem < PROBLEM_END; problem++)
        printf("| %u | `%s` | %s |\n", problem_http_status((enum problem)problem),
               problem_code((enum problem)problem), meaning_of_problem(problem));
}

static void print_mistakes(void)
{
    printf("\n## Mistakes of signers\nPOST /api/v1/debug/payload and `perp decode` name them.\n\n"
           "| mistake | what is wrong |\n|---|---|\n");
    for (unsigned mistake = 0; mistake < SIGNING_MISTAKE_COUNT; mistake++)
        printf("| `%s` | %s |\n", signing_mistake_name((enum signing_mistake)mistake),
               signing_mistake_text((enum signing_mistake)mistake));
}

static void print_options(void)
{
    printf(
        "\n## Options\nFlag `--section.key=value`, variable `PERPD_SECTION_KEY`, or the file of "
        "`--config`. E: an engine option,\njournalled as record 2013. An option that is not built "
        "is refused (exit 2). Of words to choose from those with a + are built.\n\n| key | E | "
        "built | default | meaning |\n|---|---|---|---|---|\n");
    for (uint32_t option = 0; option < OPTION_COUNT; option++) {
        const struct option_row *row = option_row((enum option)option);
        printf("| `%s` | %s | %s | %s%s%s | %s |\n", row->name, row->engine ? "E" : "",
               row->built ? "yes" : "no", row->initial[0] != '\0' ? "`" : "", row->initial,
               row->initial[0] != '\0' ? "`" : "none", row->help);
    }
}

static void print_rule(const struct rule *rule)
{
    printf("| %s | `%s` | `%s` | %s |\n", rule->number, rule->name,
           status_name((enum status)rule->status), rule->check);
}

static void print_steps(void)
{
    printf("| step | name | status | check |\n|---|---|---|---|\n");
    for (int step = 0; step < STEP_COUNT; step++)
        print_rule(rule_step((enum rule_step)step));
}

static void print_rows(void)
{
    printf("| row | name | status | check |\n|---|---|---|---|\n");
    for (int row = 0; row < ROW_COUNT; row++)
        print_rule(rule_row((enum rule_row)row));
}

/* Prints the document. Returns 0, or 1 when it cannot be read. */
static int print_document(const char *name)
{
    char line[LINE_BYTES];
    bool within = false;
    FILE *file = fopen(name, "r");

    if (file == NULL) {
        fprintf(stderr, "perp-reference: %s: %s\n", name, strerror(errno));
        return 1;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        within = within && strcmp(line, "<!-- end -->\n") != 0;
        if (!within)
            fputs(line, stdout);
        bool steps = strcmp(line, "<!-- steps -->\n") == 0;
        if (steps)
            print_steps();
        else if (strcmp(line, "<!-- rows -->\n") == 0)
            print_rows();
        else
            continue;
        within = true;
    }
    int failed = ferror(file);
    fclose(file);
    return failed != 0;
}

static bool print_reference(void)
{
    printf(
        "# Reference\nMade by `build/release/perp-reference` from the tables in `src/base`; do not "
        "edit.\n\n");
    if (!meanings_are_complete())
        return false;
    basics_print();
    print_requests();
    print_lists();
    print_mistakes();
    if (!vectors_print()) {
        fprintf(stderr, "perp-reference: a worked signature does not verify\n");
        return false;
    }
    print_options();
    return true;
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        fprintf(stderr, "perp-reference: '%.60s' is one word too many\n", argv[2]);
        return 2;
    }
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        printf("usage: perp-reference [--json | DOCUMENT]\n       perp-reference --version\n");
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        printf("perp-reference %s\n", version_text);
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "--json") == 0) {
        tables_write(stdout);
        return 0;
    }
    if (argc > 1 && argv[1][0] == '-') {
        fprintf(stderr, "perp-reference: unknown option %.60s (perp-reference --help)\n", argv[1]);
        return 2;
    }
    if (argc > 1)
        return print_document(argv[1]);
    return print_reference() ? 0 : 1;
}
