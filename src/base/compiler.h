/* compiler.h - what perpd assumes of the compiler and the machine, in one place.
 *
 * Its macros and inline functions begin with CC_ and cc_, for the C compiler: they occur in every
 * file, and short names keep lines short. */
#ifndef BASE_COMPILER_H
#define BASE_COMPILER_H

#include <assert.h>
#include <limits.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CC_LIKELY(x)        __builtin_expect(!!(x), 1)
#define CC_UNLIKELY(x)      __builtin_expect(!!(x), 0)
#define CC_MUST_USE         __attribute__((warn_unused_result))
#define CC_PRINTF(fmt, arg) __attribute__((format(printf, fmt, arg)))
#define CC_CACHE_LINE       64
#define CC_NO_SHARE         alignas(2 * CC_CACHE_LINE) /* the prefetcher loads lines in pairs */
#define CC_COUNT(array)     (sizeof(array) / sizeof(array)[0])

/* 128-bit integers: every product of money is computed in them (rules.md R1). */
__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

/* Hides the value of a register from the compiler. It keeps words scalar where a vector load would
 * stall on the narrower stores before it. */
#define CC_OPAQUE(word) __asm__("" : "+r"(word))

/* Prefetches the cache line of an address, which need not belong to an object. Volatile: gcc
 * regards a function that only prefetches as free of effects and drops its calls. */
#define CC_PREFETCH(address) __asm__ volatile("prefetcht0 %0" : : "m"(*(const char *)(address)))

/* Aborts when x is false, with file, line and text. It is cheap and always on. It is for bugs of
 * perpd, never for input of clients. */
_Noreturn void compiler_invariant_failed(const char *file, int line, const char *text);
#define INVARIANT(x) (CC_LIKELY(x) ? (void)0 : compiler_invariant_failed(__FILE__, __LINE__, #x))

static_assert(CHAR_BIT == 8, "bytes are octets");
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "wire structs are copied as they are");
static_assert(sizeof(void *) == 8, "LP64");

/* Little-endian loads and stores at any alignment. */
static inline uint16_t cc_load16(const void *bytes)
{
    uint16_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static inline uint32_t cc_load32(const void *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static inline uint64_t cc_load64(const void *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* True if all of `count` bytes are zero. */
static inline bool cc_is_zero(const void *bytes, size_t count)
{
    const uint8_t *first = bytes;
    return count == 0 || (first[0] == 0 && memcmp(first, first + 1, count - 1) == 0);
}

static inline void cc_store16(void *bytes, uint16_t value)
{
    memcpy(bytes, &value, sizeof value);
}

static inline void cc_store32(void *bytes, uint32_t value)
{
    memcpy(bytes, &value, sizeof value);
}

static inline void cc_store64(void *bytes, uint64_t value)
{
    memcpy(bytes, &value, sizeof value);
}

#endif
