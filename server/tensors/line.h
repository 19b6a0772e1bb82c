/* line: in which order requests come to a resident tensor.
 *
 * Every name that a request uses has a line, whether a resident of that name exists or not; what
 * the name means is looked up when the request's turn comes. A turn is one request's places in the
 * lines of all its names. It enters all of them in one step and holds them all when nobody before
 * it is in its way in any: neighbours that only read hold a line together, a writer holds it
 * alone, and so does who first asks for what is in a file only (files.h). All lines so have one
 * order, that of arrival: nobody starves, and no two turns ever wait for each other.
 *
 * Who owns what: the store owns lines, residents and keys; a job owns its turn. Under the store's
 * lock are the lines and the state of every turn. What a held turn may do without the lock: read
 * the residents of its places, and write those of places that write.
 *
 * The states of a job that uses residents, and what becomes of it:
 *
 *              client leaves,        drain_timeout    DELETE, replacement,   the process
 *              deadline              is over          expiry of a name       dies
 *   arrived    ends; holds nothing   refused          not seen: names are    nothing was
 *              (TURN_OUT)                             looked up in the turn  applied
 *   waiting    leaves its lines and  the same, and    in the same line: seen the same
 *              frees its key; who is DRAINING         when the turn comes
 *              behind may move up                     (404, or planned against
 *              (TURN_WAITING)                         the new one); no expiry
 *                                                     while anybody is in line
 *   at head    as waiting, out of    the same         none: it is alone, or   the same
 *              the workers' queue                     among readers
 *              (TURN_HELD)
 *   running    told to stop; leaves  the same         none                   the same
 *              its lines, frees its
 *              key; nothing was
 *              written (TURN_HELD)
 *   writing    goes on: nothing      goes on          none                   residents, keys and
 *              stops it, its key and                                         what was written
 *              answer are kept                                               are gone together
 *   done       holds nothing: the    sent             not seen: the answer   the client asks
 *              answer lies in memory                  is a copy              again, by its key
 *              of its own
 */
#ifndef SERVER_TENSORS_LINE_H
#define SERVER_TENSORS_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Four inputs and where the result goes. */
enum { TURN_NAMES_MAX = 5 };

struct named; /* a name and what belongs to it: store.h */
struct turn;

struct place {
    struct place *next, *previous; /* in the line */
    struct turn *turn;
    struct named *named; /* whose line it is */
    bool writes;
    bool is_alone; /* it shares the line with nobody: it writes, or what it reads is to be loaded */
    bool is_prepared; /* whether there is a file of the name was looked up in this turn */
    bool is_free;     /* nobody before it is in its way */
};

struct line {
    struct place *first, *last;
    size_t turns, bytes; /* in it, holding or waiting */
};

/* LEAVING: about to be taken out of its lines, its turn no longer comes. */
enum turn_state { TURN_OUT, TURN_WAITING, TURN_HELD, TURN_LEAVING };

/* Zeroed, it is TURN_OUT with no names. */
struct turn {
    enum turn_state state;
    bool is_use; /* leaving it renews the leases of its residents */
    int count;   /* of the places */
    int blocked; /* places that are not free */
    size_t bytes;
    uint64_t entered_ns, held_ns;
    struct place places[TURN_NAMES_MAX];
    struct turn *next, *previous; /* among all that wait */
    struct turn *next_held;       /* in a list of those whose turn has come */

    /* Called when the turn comes, by whoever left the line, without a lock; not for a turn that
     * was held at once. Until then the turn's job belongs to the line. */
    void (*ready)(struct turn *turn);
};

/* Puts the place at the end of its line. */
void line_enter(struct line *line, struct place *place);

/* Takes the place out of its line. Turns that thereby hold all their lines are put at *end, linked
 * through `next_held`; returns the new end. */
struct turn **line_leave(struct line *line, struct place *place, struct turn **end);

#endif
