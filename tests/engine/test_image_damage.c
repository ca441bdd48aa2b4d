/* An image that is wrong anywhere is refused, or it is the image of the state that was made of it:
 * never of another, and never a table left (journal.md, each byte of a small snapshot flipped).
 *
 * A sample takes one byte in N of the rows, the first byte of each section, and one length in N. */
#include "engine/state/state.h"
#include "engine/view/audit.h"
#include "image_copy.h"
#include "rig.h"
#include "sample.h"
#include "small_state.h"

static struct host host, loaded;
static struct image_copy original, damaged, written;
static uint32_t refused, accepted;
static struct test_sample sample;

static void copy_original(void)
{
    image_copy_free(&damaged);
    image_copy_take(&damaged, host.engine);
}

/* I6: kept sums are those of the rows. Bytes may be such that money does not add up. */
static void recount(void)
{
    struct row_audit row;

    audit_read(loaded.engine, &row, NULL);
    CHECK(row.recount_differences == 0);
}

/* The work that is left over ends and timers fire; the tables still agree. */
static void go_on(void)
{
    static const uint8_t work[8] = { 1 };

    loaded.skip_audit = true;
    loaded.clock_ns = engine_time(loaded.engine) + HOST_SECOND_NS;
    CHECK(host_unsigned(&loaded, REQUEST_tick, work, sizeof work) == STATUS_request_completed);
    recount();
}

/* Loads what `damaged` holds. */
static void try_it(void)
{
    struct image_problem problem = { .section = UINT32_MAX };

    if (!image_copy_reopen(&damaged, &loaded, &problem)) {
        CHECK(problem.section < IMAGE_SECTION_END && problem.text != NULL);
        refused++;
        return;
    }
    image_copy_take(&written, loaded.engine);
    CHECK(image_copy_equal(&written, &damaged));
    recount();
    accepted++;
    go_on();
}

static bool is_first_of_section(size_t at)
{
    for (uint32_t i = 0; i < damaged.part_count; i++)
        if (damaged.parts[i].bytes == damaged.bytes + at)
            return true;
    return false;
}

/* One byte changed, then eight at a time: what a wrong word would be. */
static void test_bytes(void)
{
    static const uint8_t flips[] = { 0x01, 0x80, 0xFF };
    static const uint64_t words[] = { 0, UINT64_MAX, UINT64_C(1) << 63, INT64_MAX };

    for (size_t at = 0; at < damaged.used; at++) {
        if (!sample_takes(&sample, at) && !is_first_of_section(at))
            continue;
        for (size_t i = 0; i < CC_COUNT(flips); i++) {
            damaged.bytes[at] ^= flips[i];
            try_it();
            damaged.bytes[at] ^= flips[i];
        }
        for (size_t i = 0; i < CC_COUNT(words) && at + 8 <= damaged.used; i++) {
            memcpy(damaged.bytes + at, &words[i], 8);
            try_it();
            memcpy(damaged.bytes + at, original.bytes + at, 8);
        }
    }
    CHECK(image_copy_equal(&damaged, &original));
}

/* Every section shorter by each count of bytes up to 300, and by half. */
static void test_lengths(void)
{
    for (uint32_t i = 0; i < damaged.part_count; i++) {
        uint64_t whole = damaged.parts[i].byte_count;
        for (uint64_t cut = 1; cut <= whole && cut < 300; cut++) {
            if (cut > 1 && !sample_takes(&sample, cut))
                continue;
            damaged.parts[i].byte_count = whole - cut;
            try_it();
        }
        damaged.parts[i].byte_count = whole / 2;
        try_it();
        damaged.parts[i].byte_count = whole;
    }
    CHECK(refused > 12 * accepted); /* a deposit less that nobody counts is a lawful image */
}

/* Two rows of a table change places: the order of rows is part of the image. */
static void swap(uint32_t code, size_t row_bytes, size_t first)
{
    struct image_part *part = image_copy_part(&damaged, code);
    uint8_t *at = damaged.bytes + (part->bytes - damaged.bytes) + first, row[4096];
    struct image_problem problem;

    CHECK(row_bytes <= sizeof row && part->byte_count >= first + 2 * row_bytes);
    CHECK((part->byte_count - first) % row_bytes == 0);
    memcpy(row, at, row_bytes);
    memmove(at, at + row_bytes, row_bytes);
    memcpy(at + row_bytes, row, row_bytes);
    CHECK(!image_copy_reopen(&damaged, &loaded, &problem));
    CHECK(problem.section == code && problem.row <= 1);
    copy_original();
}

