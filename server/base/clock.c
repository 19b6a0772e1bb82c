#include "server/base/clock.h"

#include "server/base/units.h"

#include <string.h>
#include <time.h>

static uint64_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * SEC + (uint64_t)t.tv_nsec;
}

uint64_t clock_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_wall_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

uint64_t clock_wall_ms(void)
{
    return read_clock(CLOCK_REALTIME_COARSE) / MSEC;
}

static char *put_digits(char *p, int value, int digits)
{
    for (int i = digits - 1; i >= 0; i--, value /= 10)
        p[i] = (char)('0' + value % 10);
    return p + digits;
}

static void print_second(char *text, uint64_t second)
{
    struct tm tm;
    const time_t seconds = (time_t)second;
    gmtime_r(&seconds, &tm);
    const struct {
        int value, digits;
        char after;
    } parts[] = {
        {tm.tm_year + 1900, 4, '-'}, {tm.tm_mon + 1, 2, '-'}, {tm.tm_mday, 2, 'T'},
        {tm.tm_hour, 2, ':'},        {tm.tm_min, 2, ':'},     {tm.tm_sec, 2, '.'},
    };
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
        text = put_digits(text, parts[i].value, parts[i].digits);
        *text++ = parts[i].after;
    }
}

void clock_print(struct clock_text *to, uint64_t wall_ns)
{
    uint64_t second = wall_ns / SEC;
    if (second != to->second || to->text[0] == '\0') {
        print_second(to->text, second);
        to->second = second;
    }
    memcpy(put_digits(to->text + CLOCK_TEXT_SIZE - 10, (int)(wall_ns % SEC), 9), "Z", 2);
}
