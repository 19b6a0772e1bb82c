#include "server/jobs/holds.h"

#include "server/base/clock.h"
#include "server/base/exhausted.h"
#include "server/jobs/holds_parts.h"
#include "server/tensors/store_keys.h"
#include "server/tensors/store_view.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

static enum dtype dtype_of(struct directory *directory, const char *name)
{
    struct holds *holds = (struct holds *)((char *)directory - offsetof(struct holds, directory));
    struct store *store = holds->setup.store;
    if (!rights_allow(holds->setup.rights, name, false))
        return DTYPE_NONE;
    if (store_knows(store, name) || !holds->setup.files)
        return store_dtype(store, name, clock_ns());
    if (holds->reads_files)
        return files_dtype(holds->setup.files, name);
    holds->misses_dtype = true;
    return DTYPE_NONE;
}

void holds_open(struct holds *holds, const struct holds_setup *setup)
{
    holds->setup = *setup;
    holds->directory.dtype_of = dtype_of;
    holds->into = holds->about = PLACE_NONE;
    for (int i = 0; i < OP_INPUTS_MAX; i++)
        holds->inputs[i] = PLACE_NONE;
}

static const char *origin_forbids(const struct origin_facts *origin, bool writes)
{
    const char *why = origin ? origin_forbids_use(origin) : NULL;
    return !why && origin && writes ? origin_forbids_change(origin) : why;
}

enum error_code holds_permit(const struct holds_setup *setup, const char *name, bool writes,
                             struct error *error)
{
    if (!setup->store || !store_keeps(setup->store))
        return error_set(error, ERROR_NOT_SUPPORTED, NULL,
                         "this server keeps no tensors (setting tensor_memory)");
    const char *why = origin_forbids(setup->origin, writes);
    if (why)
        return error_set(error, ERROR_FORBIDDEN, NULL, "%s", why);
    if (!rights_allow(setup->rights, name, writes))
        return error_set(error, ERROR_FORBIDDEN, NULL, "the token may not %s the tensor '%s'",
                         writes ? "write" : "read", name);
    return ERROR_NONE;
}

enum error_code holds_join(struct holds *holds, const char *name, bool writes, int *place,
                           struct error *error)
{
    if (holds_permit(&holds->setup, name, writes, error) != ERROR_NONE)
        return error->code;
    *place = store_join(holds->setup.store, &holds->turn, name, writes);
    return *place >= 0 ? ERROR_NONE : error_no_memory(error);
}

enum error_code holds_enter(struct holds *holds, bool may_wait, size_t bytes,
                            enum turn_state *state, struct error *error)
{
    struct store *store = holds->setup.store;
    const struct key *kept;
    enum error_code code = ERROR_NONE;
    holds->turn.bytes = bytes;
    *state = TURN_OUT;
    if (store_is_ready(store, &holds->turn))
        code = holds_claim(holds, &kept, error);
    if (code == ERROR_NONE)
        code = store_enter(store, &holds->turn, &holds->setup.bounds, may_wait, clock_ns(), state,
                           error);
    if (code != ERROR_NONE)
        holds_release(holds);
    return code;
}

enum error_code holds_prepare_files(struct holds *holds, bool (*go_on)(void *context),
                                    void *context, struct error *error)
{
    struct files *files = holds->setup.files;
    return files ? files_prepare(files, &holds->turn, go_on, context, error) : ERROR_NONE;
}

enum error_code holds_replay(struct holds *holds, const struct key **kept, bool *is_passed,
                             struct error *error)
{
    const struct position *position = &holds->setup.position;
    const struct resident *resident =
        holds->into == PLACE_NONE ? NULL : turn_resident(&holds->turn, holds->into);
    *kept = NULL;
    *is_passed = false;
    if (holds_claim(holds, kept, error) != ERROR_NONE)
        return error->code;
    *is_passed = resident && *position->source && positions_passed(&resident->positions, position);
    if (*kept || *is_passed) {
        holds->is_replayed = true;
        holds_advance(holds);
        store_count(holds->setup.store, STORE_REPLAY);
    }
    return ERROR_NONE;
}