static void test_orders_of_rows(void)
{
    const struct engine *engine = host.engine;
    struct image_part *orders = image_copy_part(&damaged, IMAGE_orders);

    swap(IMAGE_credentials,
         image_copy_part(&damaged, IMAGE_credentials)->byte_count / engine->credentials.slots.count,
         0);
    swap(IMAGE_holdings,
         image_copy_part(&damaged, IMAGE_holdings)->byte_count / engine->holdings.slots.count, 0);
    swap(IMAGE_orders, orders->byte_count / engine->orders.count, 0);
    swap(IMAGE_deposits, sizeof(struct deposit), 0);
}

/* A row that stands twice. */
static void test_doubled_rows(void)
{
    struct image_problem problem;

    for (uint32_t i = 0; i < original.part_count; i++) {
        const struct image_part *part = &original.parts[i];
        uint8_t *twice = malloc(2 * part->byte_count);
        CHECK(twice != NULL);
        memcpy(twice, part->bytes, part->byte_count);
        memcpy(twice + part->byte_count, part->bytes, part->byte_count);
        damaged.parts[i].bytes = twice;
        damaged.parts[i].byte_count = 2 * part->byte_count;
        CHECK(!image_copy_reopen(&damaged, &loaded, &problem));
        free(twice);
        copy_original();
    }
}

/* The set of sections: one left out, one twice, one of a version or a code that nobody wrote. */
static void test_sections(void)
{
    struct image_part parts[IMAGE_SECTION_END + 1];
    struct option_engine needs;
    struct image_problem problem;
    uint32_t count = original.part_count;

    CHECK(count == IMAGE_SECTION_COUNT);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(parts, original.parts, sizeof original.parts);
        memmove(&parts[i], &parts[i + 1], (count - 1 - i) * sizeof parts[0]);
        CHECK(!image_needs(parts, count - 1, &needs, &problem) && problem.section == 0);
        memcpy(parts, original.parts, sizeof original.parts);
        parts[count] = parts[i];
        CHECK(!image_needs(parts, count + 1, &needs, &problem) && problem.section == 0);
        memcpy(parts, original.parts, sizeof original.parts);
        parts[i].version = image_version((enum image_section)parts[i].code) + 1;
        CHECK(!image_needs(parts, count, &needs, &problem));
        CHECK(problem.section == parts[i].code);
        parts[i].version = 0;
        CHECK(!image_needs(parts, count, &needs, &problem));
        parts[i] = original.parts[i];
        parts[i].code = IMAGE_SECTION_END;
        CHECK(!image_needs(parts, count, &needs, &problem) && problem.section == 0);
        parts[i] = original.parts[i];
    }
    /* in whatever order they come */
    for (uint32_t i = 0; i < count; i++)
        parts[i] = original.parts[count - 1 - i];
    memcpy(damaged.parts, parts, count * sizeof parts[0]);
    CHECK(image_copy_reopen(&damaged, &loaded, &problem));
    copy_original();
}

/* Memory laid out for less than the configuration is refused, not left. */
static void test_room(void)
{
    static const char *const less[] = {
        "engine.orders=31\n",
        "engine.credentials=31\n",
        "limits.duplicate_slots=1025\n",
        "exchange.clock_past_ms=29999\n",
    };
    static struct host small;
    struct image_problem problem;

    for (size_t i = 0; i < CC_COUNT(less); i++) {
        bool fits = strstr(less[i], "1025") != NULL;
        CHECK(image_copy_open(&original, &small, less[i], &problem) == fits);
        CHECK(fits || problem.section == IMAGE_configuration);
        if (fits)
            host_close(&small);
    }
}

/* R2: a state whose money does not add up is halted by whoever runs it; it is not lost by a
 * restart, and so must be loaded. Deposits of one micro-USDC more than there were: I2 and I3. */
static void test_money(void)
{
    struct image_part *part = image_copy_part(&damaged, IMAGE_engine);
    struct image_problem problem;

    damaged.bytes[part->bytes - damaged.bytes]++; /* the first field: deposits */
    CHECK(image_copy_reopen(&damaged, &loaded, &problem));
    CHECK(!audit_holds(loaded.engine));
    image_copy_take(&written, loaded.engine);
    CHECK(image_copy_equal(&written, &damaged));
    copy_original();
}

int main(void)
{
    struct image_problem problem;

    sample = sample_read();
    small_state_open(&host);
    image_copy_take(&original, host.engine);
    image_copy_take(&damaged, host.engine);
    for (uint32_t i = 0; i < original.part_count; i++)
        CHECK(original.parts[i].byte_count > 0);
    CHECK(image_copy_open(&original, &loaded, NULL, &problem));
    test_sections();
    test_room();
    test_lengths();
    test_orders_of_rows();
    test_doubled_rows();
    test_money();
    test_bytes();
    printf("%zu bytes: %u damaged images refused, %u the image of another state\n", original.used,
           refused, accepted);
    CHECK(refused > accepted && accepted > 1000 / sample.step);
    host_close(&loaded);
    host_close(&host);
    image_copy_free(&original);
    image_copy_free(&damaged);
    image_copy_free(&written);
    return 0;
}
