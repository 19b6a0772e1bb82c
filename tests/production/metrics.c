/* /metrics and the statistics agree exactly with what was sent. */
#include "tests/support/http/gauge.h"

#include "kernels/op.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char good[] = "{'inputs':{'tensor':[1,2],'indices':[[1]],'updates':[5]}}";
static const char bad[] = "{'inputs':{'tensor':[1,2],'indices':[[9]],'updates':[5]}}";

enum { GOOD = 7, BAD = 3 };

/* The codes that alerts watch, separated by |. */
static char *read_codes(void)
{
    char *codes = calloc(1, 4096), line[256];
    FILE *file = fopen("docker/alerts.yml", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        const char *code = strstr(line, "{code=");
        if (!code)
            continue;
        code = strchr(code, '"') + 1;
        strncat(codes, code, strcspn(code, "\""));
        strcat(codes, "|");
    }
    fclose(file);
    return codes;
}

/* An increase is seen only between two samples: what an alert follows from is there from the start,
 * for every operation. Nothing else of operations is, so that the text stays short. */
static void what_alerts_watch_starts_at_zero(void **state)
{
    char *codes = read_codes(), series[128];
    struct answer a = fixture_call(*state, &(struct call){.path = "/metrics"});
    int watched = 0;
    for (char *code = strtok(codes, "|"); code; code = strtok(NULL, "|"), watched++)
        for (int op = 0; op <= op_count(); op++) {
            snprintf(series, sizeof series, "tensord_requests_total{op=\"%s\",code=\"%s\"} 0\n",
                     op < op_count() ? op_at(op)->name : "", code);
            expect_part(&a, series);
        }
    free(codes);
    assert_true(watched >= 4);
    expect_part(&a, "tensord_requests_total{op=\"gather_nd\",code=\"OK\"} 0\n");
    expect_part(&a, "tensord_ready 1\n");
    assert_null(strstr(a.body, "INVALID_JSON"));
    assert_null(strstr(a.body, "_bucket{"));
    if (a.size > 40 * 1024)
        fail_msg("%zu bytes", a.size);
    answer_release(&a);
}

static void send_some(struct fixture *f)
{
    for (int i = 0; i < GOOD + BAD; i++) {
        /* An alias is counted under the canonical name. */
        struct answer a = fixture_json(f, i % 2 ? "TensorScatterMax" : "tensor_scatter_max",
                                       i < GOOD ? good : bad);
        assert_int_equal(a.status, i < GOOD ? 200 : 400);
        answer_release(&a);
    }
}

static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

/* The times that a client sees have every bound, their parts one a decade; what nothing waited for
 * has none. */
static void histograms_are_as_fine_as_their_use(void **state)
{
    static const struct {
        const char *name;
        int buckets;
    } rows[] = {{"request", 18}, {"compute", 18}, {"parse", 7},
                {"queue", 7},    {"encode", 7},   {"line", 0}};
    char part[128];
    struct answer a = fixture_json(*state, "scatter_nd", "{}");
    assert_int_equal(a.status, 400);
    answer_release(&a);
    a = fixture_call(*state, &(struct call){.path = "/metrics"});
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(part, sizeof part, "tensord_%s_seconds_bucket{op=\"scatter_nd\",le=\"",
                 rows[i].name);
        assert_int_equal(count_of(a.body, part), rows[i].buckets);
    }
    static const char *const decades[] = {"0.0001", "0.001", "0.01", "0.1", "1", "10", "+Inf"};
    for (int i = 0; i < 7; i++) {
        snprintf(part, sizeof part, "tensord_parse_seconds_bucket{op=\"scatter_nd\",le=\"%s\"} ",
                 decades[i]);
        expect_part(&a, part);
    }
    answer_release(&a);
}

/* Monitoring takes another start time for another process. */
static void the_start_stays_what_it_is(void **state)
{
    double start = gauge(*state, "process_start_time_seconds");
    assert_true(start > 1.7e9);
    for (int i = 0; i < 300; i++)
        assert_true(gauge(*state, "process_start_time_seconds") == start);
}

