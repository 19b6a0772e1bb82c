/* The running process as its machine sees it: environment, threads, memory. */
#include "tests/support/http/gauge.h"
#include "tests/support/http/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BODY = 8 << 20, COLUMNS = 1024, ROWS_MOST = 2048 };

static FILE *open_proc(const struct fixture *f, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)f->server.pid, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    return file;
}

/* Whether one of the strings in /proc/PID/NAME, each of which a NUL ends, is exactly this. */
static bool holds(const struct fixture *f, const char *name, const char *wanted)
{
    FILE *file = open_proc(f, name);
    char *text = NULL;
    size_t capacity = 0;
    bool found = false;
    while (!found && getdelim(&text, &capacity, '\0', file) >= 0)
        found = strcmp(text, wanted) == 0;
    free(text);
    fclose(file);
    return found;
}

static struct fixture *start(const char *wait_policy)
{
    static const char *const settings[] = {"--cores=4", "--workers=2", "--wide_workers=2", NULL};
    void *f;
    if (wait_policy)
        setenv("OMP_WAIT_POLICY", wait_policy, 1);
    else
        unsetenv("OMP_WAIT_POLICY");
    assert_int_equal(fixture_start_with(&f, settings), 0);
    return f;
}

/* The program starts itself once more to set its environment: the process and its settings stay the
 * same. */
static void idle_teams_are_told_to_sleep(void **state)
{
    (void)state;
    struct fixture *f = start(NULL);
    assert_true(holds(f, "environ", "OMP_WAIT_POLICY=passive"));
    assert_true(holds(f, "cmdline", "--workers=2"));
    assert_true(holds(f, "cmdline", "--wide_workers=2"));
    fixture_check_alive(f);
    fixture_end(f);
}

static void a_wait_policy_that_is_set_is_kept(void **state)
{
    (void)state;
    struct fixture *f = start("PASSIVE");
    assert_true(holds(f, "environ", "OMP_WAIT_POLICY=PASSIVE"));
    assert_false(holds(f, "environ", "OMP_WAIT_POLICY=passive"));
    fixture_end(f);
}

static void ask(struct fixture *f, const char *op, const struct part *parts, int count)
{
    struct body body;
    struct answer a;
    assert_true(body_binary(&body, parts, count, ",'parameters':{'binary_data_output':true}"));
    assert_true(client_binary(&f->client, op, &body, &a));
    assert_int_equal(a.status, 200);
    answer_release(&a);
    body_release(&body);
}

/* Asks for so many elements in JSON that several threads read and print them. */
static void ask_in_json(struct fixture *f, size_t elements)
{
    static const char begin[] = "{'inputs':{'tensor':[0",
                      end[] = "],'indices':[[0]],'updates':[0]}}";
    char *json = malloc(sizeof begin + sizeof end + 2 * elements), *at = stpcpy(json, begin);
    for (size_t i = 1; i < elements; i++)
        at = stpcpy(at, ",0");
    strcpy(at, end);
    struct answer a = fixture_json(f, "tensor_scatter_add", json);
    assert_int_equal(a.status, 200);
    answer_release(&a);
    free(json);
}

/* Asks for each kind of operation on tensors of `rows` rows, each of which is touched once. */
static void ask_each_kind(struct fixture *f, int rows)
{
    static const char zeros[ROWS_MOST * COLUMNS * sizeof(float)];
    int32_t each[ROWS_MOST];
    const int32_t shape[] = {rows, COLUMNS};
    char table[32], tuples[32], list[32];
    size_t size = (size_t)rows * COLUMNS * sizeof(float), count = (size_t)rows * sizeof(int32_t);
    for (int i = 0; i < rows; i++)
        each[i] = i;
    snprintf(table, sizeof table, "[%d,%d]", rows, COLUMNS);
    snprintf(tuples, sizeof tuples, "[%d,1]", rows);
    snprintf(list, sizeof list, "[%d]", rows);
    const struct part scatter[] = {{"indices", "INT32", tuples, each, count},
                                   {"updates", "FP32", table, zeros, size},
                                   {"tensor", "FP32", table, zeros, size}};
    const struct part new[] = {scatter[0], scatter[1], {"shape", "INT32", "[2]", shape, 8}};
    const struct part gather[] = {{"params", "FP32", table, zeros, size}, scatter[0]};
    const struct part segment[] = {{"data", "FP32", table, zeros, size},
                                   {"indices", "INT32", list, each, count},
                                   {"segment_ids", "INT32", list, each, count}};
    ask(f, "tensor_scatter_add", scatter, 3);
    ask(f, "tensor_scatter_update", scatter, 3);
    ask(f, "scatter_nd", new, 3);
    ask(f, "gather_nd", gather, 2);
    ask(f, "sparse_segment_sum", segment, 3);
    ask_in_json(f, (size_t)rows * COLUMNS);
}

/* Small jobs are worth two or three threads, large ones four. */
static void no_thread_begins_or_ends_while_jobs_of_all_kinds_and_sizes_run(void **state)
{
    static const int rows[] = {ROWS_MOST, 200, ROWS_MOST};
    (void)state;
    struct fixture *f = start("passive");
    char *before = threads_list(f->server.pid);
    assert_non_null(before);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ask_each_kind(f, rows[i]);
    char *after = threads_list(f->server.pid);
    assert_string_equal(after, before);
    free(after);
    free(before);
    fixture_end(f);
}

/* Whether a mapping of at least so many bytes asks for huge pages. */
static bool has_huge_pages(const struct fixture *f, unsigned long bytes)
{
    FILE *smaps = open_proc(f, "smaps");
    char line[4096];
    unsigned long kb = 0;
    bool found = false;
    while (!found && fgets(line, sizeof line, smaps)) {
        sscanf(line, "Size: %lu kB", &kb);
        found = strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " hg") && kb * 1024 >= bytes;
    }
    fclose(smaps);
    return found;
}

static void a_large_body_lies_in_huge_pages(void **state)
{
    (void)state;
    if (access("/sys/kernel/mm/transparent_hugepage", F_OK) != 0) {
        print_message("this kernel has no transparent huge pages\n");
        skip();
    }
    struct fixture *f = start("passive");
    struct raw r = fixture_raw(f);
    assert_false(has_huge_pages(f, BODY));
    assert_true(raw_printf(&r,
                           "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\n"
                           "Content-Length: %d\r\n\r\n{",
                           BODY));
    gauge_settle(f, "tensord_open_requests", 2);
    assert_true(has_huge_pages(f, BODY));
    raw_close(&r);
    fixture_end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_teams_are_told_to_sleep),
        cmocka_unit_test(a_wait_policy_that_is_set_is_kept),
        cmocka_unit_test(no_thread_begins_or_ends_while_jobs_of_all_kinds_and_sizes_run),
        cmocka_unit_test(a_large_body_lies_in_huge_pages),
    };
    return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
