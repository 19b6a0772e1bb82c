/* text_file: a small file of lines that this server keeps for itself beside those of tensors. */
#ifndef SERVER_FILES_TEXT_FILE_H
#define SERVER_FILES_TEXT_FILE_H

#include "server/files/folder.h"

/* The lines with a newline in front, so that each has one on both sides; owned by the caller. NULL:
 * there is no such file, or it cannot be read. */
char *text_file_read(const struct folder *folder, const char *name);

/* The file is the old one or the new one at any moment, and outlives the machine. Errors:
 * TENSOR_FILE_FAILED. */
MUST_CHECK enum error_code text_file_write(struct folder *folder, const char *name,
                                           const char *text, size_t size, struct error *error);

#endif
