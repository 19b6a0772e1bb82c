/* exhausted: the error where no more is to say than that memory ran out. */
#ifndef SERVER_BASE_EXHAUSTED_H
#define SERVER_BASE_EXHAUSTED_H

#include "kernels/error.h"

/* RESOURCE_EXHAUSTED. */
enum error_code error_no_memory(struct error *error);

#endif
