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

struct date {
    int year, month, day;
};

/* Days since 1970-01-01 as a date of the Gregorian calendar. The year starts in March here, so that
 * the leap day is its last day and the month is a linear function of the day. */
static struct date civil(int64_t days)
{
    int64_t z = days + 719468;
    int64_t era = z / 146097;
    int64_t day_of_era = z % 146097;
    int64_t year =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * day_of_year + 2) / 153;
    int day = (int)(day_of_year - (153 * month + 2) / 5 + 1);
    month = month < 10 ? month + 3 : month - 9;
    return (struct date){(int)(year + era * 400 + (month <= 2)), (int)month, day};
}

static char *put_digits(char *p, unsigned value, int digits)
{
    for (int i = digits - 1; i >= 0; i--, value /= 10)
        p[i] = (char)('0' + value % 10);
    return p + digits;
}

void clock_print(char *text, uint64_t wall_ns)
{
    uint64_t seconds = wall_ns / SEC;
    unsigned of_day = (unsigned)(seconds % 86400);
    struct date date = civil((int64_t)(seconds / 86400));
    const struct {
        unsigned value;
        int digits;
        char after;
    } parts[] = {
        {(unsigned)date.year, 4, '-'},       {(unsigned)date.month, 2, '-'},
        {(unsigned)date.day, 2, 'T'},        {of_day / 3600, 2, ':'},
        {of_day / 60 % 60, 2, ':'},          {of_day % 60, 2, '.'},
        {(unsigned)(wall_ns % SEC), 9, 'Z'},
    };
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
        text = put_digits(text, parts[i].value, parts[i].digits);
        *text++ = parts[i].after;
    }
    *text = '\0';
}
