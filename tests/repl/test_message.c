/* Requests as protobuf, byte by byte by hand, and answers as etcd 3.4.23 sent them: each field is
 * read, and no beginning of an answer is read past its end. */
#include "check.h"
#include "repl/etcd_call.h"
#include "repl/etcd_message.h"

static uint8_t bytes[4096];
static struct etcd_answer answer;

static size_t from_hex(const char *hex)
{
    size_t count = 0;
    for (; hex[0] != 0; hex += 2) {
        unsigned byte = 0;
        CHECK(sscanf(hex, "%2x", &byte) == 1);
        bytes[count++] = (uint8_t)byte;
    }
    return count;
}

static bool read_all(enum etcd_kind kind, size_t count)
{
    size_t from = 0;
    etcd_message_begin(&answer);
    bool is_good = etcd_message_read(kind, (struct etcd_bytes){ bytes, count }, &from, &answer);
    CHECK(!is_good || from == count);
    return is_good;
}

/* Reads the answer, and every beginning of it: the address sanitizer finds a read beyond. */
static void read_hex(enum etcd_kind kind, const char *hex)
{
    size_t whole = from_hex(hex);
    for (size_t count = 0; count < whole; count++) {
        uint8_t *copy = malloc(count + 1);
        size_t from = 0;
        CHECK(copy != NULL);
        memcpy(copy, bytes, count);
        etcd_message_begin(&answer);
        bool is_good = etcd_message_read(kind, (struct etcd_bytes){ copy, count }, &from, &answer);
        CHECK(!is_good || from == count);
        free(copy);
    }
    CHECK(read_all(kind, whole));
}

#define HEADER(revision) "0a1908e9ece8bfa682d598eb01109decafeebab896e37d18" revision "2002"
#define ROW_A            "12100a036b2f611002180220012a036f6e65"

static bool is_text(struct etcd_bytes value, const char *text)
{
    return value.count == strlen(text) && memcmp(value.bytes, text, value.count) == 0;
}

static void answers(void)
{
    read_hex(ETCD_TRANSACTION, HEADER("02") "10011a0612040a021802");
    CHECK(answer.succeeded && answer.revision == 2 && answer.row_count == 0);
    read_hex(ETCD_TRANSACTION, HEADER("03") "1a1a0a180a021803" ROW_A
                                            "20011a1a0a180a02180312100a036b2f621003180320012a037477"
                                            "6f2001");
    CHECK(!answer.succeeded && answer.row_count == 2 && answer.revision == 3);
    CHECK(answer.rows[0].op == 0 && is_text(answer.rows[0].key, "k/a"));
    CHECK(answer.rows[1].op == 1 && is_text(answer.rows[1].value, "two"));
    CHECK(answer.rows[1].create_revision == 3 && answer.rows[1].version == 1);
    read_hex(ETCD_RANGE, HEADER("03") ROW_A "18012002");
    CHECK(answer.row_count == 1 && answer.more && is_text(answer.rows[0].value, "one"));
    CHECK(answer.rows[0].mod_revision == 2 && answer.rows[0].lease == 0);
    read_hex(ETCD_LEASE_GRANT, HEADER("03") "108ab6a6a7a0c3e88e76183c");
    CHECK(answer.lease == 0x761da21a04e99b0a && answer.ttl_s == 60);
    read_hex(ETCD_LEASE_KEEP, HEADER("05") "108ab6a6a7a0c3e88e76");
    CHECK(answer.ttl_s == 0);
    read_hex(ETCD_MEMBERS,
             "0a1708e9ece8bfa682d598eb01109decafeebab896e37d2002123e089decafeebab896"
             "e37d12026e301a16687474703a2f2f3132372e302e302e313a3439383933221668747470"
             "3a2f2f3132372e302e302e313a3534383231");
    CHECK(answer.member_count == 1 && strcmp(answer.members[0].name, "n0") == 0);
    CHECK(strcmp(answer.members[0].client_url, "http://127.0.0.1:54821") == 0);
    CHECK(answer.members[0].id == 0x7dc659c3adcbf61d && !answer.members[0].is_learner);
    read_hex(ETCD_STATUS, HEADER("05") "1206332e342e32331880a001209decafeebab896e37d280b3002380b48"
                                       "808001");
    CHECK(answer.status.db_bytes == 20480 && answer.status.db_used_bytes == 16384);
    CHECK(answer.status.member == 0x7dc659c3adcbf61d && answer.status.raft_term == 2);
    CHECK(answer.status.leader == answer.status.member);
    CHECK(strcmp(answer.status.version, "3.4.23") == 0 && !answer.status.is_full);
    /* errors: "memberID:1 alarm:NOSPACE ", then "x". */
    read_hex(ETCD_STATUS,
             HEADER("05") "42196d656d62657249443a3120616c61726d3a4e4f535041434520420178");
    CHECK(answer.status.is_full);
}

static void watches(void)
{
    read_hex(ETCD_WATCH, HEADER("05") "1801");
    CHECK(answer.is_created && !answer.is_cancelled && answer.revision == 5);
    read_hex(ETCD_WATCH, HEADER("05") "5a12" ROW_A "5a1212100a036b2f621003180320012a0374776f5a1a12"
                                      "180a036b2f6c1004180420012a0176308ab6a6a7a0c3e88e765a0b080112"
                                      "070a036b2f6c1805");
    CHECK(answer.row_count == 4 && !answer.is_created && is_text(answer.rows[0].value, "one"));
    CHECK(answer.rows[2].lease == 0x761da21a04e99b0a && !answer.rows[2].is_delete);
    CHECK(answer.rows[3].is_delete && answer.rows[3].mod_revision == 5);
    CHECK(is_text(answer.rows[3].key, "k/l"));
    read_hex(ETCD_WATCH, "0a1708e9ece8bfa682d598eb01109decafeebab896e37d200220012803");
    CHECK(answer.is_cancelled && answer.compact_revision == 3);
}

