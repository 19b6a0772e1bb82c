/* deed: what a random history does next to kept tensors: every operation of the table, every type
 * that can be kept, rows, replacement by another shape, moves, DELETE. What is asked for is right
 * but for what others may have done meanwhile, and a bad index at times. */
#ifndef TESTS_SUPPORT_HTTP_DEED_H
#define TESTS_SUPPORT_HTTP_DEED_H

#include "tests/support/http/history.h"
#include "tests/support/http/message.h"

enum { DEED_TABLES = 5 }; /* names of each role up to UPDATES, of a type each */

/* What a name is for. v: a table; x: a result that may be moved to a table's name; y: one that is
 * read only; u: updates. The rest are inputs that are no values. */
enum role { TABLE, SPARE, RESULT, UPDATES, TUPLES32, TUPLES64, PICKED, IDS, COUNT, SHAPE, ROLES };

struct chooser {
    const enum dtype *dtypes; /* of the tables */
    unsigned seed;
};

/* A number from 0 to below - 1. */
int choose_below(struct chooser *c, int below);
bool choose_once_in(struct chooser *c, int n);

/* The name of a role's tensor, into 8 bytes. */
const char *deed_name(enum role role, int table, char *name);

/* The parts of an operation's request that its answer repeats. */
struct sent_inputs {
    char names[OP_INPUTS_MAX][8], into[8];
    const char *references[OP_INPUTS_MAX]; /* the inputs that are residents, but for the table */
    bool is_json, reads_table;
};

/* Whether a deed can have the inputs that the operation needs. */
bool deed_knows(struct chooser *c, const struct op *op);

/* A PUT, of e->dtype where the role's type is not given. */
void deed_put(struct chooser *c, struct event *e, struct message *s, enum role role, int table);

/* Chooses the next deed: an event that was not answered yet, its request, and what was sent, zeroed
 * before. */
void deed_choose(struct chooser *c, struct event *e, struct message *s, struct sent_inputs *p);

#endif
