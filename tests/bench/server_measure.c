#include "tests/bench/server_bench.h"
#include "tests/bench/server_text.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a side is sent. */
static const struct wire_request *request_for(const struct bench *b, bool echo)
{
    return echo && b->echoed.bytes ? &b->echoed : b->requests;
}

static struct load_result measure_load(const struct bench *b, int port, bool tls, double seconds,
                                       bool first_only)
{
    const struct wire_request *request =
        request_for(b, bench_has_http_echo(b->row) && port == b->echo.port);
    int request_count = first_only || request != b->requests ? 1 : b->request_count;
    const struct load load = {.port = port,
                              .connections = b->row->connections,
                              .requests = request,
                              .request_count = request_count,
                              .tls = tls};
    struct load_result result;

    if (!load_run(&load, seconds, &result))
        bench_fail("a small request failed");
    return result;
}

static double measure_rate(struct bench *b, int port, bool tls, int64_t *answers)
{
    static const double SECONDS = 0.1;
    struct load_result result =
        measure_load(b, port, tls, SECONDS, b->row->other == FIRST && answers == &b->their_answers);

    *answers += result.answers;
    return (double)result.answers / result.seconds;
}

/* A child that sends the request beside until it is killed. */
static pid_t start_stream(const struct bench *b)
{
    pid_t pid = fork();
    struct line line;

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (line_open(&line, b->server.port, ANSWER_BYTES))
        while (line_exchange(&line, b->beside.bytes, b->beside.size) > 0)
            ;
    _exit(1);
}

static double measure_p99(const struct bench *b, bool beside)
{
    static const double SECONDS = 2;
    pid_t stream = beside ? start_stream(b) : 0;
    int port = b->row->other == ECHO_ALONE ? b->echo.port : b->server.port;
    double p99_ms = measure_load(b, port, false, SECONDS, false).p99_ms;

    if (beside) {
        if (stream < 0 || waitpid(stream, NULL, WNOHANG) != 0)
            bench_fail("the stream beside broke");
        kill(stream, SIGKILL);
        waitpid(stream, NULL, 0);
    }
    return p99_ms;
}

/* A few connections keep the one worker busy and are never refused: that is the capacity. Five
 * times as much is asked for then. The queue's bound is the time that its jobs and the one that
 * runs take, in the slowest hundredth of this run. */
static double measure_overload(struct bench *b)
{
    static const double TIMES = 5, SECONDS = 2, CAPACITY_SECONDS = 0.5;
    static const int CAPACITY_CONNECTIONS = 4;
    struct load load = {.port = b->server.port,
                        .connections = CAPACITY_CONNECTIONS,
                        .requests = b->requests,
                        .request_count = 1};
    struct load_result capacity, result;

    if (!load_run(&load, CAPACITY_SECONDS, &capacity))
        bench_fail("a request below the capacity failed");
    load.connections = b->row->connections;
    load.rate = TIMES * (double)capacity.answers / capacity.seconds;
    load.may_refuse = true;
    load.span = BOUND_JOBS + 1;
    if (!load_run(&load, SECONDS, &result) || result.refused == 0)
        bench_fail("the queue was never full");
    b->bound_ms = result.span_ms;
    b->overload.capacity += (double)capacity.answers / capacity.seconds;
    b->overload.asked += result.asked;
    b->overload.accepted += (double)result.answers / result.seconds;
    b->overload.refused += (double)result.refused / (double)(result.refused + result.answers);
    return result.p99_ms;
}

static double measure_seconds(const struct bench *b, struct line *line)
{
    const struct wire_request *request = request_for(b, line == &b->theirs);
    double seconds = line_exchange(line, request->bytes, request->size);

    if (seconds <= 0)
        bench_fail("a large request failed");
    return seconds;
}

double bench_measure_ours(struct bench *b)
{
    if (bench_has_stream(b->row))
        return measure_p99(b, true);
    if (b->row->other == BOUND)
        return measure_overload(b);
    if (b->row->other == PLAIN)
        return measure_rate(b, server_port(&b->server, "tls:127.0.0.1:"), true, &b->our_answers);
    if (b->row->subject == SMALL)
        return measure_rate(b, b->server.port, false, &b->our_answers);
    return measure_seconds(b, &b->ours);
}

double bench_measure_theirs(struct bench *b)
{
    const struct wire_request *r = b->requests;

    switch (b->row->other) {
    case HTTP_ECHO:
        return measure_rate(b, b->echo.port, false, &b->their_answers);
    case RAW_ECHO:
        return measure_seconds(b, &b->theirs);
    case CJSON:
        return text_cjson_seconds(r->bytes + r->body_offset, r->size - r->body_offset);
    case CHARS:
        return text_chars_seconds(r->bytes + b->array_offset, b->array_size);
    case PLAIN:
    case FIRST:
        return measure_rate(b, b->server.port, false, &b->their_answers);
    case QUIET:
        return measure_rate(b, b->quiet.port, false, &b->their_answers);
    case BOUND:
        return b->bound_ms;
    case ALONE:
    case ECHO_ALONE:
        break;
    }
    return measure_p99(b, false);
}

/* To the nanosecond, where the times of /proc/PID/stat are counted in ticks, which threads that
 * sleep and wake all the time miss. */
static double cpu_seconds(pid_t pid)
{
    char path[300];
    double sum = 0, ns;
    struct dirent *entry;
    DIR *tasks;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    tasks = opendir(path);
    while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
        FILE *file;

        snprintf(path, sizeof(path), "/proc/%d/task/%.20s/schedstat", (int)pid, entry->d_name);
        file = fopen(path, "r");
        if (file != NULL && fscanf(file, "%lf", &ns) == 1)
            sum += ns / 1e9;
        if (file != NULL)
            fclose(file);
    }
    if (tasks != NULL)
        closedir(tasks);
    return sum;
}

struct usage bench_usage(pid_t pid)
{
    struct usage usage = {0};
    char path[64], text[1024];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "r");
    if (file == NULL || fgets(text, sizeof(text), file) == NULL || strrchr(text, ')') == NULL ||
        sscanf(strrchr(text, ')'), ") %*c %*d %*d %*d %*d %*d %*u %ld", &usage.minor_faults) != 1)
        bench_fail("a side is gone");
    fclose(file);
    usage.cpu_seconds = cpu_seconds(pid);
    return usage;
}
