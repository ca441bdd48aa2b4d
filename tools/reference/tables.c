#include "reference/tables.h"

#include "base/field.h"
#include "base/operator_rule.h"
#include "base/option.h"
#include "base/problem.h"
#include "base/reason.h"
#include "base/status.h"
#include "crypto/signing_mistake.h"
#include "net/http/route.h"

/* Whether a comma comes before the next element; `first` becomes false. */
static const char *comma(bool *first)
{
    const char *text = *first ? "" : ",";
    *first = false;
    return text;
}

/* The texts of the tables have neither quotes nor backslashes nor control characters. */
static void write_text(FILE *out, const char *text)
{
    INVARIANT(strpbrk(text, "\"\\\n\t") == NULL);
    fprintf(out, "\"%s\"", text);
}

static const char *signer_name(uint8_t signer)
{
    static const char *const names[] = {
        [SIGNER_NONE] = "none",
        [SIGNER_SESSION] = "session",
        [SIGNER_SESSION_OR_MASTER] = "session_or_master",
        [SIGNER_MASTER] = "master",
        [SIGNER_ADMIN] = "admin",
        [SIGNER_NEW_SECP256K1] = "new_secp256k1",
        [SIGNER_NEW_PASSKEY] = "new_passkey",
        [SIGNER_OPERATOR] = "operator",
        [SIGNER_NODE] = "node",
    };
    return names[signer];
}

static void write_fields(FILE *out, const struct field *fields, size_t count)
{
    fprintf(out, "[");
    for (size_t i = 0; i < count; i++) {
        const struct field *field = &fields[i];
        fprintf(out, "%s{\"name\":\"%s\",\"kind\":\"%s\",\"offset\":%u,\"size\":", i > 0 ? "," : "",
                field->name, field_kind_name(field->kind), field->offset);
        if (field->size != 0)
            fprintf(out, "%u", field->size);
        else
            fprintf(out, "null"); /* to the end of the body */
        if (field->kind == FIELD_ENUM) {
            fprintf(out, ",\"names\":[");
            for (size_t k = 0; field->names[k] != NULL; k++)
                fprintf(out, "%s\"%s\"", k > 0 ? "," : "", field->names[k]);
            fprintf(out, "]");
        }
        fprintf(out, "}");
    }
    fprintf(out, "]");
}

static void write_requests(FILE *out)
{
    size_t count, field_count;
    static const char *const styles[] = { "ack", "success", "http" };
    const struct request *requests = request_table(&count);
    fprintf(out, "\"requests\":[");
    for (size_t i = 0; i < count; i++) {
        const struct request *request = &requests[i];
        fprintf(out,
                "%s\n{\"code\":%u,\"name\":\"%s\",\"signer\":\"%s\",\"path\":", i > 0 ? "," : "",
                request->code, request->name, signer_name(request->signer));
        if (request->path[0] != '\0')
            write_text(out, request->path);
        else
            fprintf(out, "null");
        fprintf(out, ",\"built\":%s,\"answer\":\"%s\",\"body_bytes\":",
                request->built ? "true" : "false", styles[request->answer]);
        if (request->form == BODY_FIXED)
            fprintf(out, "%u", request->body_bytes);
        else
            fprintf(out, "null");
        const struct field *fields = field_table(request->code, &field_count);
        fprintf(out, ",\"fields\":");
        write_fields(out, fields, field_count);
        fprintf(out, "}");
    }
    const struct field *item = field_batch_item(&field_count);
    fprintf(out, "],\n\"batch_item\":");
    write_fields(out, item, field_count);
}

static void write_outcomes(FILE *out)
{
    bool first = true;
    fprintf(out, ",\n\"statuses\":[");
    for (uint32_t status = 0; status < STATUS_COUNT; status++)
        fprintf(out, "%s\"%s\"", comma(&first), status_name((enum status)status));
    first = true;
    fprintf(out, "],\n\"reasons\":[");
    for (uint32_t reason = REASON_FIRST; reason < REASON_END; reason++)
        fprintf(out, "%s{\"code\":%u,\"name\":\"%s\"}", comma(&first), reason, reason_name(reason));
    first = true;
    fprintf(out, "],\n\"operator_rules\":[");
    for (uint32_t rule = OPERATOR_RULE_none + 1; rule < OPERATOR_RULE_END; rule++)
        fprintf(out, "%s{\"number\":%u,\"field\":\"%s\",\"rule\":\"%s\"}", comma(&first), rule,
                operator_rule_field(rule), operator_rule_text(rule));
    first = true;
    fprintf(out, "],\n\"problems\":[");
    for (uint32_t problem = PROBLEM_none + 1; problem < PROBLEM_END; problem++)
        fprintf(out, "%s{\"http\":%u,\"code\":\"%s\"}", comma(&first),
                problem_http_status((enum problem)problem), problem_code((enum problem)problem));
    first = true;
    fprintf(out, "],\n\"mistakes\":[");
    for (unsigned mistake = 0; mistake < SIGNING_MISTAKE_COUNT; mistake++)
        fprintf(out, "%s\"%s\"", comma(&first),
                signing_mistake_name((enum signing_mistake)mistake));
    fprintf(out, "]");
}

