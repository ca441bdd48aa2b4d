#include "net/json/json_problem.h"

static void write_extra_number(struct writer *writer, const char *name, uint64_t number)
{
    WRITER_TEXT(writer, ",\"");
    writer_text(writer, name);
    WRITER_TEXT(writer, "\":");
    writer_uint(writer, number);
}

static void write_extra_text(struct writer *writer, const char *name, const char *text)
{
    WRITER_TEXT(writer, ",\"");
    writer_text(writer, name);
    WRITER_TEXT(writer, "\":");
    writer_string(writer, text, strlen(text));
}

/* J8: the extra members of each code. */
static void write_extra(struct writer *writer, const struct problem_detail *problem)
{
    switch (problem->code) {
    case PROBLEM_request_timestamp_out_of_window:
        write_extra_number(writer, "server_time_ms", problem->number);
        break;
    case PROBLEM_request_type_not_allowed:
        write_extra_number(writer, "request_type", problem->number);
        break;
    case PROBLEM_payload_too_large:
        write_extra_number(writer, "max_bytes", problem->number);
        break;
    case PROBLEM_rate_limited:
        write_extra_number(writer, "retry_after_ms", problem->number);
        break;
    case PROBLEM_not_ready:
        if (problem->has_number)
            write_extra_number(writer, "lag_ms", problem->number);
        break;
    case PROBLEM_invalid_parameter:
        write_extra_text(writer, "parameter", problem->member);
        break;
    case PROBLEM_malformed_payload:
    case PROBLEM_invalid_base64:
        if (problem->member != NULL)
            write_extra_text(writer, "field", problem->member);
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
    WRITER_TEXT(writer, "\",\"title\":\"");
    writer_text(writer, problem_http_title(http_status));
    WRITER_TEXT(writer, "\",\"status\":");
    writer_uint(writer, http_status);
    WRITER_TEXT(writer, ",\"code\":\"");
    writer_text(writer, code);
    WRITER_TEXT(writer, "\",\"detail\":");
    writer_string(writer, problem->detail, strlen(problem->detail));
    write_extra(writer, problem);
    WRITER_TEXT(writer, "}");
}
