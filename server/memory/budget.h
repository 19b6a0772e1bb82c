/* budget: how much memory requests may hold together. Memory is reserved before it is taken, in
 * steps; a request whose step fails gives everything back, so no request ever waits while it holds
 * memory. */
#ifndef SERVER_MEMORY_BUDGET_H
#define SERVER_MEMORY_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct budget {
    size_t limit;
    size_t kept; /* part of the limit that only small requests may use */
    atomic_size_t used;
};

/* A sixteenth is kept for small requests, so that large ones never starve them. */
void budget_init(struct budget *budget, size_t limit);

/* Whether `bytes` could ever be reserved. */
bool budget_fits(const struct budget *budget, size_t bytes, bool small);

/* Whether `bytes` could be reserved now, for a small request. */
bool budget_has_room(const struct budget *budget, size_t bytes);

/* Reserves `bytes` or, when there is no room, nothing. */
bool budget_reserve(struct budget *budget, size_t bytes, bool small);
void budget_give_back(struct budget *budget, size_t bytes);

size_t budget_used(const struct budget *budget);

/* The default limit: half of the machine's memory, or of the control group's limit where that is
 * less. */
size_t budget_of_machine(void);

#endif
