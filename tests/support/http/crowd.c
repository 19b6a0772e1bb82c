#include "tests/support/http/crowd.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { POLL_MS = 1000 };

struct member {
    int number;
    CURL *curl;
    struct prepared *prepared; /* NULL: asks nothing */
    struct answer answer;
    struct member *next; /* of those that are free */
};

struct talk {
    const struct crowd *crowd;
    CURLM *multi;
    struct member *free;
    int present;
    double start;
    long asked;
};

static bool ask(const struct crowd *crowd, CURLM *multi, struct member *m)
{
    struct call call = {0};

    if (!crowd->ask(crowd->context, m->number, &call))
        return false;
    m->prepared = client_prepare(m->curl, crowd->port, &call, &m->answer);
    if (m->prepared == NULL)
        return false;
    curl_easy_setopt(m->curl, CURLOPT_PRIVATE, m);
    return curl_multi_add_handle(multi, m->curl) == CURLM_OK;
}

static bool hear(const struct crowd *crowd, CURLM *multi, struct member *m, CURLcode code)
{
    bool answered, goes_on;

    curl_multi_remove_handle(multi, m->curl);
    answered = client_prepared_end(m->prepared) && code == CURLE_OK;
    m->prepared = NULL;
    if (!answered)
        fprintf(stderr, "member %d: %s\n", m->number, curl_easy_strerror(code));
    goes_on = crowd->hear(crowd->context, m->number, answered ? &m->answer : NULL);
    answer_release(&m->answer);
    return goes_on;
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Seconds until the next request is due. */
static double pause_of(const struct talk *t)
{
    double rate = t->crowd->rate;

    return rate > 0 ? t->start + (double)t->asked / rate - seconds() : 0;
}

static void ask_what_is_due(struct talk *t)
{
    while (t->free != NULL && pause_of(t) <= 0) {
        struct member *m = t->free;

        t->free = m->next;
        t->asked++;
        if (!ask(t->crowd, t->multi, m))
            t->present--;
    }
}

static bool hear_all(struct talk *t)
{
    bool goes_on = true;
    CURLMsg *message;
    int left;

    while (goes_on && (message = curl_multi_info_read(t->multi, &left)) != NULL) {
        struct member *m;

        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &m);
        goes_on = hear(t->crowd, t->multi, m, message->data.result);
        m->next = t->free;
        t->free = m;
    }
    return goes_on;
}

static int poll_ms(const struct talk *t)
{
    double ms = t->free != NULL ? pause_of(t) * 1000 : POLL_MS;

    return ms <= 0 ? 0 : ms < POLL_MS ? (int)ms + 1 : POLL_MS;
}

static bool talk(struct talk *t)
{
    bool goes_on = true;
    int running;

    while (goes_on && t->present > 0) {
        curl_multi_poll(t->multi, NULL, 0, poll_ms(t), NULL);
        curl_multi_perform(t->multi, &running);
        goes_on = hear_all(t);
        if (goes_on)
            ask_what_is_due(t);
    }
    return goes_on;
}

static void dismiss(CURLM *multi, struct member *m)
{
    if (m->prepared != NULL) {
        curl_multi_remove_handle(multi, m->curl);
        client_prepared_end(m->prepared);
        answer_release(&m->answer);
    }
    curl_easy_cleanup(m->curl);
}

bool crowd_run(const struct crowd *crowd)
{
    struct member *members = calloc((size_t)crowd->members, sizeof(*members));
    struct talk t = {
        .crowd = crowd, .multi = curl_multi_init(), .present = crowd->members, .start = seconds()};
    bool goes_on;

    if (members == NULL || t.multi == NULL)
        return false;
    curl_multi_setopt(t.multi, CURLMOPT_MAXCONNECTS, (long)crowd->members);
    for (int i = crowd->members - 1; i >= 0; i--) {
        members[i] = (struct member){.number = i, .curl = curl_easy_init(), .next = t.free};
        t.free = &members[i];
    }
    goes_on = talk(&t);
    for (int i = 0; i < crowd->members; i++)
        dismiss(t.multi, &members[i]);
    curl_multi_cleanup(t.multi);
    free(members);
    return goes_on;
}
