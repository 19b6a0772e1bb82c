#include "kernels/cpu/bytes.h"
#include "kernels/flatten.h"

#include <string.h>

static int64_t destination(const struct plan *plan, int64_t k)
{
    const struct rows *rows = &plan->rows;
    return rows->depth ? index_load(rows->destination, rows->destination_bits, k) : 0;
}

static size_t text_bytes(const struct span *spans, int64_t count)
{
    size_t bytes = 0;
    for (int64_t i = 0; i < count; i++)
        bytes += spans[i].size;
    return bytes;
}

static int64_t elements(const struct plan *plan)
{
    return (int64_t)(plan->output_bytes / sizeof(struct span));
}

/* Text of the rows that are appended or gathered. */
static size_t rows_text(const struct plan *plan)
{
    bool gathers = plan->kind == PLAN_GATHER;
    const struct span *values = plan->values->data;
    int64_t width = plan->rows.width;
    size_t bytes = 0;
    for (int64_t k = 0; width > 0 && k < plan->rows.count; k++) {
        int64_t row = destination(plan, k);
        if (row >= 0)
            bytes += text_bytes(values + (gathers ? row : k) * width, width);
    }
    return bytes;
}

/* Text of a copied tensor after updates: backwards, so that the first write met is the one that
 * stays; a bit in scratch says that a row was met. The plan left no scratch for the bits when even
 * all texts together are within the limit. */
static size_t updated_text(const struct plan *plan)
{
    const struct span *start = plan->start->data, *updates = plan->values->data;
    unsigned char *met = plan_kernel_scratch(plan);
    int64_t width = plan->rows.width;
    size_t bytes = text_bytes(start, elements(plan));
    memset(met, 0, plan->scratch_bytes - plan->flat_bytes);
    for (int64_t k = plan->rows.count - 1; k >= 0; k--) {
        int64_t row = destination(plan, k);
        if (row < 0 || met[row / 8] >> (row % 8) & 1)
            continue;
        met[row / 8] |= (unsigned char)(1 << (row % 8));
        bytes += text_bytes(updates + k * width, width) - text_bytes(start + row * width, width);
    }
    return bytes;
}

enum error_code bytes_check(const struct plan *plan, struct error *error)
{
    if (plan->dtype != DTYPE_BYTES)
        return ERROR_NONE;
    bool surely_fits = plan->start && plan->scratch_bytes == plan->flat_bytes;
    if (surely_fits)
        return ERROR_NONE;
    size_t bytes = BYTES_SIZE_BYTES * (size_t)elements(plan);
    bytes += plan->start ? updated_text(plan) : rows_text(plan);
    if (bytes <= plan->options.output_limit)
        return ERROR_NONE;
    return error_set(error, ERROR_OUTPUT_TOO_LARGE, NULL,
                     "output has %zu bytes of text and sizes; at most %zu are allowed (max_output)",
                     bytes, plan->options.output_limit);
}

/* Sizes first; then every element knows where its text begins. */
void bytes_concat(const struct plan *plan)
{
    struct span *out = plan->output.data;
    const struct span *updates = plan->values->data;
    int64_t width = plan->rows.width, count = elements(plan);
    int64_t rows = width > 0 ? plan->rows.count : 0;
    for (int64_t i = 0; i < count; i++)
        out[i].size = 0;
    for (int64_t k = 0; k < rows; k++) {
        int64_t row = destination(plan, k);
        for (int64_t j = 0; row >= 0 && j < width; j++)
            out[row * width + j].size += updates[k * width + j].size;
    }

    char *text = plan_kernel_scratch(plan);
    for (int64_t i = 0; i < count; i++) {
        out[i].data = out[i].size ? text : "";
        text += out[i].size;
        out[i].size = 0;
    }
    for (int64_t k = 0; k < rows; k++) {
        int64_t row = destination(plan, k);
        for (int64_t j = 0; row >= 0 && j < width; j++) {
            struct span *o = &out[row * width + j];
            const struct span *u = &updates[k * width + j];
            if (u->size)
                memcpy((char *)o->data + o->size, u->data, u->size);
            o->size += u->size;
        }
    }
}

void bytes_fill_empty(const struct plan *plan)
{
    struct span *out = plan->output.data;
    for (int64_t i = 0; i < elements(plan); i++)
        if (!out[i].data)
            out[i].data = "";
}
