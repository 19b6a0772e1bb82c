#include "proto/request/recall.h"

#include "proto/json/fault.h"
#include "proto/json/skip.h"
#include "proto/request/parse.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 16, TEXT_MAX = 1024 };

/* A list of elements: the bytes of text between the list before and this one, and the brackets that
 * are open around it. */
struct gap {
    size_t before;
    int depth;
};

struct slot {
    struct request request; /* its op is NULL: the slot is free */
    struct decode decode;   /* its pointers are dangling: request_recall replaces them */
    enum encoding body;     /* this and the next: what the meaning of a text depends on besides */
    int cuda_devices;
    int gap_count;
    struct gap gaps[OP_INPUTS_MAX];
    size_t size;
    char text[TEXT_MAX]; /* without the elements */
};

struct recall {
    struct json_cut cuts[OP_INPUTS_MAX]; /* of the text that was found last */
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

/* Only lists are skipped, as json_scan would skip them. A value that is no list, or that cannot be
 * skipped, is no match: json_scan then reports what is wrong with it. */
static bool equals(const struct slot *slot, const struct work *work, const char *text, size_t size,
                   struct json_cut *cuts)
{
    const char *at = text, *end = text + size, *kept = slot->text;
    struct json_fault unsaid;
    for (int i = 0; i < slot->gap_count; i++) {
        const struct gap *gap = &slot->gaps[i];
        if (!starts_with(at, end, kept, gap->before))
            return false;
        at += gap->before;
        kept += gap->before;
        const char *begin = at;
        if (at == end || *at != '[' || json_skip(&at, end, gap->depth, work, &unsaid) != ERROR_NONE)
            return false;
        cuts[i] = (struct json_cut){(size_t)(begin - text), (size_t)(at - begin), gap->depth};
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
        if (fits(slot, d) && equals(slot, d->work, text, size, recall->cuts)) {
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
    *scan = (struct json_scan){
        .text = text, .size = size, .cuts = recall->cuts, .cut_count = slot->gap_count};
    struct decode now = *d;
    *now.request = slot->request;
    *d = slot->decode;
    d->request = now.request;
    d->head = now.head;
    d->rules = now.rules;
    d->work = now.work;
    return true;
}

/* false: the text is too long, or has more cuts than an operation has inputs. */
static bool keep_text(struct slot *slot, const struct json_scan *scan)
{
    const char *at = scan->text;
    if (scan->cut_count > OP_INPUTS_MAX)
        return false;
    slot->size = 0;
    slot->gap_count = scan->cut_count;
    for (int i = 0; i <= scan->cut_count; i++) {
        const struct json_cut *cut = i < scan->cut_count ? &scan->cuts[i] : NULL;
        size_t before = (size_t)(scan->text + (cut ? cut->offset : scan->size) - at);
        if (before > TEXT_MAX - slot->size)
            return false;
        memcpy(slot->text + slot->size, at, before);
        slot->size += before;
        at += before + (cut ? cut->size : 0);
        if (cut)
            slot->gaps[i] = (struct gap){before, cut->depth};
    }
    return true;
}

void request_remember(const struct decode *d, const struct json_scan *scan)
{
    struct recall *recall = d->work->recall;
    struct slot *slot = recall ? &recall->slots[recall->oldest] : NULL;
    if (!slot)
        return;
    slot->request.op.name = NULL;
    if (!keep_text(slot, scan))
        return;
    recall->last = recall->oldest;
    recall->oldest = (recall->oldest + 1) % SLOTS;
    slot->request = *d->request;
    slot->decode = *d;
    slot->body = d->head->body;
    slot->cuda_devices = d->rules->cuda_devices;
}
