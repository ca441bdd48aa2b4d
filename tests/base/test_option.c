/* option: the body of record 2013 (wire.md W3b) and the option table (roles.md). The body is
 * written here by hand from the specification's rules, not by config_engine_text. */
#include "base/option.h"
#include "check.h"

#define KEY_1 "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg="
#define KEY_2 "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

enum { BODY_MAX = 8192, LINES_MAX = OPTION_COUNT };

static struct line {
    char key[64];
    char value[1024];
} lines[LINES_MAX];
static size_t line_count;

static int compare_lines(const void *a, const void *b)
{
    return strcmp(((const struct line *)a)->key, ((const struct line *)b)->key);
}

/* The default of every engine option that is built, sorted by key. */
static void make_lines(void)
{
    line_count = 0;
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = option_row((enum option)i);
        if (!row->engine || !row->built)
            continue;
        snprintf(lines[line_count].key, sizeof lines[0].key, "%s", row->name);
        snprintf(lines[line_count].value, sizeof lines[0].value, "%s", row->initial);
        line_count++;
    }
    qsort(lines, line_count, sizeof lines[0], compare_lines);
}

static struct line *line_of(const char *key)
{
    for (size_t i = 0; i < line_count; i++)
        if (strcmp(lines[i].key, key) == 0)
            return &lines[i];
    CHECK(false);
    return NULL;
}

static size_t make_body(char body[BODY_MAX])
{
    size_t used = 0;
    for (size_t i = 0; i < line_count; i++)
        used +=
            (size_t)snprintf(body + used, BODY_MAX - used, "%s=%s\n", lines[i].key, lines[i].value);
    while (used % 8 != 0)
        body[used++] = '\0';
    return used;
}

static struct option_engine options;

static bool parse(void)
{
    static char body[BODY_MAX];
    size_t count = make_body(body);
    return option_parse_engine(&options, (const uint8_t *)body, count);
}

/* The same with one value changed. */
static bool parse_with(const char *key, const char *value)
{
    make_lines();
    snprintf(line_of(key)->value, sizeof lines[0].value, "%s", value);
    return parse();
}

static void test_defaults(void)
{
    make_lines();
    CHECK(line_count > 10 && parse());
    /* roles.md's table */
    CHECK(options.values[OPTION_engine_makers_max] == 4096);
    CHECK(options.values[OPTION_engine_work_per_command] == 64);
    CHECK(options.values[OPTION_engine_orders] == 1048576);
    CHECK(options.values[OPTION_exchange_clock_past_ms] == 30000);
    CHECK(options.values[OPTION_exchange_clock_future_ms] == 5000);
    CHECK(options.values[OPTION_exchange_oracle_max_age_ms] == 10000);
    CHECK(options.values[OPTION_limits_duplicate_slots] == 4194304);
    CHECK(options.values[OPTION_limits_session_life_default_s] == 30 * 86400);
    CHECK(options.values[OPTION_limits_gtt_max_s] == 90 * 86400);
    CHECK(!options.has_operator_key && !options.has_treasury_key && !options.has_exchange_id);
    CHECK(options.oracle_key_count == 0);
    CHECK(options.values[OPTION_net_credit_wait_ms] == 0); /* a process option: not the engine's */
}

