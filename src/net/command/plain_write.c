#include "net/command/plain_write.h"

#include "base/symbols.h"
#include "base/text.h"
#include "net/http/parameter.h"
#include "net/request/api_caller.h"
#include "net/request/charge.h"
#include "net/request/leadership.h"
#include "net/request/plain_body.h"

enum { BODY_MAX = 64 };

/* Checks whether writes are served, and the API key or the cookie. */
static bool admit(const struct context *context, const struct conn *conn, const char *head_text,
                  struct pending_plain *plain, struct keyring_row *row,
                  struct problem_detail *problem)
{
    if (!context->config->source.ready(context->config->source.context))
        return problem_detail_set(problem, PROBLEM_not_ready, NULL, "the service is recovering");
    if (!leadership_write(context->config, problem))
        return false;
    uint16_t code = conn->route.path->codes[0];
    bool takes_cookie = code == REQUEST_portfolio_close || code == REQUEST_portfolio_reopen ||
                        code == REQUEST_rename_portfolio;
    if (!api_caller_find(context->config, context->unix_ns, &conn->head, head_text,
                         takes_cookie ? API_CALLER_COOKIE : API_CALLER_KEY, row, problem))
        return false;
    plain->account_id = row->account_id;
    if (row->state == KEYRING_TOMBSTONE)
        return true; /* R11: the engine refuses it, after the command that revoked the key */
    if (row->scope != API_CALLER_READ_WRITE)
        return problem_detail_set(problem, PROBLEM_read_only_key, NULL,
                                  "the API key has scope READ");
    return api_caller_may_reach(row->subaccount_pin, plain->subaccount_index, problem);
}

/* The portfolio in the path of a rename. */
static bool parse_portfolio(const struct conn *conn, struct pending_plain *plain,
                            struct problem_detail *problem)
{
    static const char parameter[] = "portfolio_index";
    uint64_t value = 0;
    if (!parameter_read_number(conn->route.argument, conn->route.argument_bytes, &value) ||
        value > INT32_MAX)
        return problem_detail_set(problem, PROBLEM_invalid_parameter, parameter,
                                  "portfolio_index is not an integer in 0..%d", INT32_MAX);
    plain->portfolio_index = (uint32_t)value;
    return true;
}

/* Writes the body of W3b; returns its size. */
static uint16_t fill_body(const struct symbols *symbols, uint16_t code,
                          const struct pending_plain *plain, const struct keyring_row *row,
                          uint8_t body[BODY_MAX])
{
    memset(body, 0, BODY_MAX);
    memcpy(body, row->credential_id.bytes, 16);
    cc_store64(body + 16, plain->account_id);
    cc_store32(body + 24, plain->subaccount_index);
    cc_store32(body + 28, plain->portfolio_index);
    if (code == REQUEST_set_leverage) {
        cc_store32(body + 32, plain->leverage);
        /* The portfolio check comes first (R11), so an unknown market is still sent to the engine.
         * */
        cc_store16(body + 36, symbols_find(symbols, plain->market,
                                           text_trim(plain->market, sizeof plain->market)));
    } else if (code == REQUEST_faucet_credit) {
        cc_store64(body + 32, plain->amount);
    } else if (code == REQUEST_rename_portfolio) {
        memcpy(body + 32, plain->name, sizeof plain->name);
    }
    return request_find(code)->body_bytes;
}

void plain_write_accept(struct job_table *jobs, struct conn *conn, const char *head_text,
                        const char *body, size_t count)
{
    struct context *context = jobs->context;
    uint16_t code = conn->route.path->codes[0];
    struct pending_plain plain;
    struct keyring_row row;
    struct problem_detail problem;
    uint8_t bytes[BODY_MAX];

    if (!charge_signature(context, conn, &problem) ||
        !plain_body_read(&plain, code, body, count, &problem) ||
        (code == REQUEST_rename_portfolio && !parse_portfolio(conn, &plain, &problem)) ||
        !admit(context, conn, head_text, &plain, &row, &problem)) {
        pipeline_refuse(jobs->pipeline, conn, &problem, NULL);
        return;
    }
    uint16_t body_bytes = fill_body(context->config->symbols, code, &plain, &row, bytes);
    struct pending *pending = job_accept_plain(jobs, conn, code, bytes, body_bytes);
    pending->plain = plain;
    pending->by_device = row.key.kind == KEYRING_DEVICE;
}
