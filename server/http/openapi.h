/* openapi: GET /openapi.json, made from the table of routes. */
#ifndef SERVER_HTTP_OPENAPI_H
#define SERVER_HTTP_OPENAPI_H

#include "proto/text.h"

#include <stdbool.h>

/* What the document says of the server beside its routes. */
struct openapi_server {
    const char *version;
    const char *base_path; /* in front of every route; "": none */
    bool tokens;           /* clients say who they are by bearer tokens */
};

/* Appends the document; text->cut: there was no room for all of it. */
void openapi_print(struct text *t, const struct openapi_server *server);

#endif
