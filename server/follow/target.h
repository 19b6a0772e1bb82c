/* target: the one server that entries are posted to.
 *
 * An entry goes only over a connection on which the server has said where it stands: a server that
 * was restarted in between has lost its tensors, or has others, and must be asked first. So
 * target_post never connects; where the connection is gone it says OUTCOME_BROKEN, and target_ask
 * connects anew. Whether the last entry was applied is then what the server says. */
#ifndef SERVER_FOLLOW_TARGET_H
#define SERVER_FOLLOW_TARGET_H

#include "server/follow/entry.h"
#include "server/follow/pause.h"
#include "server/follow/settings.h"

#include <curl/curl.h>

enum outcome {
    OUTCOME_DONE,     /* asked: answered; posted: applied */
    OUTCOME_REPEATED, /* it was applied before */
    OUTCOME_REJECTED, /* the entry's own fault: any server says so, nothing was applied */
    OUTCOME_LATER,    /* nothing was applied, and the same request may do later */
    OUTCOME_BROKEN,   /* no answer: ask */
    OUTCOME_STOP,     /* going on would lose entries */
};

/* Room for the positions of as many sources as a server keeps, and for one tensor with as many. */
enum { TARGET_ANSWER_MAX = 64 * 1024 };

struct target {
    CURL *curl;
    const struct settings *settings;
    struct pause *pause;
    bool may_connect;
    char base[CONFIG_TEXT_MAX];
    char authorization[640];        /* a header; "": none */
    char answer[TARGET_ANSWER_MAX]; /* as much of it as there is room for */
    size_t answer_size;
    uint64_t wait_ns; /* OUTCOME_LATER: the server asks for so much */
    char error[CURL_ERROR_SIZE];
    char why[700]; /* a sentence about what is neither done nor repeated */
};

/* False: out of memory. */
MUST_CHECK bool target_init(struct target *target, const struct settings *settings,
                            struct pause *pause);
void target_release(struct target *target);

/* Where the server stands: the last entry that it has; 0-0: none, it begins anew. */
enum outcome target_ask(struct target *target, struct entry_id *stands);

enum outcome target_post(struct target *target, const struct entry *entry);

#endif
