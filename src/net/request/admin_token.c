#include "net/request/admin_token.h"

#include "crypto/secret.h"
#include "net/request/bearer.h"

bool admin_token_check(const struct net_config *config, const struct http_head *head,
                       const char *text, struct problem_detail *problem)
{
    const struct http_span token = bearer_token(head, text);
    if (head->authorization.count == 0)
        return problem_detail_set(problem, PROBLEM_invalid_token, NULL,
                                  "Authorization is missing: Bearer and the content of admin.token "
                                  "in the data directory");
    if (token.count == sizeof config->admin_token &&
        secret_equal(text + token.at, config->admin_token, sizeof config->admin_token))
        return true;
    return problem_detail_set(problem, PROBLEM_invalid_token, NULL,
                              "Authorization is not Bearer and the content of admin.token");
}
