#include "tests/support/http/long_job.h"

#include "tests/support/http/body.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* So many rows of so many columns are added up. */
enum { ROWS = 1 << 18, COLUMNS = LONG_JOB_COLUMNS };

static bool say(struct raw *r, const char *query, bool has_data)
{
    struct body body;
    int32_t *zeros = calloc(ROWS, sizeof *zeros);
    float *row = calloc(COLUMNS, sizeof *row);
    const struct part parts[] = {
        {"data", "FP32", "[1,262144]", row, COLUMNS * sizeof *row},
        {"indices", "INT32", "[262144]", zeros, ROWS * sizeof *zeros},
        {"segment_ids", "INT32", "[262144]", zeros, ROWS * sizeof *zeros},
    };
    bool said = zeros && row && body_binary(&body, parts + !has_data, 2 + has_data, "");

    if (said) {
        said =
            raw_printf(r,
                       "POST /v2/models/sparse_segment_sum/infer%s HTTP/1.1\r\nHost: localhost\r\n"
                       "Inference-Header-Content-Length: %zu\r\nContent-Length: %zu\r\n\r\n",
                       query, body.header_length, body.size) &&
            raw_send(r, body.data, body.size);
        body_release(&body);
    }
    free(row);
    free(zeros);
    return said;
}

bool long_job_say(struct raw *r)
{
    return say(r, "", true);
}

bool long_job_say_with(struct raw *r, const char *query)
{
    return say(r, query, true);
}

bool long_job_read(struct raw *r, const char *name)
{
    char query[160];
    snprintf(query, sizeof query, "?tensor=%s", name);
    return say(r, query, false);
}