/* What is no answer. */
static void refused(void)
{
    CHECK(!read_all(ETCD_RANGE, from_hex("12100a036b2f61100218022001"))); /* cut off */
    CHECK(!read_all(ETCD_RANGE, from_hex("12050a036b2f61"
                                         "1b")));                       /* a group */
    CHECK(!read_all(ETCD_RANGE, from_hex("1203100218")));               /* a cut number */
    CHECK(!read_all(ETCD_RANGE, from_hex("12021002")));                 /* a row of no key */
    CHECK(!read_all(ETCD_RANGE, from_hex("1002")));                     /* rows are bytes */
    CHECK(!read_all(ETCD_RANGE, from_hex("0001")));                     /* field 0 */
    CHECK(!read_all(ETCD_RANGE, from_hex("18ffffffffffffffffffff01"))); /* beyond 64 bits */
    CHECK(!read_all(ETCD_WATCH, from_hex("5a070802"
                                         "12030a0161"))); /* an event of kind 2 */
    CHECK(read_all(ETCD_RANGE, from_hex("f80501")));      /* a field to skip */
    /* A key longer than any of ours is a stranger's: the rows beside it are read. */
    memcpy(bytes, "\x12\xaf\x02\x0a\xac\x02", 6);
    memset(bytes + 6, 'A', 300);
    memcpy(bytes + 306, "\x12\x03\x0a\x01k", 5);
    CHECK(read_all(ETCD_RANGE, 311) && answer.row_count == 2);
    CHECK(answer.rows[0].key.count == 300 && is_text(answer.rows[1].key, "k"));
    size_t count = 0;
    for (int i = 0; i <= ETCD_MEMBERS_MAX; i++, count += 4)
        memcpy(bytes + count, "\x12\x02\x08\x01", 4);
    CHECK(read_all(ETCD_MEMBERS, count - 4) && !read_all(ETCD_MEMBERS, count));
    count = 0;
    for (int i = 0; i <= ETCD_ROWS_MAX; i++, count += 5)
        memcpy(bytes + count, "\x12\x03\x0a\x01k", 5);
    CHECK(read_all(ETCD_RANGE, count - 5) && answer.row_count == ETCD_ROWS_MAX);
    CHECK(!read_all(ETCD_RANGE, count));
}

static void check_request(const struct etcd_request *request, const char *hex)
{
    uint8_t packed[512];
    size_t room = etcd_message_room(request);
    CHECK(room <= sizeof packed);
    size_t count = etcd_message_pack(request, packed, room);
    CHECK(count == from_hex(hex) && memcmp(packed + room - count, bytes, count) == 0);
}

static void requests(void)
{
    const struct etcd_compare compares[] = {
        { etcd_text("L"), ETCD_CREATE_REVISION, 300 },
        { etcd_text("n"), ETCD_VERSION, 0 },
    };
    const struct etcd_op then[] = {
        { .verb = ETCD_PUT, .key = etcd_text("n"), .value = etcd_text("xyz"), .lease = 5 },
        { .verb = ETCD_DELETE, .key = etcd_text("o"), .end = etcd_text("~") },
    };
    const struct etcd_op otherwise = { .verb = ETCD_GET, .key = etcd_text("n"), .limit = 1 };
    const struct etcd_transaction transaction = { compares, then, &otherwise, 2, 2, 1 };
    struct etcd_request request = { .kind = ETCD_TRANSACTION, .transaction = &transaction };
    check_request(&request, "0a08"
                            "1001"
                            "1a014c"
                            "28ac02" /* create_revision(L) = 300 */
                            "0a05"
                            "1a016e"
                            "2000" /* version(n) = 0: it is written */
                            "120c"
                            "120a"
                            "0a016e"
                            "120378797a"
                            "1805"
                            "1208"
                            "1a06"
                            "0a016f"
                            "12017e"
                            "1a07"
                            "0a05"
                            "0a016e"
                            "1801");
    request = (struct etcd_request){
        .kind = ETCD_RANGE, .key = etcd_text("a"), .end = etcd_text("b"), .revision = 7
    };
    check_request(&request, "0a0161"
                            "120162"
                            "188002"
                            "2007");
    request = (struct etcd_request){ .kind = ETCD_WATCH, .key = etcd_text("a"), .revision = 7 };
    check_request(&request, "0a07"
                            "0a0161"
                            "1807"
                            "4001");
    request = (struct etcd_request){ .kind = ETCD_LEASE_GRANT, .ttl_s = 1 };
    check_request(&request, "0801");
    request = (struct etcd_request){ .kind = ETCD_LEASE_KEEP, .lease = 300 };
    check_request(&request, "08ac02");
    request = (struct etcd_request){ .kind = ETCD_COMPACT, .revision = 2 };
    check_request(&request, "0802");
    request.is_whole = true;
    check_request(&request, "08021001");
    request = (struct etcd_request){ .kind = ETCD_DISARM, .member = 300 };
    check_request(&request, "080210ac021801");
    request = (struct etcd_request){ .kind = ETCD_DEFRAGMENT };
    check_request(&request, "");
    request = (struct etcd_request){ .kind = ETCD_MEMBERS };
    check_request(&request, "");
}

int main(void)
{
    answers();
    watches();
    refused();
    requests();
    return 0;
}
