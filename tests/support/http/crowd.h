/* crowd: many requests at once over as many connections, by one thread. */
#ifndef TESTS_SUPPORT_HTTP_CROWD_H
#define TESTS_SUPPORT_HTTP_CROWD_H

#include "kernels/error.h"
#include "tests/support/http/answer.h"
#include "tests/support/http/client.h"

#include <stdbool.h>

/* What each member of the crowd (0 .. members - 1) says and hears. */
struct crowd {
    int port;
    int members; /* connections in use at a time */
    double rate; /* requests that are due in a second, whatever the answers do, each asked by a
                  * member that is free; 0: who is answered asks again at once */
    void *context;

    /* The member's next request; its body must live until the answer. False: it leaves. */
    bool (*ask)(void *context, int member, struct call *call);

    /* The answer to it, or NULL when none came. False: everybody stops. */
    bool (*hear)(void *context, int member, const struct answer *answer);
};

/* Runs until every member has left. False when one stopped it. */
MUST_CHECK bool crowd_run(const struct crowd *crowd);

#endif
