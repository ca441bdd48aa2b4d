#include "net/json/json_problem.h"

#include "net/json/json_field.h"

static void write_text(struct writer *writer, const char *text)
{
    writer_string(writer, text, strlen(text));
}

/* J8: the extra members of each code. */
static void write_extra(struct writer *writer, const struct problem_detail *problem)
{
    switch (problem->code) {
    case PROBLEM_request_timestamp_out_of_window:
        JSON_FIELD_UINT(writer, "server_time_ms", problem->number);
        break;
    case PROBLEM_request_type_not_allowed:
        JSON_FIELD_UINT(writer, "request_type", problem->number);
        break;
    case PROBLEM_payload_too_large:
        JSON_FIELD_UINT(writer, "max_bytes", problem->number);
        break;
    case PROBLEM_rate_limited:
        JSON_FIELD_UINT(writer, "retry_after_ms", problem->number);
        break;
    case PROBLEM_not_ready:
        if (problem->has_number)
            JSON_FIELD_UINT(writer, "lag_ms", problem->number);
        break;
    case PROBLEM_not_leader:
        WRITER_TEXT(writer, ",\"leader\":");
        write_text(writer, problem->member);
        break;
    case PROBLEM_invalid_parameter:
        WRITER_TEXT(writer, ",\"parameter\":");
        write_text(writer, problem->member);
        break;
    case PROBLEM_malformed_payload:
    case PROBLEM_invalid_base64:
        if (problem->member == NULL)
            break;
        WRITER_TEXT(writer, ",\"field\":");
        write_text(writer, problem->member);
        break;
    default:
        break;
    }
}

void json_problem(struct writer *writer, const struct problem_detail *problem)
{
    const char *code = problem_code(problem->code);
    uint32_t http_status = problem_http_status(problem->code);
    WRITER_TEXT(writer, "{\"type\":\"urn:perps:problem:");
    writer_text(writer, code);
    WRITER_TEXT(writer, "\"");
    JSON_FIELD_WORD(writer, "title", problem_http_title(http_status));
    JSON_FIELD_UINT(writer, "status", http_status);
    JSON_FIELD_WORD(writer, "code", code);
    WRITER_TEXT(writer, ",\"detail\":");
    write_text(writer, problem->detail);
    write_extra(writer, problem);
    WRITER_TEXT(writer, "}");
}
