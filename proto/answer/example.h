/* example: a small request of every operation, with its answer. The self-test runs them before the
 * first request, GET /v2/models lists them, and the console page offers them. */
#ifndef PROTO_ANSWER_EXAMPLE_H
#define PROTO_ANSWER_EXAMPLE_H

struct example {
    const char *model;      /* the name to ask for: any name of the operation */
    const char *says;       /* what it shows, a sentence without its full stop; plain ASCII */
    const char *inputs;     /* JSON: the member `inputs` of the request, in the short form */
    const char *parameters; /* JSON: the member `parameters`; NULL: none */
    const char *data;       /* JSON: `data` of the answer, as JSON prints it; NULL: an error is */
    const char *code;       /* its code; else NULL */
};

/* The best known operations come first, then each that they left out. */
int example_count(void);
const struct example *example_at(int i);

#endif
