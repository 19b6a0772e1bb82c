/* kernels_peer: libraries that compute the same cells in a process of their own, over the same
 * inputs, in turns with ours: tests/bench/kernels_peer.py. */
#ifndef TESTS_BENCH_KERNELS_PEER_H
#define TESTS_BENCH_KERNELS_PEER_H

#include "tests/bench/kernels_cell.h"

#include <stdio.h>

enum { PEERS_MAX = 4 };

struct peers {
    FILE *to, *from; /* the process's standard input and output */
    int count;       /* 0: there are none */
    char names[PEERS_MAX][16];
};

/* Starts `python` with the script. NULL: no peers. The program ends when it cannot be started. */
void peers_start(struct peers *peers, const char *python);

/* Hands a cell's inputs over; each library chooses its fastest form. */
void peers_load(struct peers *peers, const struct cell_data *data);

/* Computes the cell once by library i: milliseconds. */
double peers_run(struct peers *peers, int i);

#endif
