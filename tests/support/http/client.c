#include "tests/support/http/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_SECONDS = 120, URL_MAX = 8192 };

struct prepared {
    CURL *curl;
    struct curl_slist *headers;
    FILE *head_stream, *body_stream;
    char *head;
    size_t head_size;
    struct answer *answer;
    const char *upload;
    size_t upload_left;
};

static size_t upload(char *to, size_t size, size_t count, void *context)
{
    struct prepared *p = context;
    size_t bytes = size * count < p->upload_left ? size * count : p->upload_left;

    memcpy(to, p->upload, bytes);
    p->upload += bytes;
    p->upload_left -= bytes;
    return bytes;
}

static size_t receive(char *from, size_t size, size_t count, void *stream)
{
    return fwrite(from, size, count, stream);
}

/* The head of an interim answer (100) is followed by the real one's: only the last counts. */
static size_t receive_head(char *from, size_t size, size_t count, void *context)
{
    struct prepared *p = context;

    if (size * count >= 5 && memcmp(from, "HTTP/", 5) == 0)
        rewind(p->head_stream);
    return fwrite(from, size, count, p->head_stream);
}

static void set_body(CURL *curl, const struct call *call, struct prepared *p)
{
    if (call->body == NULL)
        return;
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    if (call->chunked) {
        p->upload = call->body;
        p->upload_left = call->size;
        p->headers = curl_slist_append(p->headers, "Transfer-Encoding: chunked");
        curl_easy_setopt(curl, CURLOPT_READFUNCTION, upload);
        curl_easy_setopt(curl, CURLOPT_READDATA, p);
    } else {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call->body);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->size);
    }
}

static void set_method(CURL *curl, const struct call *call)
{
    if (call->method == NULL)
        return;
    if (strcmp(call->method, "HEAD") == 0)
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    else
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, call->method);
}

static void set_tls(CURL *curl, const struct call_tls *tls)
{
    if (tls == NULL)
        return;
    curl_easy_setopt(curl, CURLOPT_CAINFO, tls->authority);
    curl_easy_setopt(curl, CURLOPT_SSLCERT, tls->certificate);
    curl_easy_setopt(curl, CURLOPT_SSLKEY, tls->key);
}

struct prepared *client_prepare(CURL *curl, int port, const struct call *call, struct answer *a)
{
    struct prepared *p = calloc(1, sizeof(*p));
    char url[URL_MAX];

    *a = (struct answer){0};
    if (p == NULL)
        return NULL;
    p->curl = curl;
    p->answer = a;
    p->head_stream = open_memstream(&p->head, &p->head_size);
    p->body_stream = open_memstream(&a->body, &a->size);
    snprintf(url, sizeof(url), "%s://127.0.0.1:%d%s", call->tls != NULL ? "https" : "http", port,
             call->path);
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)TIMEOUT_SECONDS);
    curl_easy_setopt(curl, CURLOPT_EXPECT_100_TIMEOUT_MS, 10000L);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, receive_head);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, p);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, p->body_stream);
    set_body(curl, call, p);
    set_method(curl, call);
    set_tls(curl, call->tls);
    for (int i = 0; i < CALL_HEADERS_MAX && call->headers[i] != NULL; i++)
        p->headers = curl_slist_append(p->headers, call->headers[i]);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, p->headers);
    return p;
}

bool client_prepared_end(struct prepared *p)
{
    bool written = fclose(p->head_stream) == 0 && fclose(p->body_stream) == 0;
    bool parsed = written && p->head_size > 0 && answer_parse_head(p->answer, p->head);

    if (p->head_size == 0)
        free(p->head);
    curl_slist_free_all(p->headers);
    free(p);
    return parsed;
}

bool client_init(struct client *c, int port)
{
    *c = (struct client){.curl = curl_easy_init(), .port = port};
    return c->curl != NULL;
}

void client_release(struct client *c)
{
    curl_easy_cleanup(c->curl);
    c->curl = NULL;
}

/* JSON ends its line, whatever is answered, so that a shell's prompt starts on the next one. */
static bool ends_its_line(const struct answer *a)
{
    const char *type = answer_header(a, "Content-Type");
    bool json =
        type && (!strcmp(type, "application/json") || !strcmp(type, "application/problem+json"));

    return !json || a->size == 0 || a->body[a->size - 1] == '\n';
}

bool client_call(struct client *c, const struct call *call, struct answer *a)
{
    struct prepared *p = client_prepare(c->curl, c->port, call, a);
    CURLcode code;
    bool answered;

    if (p == NULL)
        return false;
    code = curl_easy_perform(c->curl);
    answered = client_prepared_end(p);
    if (code != CURLE_OK)
        fprintf(stderr, "%s: %s\n", call->path, curl_easy_strerror(code));
    answered = answered && code == CURLE_OK;
    if (answered && !ends_its_line(a)) {
        fprintf(stderr, "%s: JSON without a newline at its end\n", call->path);
        return false;
    }
    return answered;
}

bool client_json(struct client *c, const char *op, const char *json, struct answer *a)
{
    char path[256];

    snprintf(path, sizeof(path), "/v2/models/%s/infer", op);
    return client_call(c, &(struct call){.path = path, .body = json, .size = strlen(json)}, a);
}

bool client_binary(struct client *c, const char *op, const struct body *body, struct answer *a)
{
    char path[256], length[64];

    snprintf(path, sizeof(path), "/v2/models/%s/infer", op);
    snprintf(length, sizeof(length), "Inference-Header-Content-Length: %zu", body->header_length);
    return client_call(
        c,
        &(struct call){
            .path = path, .headers = {length, "Expect:"}, .body = body->data, .size = body->size},
        a);
}

long client_connects(struct client *c)
{
    long connects = -1;

    curl_easy_getinfo(c->curl, CURLINFO_NUM_CONNECTS, &connects);
    return connects;
}
