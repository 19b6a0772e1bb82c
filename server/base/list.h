/* list: the words of a setting that is a list, with commas or blanks between them. */
#ifndef SERVER_BASE_LIST_H
#define SERVER_BASE_LIST_H

#include <stddef.h>

/* The first word at or after `at`, NUL-terminated text, and its size; NULL when there is none. The
 * next one follows at word + size. */
const char *list_next(const char *at, size_t *size);

#endif
