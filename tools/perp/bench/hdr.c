#include "perp/bench/hdr.h"

#include <math.h>
#include <stdlib.h>

#include "base/base64.h"

enum {
    HALF = 1 << HDR_HALF_BITS,
    FULL_BITS = HDR_HALF_BITS + 1,
    TICKS = 5,
    COOKIE = 0x1c849313,     /* V2, words of variable length */
    COOKIE_BOX = 0x1c849314, /* the same, compressed */
    HEAD_BYTES = 40,
    WORD_BYTES = 10, /* a 64-bit number in steps of 7 bits */
    BLOCK_BYTES = 65535,
    DIGITS = 3,
};

static uint32_t place_of(uint64_t value)
{
    uint32_t bucket = 64 - FULL_BITS - (uint32_t)__builtin_clzll(value | ((1u << FULL_BITS) - 1));

    return (bucket << HDR_HALF_BITS) + (uint32_t)(value >> bucket);
}

static uint64_t greatest_at(uint32_t index)
{
    uint32_t bucket = index >> HDR_HALF_BITS;

    if (bucket == 0)
        return index;
    uint64_t step = (index & (HALF - 1)) + HALF;
    return ((step + 1) << (bucket - 1)) - 1;
}

void hdr_clear(struct hdr *hdr)
{
    memset(hdr, 0, sizeof *hdr);
}

void hdr_add(struct hdr *hdr, uint64_t value_ns)
{
    uint64_t value = value_ns < HDR_MOST_NS ? value_ns : HDR_MOST_NS;

    hdr->counts[place_of(value)]++;
    hdr->count++;
    hdr->sum += (double)value;
    if (value > hdr->max)
        hdr->max = value;
}

uint64_t hdr_quantile(const struct hdr *hdr, double share)
{
    uint64_t rank = (uint64_t)ceil(share * (double)hdr->count), seen = 0;

    if (rank == 0)
        rank = 1;
    for (uint32_t i = 0; i < HDR_COUNTS; i++) {
        seen += hdr->counts[i];
        if (seen >= rank)
            return greatest_at(i) < hdr->max ? greatest_at(i) : hdr->max;
    }
    return hdr->max;
}

static uint64_t count_to(const struct hdr *hdr, uint64_t value)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i <= place_of(value); i++)
        sum += hdr->counts[i];
    return sum;
}

static double deviation(const struct hdr *hdr, double mean)
{
    double sum = 0;

    for (uint32_t i = 0; i < HDR_COUNTS; i++) {
        double away = (double)greatest_at(i) - mean;
        sum += (double)hdr->counts[i] * away * away;
    }
    return hdr->count == 0 ? 0 : sqrt(sum / (double)hdr->count);
}

void hdr_write_percentiles(const struct hdr *hdr, FILE *out)
{
    double share = 0, mean = hdr->count == 0 ? 0 : hdr->sum / (double)hdr->count;

    fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount",
            "1/(1-Percentile)");
    while (hdr->count != 0 && share < 1) {
        uint64_t value = hdr_quantile(hdr, share), seen = count_to(hdr, value);
        fprintf(out, "%12.3f %2.12f %10llu %14.2f\n", (double)value / 1e3, share,
                (unsigned long long)seen, 1 / (1 - share));
        if (seen == hdr->count)
            break;
        double halvings = floor(log2(1 / (1 - share))) + 1;
        share += 1 / (TICKS * exp2(halvings));
    }
    if (hdr->count != 0)
        fprintf(out, "%12.3f %2.12f %10llu\n", (double)hdr->max / 1e3, 1.0,
                (unsigned long long)hdr->count);
    fprintf(out, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", mean / 1e3,
            deviation(hdr, mean) / 1e3);
    fprintf(out, "#[Max     = %12.3f, Total count    = %12llu]\n", (double)hdr->max / 1e3,
            (unsigned long long)hdr->count);
    fprintf(out, "#[Buckets = %12d, SubBuckets     = %12d]\n", HDR_BUCKETS, 2 * HALF);
}

