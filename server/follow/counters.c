#include "server/follow/counters.h"

#include "server/base/clock.h"

#include <inttypes.h>

double counters_lag(const struct counters *counters)
{
    uint64_t now = clock_wall_ns() / 1000000, then = counters->abreast_ms;
    return counters->is_abreast || now < then ? 0 : (double)(now - then) / 1000;
}

bool counters_healthy(const struct counters *counters)
{
    return counters->server_up && counters->redis_up;
}

static void put(struct text *text, const char *name, const char *kind, const char *help)
{
    text_printf(text, "# HELP tensord_follow_%s %s\n# TYPE tensord_follow_%s %s\n", name, help,
                name, kind);
}

void counters_print(const struct counters *counters, struct text *text)
{
#define X(NAME, KIND, HELP)                                                                        \
    put(text, #NAME, KIND, HELP);                                                                  \
    text_printf(text, "tensord_follow_" #NAME " %" PRIu64 "\n", counters->NAME);
    COUNTERS_TABLE(X)
#undef X
    put(text, "lag_seconds", "gauge", "Age of the oldest entry that is not done with, by its id");
    text_printf(text, "tensord_follow_lag_seconds %.3f\n", counters_lag(counters));
    put(text, "position_seconds", "gauge", "Time in the id of the last entry that is done with");
    text_printf(text, "tensord_follow_position_seconds %.3f\n",
                (double)counters->position_ms / 1000);
}
