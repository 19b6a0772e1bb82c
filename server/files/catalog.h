/* catalog: which residents the files of a folder hold. */
#ifndef SERVER_FILES_CATALOG_H
#define SERVER_FILES_CATALOG_H

#include "server/files/folder.h"
#include "server/memory/block.h"
#include "server/memory/budget.h"

struct catalog_item {
    char name[TENSOR_NAME_MAX + 1]; /* the resident's */
    char file[FILE_NAME_MAX + 1];
    size_t bytes;
    bool is_own; /* the file's only tensor */
};

struct catalog {
    struct catalog_item *items; /* by name */
    size_t count, room;
    size_t cost; /* of the blocks that they take */
};

/* Looks into every file. Errors: INVALID_PARAMETER with the file's name (a damaged file, a name
 * that no resident may have, two files with one resident), RESOURCE_EXHAUSTED. */
MUST_CHECK enum error_code catalog_read(struct catalog *catalog, const struct folder *folder,
                                        struct blocks *blocks, struct budget *budget,
                                        struct error *error);
void catalog_release(struct catalog *catalog);

/* The item of that name; NULL: there is none. */
const struct catalog_item *catalog_find(const struct catalog *catalog, const char *name);

/* What a tensor of a file is called, into TENSOR_NAME_MAX + 1 bytes: the name of the file, and of
 * several tensors in one that of the tensor behind it. Errors: INVALID_PARAMETER (no legal name).
 */
MUST_CHECK enum error_code catalog_name(char *name, const char *file, const char *tensor,
                                        bool is_own, struct error *error);

#endif
