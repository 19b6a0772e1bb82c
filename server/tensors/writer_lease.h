/* writer_lease: under which a server alone writes a name, where several share a folder: see
 * server/files/lease.h. */
#ifndef SERVER_TENSORS_WRITER_LEASE_H
#define SERVER_TENSORS_WRITER_LEASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Of this process among the servers: its number, counted from 1, and to when (monotonic) it may
 * rely on what it holds. */
struct writer_session {
    atomic_uint_fast64_t number, until_ns;
};

/* Of a name. */
struct writer_lease {
    uint64_t session; /* 0: not held */
    uint64_t epoch;
};

static inline bool writer_lease_is_held(const struct writer_lease *lease,
                                        const struct writer_session *own, uint64_t now_ns)
{
    return lease->session != 0 && lease->session == atomic_load(&own->number) &&
           now_ns < atomic_load(&own->until_ns);
}

#endif
