/* shortest: every FP32 of its range against std::to_chars, byte for byte; about a minute. */
#include "proto/number/shortest.h"

#include <charconv>
#include <cstdio>

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float value_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Whether both print it so, or shortest_print leaves it to std::to_chars. */
static bool is_right(float value, uint64_t *printed)
{
    char ours[SHORTEST_ROOM], theirs[64];
    const char *end = shortest_print(value, ours);
    if (!end)
        return true;
    (*printed)++;
    size_t size = (size_t)(std::to_chars(theirs, theirs + sizeof theirs, value).ptr - theirs);
    if ((size_t)(end - ours) == size && memcmp(ours, theirs, size) == 0)
        return true;
    fprintf(stderr, "%a is %.*s, not %.*s\n", (double)value, (int)size, theirs, (int)(end - ours),
            ours);
    return false;
}

int main(void)
{
    uint64_t values = 0, printed = 0, wrong = 0;
    for (uint32_t bits = bits_of(SHORTEST_FROM); bits < bits_of(SHORTEST_BELOW); bits++) {
        float value = value_of(bits);
        values++;
        wrong += !is_right(value, &printed);
        if (bits % 64 == 0) /* the sign touches no digit */
            wrong += !is_right(-value, &printed);
    }
    printf("shortest: %llu values, %llu printed, %llu wrong\n", (unsigned long long)values,
           (unsigned long long)printed, (unsigned long long)wrong);
    return wrong > 0 || printed < values / 2;
}
