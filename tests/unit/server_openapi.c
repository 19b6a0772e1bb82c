/* GET /openapi.json against the table of routes: neither has what the other lacks. */
#include "proto/answer/describe.h"
#include "server/base/version.h"
#include "server/http/route.h"

#include <cjson/cJSON.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 256, ENTRIES_MAX = 256 };

/* "get /v2/models/{op}/infer": what a client may ask. */
struct entries {
    char text[ENTRIES_MAX][PATH_BYTES];
    int count;
};

static struct entries routed, described;

static void add(struct entries *e, const char *method, const char *path)
{
    assert_true(e->count < ENTRIES_MAX);
    snprintf(e->text[e->count++], PATH_BYTES, "%s %.200s", method, path);
}

/* HEAD goes with GET, OPTIONS with everything: see route.h. */
static void add_methods(struct entries *e, unsigned methods, const char *path)
{
    if (methods & METHOD_GET) {
        add(e, "get", path);
        add(e, "head", path);
    }
    if (methods & METHOD_POST)
        add(e, "post", path);
    add(e, "options", path);
}

/* A pattern with a part in brackets is two paths, without it and with it. */
static void add_pattern(struct entries *e, unsigned methods, const char *pattern)
{
    const char *open = strchr(pattern, '['), *close = strchr(pattern, ']');
    char path[PATH_BYTES];

    if (!open) {
        add_methods(e, methods, pattern);
        return;
    }
    snprintf(path, sizeof(path), "%.*s%s", (int)(open - pattern), pattern, close + 1);
    add_methods(e, methods, path);
    snprintf(path, sizeof(path), "%.*s%.*s%s", (int)(open - pattern), pattern,
             (int)(close - open - 1), open + 1, close + 1);
    add_methods(e, methods, path);
}

static void collect_described(const char *document)
{
    cJSON *json = cJSON_Parse(document);
    const cJSON *path, *member;

    assert_non_null(json);
    cJSON_ArrayForEach(path, cJSON_GetObjectItemCaseSensitive(json, "paths"))
    {
        cJSON_ArrayForEach(member, path)
        {
            if (strcmp(member->string, "parameters") != 0)
                add(&described, member->string, path->string);
        }
    }
    cJSON_Delete(json);
}

static int collect(void **state)
{
    static char bytes[DESCRIBE_TEXT_MAX];
    struct text t;

    (void)state;
    routed.count = described.count = 0;
    for (int i = 0; i < route_count(); i++)
        add_pattern(&routed, route_at(i)->methods, route_at(i)->pattern);
    text_init(&t, bytes, sizeof(bytes));
    describe_openapi(&t, &(struct described_server){TENSORD_VERSION, "", false});
    assert_false(t.cut);
    collect_described(bytes);
    return 0;
}

static int times(const struct entries *e, const char *entry)
{
    int n = 0;

    for (int i = 0; i < e->count; i++)
        n += strcmp(e->text[i], entry) == 0;
    return n;
}

static void every_route_is_described(void **state)
{
    (void)state;
    for (int i = 0; i < routed.count; i++)
        if (times(&described, routed.text[i]) == 0)
            fail_msg("the route table has %s, /openapi.json has not", routed.text[i]);
}

static void everything_described_is_a_route(void **state)
{
    (void)state;
    for (int i = 0; i < described.count; i++) {
        if (times(&routed, described.text[i]) == 0)
            fail_msg("/openapi.json has %s, the route table has not", described.text[i]);
        if (times(&described, described.text[i]) > 1)
            fail_msg("/openapi.json has %s twice", described.text[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_route_is_described, collect),
        cmocka_unit_test_setup(everything_described_is_a_route, collect),
    };

    return cmocka_run_group_tests_name("server_openapi", tests, NULL, NULL);
}
