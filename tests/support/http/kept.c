#include "tests/support/http/kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char kept_json_type[] = "Content-Type: application/json";

struct answer kept_call(struct fixture *f, const char *method, const char *path, const char *header,
                        const char *body)
{
    char *text = body ? quote(body) : NULL;
    struct answer a = fixture_call(f, &(struct call){.method = method,
                                                     .path = path,
                                                     .headers = {header},
                                                     .body = text,
                                                     .size = text ? strlen(text) : 0});
    free(text);
    return a;
}

struct answer kept_infer(struct fixture *f, const char *target, const char *header,
                         const char *body)
{
    char path[512];
    snprintf(path, sizeof path, "/v2/models/%s", target);
    return kept_call(f, "POST", path, header, body);
}

void kept_expect(struct fixture *f, int status, const char *method, const char *path,
                 const char *header, const char *body)
{
    struct answer a = kept_call(f, method, path, header, body);
    if (a.status != status)
        fail_msg("%s %s %s %s: %d instead of %d: %s", method, path, header ? header : "",
                 body ? body : "", a.status, status, a.body);
    answer_release(&a);
}

static struct answer ask(struct fixture *f, const char *method, const char *name, const char *what,
                         const char *header, const char *body)
{
    char path[256];
    snprintf(path, sizeof path, "/v2/tensors/%s%s", name, what);
    return kept_call(f, method, path, header, body);
}

void kept_put(struct fixture *f, const char *name, const char *json)
{
    struct answer a = ask(f, "PUT", name, "", NULL, json);
    if (a.status != 200 && a.status != 201)
        fail_msg("%s: %d %s", name, a.status, a.body);
    answer_release(&a);
}

void kept_drop(struct fixture *f, const char *name)
{
    struct answer a = ask(f, "DELETE", name, "", NULL, NULL);
    answer_release(&a);
}

void kept_holds(struct fixture *f, const char *name, const char *elements)
{
    char part[512];
    snprintf(part, sizeof part, "\"data\":%s}", elements);
    struct answer a = ask(f, "GET", name, "/data", "Accept: application/json", NULL);
    expect_part(&a, part);
    answer_release(&a);
}

void kept_etag(struct fixture *f, const char *name, char *etag)
{
    struct answer a = ask(f, "GET", name, "", NULL, NULL);
    assert_int_equal(a.status, 200);
    snprintf(etag, 128, "%s", answer_header(&a, "ETag"));
    answer_release(&a);
}
