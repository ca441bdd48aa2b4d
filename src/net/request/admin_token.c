#include "net/request/admin_token.h"

#include <strings.h>

#include "crypto/secret.h"

bool admin_token_check(const struct net_config *config, const struct http_head *head,
                       const char *text, struct problem_detail *problem)
{
    static const char scheme[] = "Bearer ";
    const char *value = text + head->authorization.at;
    size_t scheme_bytes = sizeof scheme - 1;
    if (head->authorization.count == 0)
        return problem_detail_set(problem, PROBLEM_invalid_token, NULL,
                                  "Authorization is missing: Bearer and the content of admin.token "
                                  "in the data directory");
    if (head->authorization.count == scheme_bytes + sizeof config->admin_token &&
        strncasecmp(value, scheme, scheme_bytes) == 0 &&
        secret_equal(value + scheme_bytes, config->admin_token, sizeof config->admin_token))
        return true;
    return problem_detail_set(problem, PROBLEM_invalid_token, NULL,
                              "Authorization is not Bearer and the content of admin.token");
}
