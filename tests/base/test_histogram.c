/* histogram: the bound its header states, merging, and a reader beside the writer. */
#include <pthread.h>

#include "base/histogram.h"
#include "check.h"

static struct histogram first, second;

/* Each bucket holds what it says, buckets follow one another, and the width is at most 1/32. */
static void test_buckets(void)
{
    uint64_t from = 0;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        uint64_t to = histogram_bucket_max(i);
        CHECK(to >= from);
        CHECK(histogram_bucket(from) == i && histogram_bucket(to) == i);
        CHECK((to - from) * 32 <= from);
        from = to + 1;
    }
    CHECK(from == UINT64_C(1) << HISTOGRAM_VALUE_BITS);
    CHECK(histogram_bucket(from) == HISTOGRAM_BUCKETS - 1);
    CHECK(histogram_bucket(UINT64_MAX) == HISTOGRAM_BUCKETS - 1);
}

static void test_quantiles(void)
{
    histogram_clear(&first);
    CHECK(histogram_quantile(&first, 500000) == 0);
    for (uint64_t value = 1; value <= 100000; value++)
        histogram_add(&first, value);
    CHECK(histogram_count(&first) == 100000 && histogram_max(&first) == 100000);
    CHECK(histogram_sum(&first) == UINT64_C(100000) * 100001 / 2);
    static const uint32_t ppms[] = { 1, 10, 10000, 500000, 900000, 990000, 999000, 1000000 };
    for (size_t i = 0; i < CC_COUNT(ppms); i++) {
        uint64_t exact = (UINT64_C(100000) * ppms[i] + 999999) / 1000000;
        uint64_t got = histogram_quantile(&first, ppms[i]);
        CHECK(got >= exact && got <= exact + exact / 32);
    }
    CHECK(histogram_quantile(&first, 1000000) == 100000);
    CHECK(histogram_quantile(&first, 0) == 1);

    histogram_clear(&first);
    histogram_add(&first, UINT64_C(1) << 50); /* beyond the last bucket: kept as the maximum */
    CHECK(histogram_quantile(&first, 500000) == UINT64_C(1) << 50);
}

static void test_merge(void)
{
    histogram_clear(&first);
    histogram_clear(&second);
    for (unsigned i = 0; i < 10; i++)
        histogram_add(&first, 5);
    histogram_merge(&second, &first);
    CHECK(histogram_count(&second) == 10 && histogram_max(&second) == 5);
    histogram_clear(&first);
    for (unsigned i = 0; i < 30; i++)
        histogram_add(&first, 50);
    CHECK(histogram_count(&first) == 30 && histogram_sum(&first) == 1500);
    CHECK(histogram_quantile(&first, 1) == 50 && histogram_max(&first) == 50);
    histogram_merge(&first, &second);
    CHECK(histogram_count(&first) == 40 && histogram_sum(&first) == 1550);
    CHECK(histogram_quantile(&first, 250000) == 5 && histogram_quantile(&first, 250001) == 50);
}

enum { SHARED_ADDS = 200000 };

static void *write_shared(void *argument)
{
    for (uint64_t i = 0; i < SHARED_ADDS; i++)
        histogram_add(argument, i);
    return NULL;
}

static void test_threads(void)
{
    histogram_clear(&first);
    pthread_t writer;
    CHECK(pthread_create(&writer, NULL, write_shared, &first) == 0);
    uint64_t before = 0;
    while (before < SHARED_ADDS) {
        histogram_clear(&second);
        histogram_merge(&second, &first);
        uint64_t count = histogram_count(&second);
        CHECK(count >= before && count <= SHARED_ADDS); /* never goes back */
        CHECK(histogram_quantile(&second, 990000) <= SHARED_ADDS);
        before = count;
    }
    CHECK(pthread_join(writer, NULL) == 0);
    CHECK(histogram_sum(&first) == (uint64_t)SHARED_ADDS * (SHARED_ADDS - 1) / 2);
}

int main(void)
{
    test_buckets();
    test_quantiles();
    test_merge();
    test_threads();
    return 0;
}
