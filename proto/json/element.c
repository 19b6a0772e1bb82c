#include "proto/json/element.h"

#include "proto/json/fault.h"
#include "proto/json/string.h"
#include "proto/json/word.h"
#include "proto/number/decimal.h"

#include <assert.h>

/* Reads the string at `at` and returns its end, NULL when there is none. */
static const char *read_string(struct json_elements *e, const char *at, const char *end,
                               struct span *out)
{
    struct json_string string;
    struct json_fault fault;

    if (at == end || *at != '"')
        return NULL;
    bool checked = json_string_check(&string, at, end, &fault);
    assert(checked);
    *out = (struct span){string.begin, (size_t)(string.end - string.begin)};
    if (string.escaped) {
        *out = (struct span){e->decoded, json_string_decode(&string, e->decoded)};
        e->decoded += out->size;
    }
    return string.end + 1;
}

/* One element that is not a number; the end of it, NULL when there is none. */
static const char *read_other(struct json_elements *e, const char *at, const char *end, char *out)
{
    if (e->dtype == DTYPE_BYTES)
        return read_string(e, at, end, (struct span *)(void *)out);
    return json_word_read(e->dtype, at, end, out, &e->bare_tokens);
}

static struct number_run read_numbers(const struct json_elements *e, const char *text,
                                      const char *end, char *out, int64_t most)
{
    return e->exact ? number_read_exact(text, end, (float *)(void *)out, most)
                    : number_read(e->dtype, text, end, out, most);
}

struct number_run json_elements_read(struct json_elements *e, const char *text, const char *end,
                                     void *out, int64_t most)
{
    size_t bytes = dtype_bytes(e->dtype);
    struct number_run run = {text, 0, NUMBER_NONE};

    for (;;) {
        char *next = (char *)out + (size_t)run.count * bytes;
        if (e->dtype != DTYPE_BYTES) {
            struct number_run numbers = read_numbers(e, run.at, end, next, most - run.count);
            run = (struct number_run){numbers.at, run.count + numbers.count, numbers.stop};
            next += (size_t)numbers.count * bytes;
            if (run.stop != NUMBER_NONE)
                return run;
        }
        const char *after = read_other(e, run.at, end, next);
        if (!after)
            return (struct number_run){run.at, run.count, NUMBER_NONE};
        run.count++;
        run.at = decimal_space(after, end);
        if (run.at == end || *run.at != ',')
            return (struct number_run){run.at, run.count, NUMBER_END};
        run.at = decimal_space(run.at + 1, end);
        if (run.count == most)
            return (struct number_run){run.at, run.count, NUMBER_MORE};
    }
}
