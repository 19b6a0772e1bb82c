#include "tests/support/http/long_job.h"

#include "tests/support/http/body.h"

#include <stdint.h>
#include <stdlib.h>

/* So many rows of so many columns are added up. */
enum { ROWS = 1 << 18, COLUMNS = 1 << 18 };

bool long_job_say(struct raw *r)
{
    struct body body;
    int32_t *zeros = calloc(ROWS, sizeof *zeros);
    float *row = calloc(COLUMNS, sizeof *row);
    const struct part parts[] = {
        {"data", "FP32", "[1,262144]", row, COLUMNS * sizeof *row},
        {"indices", "INT32", "[262144]", zeros, ROWS * sizeof *zeros},
        {"segment_ids", "INT32", "[262144]", zeros, ROWS * sizeof *zeros},
    };
    bool said = zeros && row && body_binary(&body, parts, 3, "");

    if (said) {
        said = raw_printf(r,
                          "POST /v2/models/sparse_segment_sum/infer HTTP/1.1\r\nHost: t\r\n"
                          "Inference-Header-Content-Length: %zu\r\nContent-Length: %zu\r\n\r\n",
                          body.header_length, body.size) &&
               raw_send(r, body.data, body.size);
        body_release(&body);
    }
    free(row);
    free(zeros);
    return said;
}
