#include "tests/support/http/fixture.h"

#include <signal.h>
#include <stdlib.h>

int fixture_start_with(void **state, const char *const *settings)
{
    struct fixture *f = calloc(1, sizeof(*f));

    if (f == NULL || !server_start(&f->server, settings) ||
        !client_init(&f->client, f->server.port)) {
        free(f);
        return -1;
    }
    *state = f;
    return 0;
}

int fixture_start(void **state)
{
    return fixture_start_with(state, NULL);
}

int fixture_stop(void **state)
{
    struct fixture *f = *state;
    int status;

    client_release(&f->client);
    status = server_stop(&f->server);
    free(f);
    if (status != 0) {
        print_error("the server ended with status %d\n", status);
        /* cmocka 1.1.5 prints that a group's teardown failed, and counts no failure. */
        exit(EXIT_FAILURE);
    }
    return 0;
}

void fixture_end(struct fixture *f)
{
    void *state = f;
    assert_int_equal(fixture_stop(&state), 0);
}

void fixture_kill(struct fixture *f)
{
    kill(f->server.pid, SIGKILL);
    assert_int_equal(server_wait(&f->server), 128 + SIGKILL);
    client_release(&f->client);
    free(f);
}

struct answer fixture_json(struct fixture *f, const char *op, const char *json)
{
    char *text = quote(json);
    struct answer a;

    assert_true(client_json(&f->client, op, text, &a));
    free(text);
    return a;
}

struct answer fixture_call(struct fixture *f, const struct call *call)
{
    struct answer a;

    assert_true(client_call(&f->client, call, &a));
    return a;
}

struct raw fixture_raw(const struct fixture *f)
{
    struct raw r;

    assert_true(raw_open(&r, f->server.port));
    return r;
}

struct answer fixture_exchange(const struct fixture *f, const char *bytes, size_t size)
{
    struct raw r = fixture_raw(f);
    struct answer a;

    assert_true(raw_send(&r, bytes, size));
    assert_true(raw_read(&r, &a, false));
    raw_close(&r);
    return a;
}

void fixture_check_alive(struct fixture *f)
{
    struct answer a = fixture_json(f, "scatter_nd",
                                   "{'inputs':{'indices':[[2],[0],[2]],"
                                   "'updates':[1,2,3],'shape':[4]}}");

    expect_json(&a, "{'model_name':'scatter_nd','model_version':'1','outputs':[{'name':"
                    "'output','datatype':'FP32','shape':[4],'data':[2.0,0.0,4.0,0.0]}]}");
    answer_release(&a);
}