enum error_code holds_is_ours(const struct holds *holds, int place, struct error *error)
{
    const struct named *named = holds->turn.places[place].named;
    if (!named->resident || !named->resident->is_read_only)
        return ERROR_NONE;
    return error_set(error, ERROR_FORBIDDEN, NULL,
                     "the tensor '%s' is read only: it comes from a file that this server does not "
                     "write",
                     named->name);
}

enum error_code holds_may_write(const struct holds *holds, struct error *error)
{
    for (int i = 0; i < holds->turn.count; i++)
        if (holds->turn.places[i].writes && holds_is_ours(holds, i, error) != ERROR_NONE)
            return error->code;
    return ERROR_NONE;
}

/* Whether the conditions hold for a resident with this tag, "" for no resident. Where they do not,
 * the answer tells the tag. */
static enum error_code check(struct holds *holds, const struct holds_setup *setup, const char *name,
                             const char *etag, struct error *error)
{
    if (conditions_hold(&setup->conditions, *etag ? etag : NULL))
        return ERROR_NONE;
    strcpy(holds->etag, etag);
    store_count(setup->store, STORE_CONFLICT);
    return error_set(error, ERROR_PRECONDITION_FAILED, NULL,
                     *etag ? "the tensor '%s' is at %s; the request's condition does not hold"
                           : "there is no tensor '%s'%s; the request's condition does not hold",
                     name, etag);
}

enum error_code holds_check(struct holds *holds, struct error *error)
{
    const struct resident *resident = turn_resident(&holds->turn, holds->about);
    char etag[ETAG_MAX] = "";
    if (!conditions_exist(&holds->setup.conditions))
        return ERROR_NONE;
    if (resident)
        resident_etag(resident, etag);
    return check(holds, &holds->setup, holds->turn.places[holds->about].named->name, etag, error);
}

enum error_code holds_foresee(struct holds *holds, const struct holds_setup *setup,
                              const char *name, bool writes, struct error *error)
{
    struct resident_view view = {0};
    if (holds_permit(setup, name, writes, error) != ERROR_NONE)
        return error->code;
    if (!conditions_exist(&setup->conditions) || setup->key || *setup->position.source ||
        !store_knows(setup->store, name))
        return ERROR_NONE;
    store_look(setup->store, name, clock_ns(), &view);
    return check(holds, setup, name, view.etag, error);
}

enum error_code holds_missing(const char *name, struct error *error)
{
    char host[65] = "";
    gethostname(host, sizeof host - 1);
    return error_set(error, ERROR_TENSOR_NOT_FOUND, NULL,
                     "there is no tensor '%s' on this server, %s", name, host);
}

enum error_code holds_find(const struct holds *holds, int place, const struct resident **resident,
                           struct error *error)
{
    *resident = turn_resident(&holds->turn, place);
    return *resident ? ERROR_NONE : holds_missing(holds->turn.places[place].named->name, error);
}

enum error_code holds_prepare(struct holds *holds, struct error *error)
{
    const struct position *position = &holds->setup.position;
    struct resident *old = turn_resident(&holds->turn, holds->into), *made = holds->made;
    struct positions *positions = made ? &made->positions : &old->positions;
    bool has_room = (!made || !old || positions_merge(positions, &old->positions)) &&
                    (!*position->source || positions_reserve(positions, position));
    if (!has_room)
        return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL,
                         "no room for another Update-Source: a tensor remembers %d", POSITIONS_MAX);
    if (made && *position->source)
        positions_set(positions, position);
    return ERROR_NONE;
}

void holds_install(struct holds *holds)
{
    store_install(holds->setup.store, &holds->turn, holds->into, holds->made, clock_ns());
    holds->made = NULL;
}

void holds_advance(const struct holds *holds)
{
    const struct holds_setup *setup = &holds->setup;
    if (*setup->position.source)
        store_advance(setup->store, setup->token, &setup->position);
}

void holds_release(struct holds *holds)
{
    struct store *store = holds->setup.store;
    if (holds->claim)
        store_forget(store, &holds->turn, holds->into, holds->claim);
    if (holds->made)
        store_discard(store, holds->made);
    holds->claim = NULL;
    holds->made = NULL;
    if (holds->turn.count > 0)
        store_leave(store, &holds->turn, clock_ns());
}
