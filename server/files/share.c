#include "server/files/share.h"

#include "server/base/clock.h"
#include "server/base/units.h"
#include "server/tensors/store_share.h"

#include <string.h>
#include <time.h>

/* ----------------------------------------------------------------------------------- in a turn */

static void lose(struct files *files, struct turn *turn, int place)
{
    const struct named *named = turn->places[place].named;
    bool is_unsaved = named->resident && !resident_is_saved(named->resident);
    if (is_unsaved)
        log_say(files->log, LOG_WARN, "another server took the tensor: writes of it are lost",
                "tensor", named->name);
    store_unload(files->store, turn, place);
}

static enum error_code take(struct files *files, struct turn *turn, int place,
                            struct taken_lease *taken, struct error *error)
{
    const struct named *named = turn->places[place].named;
    struct writer_lease lease = named->lease;
    enum error_code code =
        lease_take(&files->leases, named->name, &lease, taken, clock_ns(), error);
    if (taken->is_lost && (code == ERROR_NONE || named->lease.session != 0))
        lose(files, turn, place);
    if (code == ERROR_NONE)
        store_hold(files->store, turn, place, &lease);
    return code;
}

enum error_code share_settle(struct files *files, struct turn *turn, int place,
                             struct taken_lease *taken, enum settled *settled, struct error *error)
{
    const struct named *named = turn->places[place].named;
    bool must_hold = turn->places[place].writes || turn->is_save;
    *settled = SETTLED_COPY;
    if (!must_hold && named->lease.session == 0)
        return ERROR_NONE;
    enum error_code code = take(files, turn, place, taken, error);
    if (code == ERROR_NONE)
        *settled = named->resident ? SETTLED_KNOWN : SETTLED_ASKED;
    else if (taken->is_lost && !must_hold)
        error_clear(error);
    return error->code;
}

enum error_code share_confirm(struct files *files, struct turn *turn, struct error *error)
{
    for (int i = 0; files->is_shared && i < turn->count; i++) {
        struct taken_lease taken;
        if (!turn->places[i].writes || store_holds(files->store, turn, i))
            continue;
        enum error_code code = take(files, turn, i, &taken, error);
        if (code != ERROR_NONE && !taken.is_lost)
            return error_set(error, ERROR_TENSOR_FILE_FAILED, NULL,
                             "whether the tensor '%s' still is this server's to write cannot be "
                             "told: the write may be lost",
                             turn->places[i].named->name);
        if (taken.is_lost)
            return error_set(error, ERROR_TENSOR_HELD, NULL,
                             "another server took the tensor '%s' meanwhile; nothing was applied",
                             turn->places[i].named->name);
    }
    return ERROR_NONE;
}

enum error_code share_lock(struct files *files, const char *name, const struct writer_lease *lease,
                           int *locked, struct error *error)
{
    *locked = -1;
    if (!files->is_shared)
        return ERROR_NONE;
    *locked = lease_lock(&files->leases, name, lease, error);
    return *locked < 0 ? error->code : ERROR_NONE;
}

/* ------------------------------------------------------------------------------ on its own thread
 */

/* False: not now. */
static bool give_back(struct files *files, struct turn *turn)
{
    const struct named *named = turn->places[0].named;
    char etag[ETAG_MAX];
    if (named->resident && !resident_is_saved(named->resident))
        return false;
    if (named->resident)
        resident_etag(named->resident, etag);
    if (!lease_give_back(&files->leases, named->name, &named->lease, named->resident ? etag : NULL))
        return false;
    store_unload(files->store, turn, 0);
    return true;
}

static bool let_go(struct files *files, const char *name)
{
    const struct line_bounds bounds = {SIZE_MAX, SIZE_MAX};
    struct turn turn = {.state = TURN_OUT};
    struct error error;
    enum turn_state state;
    bool is_free = store_join(files->store, &turn, name, true) >= 0 &&
                   store_enter(files->store, &turn, &bounds, false, clock_ns(), &state, &error) ==
                       ERROR_NONE &&
                   state == TURN_HELD && give_back(files, &turn);
    store_leave(files->store, &turn, clock_ns());
    return is_free;
}

static void let_go_of_all(struct files *files, uint64_t before_ns)
{
    char name[TENSOR_NAME_MAX + 1];
    while (store_next_idle(files->store, before_ns, true, name) && let_go(files, name))
        continue;
}

static void beat(struct files *files)
{
    struct error error;
    uint64_t now = clock_ns();
    if (leases_beat(&files->leases, now, &error) != ERROR_NONE) {
        log_say(files->log, LOG_ERROR, "the lease of what this server writes cannot be renewed",
                "error", error.message);
        return;
    }
    leases_watch(&files->leases, now);
    if (now > files->leases.term_ns)
        let_go_of_all(files, now - files->leases.term_ns);
}

static void *serve(void *context)
{
    struct files *files = context;
    pthread_mutex_lock(&files->share_lock);
    while (!files->share_ends) {
        pthread_mutex_unlock(&files->share_lock);
        beat(files);
        uint64_t next = clock_ns() + files->leases.term_ns / BEATS_A_TERM;
        struct timespec at = {.tv_sec = (time_t)(next / SEC), .tv_nsec = (long)(next % SEC)};
        pthread_mutex_lock(&files->share_lock);
        if (!files->share_ends)
            pthread_cond_timedwait(&files->share_wake, &files->share_lock, &at);
    }
    pthread_mutex_unlock(&files->share_lock);
    return NULL;
}

enum error_code share_open(struct files *files, uint64_t term_ns, struct error *error)
{
    if (!files->folder.is_writable)
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "tensor_share: tensor_dir may not be written");
    if (leases_open(&files->leases, files->folder.fd, term_ns, &files->store->session, clock_ns(),
                    error) != ERROR_NONE)
        return error->code;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&files->share_lock, NULL);
    pthread_cond_init(&files->share_wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    files->share_ends = false;
    files->is_shared = pthread_create(&files->sharer, NULL, serve, files) == 0;
    if (files->is_shared)
        return ERROR_NONE;
    leases_close(&files->leases);
    return error_set(error, ERROR_INVALID_PARAMETER, NULL, "tensor_share: no thread for it");
}

void share_close(struct files *files)
{
    if (!files->is_shared)
        return;
    pthread_mutex_lock(&files->share_lock);
    files->share_ends = true;
    pthread_cond_signal(&files->share_wake);
    pthread_mutex_unlock(&files->share_lock);
    pthread_join(files->sharer, NULL);
    let_go_of_all(files, UINT64_MAX);
    leases_close(&files->leases);
    files->is_shared = false;
    pthread_mutex_destroy(&files->share_lock);
    pthread_cond_destroy(&files->share_wake);
}
