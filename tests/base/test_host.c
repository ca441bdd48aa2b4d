/* Host headers against a list of hosts (wire.md W10): the port is not compared, letters compare
 * without case, and what is no host is in no list. */
#include "base/host.h"
#include "check.h"

static const char hosts[] = "exchange.example,localhost,127.0.0.1,[::1],[2001:DB8::7]";

static const struct {
    int line;
    const char *name, *host;
    bool listed;
} rows[] = {
#define R(...)                \
    {                         \
        __LINE__, __VA_ARGS__ \
    }
    R("name", "localhost", true),
    R("case", "LocalHost", true),
    R("port", "localhost:8080", true),
    R("empty port", "localhost:", true), /* RFC 3986: port = *DIGIT */
    R("address", "127.0.0.1:1", true),
    R("IPv6", "[::1]", true),
    R("IPv6 and port", "[::1]:8080", true),
    R("IPv6, case", "[2001:db8::7]:1", true),
    R("another", "evil.example", false),
    R("a longer name", "localhost.evil.example", false),
    R("a shorter name", "localhos", false),
    R("a dot after it", "localhost.", false),
    R("empty", "", false),
    R("port alone", ":8080", false),
    R("no port", "localhost:x", false),
    R("two ports", "localhost:1:2", false),
    R("user", "localhost@evil.example", false),
    R("user before", "a@localhost", false),
    R("two hosts", "localhost,evil.example", false),
    R("two words", "localhost evil", false),
    R("IPv6 without brackets", "::1", false),
    R("open bracket", "[::1", false),
    R("bracket and more", "[::1]x", false),
    R("empty brackets", "[]", false),
    R("IPv6 with a zone", "[::1%25lo]", false),
    R("slash", "localhost/", false),
};

int main(void)
{
    struct host_list list = { 0 };
    CHECK(host_list_add(&list, hosts) && list.count == 5);
    for (size_t i = 0; i < CC_COUNT(rows); i++)
        CHECK_ROW(&rows[i],
                  host_list_has(&list, rows[i].host, strlen(rows[i].host)) == rows[i].listed);

    struct host_list address = { 0 };
    CHECK(host_list_add_address(&address, "[::1]:80") && host_list_has(&address, "[::1]", 5));
    CHECK(!host_list_add_address(&address, "nowhere") && !host_list_add_address(&address, ":1"));

    char many[2 * (HOST_LIST_MAX + 1)];
    for (size_t i = 0; i < HOST_LIST_MAX; i++)
        memcpy(many + 2 * i, "h,", 2);
    memcpy(many + 2 * HOST_LIST_MAX, "h", 2);
    struct host_list full = { 0 };
    CHECK(!host_list_add(&full, many));
    full.count = 0;
    CHECK(host_list_add(&full, many + 2));
    return 0;
}