void hdr_log_begin(FILE *out, uint64_t begin_unix_ns)
{
    fprintf(out,
            "#[Histogram log format version 1.3]\n"
            "#[StartTime: %.3f (seconds since epoch)]\n"
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
            "\"Interval_Compressed_Histogram\"\n",
            (double)begin_unix_ns / 1e9);
}

/* A number in zigzag form, in at most 9 bytes: the ninth has all of its 8 bits. */
static uint8_t *put_number(uint8_t *at, int64_t number)
{
    uint64_t left = ((uint64_t)number << 1) ^ (uint64_t)(number >> 63);

    for (int i = 0; i < 8 && left >= 0x80; i++, left >>= 7)
        *at++ = (uint8_t)(left | 0x80);
    *at++ = (uint8_t)left;
    return at;
}

static uint8_t *put_big(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--)
        *at++ = (uint8_t)(value >> (8 * i));
    return at;
}

/* The V2 form of the counts: runs of zeros are negative numbers. Gives its length. */
static size_t encode(const struct hdr *hdr, uint8_t *bytes)
{
    uint32_t end = place_of(hdr->max) + 1;
    uint8_t *at = bytes + HEAD_BYTES;
    double ratio = 1;
    uint64_t ratio_bits;

    for (uint32_t i = 0; i < end;) {
        uint32_t zeros = 0;
        while (i + zeros < end && hdr->counts[i + zeros] == 0)
            zeros++;
        at = put_number(at, zeros != 0 ? -(int64_t)zeros : (int64_t)hdr->counts[i]);
        i += zeros != 0 ? zeros : 1;
    }
    memcpy(&ratio_bits, &ratio, sizeof ratio_bits);
    uint8_t *head = put_big(bytes, COOKIE, 4);
    head = put_big(head, (uint64_t)(at - bytes - HEAD_BYTES), 4);
    head = put_big(head, 0, 4);
    head = put_big(head, DIGITS, 4);
    head = put_big(head, 1, 8);
    head = put_big(head, HDR_MOST_NS, 8);
    (void)put_big(head, ratio_bits, 8);
    return (size_t)(at - bytes);
}

/* A zlib stream of stored blocks (RFC 1950, RFC 1951 3.2.4): nothing is made smaller. */
static size_t wrap(const uint8_t *bytes, size_t count, uint8_t *box)
{
    uint8_t *at = put_big(box + 8, 0x7801, 2);
    uint32_t a = 1, b = 0;

    for (size_t i = 0; i < count; i += BLOCK_BYTES) {
        size_t part = count - i < BLOCK_BYTES ? count - i : BLOCK_BYTES;
        *at++ = i + part == count;
        cc_store16(at, (uint16_t)part);
        cc_store16(at + 2, (uint16_t)~part);
        memcpy(at + 4, bytes + i, part);
        at += 4 + part;
    }
    for (size_t i = 0; i < count; i++) {
        a = (a + bytes[i]) % 65521;
        b = (b + a) % 65521;
    }
    at = put_big(at, (uint64_t)b << 16 | a, 4);
    uint8_t *head = put_big(box, COOKIE_BOX, 4);
    (void)put_big(head, (uint64_t)(at - box - 8), 4);
    return (size_t)(at - box);
}

bool hdr_log_write(const struct hdr *hdr, FILE *out, const char *tag, uint64_t from_ns,
                   uint64_t length_ns)
{
    size_t room = HEAD_BYTES + (size_t)HDR_COUNTS * WORD_BYTES;
    size_t box_room = room + 64 + 5 * (room / BLOCK_BYTES + 1);
    uint8_t *bytes = malloc(room), *box = malloc(box_room);
    char *text = malloc(BASE64_TEXT_BYTES(box_room) + 1);
    bool has_room = bytes != NULL && box != NULL && text != NULL;

    if (has_room) {
        (void)base64_encode(text, box, wrap(bytes, encode(hdr, bytes), box));
        fprintf(out, "Tag=%s,%.3f,%.3f,%.3f,%s\n", tag, (double)from_ns / 1e9,
                (double)length_ns / 1e9, (double)hdr->max / 1e6, text);
    }
    free(bytes);
    free(box);
    free(text);
    return has_room;
}
