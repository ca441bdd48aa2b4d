#include "base/problem.h"

static const struct {
    const char *code;
    uint32_t http_status;
} problems[PROBLEM_END] = {
#define X(name, status) [PROBLEM_##name] = { #name, status },
    PROBLEM_LIST(X)
#undef X
};

const char *problem_code(enum problem problem)
{
    INVARIANT(problem > PROBLEM_none && problem < PROBLEM_END);
    return problems[problem].code;
}

uint32_t problem_http_status(enum problem problem)
{
    INVARIANT(problem > PROBLEM_none && problem < PROBLEM_END);
    return problems[problem].http_status;
}

const char *problem_http_title(uint32_t http_status)
{
    switch (http_status) {
#define X(status, title) \
    case status:         \
        return title;
        HTTP_STATUS_LIST(X)
#undef X
    default:
        return "";
    }
}
