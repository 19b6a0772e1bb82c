#include "proto/json/slices.h"

#include "kernels/team.h"
#include "proto/json/fault.h"
#include "proto/json/find.h"
#include "proto/number/decimal.h"

#include <stdatomic.h>
#include <string.h>

/* The least text of a slice. There are several slices to a thread, as threads differ in speed. */
enum { SLICE_BYTES = 128 * 1024 };

static void cut_at_commas(struct json_slices *s, const char *text, const char *end)
{
    size_t step = (size_t)(end - text) / (JSON_SLICES_MAX - 1);

    if (step < SLICE_BYTES)
        step = SLICE_BYTES;
    s->count = 0;
    while ((size_t)(end - text) > step) {
        const char *comma = memchr(text + step, ',', (size_t)(end - text) - step);
        if (!comma)
            break;
        s->slices[s->count++] = (struct json_slice){.begin = text, .end = comma};
        text = comma + 1;
    }
    s->slices[s->count++] = (struct json_slice){.begin = text, .end = end};
}

/* Counting is so fast that another start and end of a team would cost more than it saves. */
int64_t json_slices_cut(struct json_slices *s, const char *text, const char *end)
{
    int64_t elements = 0;

    cut_at_commas(s, text, end);
    for (int i = 0; i < s->count; i++) {
        s->slices[i].first = elements;
        s->slices[i].count = json_count_commas(s->slices[i].begin, s->slices[i].end) + 1;
        elements += s->slices[i].count;
    }
    return elements;
}

static bool read_slice(struct json_slice *s, struct json_elements e, char *out)
{
    char *first = out + (size_t)s->first * dtype_bytes(e.dtype);
    struct number_run run =
        json_elements_read(&e, decimal_space(s->begin, s->end), s->end, first, s->count);

    s->bare_tokens = e.bare_tokens;
    return run.stop == NUMBER_END && run.at == s->end;
}

struct reading {
    struct json_slices *s;
    const struct json_elements *e;
    char *out;
    const struct work *work;
    atomic_bool failed;
};

static void read_part(void *reading, int i)
{
    struct reading *r = reading;

    if (!atomic_load_explicit(&r->failed, memory_order_relaxed) &&
        (work_stopped(r->work) || !read_slice(&r->s->slices[i], *r->e, r->out)))
        atomic_store_explicit(&r->failed, true, memory_order_relaxed);
}

bool json_slices_read(struct json_slices *s, struct json_elements *e, char *out,
                      const struct work *work)
{
    struct reading reading = {.s = s, .e = e, .out = out, .work = work};

    team_share(work->threads, s->count, read_part, &reading);
    if (atomic_load(&reading.failed))
        return false;
    for (int i = 0; i < s->count; i++)
        e->bare_tokens |= s->slices[i].bare_tokens;
    return true;
}
