#include "proto/recall.h"

#include "proto/request_parse.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 16, ENVELOPE_MAX = 1024 };

struct slot {
    size_t size; /* of the envelope; 0: free */
    char envelope[ENVELOPE_MAX];
    struct request request;
    struct decode decode; /* its pointers are those of a request that is gone */
    enum encoding body;   /* these two are what reading an envelope depends on besides */
    int cuda_devices;
};

struct recall {
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

/* Envelopes of one client differ in length when they differ; of two, they rarely meet. */
static struct slot *slot_of(const struct decode *d, const struct json_scan *scan)
{
    struct recall *recall = d->work->recall;
    if (!recall || scan->envelope_size > ENVELOPE_MAX)
        return NULL;
    return &recall->slots[(scan->envelope_size + (size_t)d->request->op.name[0]) % SLOTS];
}

static bool equals(const struct slot *slot, const struct decode *d, const struct json_scan *scan)
{
    return slot->size == scan->envelope_size && slot->request.op.name == d->request->op.name &&
           slot->body == d->head->body && slot->cuda_devices == d->rules->cuda_devices &&
           memcmp(slot->envelope, scan->envelope, slot->size) == 0;
}

bool request_recall(struct decode *d, const struct json_scan *scan)
{
    const struct slot *slot = slot_of(d, scan);
    if (!slot || !equals(slot, d, scan))
        return false;
    struct decode now = *d;
    *now.request = slot->request;
    *d = slot->decode;
    d->request = now.request;
    d->head = now.head;
    d->rules = now.rules;
    d->work = now.work;
    return true;
}

void request_remember(const struct decode *d, const struct json_scan *scan)
{
    struct slot *slot = slot_of(d, scan);
    if (!slot)
        return;
    slot->size = scan->envelope_size;
    memcpy(slot->envelope, scan->envelope, slot->size);
    slot->request = *d->request;
    slot->decode = *d;
    slot->body = d->head->body;
    slot->cuda_devices = d->rules->cuda_devices;
}
