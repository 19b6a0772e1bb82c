/* clean: the list that a drain leaves of what it saved, a line each: name, blank, tag. It is taken
 * away before anything is loaded by it: a death never leaves one that is not true. */
#ifndef SERVER_FILES_CLEAN_H
#define SERVER_FILES_CLEAN_H

#include "server/files/folder.h"

/* Takes the list away; owned by the caller, NULL: there is none that can be trusted. */
char *clean_take(struct folder *folder);

/* Whether the list, which may be NULL, says that this tag of the name was the last. It says nothing
 * of the name any more: there will be other tags. */
bool clean_strike(char *list, const char *name, const char *etag);

/* Writes the list. Errors: TENSOR_FILE_FAILED. */
MUST_CHECK enum error_code clean_leave(struct folder *folder, const char *list, size_t size,
                                       struct error *error);

#endif
