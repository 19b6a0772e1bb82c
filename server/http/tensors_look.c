/* The routes that tell about residents, without a job. */
#include "server/http/tensors.h"

#include "server/base/clock.h"
#include "server/jobs/holds.h"
#include "server/jobs/tensor_job.h"
#include "server/server.h"
#include "server/tensors/store_view.h"

#include <inttypes.h>
#include <string.h>

enum { LIST_MOST = 1000, LIST_STANDARD = 100 };

static bool may_look(struct call *call)
{
    if (!store_keeps(&call->server->store))
        error_set(call->error, ERROR_NOT_SUPPORTED, NULL,
                  "this server keeps no tensors (setting tensor_memory)");
    else if (call->forbids_use)
        error_set(call->error, ERROR_FORBIDDEN, NULL, "%s", call->forbids_use);
    return call->error->code == ERROR_NONE;
}

static bool find(struct call *call, struct resident_view *view)
{
    char name[TENSOR_NAME_MAX + 1];
    if (!may_look(call))
        return false;
    route_tensor(call->match, name);
    if (!rights_allow(call->rights, name, false)) {
        error_set(call->error, ERROR_FORBIDDEN, NULL, "the token may not read the tensor '%s'",
                  name);
        return false;
    }
    if (store_look(&call->server->store, name, clock_ns(), view))
        return true;
    if (holds_missing(name, call->error) != ERROR_NONE)
        return false;
    return false;
}

/* "positions":{"log":"17-0"} */
static void put_positions(struct text *text, const struct position *list, int count)
{
    text_puts(text, "\"positions\":{");
    for (int i = 0; i < count; i++)
        text_printf(text, "%s\"%s\":\"%" PRIu64 "-%" PRIu64 "\"", i ? "," : "", list[i].source,
                    list[i].high, list[i].low);
    text_puts(text, "}");
}

void tensors_look(struct call *call, struct text *text)
{
    struct resident_view view;
    struct position positions[POSITIONS_MAX];
    if (!find(call, &view))
        return;
    int count = store_positions(&call->server->store, view.name, clock_ns(), positions);
    memcpy(call->reply->etag, view.etag, sizeof view.etag);
    text_puts(text, "{");
    tensor_job_describe(text, &view);
    if (count > 0) {
        text_puts(text, ",");
        put_positions(text, positions, count);
    }
    text_puts(text, "}");
}

/* ----------------------------------------------------------------------------------------- list */

struct listing {
    const struct call *call;
    struct text *text;
    int64_t left;
    bool has_more;
    char last[TENSOR_NAME_MAX + 1];
};

static bool list_one(const struct resident_view *view, void *context)
{
    struct listing *l = context;
    if (!rights_allow(l->call->rights, view->name, false))
        return true;
    if (l->left == 0) {
        l->has_more = true;
        return false;
    }
    text_puts(l->text, *l->last ? "," : "");
    text_puts(l->text, "{");
    tensor_job_describe(l->text, view);
    text_puts(l->text, "}");
    strcpy(l->last, view->name);
    l->left--;
    return true;
}

static bool read_limit(struct call *call, int64_t *limit)
{
    const char *text = call->query->value[QUERY_LIMIT];
    *limit = LIST_STANDARD;
    if (!text)
        return true;
    size_t size = strspn(text, "0123456789");
    *limit = 0;
    for (size_t i = 0; i < size && size <= 4; i++)
        *limit = *limit * 10 + (text[i] - '0');
    if (size > 0 && !text[size] && *limit >= 1 && *limit <= LIST_MOST)
        return true;
    error_set(call->error, ERROR_INVALID_PARAMETER, NULL,
              "limit is '%.40s', expected is a number from 1 to %d", text, LIST_MOST);
    return false;
}

static bool is_name_or_none(struct call *call, const char *after)
{
    if (!after || tensor_name_is_legal(after, strlen(after)))
        return true;
    error_set(call->error, ERROR_INVALID_PARAMETER, NULL,
              "after is '%.140s'; a tensor's name is " TENSOR_NAME_RULE, after);
    return false;
}

void tensors_list(struct call *call, struct text *text)
{
    struct listing l = {.call = call, .text = text};
    struct position sources[SOURCES_MAX];
    const char *after = call->query->value[QUERY_AFTER];
    if (!may_look(call) || !read_limit(call, &l.left) || !is_name_or_none(call, after))
        return;
    text_puts(text, "{");
    put_positions(text, sources, store_sources(&call->server->store, call->token, sources));
    text_puts(text, ",\"tensors\":[");
    store_list(&call->server->store, after ? after : "", clock_ns(), list_one, &l);
    text_puts(text, "],\"next\":");
    if (l.has_more)
        text_json(text, l.last, strlen(l.last));
    else
        text_puts(text, "null");
    text_puts(text, "}");
}

/* ------------------------------------------------------------- Triton's word for it: regions */

struct regions {
    const struct call *call;
    struct text *text;
    struct segment wanted; /* NULL text: all */
    int count;
};

static bool list_region(const struct resident_view *view, void *context)
{
    struct regions *r = context;
    bool is_wanted = !r->wanted.text || (strlen(view->name) == r->wanted.size &&
                                         memcmp(view->name, r->wanted.text, r->wanted.size) == 0);
    if (!is_wanted || !rights_allow(r->call->rights, view->name, false))
        return true;
    text_printf(r->text, "%s{\"name\":\"%s\",\"key\":\"\",\"offset\":0,\"byte_size\":%zu}",
                r->count++ ? "," : "", view->name, view->bytes);
    return true;
}

void tensors_regions(struct call *call, struct text *text)
{
    struct regions r = {call, text, call->match->segments[SEGMENT_REGION], 0};
    text_puts(text, "[");
    if (store_keeps(&call->server->store) && !call->forbids_use)
        store_list(&call->server->store, "", clock_ns(), list_region, &r);
    text_puts(text, "]");
}
