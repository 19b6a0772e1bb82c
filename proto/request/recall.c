#include "proto/request/recall.h"

#include "proto/json/fault.h"
#include "proto/json/skip.h"
#include "proto/request/parse.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 64, TEXT_MAX = 1024, HOLES_MAX = OP_INPUTS_MAX + 1 };

/* A place in a text where a list of elements stands, or the id. */
struct hole {
    size_t before; /* bytes of text since the hole before, or the start */
    bool is_id;
    int depth; /* of a list */
};

struct slot {
    struct request request; /* its op is NULL: the slot is free */
    struct decode decode;   /* without what is a request's own */
    enum encoding body;     /* this and the next: what the meaning of a text depends on besides */
    int cuda_devices;
    int hole_count;
    struct hole holes[HOLES_MAX];
    size_t size;
    char text[TEXT_MAX]; /* without what fills the holes */
};

/* What fills the holes of the text that was found last. */
struct fillings {
    struct json_cut cuts[OP_INPUTS_MAX];
    int cut_count;
    struct span id;
};

struct recall {
    struct fillings found;
    int last, oldest; /* the slot that was found or filled last; the slot to fill next */
    struct slot slots[SLOTS];
};

struct recall *recall_new(void)
{
    return calloc(1, sizeof(struct recall));
}

void recall_free(struct recall *recall)
{
    free(recall);
}

static bool fits(const struct slot *slot, const struct decode *d)
{
    return slot->request.op.name == d->request->op.name && slot->body == d->head->body &&
           slot->cuda_devices == d->rules->cuda_devices;
}

static bool starts_with(const char *at, const char *end, const char *kept, size_t size)
{
    return (size_t)(end - at) >= size && memcmp(at, kept, size) == 0;
}

/* Lists are skipped as json_scan would skip them. A value that is no list, or that cannot be
 * skipped, is no match: json_scan then reports what is wrong with it. */
static bool pass_list(struct fillings *found, int depth, const char *text, const char **at,
                      const char *end, const struct work *work)
{
    const char *begin = *at;
    struct json_fault unsaid;
    if (begin == end || *begin != '[' || json_skip(at, end, depth, work, &unsaid) != ERROR_NONE)
        return false;
    found->cuts[found->cut_count++] =
        (struct json_cut){(size_t)(begin - text), (size_t)(*at - begin), depth};
    return true;
}

static bool pass_id(struct fillings *found, const char **at, const char *end)
{
    struct json_string string;
    struct json_fault unsaid;
    if (*at == end || **at != '"' || !json_string_check(&string, *at, end, &unsaid) ||
        string.escaped || string.end - string.begin > REQUEST_ID_MAX)
        return false;
    found->id = (struct span){string.begin, (size_t)(string.end - string.begin)};
    *at = string.end + 1;
    return true;
}

static bool equals(const struct slot *slot, const struct work *work, const char *text, size_t size,
                   struct fillings *found)
{
    const char *at = text, *end = text + size, *kept = slot->text;
    found->cut_count = 0;
    found->id = (struct span){NULL, 0};
    for (int i = 0; i < slot->hole_count; i++) {
        const struct hole *hole = &slot->holes[i];
        if (!starts_with(at, end, kept, hole->before))
            return false;
        at += hole->before;
        kept += hole->before;
        if (!(hole->is_id ? pass_id(found, &at, end)
                          : pass_list(found, hole->depth, text, &at, end, work)))
            return false;
    }
    size_t left = (size_t)(slot->text + slot->size - kept);
    return (size_t)(end - at) == left && starts_with(at, end, kept, left);
}

static const struct slot *find(struct recall *recall, const struct decode *d, const char *text,
                               size_t size)
{
    for (int i = 0; i < SLOTS; i++) {
        int number = (recall->last + i) % SLOTS;
        const struct slot *slot = &recall->slots[number];
        if (fits(slot, d) && equals(slot, d->work, text, size, &recall->found)) {
            recall->last = number;
            return slot;
        }
    }
    return NULL;
}

bool request_recall(struct decode *d, struct json_scan *scan, const char *text, size_t size)
{
    struct recall *recall = d->work->recall;
    const struct slot *slot = recall ? find(recall, d, text, size) : NULL;
    if (!slot)
        return false;
    const struct fillings *found = &recall->found;
    *scan = (struct json_scan){
        .text = text, .size = size, .cuts = found->cuts, .cut_count = found->cut_count};
    struct decode own = *d;
    *own.request = slot->request;
    if (found->id.data) {
        memcpy(own.request->id, found->id.data, found->id.size);
        own.request->id[found->id.size] = '\0';
    }
    *d = slot->decode;
    d->request = own.request;
    d->head = own.head;
    d->rules = own.rules;
    d->work = own.work;
    return true;
}

/* Appends the text that stands between `from` and a hole, or the end. */
static bool keep_text(struct slot *slot, const char *from, const char *to)
{
    size_t size = (size_t)(to - from);
    if (size > TEXT_MAX - slot->size)
        return false;
    memcpy(slot->text + slot->size, from, size);
    slot->size += size;
    return true;
}

static bool keep_hole(struct slot *slot, const char **at, const char *begin, size_t size,
                      struct hole hole)
{
    hole.before = (size_t)(begin - *at);
    if (slot->hole_count == HOLES_MAX || !keep_text(slot, *at, begin))
        return false;
    slot->holes[slot->hole_count++] = hole;
    *at = begin + size;
    return true;
}

static bool keep_id(struct slot *slot, const char **at, const struct json_scan *scan)
{
    return keep_hole(slot, at, scan->text + scan->id_offset, scan->id_size,
                     (struct hole){.is_id = true});
}

/* false: the text is too long, or has more cuts than an operation has inputs. */
static bool keep_all(struct slot *slot, const struct json_scan *scan)
{
    const char *at = scan->text, *end = scan->text + scan->size;
    bool id_follows = scan->id_size > 0;
    slot->size = 0;
    slot->hole_count = 0;
    if (scan->cut_count > OP_INPUTS_MAX)
        return false;
    for (int i = 0; i < scan->cut_count; i++) {
        const struct json_cut *cut = &scan->cuts[i];
        if (id_follows && scan->id_offset < cut->offset) {
            if (!keep_id(slot, &at, scan))
                return false;
            id_follows = false;
        }
        if (!keep_hole(slot, &at, scan->text + cut->offset, cut->size,
                       (struct hole){.depth = cut->depth}))
            return false;
    }
    return (!id_follows || keep_id(slot, &at, scan)) && keep_text(slot, at, end);
}

void request_remember(const struct decode *d, const struct json_scan *scan)
{
    struct recall *recall = d->work->recall;
    struct slot *slot = recall ? &recall->slots[recall->oldest] : NULL;
    if (!slot)
        return;
    slot->request.op.name = NULL;
    if (!keep_all(slot, scan))
        return;
    recall->last = recall->oldest;
    recall->oldest = (recall->oldest + 1) % SLOTS;
    slot->request = *d->request;
    slot->decode = *d;
    slot->decode.request = NULL;
    slot->decode.head = NULL;
    slot->decode.rules = NULL;
    slot->decode.work = NULL;
    slot->body = d->head->body;
    slot->cuda_devices = d->rules->cuda_devices;
}
