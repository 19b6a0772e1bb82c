/* The store's lines: entering, leaving, and whose turn comes. */
#include "server/base/clock.h"
#include "server/tensors/store_names.h"

#include <string.h>

int store_join(struct store *store, struct turn *turn, const char *name, bool writes)
{
    for (int i = 0; i < turn->count; i++)
        if (strcmp(turn->places[i].named->name, name) == 0) {
            turn->places[i].writes |= writes;
            return i;
        }
    pthread_mutex_lock(&store->lock);
    struct named *named = store_named_get(store, name);
    if (named)
        named->joined++;
    store_unlock(store);
    if (!named)
        return -1;
    turn->places[turn->count] = (struct place){.turn = turn, .named = named, .writes = writes};
    return turn->count++;
}

bool store_named_is_known(const struct store *store, const struct named *named)
{
    if (!store->is_lazy)
        return true;
    return named && named->resident &&
           (!store->is_shared || writer_lease_is_held(&named->lease, &store->session, clock_ns()));
}

/* Whether the resident, or that there is none, is known without a look at its file. */
static bool is_ready(const struct store *store, const struct place *place)
{
    return place->is_prepared || store_named_is_known(store, place->named);
}

bool store_is_ready(struct store *store, const struct turn *turn)
{
    bool ready = true;
    if (!store->is_lazy)
        return true;
    pthread_mutex_lock(&store->lock);
    for (int i = 0; i < turn->count; i++)
        ready &= is_ready(store, &turn->places[i]);
    store_unlock(store);
    return ready;
}

static bool must_wait(const struct turn *turn)
{
    for (int i = 0; i < turn->count; i++) {
        const struct place *last = turn->places[i].named->line.last;
        if (last && (turn->places[i].is_alone || last->is_alone || !last->is_free))
            return true;
    }
    return false;
}

static bool is_full(const struct line *line, const struct line_bounds *bounds, size_t bytes)
{
    return line->last && (line->turns >= bounds->turns || line->bytes > bounds->bytes ||
                          bytes > bounds->bytes - line->bytes);
}

static enum error_code check_bounds(const struct turn *turn, const struct line_bounds *bounds,
                                    struct error *error)
{
    for (int i = 0; i < turn->count; i++) {
        const struct named *named = turn->places[i].named;
        if (is_full(&named->line, bounds, turn->bytes))
            return error_set(error, ERROR_QUEUE_FULL, NULL,
                             "%zu requests wait for the tensor '%s', a quarter of what queue_jobs "
                             "and queue_bytes allow; try again",
                             named->line.turns, named->name);
    }
    return ERROR_NONE;
}

static void wait_in(struct store *store, struct turn *turn)
{
    turn->state = TURN_WAITING;
    turn->previous = NULL;
    turn->next = store->waiting;
    if (store->waiting)
        store->waiting->previous = turn;
    store->waiting = turn;
    store->waiting_count++;
}

static void wait_out(struct store *store, struct turn *turn)
{
    if (turn->previous)
        turn->previous->next = turn->next;
    else
        store->waiting = turn->next;
    if (turn->next)
        turn->next->previous = turn->previous;
    store->waiting_count--;
}

/* The caller read the clock before it took the lock, perhaps before this turn entered. */
static void hold(struct turn *turn, uint64_t now_ns)
{
    turn->state = TURN_HELD;
    turn->held_ns = now_ns > turn->entered_ns ? now_ns : turn->entered_ns;
}

static void enter(struct store *store, struct turn *turn, uint64_t now_ns)
{
    turn->entered_ns = now_ns;
    turn->blocked = 0;
    for (int i = 0; i < turn->count; i++) {
        store_expire(store, turn->places[i].named, now_ns);
        line_enter(&turn->places[i].named->line, &turn->places[i]);
    }
    if (turn->blocked > 0)
        wait_in(store, turn);
    else
        hold(turn, now_ns);
}

