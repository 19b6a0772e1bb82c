/* cuda_server: a server with a CUDA device, for the tests over HTTP. TENSORD names one that is
 * built with CUDA. */
#ifndef TESTS_SUPPORT_HTTP_CUDA_SERVER_H
#define TESTS_SUPPORT_HTTP_CUDA_SERVER_H

#include "tests/support/http/fixture.h"

/* Two streams, and no job is too small for them. `more` settings, NULL-terminated, or NULL. */
struct fixture cuda_server_start(const char *const *more);

/* The server must end with status 0. */
void cuda_server_stop(struct fixture *f);

/* Waits until the log holds the text so often: it is written a little later than the answer. */
void expect_logged(struct fixture *f, const char *text, int least);

/* GET path: the status, and a body that holds `part`. */
void expect_call(struct fixture *f, const char *path, int status, const char *part);

/* Adds ones to rows of a table of zeros, in a body that is too large to be decoded by the HTTP
 * thread and whose kernels take hundreds of thousands of instructions. `more`: see body_binary. */
struct answer large_call(struct fixture *f, const char *more);

/* Checks the answer to a large call. */
void expect_large(const struct answer *a);

/* `more` of a large call with a binary answer. */
#define BINARY            ",'parameters':{'binary_data_output':true}"
#define BINARY_ON(DEVICE) ",'parameters':{'binary_data_output':true,'device':'" DEVICE "'}"

#endif
