/* Every version of every section that was ever written loads (journal.md, Snapshot): the images in
 * golden/ are read, what they hold is what it was, and the state goes on from there. A version that
 * no file has fails here, so that one cannot be added without its image (golden/README.md). */
#include "engine/image/image_parts.h"
#include "engine/state/state.h"
#include "engine/view/audit.h"
#include "image_copy.h"
#include "rig.h"
#include "trade.h"

/* Written by the version of their time and never again; `written`: hash of the file's sections,
 * `read`: of the image that the state made of it writes today. */
static const struct golden {
    int line;
    const char *name, *written, *read;
} goldens[] = {
    { __LINE__, "1.image", "55826f5fff46d939211d1690b8a9a07e0b67442c14b65711254603eb13af7e78",
      "a3c9584dc8ee6ccb5aa0b9dd2674134c2ed6b24f798ff8e0f215c4549096380d" },
    { __LINE__, "2.image", "788390b0e294441e77b2fd4e0ee72126acaf962702c8921afd5982e50e0730f7",
      "9de91f926a553630f1841e5260d580edd2d968461fefe5bb1316d195f400bb27" },
    { __LINE__, "3.image", "576f30c74f11826591eaec2a9d5c47c421933927de9ef44898b122370cf69ce3",
      "1cfa7cbc0d989bdf8f9e8d95073c3d831deca5399448248a8e281d7c1e530a55" },
    { __LINE__, "4.image", "c7e1396c2fbf92cf1ad38512855435648582a2380ab2c9e7f7fd7dc7c08eceb2",
      "764f216c93aac8fd824339bb5641f9d7348e30c69ebaef3c66c0278c31cf7c98" },
    { __LINE__, "5.image", "c5b68ebfc751b2d8e578fb667fdc39c09b32b7106d6161c357a8b746b09c8ee4",
      "99539f8707d6156f8e5bc411e01717f837a35f6d1b5fb12efdacf84f0a7c531b" },
    { __LINE__, "6.image", "548b8e539d7376a15e0c69cd0026fbffcb1db5e095c6369f7b5b93579bc4ff91",
      "9d6101bc917a659c83ec5a9dcaa7ddfba5a85779524ef4cde42453c8a0783a09" },
    { __LINE__, "7.image", "4a96ccb831d02156f68725bd9c62a268cb2110d3441a473aeb80f1e1c069ee21",
      "f5bb44f858d22a16372fe2dca10d1bb0a6f7afedfe67cde72c5b309dc1eb9046" },
    { __LINE__, "8.image", "f1f6f115123769873fb1fb87490e877b6acbe65ae3c66e6a455ff0e8245cdea5",
      "d44439eaaad6ae7a6db986caa149e426ba7b2491671119f81c5f85327680a2f3" },
    { __LINE__, "9.image", "bf32cbd0e31fcbc0b5782844a8ac91b6054edfbd7801a6d7959b0ff54e94e411",
      "3a172a44adeba8aa750893b444e601d21bed02298f845387d5024222aaef1eee" },
    { __LINE__, "10.image", "d727f66ffa277b3bad9d0dd005e9af2d60a994993828c4dd0d22d0d90b99b9d5",
      "b3ee5a83a98008d604525ac8e8fcd9ca54d9cfc346d9c6f36f909d352dc68cad" },
    { __LINE__, "11.image", "8b6693cfca638f27f4548a8cd91c4400cff6479b56a8d4622e106309b27fa252",
      "8b6693cfca638f27f4548a8cd91c4400cff6479b56a8d4622e106309b27fa252" },
};

static const struct version {
    uint32_t code, version;
} versions[] = {
#define X(name, version, load) { IMAGE_##name, version },
    IMAGE_PARTS_READERS(X)
#undef X
};

static bool is_met[CC_COUNT(versions)];
static struct host host;
static struct image_copy golden, today, again;

static void read_golden(const char *name)
{
    const char *source = getenv("PERPD_SOURCE");
    char path[512];

    snprintf(path, sizeof path, "%s/tests/engine/golden/%s", source == NULL ? "." : source, name);
    image_copy_read(&golden, path);
}

