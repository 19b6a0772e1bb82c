/* Every golden case on the kernels: on the CPU with several numbers of threads, or, in the program
 * that CUDA is linked to, on a device; in place and out of place, with guard bytes around all
 * memory. */
#include "kernels/op.h"
#include "tests/support/golden/golden.h"
#include "tests/support/kernels/kernel_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* How a case is run: the way the work is shared, where row numbers go, and where the result. */
static const struct form {
    struct split split;
    bool flat, in_place, base_level;
} forms[] = {
    {{1, false, false}, false, false, false}, {{1, false, false}, true, true, false},
    {{2, false, false}, false, false, false}, {{5, false, true}, true, true, false},
    {{2, true, false}, false, true, false},   {{1, false, false}, false, true, true},
};

static void fill_run(struct kernel_run *run, const struct golden_case *c)
{
    struct op_name name;
    assert_true(op_find(c->op, strlen(c->op), &name));
    *run = (struct kernel_run){
        .backend = backend_cuda(), .op = c->op, .ignore_bad = strcmp(c->policy, "IGNORE") == 0};
    for (int i = 0; i < c->input_count; i++) {
        int input = op_input(name.op, c->inputs[i].name, strlen(c->inputs[i].name));
        assert_in_range(input, 0, OP_INPUTS_MAX - 1);
        run->inputs[input] = c->inputs[i].tensor;
    }
}

static void check_integers(const int64_t *found, int found_rank, const int64_t *expected,
                           int expected_rank)
{
    if (expected_rank < 0)
        return;
    assert_int_equal(found_rank, expected_rank);
    for (int i = 0; i < expected_rank; i++)
        assert_int_equal(found[i], expected[i]);
}

static void check_error(const struct error *found, const struct golden_error *expected)
{
    assert_string_equal(error_name(found->code), expected->code);
    if (expected->input)
        assert_string_equal(found->input, expected->input);
    if (expected->position_rank >= 0)
        assert_true(found->fault_count > 0);
    const struct fault *f = &found->faults[0];
    check_integers(f->position, f->position_rank, expected->position, expected->position_rank);
    check_integers(f->index, f->index_rank, expected->index, expected->index_rank);
    check_integers(found->bound, found->bound_rank, expected->bound, expected->bound_rank);
}

static void check_run(struct kernel_run *run, const struct golden_case *c)
{
    enum error_code code = kernel_run_do(run);
    if (!run->guards_hold || (code != ERROR_NONE) != c->fails)
        print_message("case %s: %s\n", c->name, run->error.message);
    assert_true(run->guards_hold);
    if (c->fails)
        check_error(&run->error, &c->error);
    else {
        assert_int_equal(code, ERROR_NONE);
        if (!golden_equal(&run->plan.output, &c->output.tensor))
            fail_msg("case %s, level %s, %d threads: another answer", c->name,
                     run->level ? run->level->name : "of a device", run->split.threads);
    }
    kernel_run_release(run);
}

static void check_on_device(struct kernel_run *run, const struct golden_case *c)
{
    for (int in_place = 0; in_place < 2; in_place++) {
        run->in_place = in_place;
        check_run(run, c);
        assert_true(run->ran_on != &backend_cpu || run->plan.dtype == DTYPE_BYTES);
    }
}

static void check_case(const struct golden_case *c)
{
    struct kernel_run run;
    fill_run(&run, c);
    if (backend_cuda()) {
        check_on_device(&run, c);
        return;
    }
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        run.level = forms[i].base_level ? level_at(0) : level_best();
        run.split = forms[i].split;
        run.threads = forms[i].split.threads;
        run.flat = forms[i].flat;
        run.in_place = forms[i].in_place;
        check_run(&run, c);
    }
}

/* A policy that is no policy is refused before there is anything for a kernel to do. */
static bool concerns_kernels(const struct golden_case *c)
{
    return !c->fails || strcmp(c->error.code, "INVALID_PARAMETER") != 0;
}

static void golden_file(void **state)
{
    struct golden g;
    struct golden_case c;
    int cases = 0;
    golden_open(&g, *state);
    for (; golden_next(&g, &c); cases++) {
        if (!concerns_kernels(&c))
            continue;
        check_case(&c);
    }
    golden_close(&g);
    assert_true(cases >= GOLDEN_CASES_MIN);
}

int main(void)
{
    struct CMUnitTest tests[GOLDEN_FILES_MAX];
    for (int i = 0; i < golden_files(); i++) {
        const char *path = golden_file_at(i);
        tests[i] = (struct CMUnitTest){path, golden_file, NULL, NULL, (void *)path};
    }
    return _cmocka_run_group_tests("golden", tests, (size_t)golden_files(), NULL, NULL);
}