/* Bytes of a kind, null where they differ from field to field, and its EIP-712 type. */
static void write_kinds(FILE *out)
{
    size_t count, field_count;
    const struct request *requests = request_table(&count);
    bool first = true;
    fprintf(out, ",\n\"kinds\":[");
    for (uint32_t kind = 0; kind <= FIELD_PAD; kind++) {
        uint32_t size = 0;
        bool same = true;
        for (size_t i = 0; i < count; i++) {
            const struct field *fields = field_table(requests[i].code, &field_count);
            for (size_t k = 0; k < field_count; k++) {
                if (fields[k].kind != kind)
                    continue;
                same = same && (size == 0 || size == fields[k].size);
                size = fields[k].size;
            }
        }
        fprintf(out, "%s{\"kind\":\"%s\",\"bytes\":", comma(&first),
                field_kind_name((enum field_kind)kind));
        if (same && size != 0)
            fprintf(out, "%u", size);
        else
            fprintf(out, "null");
        const char *type = eip712_type_of(kind);
        fprintf(out, type != NULL ? ",\"eip712\":\"%s\"}" : ",\"eip712\":null}", type);
    }
    fprintf(out, "]");
}

static void write_limits(FILE *out)
{
    static const char prefix[] = "limits.";
    bool first = true;
    fprintf(out, ",\n\"limits\":[");
    for (uint32_t option = 0; option < OPTION_COUNT; option++) {
        const struct option_row *row = option_row((enum option)option);
        if (strncmp(row->name, prefix, sizeof prefix - 1) != 0)
            continue;
        fprintf(out, "%s{\"name\":\"%s\",\"default\":\"%s\",\"built\":%s}", comma(&first),
                row->name + sizeof prefix - 1, row->initial, row->built ? "true" : "false");
    }
    fprintf(out,
            "],\n\"bounds\":{\"body\":%d,\"payload\":%d,\"frame\":%d,\"envelope\":%d,"
            "\"passkey_envelope\":%d}",
            REQUEST_BODY_MAX, REQUEST_PAYLOAD_MAX, REQUEST_FRAME_MAX, REQUEST_ENVELOPE_MAX,
            REQUEST_PASSKEY_ENVELOPE_MAX);
}

/* The argument of a path that ends with '/', and what follows it. */
static const char *argument_of(const struct route_path *path)
{
    if (path->kind == ROUTE_PLAIN)
        return "{portfolio_index}";
    if (path->kind == ROUTE_EIP712)
        return "{request_type}";
    return path->query == QUERY_order                                     ? "{id}"
           : path->query == QUERY_request || path->query == QUERY_receipt ? "{request_id}"
           : path->query == QUERY_market                                  ? "{market}"
                                                                          : "{pairing_id}";
}

static void write_route(FILE *out, bool *first, const struct route_path *path, const char *argument,
                        const char *suffix)
{
    static const char *const methods[] = {
        [HTTP_GET] = "GET", [HTTP_POST] = "POST", [HTTP_PUT] = "PUT", [HTTP_PATCH] = "PATCH"
    };
    fprintf(out, "%s\n{\"method\":\"%s\",\"path\":\"%s%s%s\",\"admin\":%s,\"codes\":[",
            comma(first), methods[path->method], path->path, argument, suffix,
            path->admin ? "true" : "false");
    for (uint16_t i = 0; i < path->code_count; i++)
        fprintf(out, "%s%u", i > 0 ? "," : "", path->codes[i]);
    fprintf(out, "]}");
}

static void write_routes(FILE *out)
{
    static struct route_table table;
    bool first = true;
    route_init(&table, (struct route_features){
                           .testnet = true, .debug = true, .console = true, .latency = true });
    fprintf(out, ",\n\"routes\":[");
    for (uint16_t i = 0; i < table.count; i++) {
        const struct route_path *path = &table.paths[i];
        if (path->kind == ROUTE_PAGE || path->kind == ROUTE_FILE)
            continue; /* no interface of programs */
        bool prefix = path->kind != ROUTE_SIGNED && path->path[path->path_bytes - 1] == '/';
        write_route(out, &first, path, prefix ? argument_of(path) : "", path->suffix);
        const char *suffix;
        bool market = prefix && path->kind == ROUTE_QUERY && path->query == QUERY_market;
        for (unsigned part = 0; market && (suffix = route_market_part(part)) != NULL; part++)
            write_route(out, &first, path, "{market}", suffix);
    }
    fprintf(out, "]");
}

void tables_write(FILE *out)
{
    fprintf(out, "{");
    write_requests(out);
    write_outcomes(out);
    write_kinds(out);
    write_limits(out);
    write_routes(out);
    fprintf(out, "}\n");
}