enum error_code store_enter(struct store *store, struct turn *turn,
                            const struct line_bounds *bounds, bool may_wait, uint64_t now_ns,
                            enum turn_state *state, struct error *error)
{
    enum error_code code = ERROR_NONE;
    pthread_mutex_lock(&store->lock);
    for (int i = 0; i < turn->count; i++)
        turn->places[i].is_alone = turn->places[i].writes || !is_ready(store, &turn->places[i]);
    bool waits = must_wait(turn);
    if (waits && may_wait)
        code = check_bounds(turn, bounds, error);
    if (code == ERROR_NONE && (may_wait || !waits))
        enter(store, turn, now_ns);
    *state = turn->state;
    store_unlock(store);
    return code;
}

/* Takes the turn out of its lines; it keeps its names. Returns the new end of the list of those
 * that come to be held. */
static struct turn **leave_lines(struct turn *turn, struct turn **end, uint64_t now_ns)
{
    for (int i = 0; i < turn->count; i++) {
        turn->places[i].is_prepared = false;
        if (turn->is_use || turn->places[i].writes)
            turn->places[i].named->used_ns = now_ns;
        end = line_leave(&turn->places[i].named->line, &turn->places[i], end);
    }
    turn->state = TURN_OUT;
    return end;
}

static void hold_all(struct store *store, struct turn *list, uint64_t now_ns)
{
    for (struct turn *turn = list; turn; turn = turn->next_held) {
        wait_out(store, turn);
        hold(turn, now_ns);
    }
}

/* A turn that was told belongs to its job again, and may be gone when the call returns. */
static void tell_all(struct turn *list)
{
    for (struct turn *turn = list, *next; turn; turn = next) {
        next = turn->next_held;
        turn->ready(turn);
    }
}

static void use(struct store *store, struct turn *turn, uint64_t now_ns)
{
    for (int i = 0; i < turn->count; i++) {
        struct resident *resident = turn->places[i].named->resident;
        if (resident)
            store_used(resident, now_ns);
        store->counts.reads += resident && !turn->places[i].writes;
    }
}

void store_leave(struct store *store, struct turn *turn, uint64_t now_ns)
{
    struct turn *held = NULL;
    if (turn->count == 0)
        return;
    pthread_mutex_lock(&store->lock);
    if (turn->is_use && turn->state == TURN_HELD)
        use(store, turn, now_ns);
    if (turn->state == TURN_WAITING)
        wait_out(store, turn);
    if (turn->state != TURN_OUT)
        leave_lines(turn, &held, now_ns);
    hold_all(store, held, now_ns);
    for (int i = 0; i < turn->count; i++) {
        turn->places[i].named->joined--;
        store_named_put(store, turn->places[i].named);
    }
    store_unlock(store);
    turn->count = 0;
    turn->is_use = turn->is_save = false;
    tell_all(held);
}

bool store_step_back(struct store *store, struct turn *turn, uint64_t now_ns)
{
    struct turn *held = NULL;
    bool must = false;
    if (!store->is_lazy)
        return false;
    pthread_mutex_lock(&store->lock);
    for (int i = 0; i < turn->count; i++)
        must |= !turn->places[i].is_alone && !is_ready(store, &turn->places[i]);
    if (must) {
        leave_lines(turn, &held, now_ns);
        hold_all(store, held, now_ns);
    }
    store_unlock(store);
    tell_all(held);
    return must;
}

struct turn *store_remove(struct store *store, bool (*is_wanted)(struct turn *turn, void *context),
                          void *context, uint64_t now_ns)
{
    struct turn *removed = NULL, *held = NULL, **end = &held;
    pthread_mutex_lock(&store->lock);
    for (struct turn *turn = store->waiting, *next; turn; turn = next) {
        next = turn->next;
        if (!is_wanted(turn, context))
            continue;
        wait_out(store, turn);
        turn->state = TURN_LEAVING;
        turn->next_held = removed;
        removed = turn;
    }
    for (struct turn *turn = removed; turn; turn = turn->next_held)
        end = leave_lines(turn, end, now_ns);
    hold_all(store, held, now_ns);
    store_unlock(store);
    tell_all(held);
    return removed;
}
