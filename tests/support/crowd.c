#include "tests/support/crowd.h"

#include <stdio.h>
#include <stdlib.h>

enum { POLL_MS = 1000 };

struct member {
    int number;
    CURL *curl;
    struct prepared *prepared; /* NULL: has left */
    struct answer answer;
};

static bool ask(const struct crowd *crowd, CURLM *multi, struct member *m)
{
    struct call call = {0};

    m->prepared = NULL;
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
    if (!answered)
        fprintf(stderr, "member %d: %s\n", m->number, curl_easy_strerror(code));
    goes_on = crowd->hear(crowd->context, m->number, answered ? &m->answer : NULL);
    answer_release(&m->answer);
    return goes_on;
}

static bool talk(const struct crowd *crowd, CURLM *multi, struct member *members)
{
    int present = 0, running, left;
    bool goes_on = true;
    CURLMsg *message;

    for (int i = 0; i < crowd->members; i++)
        present += ask(crowd, multi, &members[i]);
    while (present > 0 && goes_on) {
        curl_multi_perform(multi, &running);
        while (goes_on && (message = curl_multi_info_read(multi, &left)) != NULL) {
            struct member *m;

            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &m);
            goes_on = hear(crowd, multi, m, message->data.result);
            if (goes_on && !ask(crowd, multi, m))
                present--;
            else if (!goes_on)
                m->prepared = NULL;
        }
        curl_multi_poll(multi, NULL, 0, POLL_MS, NULL);
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
    CURLM *multi = curl_multi_init();
    bool goes_on;

    if (members == NULL || multi == NULL)
        return false;
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)crowd->members);
    for (int i = 0; i < crowd->members; i++)
        members[i] = (struct member){.number = i, .curl = curl_easy_init()};
    goes_on = talk(crowd, multi, members);
    for (int i = 0; i < crowd->members; i++)
        dismiss(multi, &members[i]);
    curl_multi_cleanup(multi);
    free(members);
    return goes_on;
}