static void requests_are_counted_once(void **state)
{
    send_some(*state);
#define OP    "op=\"tensor_scatter_max\""
#define MODEL "{model=\"tensor_scatter_max\",version=\"1\""
    assert_true(gauge(*state, "tensord_requests_total{" OP ",code=\"OK\"}") == GOOD);
    assert_true(gauge(*state, "tensord_requests_total{" OP ",code=\"INDEX_OUT_OF_BOUNDS\"}") ==
                BAD);
    assert_true(gauge(*state, "tensord_request_seconds_count{" OP "}") == GOOD + BAD);
    assert_true(gauge(*state, "tensord_request_seconds_bucket{" OP ",le=\"+Inf\"}") == GOOD + BAD);
    assert_true(gauge(*state, "tensord_request_seconds_sum{" OP "}") > 0);
    assert_true(gauge(*state, "tensord_request_bytes_total{" OP "}") ==
                (GOOD + BAD) * (double)(sizeof good - 1));
    assert_true(gauge(*state, "nv_inference_request_success" MODEL "}") == GOOD);
    assert_true(gauge(*state, "nv_inference_count" MODEL "}") == GOOD);
    assert_true(gauge(*state, "nv_inference_request_failure" MODEL ",reason=\"OTHER\"}") == BAD);
}

/* A refused body is read away, and its bytes count as received. */
static void the_bytes_of_a_refused_body_count(void **state)
{
    const char *bytes = "tensord_request_bytes_total{op=\"gather_nd\"}";
    double before = gauge(*state, bytes);
    struct answer a = fixture_call(*state, &(struct call){.path = "/v2/models/gather_nd/infer",
                                                          .headers = {"Content-Encoding: br"},
                                                          .body = "12345",
                                                          .size = 5});
    expect_error(&a, 415, "UNSUPPORTED_ENCODING", "br");
    answer_release(&a);
    assert_true(gauge(*state, bytes) == before + 5);
}

static void the_statistics_say_the_same(void **state)
{
    struct answer a =
        fixture_call(*state, &(struct call){.path = "/v2/models/TensorScatterMax/stats"});
    assert_int_equal(a.status, 200);
    expect_part(&a, "'inference_count':7,'execution_count':7");
    expect_part(&a, "'fail':{'count':3,");
    answer_release(&a);
}

static bool is_name(const char *p, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!isalnum((unsigned char)p[i]) && p[i] != '_')
            return false;
    return size > 0;
}

/* One sample or comment of the text format 0.0.4. */
static bool is_line(const char *line)
{
    if (strncmp(line, "# HELP ", 7) == 0 || strncmp(line, "# TYPE ", 7) == 0)
        return is_name(line + 7, strcspn(line + 7, " "));
    size_t name = strcspn(line, "{ ");
    const char *labels = line + name;
    const char *value = *labels == '{' ? strstr(labels, "} ") : labels;
    if (!is_name(line, name) || !value)
        return false;
    char *end;
    value += *labels == '{' ? 2 : 1;
    strtod(value, &end);
    return end > value && *end == '\0';
}

static void the_text_is_what_prometheus_reads(void **state)
{
    struct answer a = fixture_call(*state, &(struct call){.path = "/metrics"});
    int lines = 0;
    assert_int_equal(a.status, 200);
    expect_header(&a, "Content-Type", "text/plain; version=0.0.4; charset=utf-8");
    for (char *line = strtok(a.body, "\n"); line; line = strtok(NULL, "\n"), lines++)
        if (!is_line(line))
            fail_msg("not a line of metrics: %s", line);
    assert_true(lines > 300);
    answer_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_alerts_watch_starts_at_zero),
        cmocka_unit_test(the_start_stays_what_it_is),
        cmocka_unit_test(requests_are_counted_once),
        cmocka_unit_test(histograms_are_as_fine_as_their_use),
        cmocka_unit_test(the_bytes_of_a_refused_body_count),
        cmocka_unit_test(the_statistics_say_the_same),
        cmocka_unit_test(the_text_is_what_prometheus_reads),
    };
    return cmocka_run_group_tests_name("metrics", tests, fixture_start, fixture_stop);
}
