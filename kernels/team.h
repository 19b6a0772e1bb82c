/* team: work in parts, done by several threads. The only door to OpenMP. */
#ifndef KERNELS_TEAM_H
#define KERNELS_TEAM_H

enum { TEAM_MAX = 256 }; /* parts of a piece of work */

/* Does part i of `work`. Parts touch no memory that another one writes. */
typedef void team_part(void *work, int i);

/* Makes the threads that work with the calling thread, itself one of them, from now on: `size` of
 * them, no more and no fewer for as long as it lives. OpenMP's runtime ends threads that a smaller
 * team leaves out, and the process when a larger one lacks a thread that it cannot make. */
void team_make(int size);

/* Does parts [0, parts) and returns when all are done. One part is done by the caller itself. A
 * part must not count on others being done at the same time. */
void team_run(int parts, team_part *part, void *work);

/* As team_run, with so many threads, each of which takes the next part when it is free. */
void team_share(int threads, int parts, team_part *part, void *work);

#endif