static void hash_text(const struct image_copy *copy, char text[65])
{
    uint8_t hash[32];

    image_copy_hash(copy, hash);
    for (uint32_t i = 0; i < sizeof hash; i++)
        snprintf(text + 2 * (size_t)i, 3, "%02x", hash[i]);
}

static void note_versions(void)
{
    for (uint32_t i = 0; i < golden.part_count; i++)
        for (size_t k = 0; k < CC_COUNT(versions); k++)
            is_met[k] |= versions[k].code == golden.parts[i].code &&
                         versions[k].version == golden.parts[i].version;
}

/* A section that has not changed since is what it was. */
static void compare_sections(const struct golden *row)
{
    for (uint32_t i = 0; i < golden.part_count; i++) {
        const struct image_part *was = &golden.parts[i];
        const struct image_part *is = image_copy_part(&today, was->code);
        CHECK_ROW(row, is->version == image_version((enum image_section)was->code));
        if (was->version == is->version)
            CHECK_ROW(row, was->byte_count == is->byte_count &&
                               memcmp(was->bytes, is->bytes, was->byte_count) == 0);
    }
}

/* Rows of an older version, of which only fields at the end have come or changed since: what stands
 * before them is what it was. `kept`: its bytes in a row. */
static void compare_rows(const struct golden *row, enum image_section code, uint32_t count,
                         uint64_t kept)
{
    const struct image_part *was = image_copy_part(&golden, code);
    const struct image_part *is = image_copy_part(&today, code);

    if (was->version == is->version)
        return;
    CHECK_ROW(row, was->byte_count % count == 0 && is->byte_count % count == 0);
    CHECK_ROW(row, was->byte_count / count >= kept);
    for (uint32_t i = 0; i < count; i++)
        CHECK_ROW(row, memcmp(is->bytes + is->byte_count / count * i,
                              was->bytes + was->byte_count / count * i, kept) == 0);
}

/* Cancellation lists held sequences before orders had stamps: markets 1 and 2 up to theirs. */
static void compare_old_rows(const struct golden *row)
{
    const struct account *account = &host.engine->accounts.rows[0];

#define BYTES_ACCOUNT(field) +sizeof account->field
    compare_rows(row, IMAGE_accounts, host.engine->accounts.count,
                 0 ACCOUNT_FIELDS_1(BYTES_ACCOUNT));
#undef BYTES_ACCOUNT
    const struct market *market = &host.engine->markets.rows[0];
#define BYTES_MARKET(field) +sizeof market->field
    if (image_copy_part(&golden, IMAGE_markets)->version == 4)
        compare_rows(row, IMAGE_markets, host.engine->markets.count,
                     0 MARKET_FIELDS_4(BYTES_MARKET));
#undef BYTES_MARKET
    const struct image_part *orders = image_copy_part(&golden, IMAGE_orders);
    if (orders->version >= 2)
        compare_rows(row, IMAGE_orders, host.engine->orders.count,
                     orders->byte_count / host.engine->orders.count);
    CHECK_ROW(row, cc_load64(image_copy_part(&golden, IMAGE_work)->bytes) ==
                       cc_load64(image_copy_part(&today, IMAGE_work)->bytes)); /* as many items */
}

/* The state goes on: its work ends, its orders can be met and canceled, and it has an image. */
static void go_on(const struct golden *row)
{
    struct host_order sell = { .price = 998999, .quantity = -500, .expiry = 0 };
    struct image_problem problem;
    static struct host later;

    for (uint32_t i = 0; i < 200 && engine_has_work(host.engine); i++)
        host_tick(&host, 1);
    CHECK_ROW(row, !engine_has_work(host.engine));
    host.id_count = 1000;
    uint8_t confirm[16] = { 0 };
    cc_store64(confirm, (uint64_t)engine_clock_gap_ns(host.engine));
    if (engine_clock_gap_ns(host.engine) != 0)
        CHECK_ROW(row, host_unsigned(&host, REQUEST_clock_confirm, confirm, sizeof confirm) ==
                           STATUS_request_completed);
    CHECK_ROW(row, host_oracle(&host, HOST_BTC, 1000400) == STATUS_request_completed);
    (void)host_limit(&host, 4, &sell);
    CHECK_ROW(row, host_cancel_all(&host, 1, 0xFFFF, 0) == STATUS_request_completed);
    for (uint32_t i = 0; i < 50; i++)
        host_tick(&host, 100 * HOST_SECOND_NS); /* orders expire */
    CHECK_ROW(row, audit_holds(host.engine));
    image_copy_take(&today, host.engine);
    CHECK_ROW(row, image_copy_open(&today, &later, NULL, &problem));
    image_copy_take(&again, later.engine);
    CHECK_ROW(row, image_copy_equal(&today, &again));
    host_close(&later);
}

