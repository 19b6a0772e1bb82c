/* nearest: the known word that a mistyped one was meant to be: an operation, a parameter, a field,
 * a setting. An edit inserts, removes or replaces a letter, or swaps two neighbours; case does not
 * count. A known word is near within two edits, one of fewer than five letters within one. */
#ifndef KERNELS_NEAREST_H
#define KERNELS_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *word; /* what was written, `size` bytes */
    size_t size;
    const char
        *found; /* the nearest of the words offered, the first of equals; NULL: none is near */
    int edits;  /* between the two */
};

/* Starts a search: for (...) nearest_offer(&n, known); if (n.found) ... "did you mean". */
struct nearest nearest_to(const char *word, size_t size);

/* Offers a known word, which must outlive the search. */
void nearest_offer(struct nearest *n, const char *known);

#endif
