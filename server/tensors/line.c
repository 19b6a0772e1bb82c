#include "server/tensors/line.h"

/* Whether nobody before the place is in its way: it is the first, or one that shares the line
 * behind another that does and is free itself. */
static bool may_be_free(const struct place *place)
{
    const struct place *before = place->previous;
    return !before || (!place->is_alone && !before->is_alone && before->is_free);
}

void line_enter(struct line *line, struct place *place)
{
    place->next = NULL;
    place->previous = line->last;
    if (line->last)
        line->last->next = place;
    else
        line->first = place;
    line->last = place;
    line->turns++;
    line->bytes += place->turn->bytes;
    place->is_free = may_be_free(place);
    place->turn->blocked += !place->is_free;
}

static void unlink_place(struct line *line, struct place *place)
{
    if (place->previous)
        place->previous->next = place->next;
    else
        line->first = place->next;
    if (place->next)
        place->next->previous = place->previous;
    else
        line->last = place->previous;
    line->turns--;
    line->bytes -= place->turn->bytes;
}

struct turn **line_leave(struct line *line, struct place *place, struct turn **end)
{
    unlink_place(line, place);
    for (struct place *p = place->next; p && !p->is_free && may_be_free(p); p = p->next) {
        p->is_free = true;
        if (--p->turn->blocked > 0 || p->turn->state != TURN_WAITING)
            continue;
        p->turn->next_held = NULL;
        *end = p->turn;
        end = &p->turn->next_held;
    }
    return end;
}