static void test_golden(const struct golden *row)
{
    struct image_problem problem = { 0 };
    char text[65];

    read_golden(row->name);
    hash_text(&golden, text);
    CHECK_ROW(row, strcmp(text, row->written) == 0);
    note_versions();
    if (!image_copy_open(&golden, &host, NULL, &problem))
        fprintf(stderr, "%s: section %u, row %llu: %s\n", row->name, problem.section,
                (unsigned long long)problem.row, problem.text);
    CHECK_ROW(row, problem.text == NULL);
    image_copy_take(&today, host.engine);
    hash_text(&today, text);
    compare_sections(row);
    compare_old_rows(row);
    if (strcmp(text, row->read) != 0)
        fprintf(stderr, "%s: the state's image is %s\n", row->name, text);
    CHECK_ROW(row, strcmp(text, row->read) == 0);
    go_on(row);
    host_close(&host);
}

/* Rows of orders of version 3 were those of today but for the last word, the time of entry. The
 * first order of a level has entered again before the second came, and was filled after it. */
static void test_rows_without_entries(void)
{
    struct host_order bid = { .price = 999000, .quantity = 2000, .expiry = TRADE_GTC };
    struct image_problem problem = { 0 };
    static struct host loaded, later;

    trade_open(&host, NULL);
    struct trade_id first = trade_rest(&host, 1, 1000, 999000);
    host_tick(&host, HOST_SECOND_NS);
    CHECK(trade_replace(&host, 1, first, &bid, 0) == TRADE_OK);
    host_tick(&host, HOST_SECOND_NS);
    trade_rest(&host, 3, 1000, 999000);
    host_tick(&host, HOST_SECOND_NS);
    CHECK(trade_tif(&host, 2, -500, 999000, TRADE_IOC) == TRADE_OK);
    image_copy_take(&golden, host.engine);
    struct image_part *orders = image_copy_part(&golden, IMAGE_orders);
    uint8_t *rows = golden.bytes + (orders->bytes - golden.bytes);
    uint64_t row_bytes = orders->byte_count / 2, kept = row_bytes - sizeof(uint64_t);
    CHECK(host.engine->orders.count == 2 && orders->version == 4);
    memmove(rows + kept, rows + row_bytes, kept);
    orders->byte_count = 2 * kept;
    orders->version = 3;
    CHECK(image_copy_open(&golden, &loaded, NULL, &problem));
    image_copy_take(&today, loaded.engine);
    CHECK(image_copy_open(&today, &later, NULL, &problem));
    image_copy_take(&again, later.engine);
    CHECK(image_copy_equal(&today, &again));
    host_close(&later);
    host_close(&loaded);
    host_close(&host);
}

/* The versions that are written today are among those that are read. */
static void test_written_versions(void)
{
    for (uint32_t code = 1; code < IMAGE_SECTION_END; code++) {
        bool is_read = false;
        for (size_t k = 0; k < CC_COUNT(versions); k++)
            is_read |= versions[k].code == code &&
                       versions[k].version == image_version((enum image_section)code);
        CHECK(is_read);
    }
}

int main(void)
{
    for (size_t i = 0; i < CC_COUNT(goldens); i++)
        test_golden(&goldens[i]);
    for (size_t k = 0; k < CC_COUNT(versions); k++) {
        if (!is_met[k])
            fprintf(stderr, "no golden image has version %u of section %u\n", versions[k].version,
                    versions[k].code);
        CHECK(is_met[k]);
    }
    test_written_versions();
    test_rows_without_entries();
    image_copy_free(&golden);
    image_copy_free(&today);
    image_copy_free(&again);
    return 0;
}
