/* fixture: a running server and a client of it, as the state of a group of cmocka tests. Brings
 * cmocka and the other helpers along. */
#ifndef TESTS_SUPPORT_HTTP_FIXTURE_H
#define TESTS_SUPPORT_HTTP_FIXTURE_H

#include "kernels/error.h"
#include "tests/support/http/body.h"
#include "tests/support/http/client.h"
#include "tests/support/http/expect.h"
#include "tests/support/http/raw.h"
#include "tests/support/http/server.h"
#include "tests/support/proto/quote.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct fixture {
    struct server server;
    struct client client;
};

/* Group set-up with default settings, and with some of one's own (NULL-terminated). */
MUST_CHECK int fixture_start(void **state);
MUST_CHECK int fixture_start_with(void **state, const char *const *settings);

/* Group tear-down: the server must end with status 0, which under a sanitizer also says that it
 * found nothing. */
MUST_CHECK int fixture_stop(void **state);

/* The same in the middle of a test, for a server that it started. */
void fixture_end(struct fixture *f);

/* As fixture_end, by SIGKILL: the server has no time to save anything. */
void fixture_kill(struct fixture *f);

/* One request whose answer must be there. The caller releases it. In `json` a ' stands for a ". */
struct answer fixture_json(struct fixture *f, const char *op, const char *json);
struct answer fixture_call(struct fixture *f, const struct call *call);

/* A raw connection to the fixture's server. */
struct raw fixture_raw(const struct fixture *f);

/* Sends bytes on a connection of their own and reads the answer; the connection is then closed. */
struct answer fixture_exchange(const struct fixture *f, const char *bytes, size_t size);

/* A request that has nothing wrong is answered right: the server still works. */
void fixture_check_alive(struct fixture *f);

#endif