static void test_keys(void)
{
    CHECK(parse_with("exchange.operator_key", KEY_1));
    CHECK(options.has_operator_key && options.operator_key[0] == 0x03);
    CHECK(options.operator_key[31] == 0xb8 && !options.has_treasury_key);
    CHECK(parse_with("exchange.treasury_key", KEY_2));
    CHECK(options.has_treasury_key && options.treasury_key[31] == 0x1f);
    CHECK(!parse_with("exchange.operator_key", KEY_1 "," KEY_2));
    CHECK(!parse_with("exchange.operator_key", "AAAA"));

    CHECK(parse_with("exchange.oracle_keys", KEY_2) && options.oracle_key_count == 1);
    CHECK(parse_with("exchange.oracle_keys", KEY_1 "," KEY_2) && options.oracle_key_count == 2);
    CHECK(options.oracle_keys[0][0] == 0x03 && options.oracle_keys[1][1] == 0x01);
    CHECK(!parse_with("exchange.oracle_keys", KEY_1 ","));
    CHECK(!parse_with("exchange.oracle_keys", "," KEY_1));
    CHECK(!parse_with("exchange.oracle_keys", KEY_1 " " KEY_2));
    char many[1024] = "";
    for (unsigned i = 0; i <= OPTION_KEYS_MAX; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), i == 0 ? KEY_1 : "," KEY_1);
    CHECK(!parse_with("exchange.oracle_keys", many));
    many[strlen(many) - strlen("," KEY_1)] = '\0';
    CHECK(parse_with("exchange.oracle_keys", many));
    CHECK(options.oracle_key_count == OPTION_KEYS_MAX);

    CHECK(parse_with("exchange.id",
                     "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"));
    CHECK(options.has_exchange_id && options.exchange_id[31] == 0x1f);
    CHECK(!parse_with("exchange.id", "0001"));
}

static void test_numbers(void)
{
    CHECK(parse_with("engine.makers_max", "1") && options.values[OPTION_engine_makers_max] == 1);
    static const char *const bad[] = { "",    "0",  "65537", "-1", "+1",
                                       "1.0", "01", " 1",    "1K", "99999999999999999999999" };
    for (size_t i = 0; i < CC_COUNT(bad); i++)
        CHECK(!parse_with("engine.makers_max", bad[i]));
}

static bool parse_text(const char *text, size_t count)
{
    return option_parse_engine(&options, (const uint8_t *)text, count);
}

/* W3b: sorted, every option once, zero-padded to 8. */
static void test_form(void)
{
    static char body[BODY_MAX], changed[BODY_MAX];
    make_lines();
    size_t count = make_body(body);
    CHECK(parse_text(body, count));
    CHECK(!parse_text(body, count - 1) && !parse_text("", 0));
    memcpy(changed, body, count);
    memset(changed + count, 0, 8);
    CHECK(!parse_text(changed, count + 8)); /* eight zeros are no padding to 8 */

    for (size_t cut = 8; cut < count; cut += 8)
        CHECK(!parse_text(body, cut));
    CHECK(!parse_text(body, 0));

    struct line saved = lines[3];
    lines[3] = lines[4];
    lines[4] = saved;
    CHECK(!parse()); /* unsorted */
    make_lines();
    lines[4] = lines[3];
    CHECK(!parse()); /* twice, and one missing */
    make_lines();
    lines[line_count - 1].key[0] = 'm';
    CHECK(!parse()); /* unknown */
    make_lines();
    line_count -= 2; /* the last alone came later than all others: test_younger */
    CHECK(!parse()); /* missing */
    make_lines();
    snprintf(lines[0].key, sizeof lines[0].key, "admin.listen");
    CHECK(!parse()); /* a process option */
    make_lines();
    memcpy(lines[0].value, "64\0002", 5);
    CHECK(parse() && options.values[OPTION_engine_accounts] == 64); /* cut by the zero */
    static const char with_zero[] = "engine.accounts\0=65536\n";
    CHECK(!parse_text(with_zero, 24));
}

/* Takes the line of a key out. */
static void leave_out(const char *key)
{
    struct line *line = line_of(key);
    memmove(line, line + 1, (size_t)(&lines[--line_count] - line) * sizeof *line);
}

/* Rules version 4 has brought four engine options: a body of version 3 has none of them, and the
 * defaults of roles.md's table hold; a body with some of them is no version's. */
