/* openapi: a whole document, in which each route stands once. */
#include "server/http/openapi.h"
#include "server/http/route.h"
#include "tests/support/proto/json_text.h"

#include <ctype.h>
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
static char buffer[64 * 1024];
static struct text text;

static void add(struct entries *e, const char *method, const char *path)
{
    assert_true(e->count < ENTRIES_MAX);
    snprintf(e->text[e->count++], PATH_BYTES, "%s %.200s", method, path);
}

/* HEAD goes with GET, OPTIONS with everything: see route.h. */
static void add_methods(struct entries *e, enum method method, const char *path)
{
    char name[8] = "";
    for (size_t i = 0; method_name(method)[i]; i++)
        name[i] = (char)tolower(method_name(method)[i]);
    add(e, name, path);
    if (method == METHOD_GET)
        add(e, "head", path);
    add(e, "options", path);
}

/* A pattern with a part in brackets is two paths, without it and with it. */
static void add_pattern(struct entries *e, enum method method, const char *pattern)
{
    const char *open = strchr(pattern, '['), *close = strchr(pattern, ']');
    char path[PATH_BYTES];

    if (!open) {
        add_methods(e, method, pattern);
        return;
    }
    snprintf(path, sizeof(path), "%.*s%s", (int)(open - pattern), pattern, close + 1);
    add_methods(e, method, path);
    snprintf(path, sizeof(path), "%.*s%.*s%s", (int)(open - pattern), pattern,
             (int)(close - open - 1), open + 1, close + 1);
    add_methods(e, method, path);
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
    (void)state;
    routed.count = described.count = 0;
    for (int i = 0; i < route_count(); i++)
        add_pattern(&routed, route_at(i)->method, route_at(i)->pattern);
    text_init(&text, buffer, sizeof(buffer));
    openapi_print(&text, &(struct openapi_server){"1.0", "", false});
    assert_false(text.cut);
    collect_described(text.data);
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

static int empty(void **state)
{
    (void)state;
    text_init(&text, buffer, sizeof(buffer));
    return 0;
}

/* Checks that every "$ref" leads somewhere. */
static void check_references(const cJSON *root, const cJSON *item)
{
    if (item->string && strcmp(item->string, "$ref") == 0) {
        char path[128];
        assert_memory_equal(item->valuestring, "#/", 2);
        assert_true(strlen(item->valuestring) < sizeof(path));
        strcpy(path, item->valuestring + 2);
        for (char *slash; (slash = strchr(path, '/'));)
            *slash = '.';
        json_text_at(root, path);
    }
    for (const cJSON *child = item->child; child; child = child->next)
        check_references(root, child);
}

static const struct openapi_server plain = {"1.0", "", false};

static void it_is_whole(void **state)
{
    (void)state;
    openapi_print(&text, &plain);
    cJSON *json = json_text_parse(&text);
    assert_string_equal(json_text_at(json, "openapi")->valuestring, "3.1.0");
    check_references(json, json);
    cJSON_Delete(json);
}

static void it_knows_every_op_and_code(void **state)
{
    (void)state;
    openapi_print(&text, &plain);
    cJSON *json = json_text_parse(&text);
    int names = 0, codes = 0;
    for (int i = 0; i < op_count(); i++)
        for (const struct op_alias *name = op_at(i)->names; name->text; name++)
            names++;
    codes = ERROR_CODE_COUNT - 2; /* without NONE and CANCELLED */
    assert_int_equal(cJSON_GetArraySize(json_text_at(json, "components.parameters.op.schema.enum")),
                     names);
    assert_int_equal(cJSON_GetArraySize(json_text_at(json, "components.schemas.Code.enum")), codes);
    const cJSON *infer = cJSON_GetObjectItemCaseSensitive(
        json_text_at(json, "paths"), "/v2/models/{op}[/versions/{version}]/infer");
    assert_null(infer);
    infer = cJSON_GetObjectItemCaseSensitive(json_text_at(json, "paths"), "/v2/models/{op}/infer");
    assert_string_equal(json_text_at(infer, "post.responses.413.description")->valuestring,
                        "PAYLOAD_TOO_LARGE OUTPUT_TOO_LARGE");
    cJSON_Delete(json);
}

static void it_says_where_the_routes_are(void **state)
{
    const struct openapi_server below = {"1.0", "/team/tensord", false};
    (void)state;
    openapi_print(&text, &below);
    cJSON *json = json_text_parse(&text);
    const cJSON *server = cJSON_GetArrayItem(json_text_at(json, "servers"), 0);
    assert_string_equal(json_text_at(server, "url")->valuestring, "/team/tensord");
    assert_null(cJSON_GetObjectItem(json, "security"));
    cJSON_Delete(json);
}

/* The document says that infer needs a token, and any other route may need one. */
static void it_says_that_there_are_tokens(void **state)
{
    const struct openapi_server closed = {"1.0", "", true};
    (void)state;
    openapi_print(&text, &closed);
    cJSON *json = json_text_parse(&text);
    assert_string_equal(json_text_at(json, "components.securitySchemes.bearer.scheme")->valuestring,
                        "bearer");
    assert_int_equal(cJSON_GetArraySize(json_text_at(json, "security")), 2);
    const cJSON *infer =
        cJSON_GetObjectItemCaseSensitive(json_text_at(json, "paths"), "/v2/models/{op}/infer");
    const cJSON *needs = json_text_at(infer, "post.security");
    assert_int_equal(cJSON_GetArraySize(needs), 1);
    json_text_at(cJSON_GetArrayItem(needs, 0), "bearer");
    assert_null(cJSON_GetObjectItem(json, "servers"));
    check_references(json, json);
    cJSON_Delete(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_route_is_described, collect),
        cmocka_unit_test_setup(everything_described_is_a_route, collect),
        cmocka_unit_test_setup(it_is_whole, empty),
        cmocka_unit_test_setup(it_knows_every_op_and_code, empty),
        cmocka_unit_test_setup(it_says_where_the_routes_are, empty),
        cmocka_unit_test_setup(it_says_that_there_are_tokens, empty),
    };

    return cmocka_run_group_tests_name("server_openapi", tests, NULL, NULL);
}
