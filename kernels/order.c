#include "kernels/order.h"
#include "kernels/fault.h"
#include "kernels/flatten.h"
#include "kernels/team.h"

#include <string.h>

/* So many counters stay in the second-level cache. */
enum { DIGIT_BITS_MAX = 11 };

/* Nanoseconds that one digit of a row takes; a team is worth so many of its gatherings. */
static const double DIGIT_NS = 3;
enum { GATHERINGS = 10 };

/* How the ids are sorted: by one digit after the other, the lowest first. */
struct radix {
    int bits; /* of a number in the arrays: 32 or 64 */
    int digits, digit_bits;
    int parts; /* of the rows, each counted and placed by one thread */
    size_t array_bytes;
};

/* One digit: numbers go from one pair of arrays to the other. */
struct pass {
    const struct plan *plan;
    const struct radix *radix;
    const void *segment, *row; /* NULL: the client's ids, row k */
    void *to_segment, *to_row;
    int64_t *places; /* for each part and digit: how many, then where the next one goes */
    int shift;
};

static bool needs_order(const struct plan *plan)
{
    return plan->kind == PLAN_SEGMENT && plan->ids_in_any_order && plan->rows.count > 0 &&
           plan->rows.width > 0 && plan->output.shape[0] > 0;
}

static struct radix radix_of(const struct plan *plan)
{
    int64_t segments = plan->output.shape[0], count = plan->rows.count;
    int key_bits = 64 - __builtin_clzll((unsigned long long)segments);
    struct radix radix = {.bits = segments <= INT32_MAX && count <= INT32_MAX ? 32 : 64,
                          .digits = (key_bits + DIGIT_BITS_MAX - 1) / DIGIT_BITS_MAX};
    int threads = plan->options.threads < TEAM_MAX ? plan->options.threads : TEAM_MAX;
    double ns = (double)count * radix.digits * DIGIT_NS;
    radix.parts = ns < GATHERINGS * plan_machine(plan)->team_ns ? 1 : threads;
    radix.digit_bits = (key_bits + radix.digits - 1) / radix.digits;
    radix.array_bytes = tensor_aligned((size_t)count * (size_t)(radix.bits / 8));
    return radix;
}

static size_t places_bytes(const struct radix *radix)
{
    return ((size_t)radix->parts << radix->digit_bits) * sizeof(int64_t);
}

size_t order_bytes(const struct plan *plan)
{
    if (!needs_order(plan))
        return 0;
    struct radix radix = radix_of(plan);
    size_t pairs_of_arrays = radix.digits > 1 ? 2 : 1;
    return tensor_aligned(2 * pairs_of_arrays * radix.array_bytes + places_bytes(&radix));
}

ALWAYS_INLINE int64_t segment_at(const struct pass *pass, int bits, bool first, int64_t k)
{
    const struct plan *plan = pass->plan;
    if (!first)
        return index_load(pass->segment, bits, k);
    int64_t id = index_load(plan->segment_ids->data, tensor_index_bits(plan->segment_ids), k);
    return id < 0 ? plan->output.shape[0] : id;
}

ALWAYS_INLINE int64_t *place_of(const struct pass *pass, int64_t *places, int64_t segment)
{
    int64_t mask = ((int64_t)1 << pass->radix->digit_bits) - 1;
    return &places[segment >> pass->shift & mask];
}

ALWAYS_INLINE void count(const struct pass *pass, int bits, bool first, int64_t *places,
                         int64_t from, int64_t to)
{
    for (int64_t k = from; k < to; k++)
        ++*place_of(pass, places, segment_at(pass, bits, first, k));
}

ALWAYS_INLINE void place(const struct pass *pass, int bits, bool first, int64_t *places,
                         int64_t from, int64_t to)
{
    for (int64_t k = from; k < to; k++) {
        int64_t segment = segment_at(pass, bits, first, k);
        int64_t at = (*place_of(pass, places, segment))++;
        index_store(pass->to_segment, bits, at, segment);
        index_store(pass->to_row, bits, at, first ? k : index_load(pass->row, bits, k));
    }
}

typedef void walk_step(const struct pass *pass, int bits, bool first, int64_t *places, int64_t from,
                       int64_t to);

/* The step with constants. */
ALWAYS_INLINE void take(const struct pass *pass, walk_step *step, int64_t *places, int64_t from,
                        int64_t to)
{
    bool first = !pass->segment, narrow = pass->radix->bits == 32;
    if (first)
        narrow ? step(pass, 32, true, places, from, to) : step(pass, 64, true, places, from, to);
    else
        narrow ? step(pass, 32, false, places, from, to) : step(pass, 64, false, places, from, to);
}

ALWAYS_INLINE void walk_part(const struct pass *pass, walk_step *step, int i)
{
    int64_t count = pass->plan->rows.count, end = count * (i + 1) / pass->radix->parts;
    int64_t *places = pass->places + ((int64_t)i << pass->radix->digit_bits);
    for (int64_t k = count * i / pass->radix->parts, to; k < end; k = to) {
        to = end - k < PLAN_STOP_ELEMENTS ? end : k + PLAN_STOP_ELEMENTS;
        if (plan_stopped(pass->plan))
            return;
        take(pass, step, places, k, to);
    }
}

static void count_part(void *work, int i)
{
    walk_part(work, count, i);
}

static void place_part(void *work, int i)
{
    walk_part(work, place, i);
}

/* Of equal digits those of an earlier part come first. */
static void find_places(const struct pass *pass)
{
    int64_t digits = (int64_t)1 << pass->radix->digit_bits, next = 0;
    for (int64_t digit = 0; digit < digits; digit++)
        for (int i = 0; i < pass->radix->parts; i++) {
            int64_t *place = &pass->places[i * digits + digit], found = *place;
            *place = next;
            next += found;
        }
}

enum error_code order_rows(struct plan *plan, struct error *error)
{
    if (!needs_order(plan))
        return ERROR_NONE;
    struct radix radix = radix_of(plan);
    char *arrays = plan->scratch;
    size_t pairs_of_arrays = radix.digits > 1 ? 2 : 1;
    struct pass pass = {.plan = plan,
                        .radix = &radix,
                        .places = (int64_t *)(arrays + 2 * pairs_of_arrays * radix.array_bytes)};
    for (int i = 0; i < radix.digits; i++, pass.shift += radix.digit_bits) {
        pass.to_segment = arrays + (size_t)(i % 2) * 2 * radix.array_bytes;
        pass.to_row = (char *)pass.to_segment + radix.array_bytes;
        memset(pass.places, 0, places_bytes(&radix));
        team_run(radix.parts, count_part, &pass);
        if (plan_stopped(plan)) /* numbers that were not counted have no place */
            return fault_cancelled(error);
        find_places(&pass);
        team_run(radix.parts, place_part, &pass);
        pass.segment = pass.to_segment;
        pass.row = pass.to_row;
    }
    plan->rows.segment = pass.segment;
    plan->rows.destination = pass.row;
    plan->rows.segment_bits = plan->rows.destination_bits = radix.bits;
    return plan_stopped(plan) ? fault_cancelled(error) : ERROR_NONE;
}