static void test_younger(void)
{
    static const char *const younger[] = { "exchange.testnet", "limits.conditional_orders",
                                           "limits.portfolios", "limits.subaccounts" };
    static const char *const of_version_7[] = {
        "exchange.signing_public", "limits.account_portfolios",  "limits.account_conditionals",
        "limits.account_rows",     "limits.account_credentials", "limits.funding_small",
        "limits.funding_full",     "limits.share_unfunded_ppm",  "limits.share_small_ppm"
    };

    make_lines();
    leave_out("limits.account_withdrawals"); /* these came later than the others of version 7 */
    CHECK(parse() && options.values[OPTION_limits_account_withdrawals] == 256);
    leave_out("limits.unfunded_life_s");
    CHECK(parse() && options.values[OPTION_limits_unfunded_life_s] == 3600);
    for (size_t k = 0; k < CC_COUNT(of_version_7); k++) {
        CHECK(parse() == (k == 0));
        leave_out(of_version_7[k]);
    }
    CHECK(parse() && !options.has_signing_public);
    CHECK(options.values[OPTION_limits_account_portfolios] == 256);
    leave_out("limits.admin_keys"); /* the four of version 6 */
    CHECK(!parse());
    leave_out("limits.scoped_keys");
    leave_out("limits.account_open_orders");
    leave_out("limits.device_keys");
    CHECK(parse() && options.values[OPTION_limits_device_keys] == 16);
    CHECK(options.values[OPTION_limits_admin_keys] == 16);
    CHECK(options.values[OPTION_limits_account_open_orders] == 10000);
    CHECK(options.values[OPTION_limits_scoped_keys] == 64);
    for (size_t k = 0; k < CC_COUNT(younger); k++) {
        CHECK(parse() == (k == 0));
        leave_out(younger[k]);
    }
    CHECK(parse());
    CHECK(options.values[OPTION_exchange_testnet] == 0);
    CHECK(options.values[OPTION_limits_conditional_orders] == 100);
    CHECK(options.values[OPTION_limits_portfolios] == 64);
    CHECK(options.values[OPTION_limits_subaccounts] == 256);
    CHECK(options.values[OPTION_limits_open_orders] == 2000);
    leave_out("limits.open_orders");
    CHECK(!parse());

    CHECK(parse_with("exchange.testnet", "on") && options.values[OPTION_exchange_testnet] == 1);
    CHECK(parse_with("limits.subaccounts", "1") && options.values[OPTION_limits_subaccounts] == 1);
    CHECK(!parse_with("limits.subaccounts", "0"));
}

/* Code 2018: the key of one line, in the body and in what was parsed of it, and nothing else. */
static void test_signing_public(void)
{
    static const char first[] = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    static const char second[] = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
    static const char name[] = "exchange.signing_public=";
    static char body[BODY_MAX], before[BODY_MAX];
    struct option_engine wanted;
    uint8_t key[32];

    memset(key, 1, sizeof key);
    CHECK(parse_with("exchange.signing_public", second));
    wanted = options;
    CHECK(parse_with("exchange.signing_public", first) && options.has_signing_public);
    size_t bytes = make_body(body);
    memcpy(before, body, bytes);
    CHECK(option_change_signing_public(&options, (uint8_t *)body, bytes, key));
    CHECK(memcmp(&options, &wanted, sizeof options) == 0);
    const char *line = memmem(body, bytes, name, sizeof name - 1);
    CHECK(line != NULL && memcmp(line + sizeof name - 1, second, sizeof second - 1) == 0);
    size_t at = (size_t)(line - body) + sizeof name - 1;
    CHECK(memcmp(body, before, at) == 0 &&
          memcmp(body + at + 44, before + at + 44, bytes - at - 44) == 0);

    /* Without a key none takes its place. */
    CHECK(parse_with("exchange.signing_public", "") && !options.has_signing_public);
    bytes = make_body(body);
    memcpy(before, body, bytes);
    CHECK(!option_change_signing_public(&options, (uint8_t *)body, bytes, key));
    CHECK(memcmp(body, before, bytes) == 0 && !options.has_signing_public);
}

static void test_table(void)
{
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = option_row((enum option)i);
        CHECK(strchr(row->name, '.') != NULL && row->help[0] != '\0');
        CHECK(!row->built || row->minimum <= row->maximum);
        for (unsigned j = 0; j < i; j++)
            CHECK(strcmp(row->name, option_row((enum option)j)->name) != 0);
        /* The engine parses these kinds and no other (option_parse_engine). */
        if (row->engine && row->built)
            CHECK(row->type != OPTION_TYPE_TEXT && row->type != OPTION_TYPE_CHOICE);
    }
}

int main(void)
{
    test_defaults();
    test_keys();
    test_numbers();
    test_form();
    test_younger();
    test_signing_public();
    test_table();
    return 0;
}
