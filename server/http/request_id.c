#include "server/http/request_id.h"

#include "server/base/clock.h"
#include "server/base/units.h"

#include <stdbool.h>
#include <string.h>
#include <sys/random.h>

/* splitmix64: ids must differ, not be secret. */
static uint64_t next(struct request_ids *ids)
{
    uint64_t z = ids->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void request_ids_init(struct request_ids *ids)
{
    if (getrandom(&ids->state, sizeof ids->state, GRND_NONBLOCK) != sizeof ids->state)
        ids->state = clock_wall_ns() ^ (uint64_t)(uintptr_t)ids;
}

static bool copy_visible(const char *given, char *text)
{
    size_t size = 0;
    for (; given[size]; size++) {
        if (given[size] < '!' || given[size] > '~' || size == REQUEST_ID_TEXT_MAX - 1)
            return false;
        text[size] = given[size];
    }
    text[size] = '\0';
    return size > 0;
}

static const char hex[] = "0123456789abcdef";

void request_ids_hex(struct request_ids *ids, char *text, int digits)
{
    uint64_t word = 0;
    for (int i = 0; i < digits; i++, word >>= 4) {
        if (i % 16 == 0)
            word = next(ids);
        text[i] = hex[word & 15];
    }
    text[0] = hex[1 + next(ids) % 15]; /* an id of zeros is none */
    text[digits] = '\0';
}

/* RFC 9562: 48 bits of milliseconds, version 7, variant 2, the rest random. */
static void print_uuid(uint64_t high, uint64_t low, char *text)
{
    char digits[32];
    for (int i = 0; i < 16; i++) {
        digits[i] = hex[high >> (60 - 4 * i) & 15];
        digits[16 + i] = hex[low >> (60 - 4 * i) & 15];
    }
    memcpy(text, "00000000-0000-0000-0000-000000000000", 37);
    memcpy(text, digits, 8);
    memcpy(text + 9, digits + 8, 4);
    memcpy(text + 14, digits + 12, 4);
    memcpy(text + 19, digits + 16, 4);
    memcpy(text + 24, digits + 20, 12);
}

void request_id_choose(struct request_ids *ids, const char *given, char *text)
{
    if (given && copy_visible(given, text))
        return;
    uint64_t high = clock_wall_ms() << 16 | UINT64_C(7) << 12 | next(ids) >> 52;
    uint64_t low = UINT64_C(2) << 62 | next(ids) >> 2;
    print_uuid(high, low, text);
}
