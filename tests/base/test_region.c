/* region: what a part maps and touches is counted, page by page; what it unmaps is not; there are
 * REGIONS_MAX regions and no more. */
#include <stdlib.h>
#include <string.h>

#include "base/region.h"
#include "check.h"

enum { PAGE = 4096, PAGES = 5 };

static struct region_use use_of(enum region_part part)
{
    struct region_use uses[REGION_PARTS_COUNT];
    region_uses(uses);
    return uses[part];
}

static void test_counts(void)
{
    uint8_t *memory = region_map(REGION_books, (size_t)PAGES * PAGE);
    CHECK(memory != NULL);
    CHECK(use_of(REGION_books).mapped_bytes == (uint64_t)PAGES * PAGE);
    CHECK(use_of(REGION_books).resident_bytes == 0);
    memory[0] = 1;
    memory[4 * PAGE] = 1;
    CHECK(use_of(REGION_books).resident_bytes == (uint64_t)2 * PAGE);
    CHECK(use_of(REGION_keys).mapped_bytes == 0);
    CHECK(region_resident_bytes(memory + 1, (size_t)4 * PAGE) == 0); /* whole pages: 1, 2, 3 */
    region_unmap(memory, (size_t)PAGES * PAGE);
    CHECK(use_of(REGION_books).mapped_bytes == 0 && use_of(REGION_books).resident_bytes == 0);
    region_unmap(NULL, PAGE);
}

static void test_heap(void)
{
    uint8_t *memory = aligned_alloc(PAGE, (size_t)PAGES * PAGE);
    CHECK(memory != NULL);
    memset(memory, 1, (size_t)PAGES * PAGE);
    region_name(REGION_events, memory + 8, (size_t)PAGES * PAGE - 8);
    CHECK(use_of(REGION_events).mapped_bytes == (uint64_t)PAGES * PAGE - 8);
    CHECK(use_of(REGION_events).resident_bytes == (uint64_t)(PAGES - 1) * PAGE);
    region_forget(memory + 8);
    CHECK(use_of(REGION_events).mapped_bytes == 0);
    free(memory);
    region_name(REGION_events, NULL, PAGE);
    region_forget(NULL);
    CHECK(use_of(REGION_events).mapped_bytes == 0);
}

static void test_bound(void)
{
    static void *memory[REGIONS_MAX];
    for (size_t i = 0; i < REGIONS_MAX; i++)
        CHECK((memory[i] = region_map(REGION_keys, PAGE)) != NULL);
    CHECK(use_of(REGION_keys).mapped_bytes == (uint64_t)REGIONS_MAX * PAGE);
    CHECK(region_map(REGION_keys, PAGE) == NULL);
    region_unmap(memory[7], PAGE);
    CHECK((memory[7] = region_map(REGION_books, PAGE)) != NULL);
    CHECK(use_of(REGION_books).mapped_bytes == PAGE);
    for (size_t i = 0; i < REGIONS_MAX; i++)
        region_unmap(memory[i], PAGE);
    CHECK(use_of(REGION_keys).mapped_bytes == 0 && use_of(REGION_books).mapped_bytes == 0);
}

int main(void)
{
    test_counts();
    test_heap();
    test_bound();
    for (int part = 0; part < REGION_PARTS_COUNT; part++)
        CHECK(region_part_name((enum region_part)part)[0] != '\0' &&
              region_part_holds((enum region_part)part)[0] != '\0');
    return 0;
}
