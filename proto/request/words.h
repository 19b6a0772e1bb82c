/* words: the words by which a setting, and a request, choose. A list's order is that of its enum,
 * so that a setting's position in the list is the enum's value. */
#ifndef PROTO_REQUEST_WORDS_H
#define PROTO_REQUEST_WORDS_H

/* Where a job runs. X(ID, word). */
#define DEVICE_TABLE(X)                                                                            \
    X(AUTO, "auto")                                                                                \
    X(CPU, "cpu")                                                                                  \
    X(CUDA, "cuda")

/* What becomes of rows whose indices are out of bounds. DEVICE: CUDA leaves them out, the CPU
 * refuses. X(ID, word). */
#define BAD_INDICES_TABLE(X)                                                                       \
    X(DEVICE, "device")                                                                            \
    X(ERROR, "error")                                                                              \
    X(IGNORE, "ignore")

enum device {
#define X(ID, WORD) DEVICE_##ID,
    DEVICE_TABLE(X)
#undef X
        DEVICE_DEFAULT /* the request did not say: the setting */
};

enum bad_indices {
#define X(ID, WORD) BAD_INDICES_##ID,
    BAD_INDICES_TABLE(X)
#undef X
};

#endif
