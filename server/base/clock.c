#include "server/base/clock.h"

#include "server/base/units.h"

#include <stdio.h>
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

void clock_print(char *text, uint64_t wall_ns)
{
    struct tm tm;
    const time_t seconds = (time_t)(wall_ns / SEC);
    gmtime_r(&seconds, &tm);
    const struct {
        int value, digits;
        char after;
    } parts[] = {
        {tm.tm_year + 1900, 4, '-'},    {tm.tm_mon + 1, 2, '-'}, {tm.tm_mday, 2, 'T'},
        {tm.tm_hour, 2, ':'},           {tm.tm_min, 2, ':'},     {tm.tm_sec, 2, '.'},
        {(int)(wall_ns % SEC), 9, 'Z'},
    };
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
        text = put_digits(text, parts[i].value, parts[i].digits);
        *text++ = parts[i].after;
    }
    *text = '\0';
}
