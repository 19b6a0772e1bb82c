/* checkpoint: how far the sources of updates (sources.h) had come, in a file beside the tensors',
 * so that a follower goes on there after a restart.
 *
 * The rule: whatever the files hold at any moment, every update up to a position of the checkpoint
 * is in them, or its tensor has ended since. A position that is too low costs time, since each
 * tensor replays what it has; one that is too high would lose updates. So a mark is taken: all
 * positions, and when. It is true once no tensor has an unsaved change from before it, and only
 * then is it written. Under this rule
 *
 *   - a tensor that is idle holds nothing back: it is saved;
 *   - a tensor that is in no file yet, or whose write fails, holds the checkpoint where it was;
 *   - a tensor that is written all the time holds back what came since its last snapshot: the mark
 *     before that is true then;
 *   - a tensor that was dropped, or whose lease is over, holds nothing back: its file went first;
 *   - a tensor that is not loaded (tensor_load=first_use) is its file, as it was at the mark.
 *
 * The positions are read before the first tensor is, and the file stays: it is as true after a
 * death as before. A damaged one is none: then sources begin anew. It is true of this folder only
 * as it is: who puts an older file of a tensor back removes it.
 *
 * A folder that several servers share has no checkpoint, since each knows only how far it has come
 * itself: their sources begin anew.
 *
 * `.tensord-positions`, a line each, least recently moved first: position, blank, source, blank,
 * token's name, which may be empty: "17-0 log ". */
#ifndef SERVER_FILES_CHECKPOINT_H
#define SERVER_FILES_CHECKPOINT_H

#include "server/tensors/sources.h"

struct files;

/* Of a line: two numbers, a source, a token's name, '-', two blanks and a newline. */
enum {
    CHECKPOINT_LINE_MAX = 2 * 20 + SOURCE_NAME_MAX + SOURCE_TOKEN_MAX + 4,
    CHECKPOINT_TEXT_MAX = SOURCES_MAX * CHECKPOINT_LINE_MAX + 1
};

struct mark {
    struct sources sources;
    uint64_t taken_ns; /* monotonic, later than all updates up to the positions */
};

struct checkpoint {
    struct mark mark;                  /* the last one */
    char written[CHECKPOINT_TEXT_MAX]; /* what this process wrote last; empty: nothing */
};

/* Tells the store the positions of the file, if there is one. */
void checkpoint_load(struct files *files);

/* Writes the positions of a mark that is true by now, and takes another. Under `commit`, after a
 * change of the folder that is on the disk; positions that the file has are not written again. A
 * fault is logged; the file from before stays true. */
void checkpoint_pass(struct files *files);

#endif
