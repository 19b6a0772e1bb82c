/* change: what DELETE, an expired lease and a move do to files, and then to the store. In a held
 * turn whose places write. Errors: TENSOR_FILE_FAILED, TENSOR_HELD (server/files/lease.h); then
 * nothing is dropped or moved. */
#ifndef SERVER_FILES_CHANGE_H
#define SERVER_FILES_CHANGE_H

#include "server/files/files.h"

MUST_CHECK enum error_code files_drop(struct files *files, struct turn *turn, int place,
                                      struct error *error);

/* The file of `from` becomes that of `to`; store_prepare_move has made room for it. Where `from`
 * has none, it is written, if that of `to` would be lost without. More errors: RESOURCE_EXHAUSTED.
 */
MUST_CHECK enum error_code files_move(struct files *files, struct turn *turn, int from, int to,
                                      const struct position *position, struct error *error);

#endif
