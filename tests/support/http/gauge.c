#include "tests/support/http/gauge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The sample of exactly this series: at the start of a line, followed by a blank. */
static const char *find(const char *text, const char *series)
{
    size_t size = strlen(series);
    for (const char *line = text; line; line = strchr(line, '\n'), line += line != NULL)
        if (strncmp(line, series, size) == 0 && line[size] == ' ')
            return line + size + 1;
    return NULL;
}

static bool has_metric(const char *text, const char *series)
{
    char type[128];
    snprintf(type, sizeof type, "\n# TYPE %.*s ", (int)strcspn(series, "{"), series);
    return strstr(text, type) != NULL;
}

double gauge(struct fixture *f, const char *series)
{
    struct answer a = fixture_call(f, &(struct call){.path = "/metrics"});
    const char *sample = find(a.body, series);
    if (a.status != 200 || (!sample && !has_metric(a.body, series)))
        fail_msg("status %d, no series %s", a.status, series);
    double value = sample ? strtod(sample, NULL) : 0;
    answer_release(&a);
    return value;
}

void gauge_settle(struct fixture *f, const char *series, double value)
{
    double now = 0;
    for (int tries = 0; tries < 3000; tries++) {
        now = gauge(f, series);
        if (now == value)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    fail_msg("%s stays %g, expected %g", series, now, value);
}
