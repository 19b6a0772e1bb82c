#include "server/follow/target.h"

#include "server/follow/secret.h"
#include "server/follow/standing.h"

#include <string.h>

/* ------------------------------------------------------------------------------ libcurl's calls */

/* Refuses to connect while a request is posted. */
static int on_socket(void *context, curl_socket_t fd, curlsocktype purpose)
{
    const struct target *target = context;
    (void)fd;
    (void)purpose;
    return target->may_connect ? CURL_SOCKOPT_OK : CURL_SOCKOPT_ERROR;
}

static size_t on_answer(char *data, size_t one, size_t size, void *context)
{
    struct target *target = context;
    size_t room = sizeof target->answer - 1 - target->answer_size, part = size < room ? size : room;
    (void)one;
    memcpy(target->answer + target->answer_size, data, part);
    target->answer_size += part;
    target->answer[target->answer_size] = '\0';
    return size;
}

static int on_progress(void *context, curl_off_t dltotal, curl_off_t dlnow, curl_off_t ultotal,
                       curl_off_t ulnow)
{
    struct target *target = context;
    (void)dltotal, (void)dlnow, (void)ultotal, (void)ulnow;
    return pause_ends(target->pause);
}

static void set_tls(CURL *curl, const struct settings *s)
{
    if (*s->server_ca)
        curl_easy_setopt(curl, CURLOPT_CAINFO, s->server_ca);
    if (*s->server_cert) {
        curl_easy_setopt(curl, CURLOPT_SSLCERT, s->server_cert);
        curl_easy_setopt(curl, CURLOPT_SSLKEY, s->server_key);
    }
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
}

bool target_init(struct target *target, const struct settings *settings, struct pause *pause)
{
    memset(target, 0, sizeof *target);
    target->settings = settings;
    target->pause = pause;
    CURL *curl = target->curl = curl_easy_init();
    if (!curl)
        return false;
    strcpy(target->base, settings->server);
    for (size_t size = strlen(target->base); size > 0 && target->base[size - 1] == '/';)
        target->base[--size] = '\0';
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(settings->server_timeout / MSEC));
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, target->error);
    curl_easy_setopt(curl, CURLOPT_SOCKOPTFUNCTION, on_socket);
    curl_easy_setopt(curl, CURLOPT_SOCKOPTDATA, target);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_answer);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, target);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, target);
    set_tls(curl, settings);
    return true;
}

void target_release(struct target *target)
{
    curl_easy_cleanup(target->curl);
}

/* -------------------------------------------------------------------------------------- answers */

/* Says why there is no answer. A post may not connect: without a timeout, it failed as the
 * connection that the server was asked on is gone. */
static enum outcome broken(struct target *target, CURLcode code)
{
    snprintf(target->why, sizeof target->why, "%s",
             !target->may_connect && code != CURLE_OPERATION_TIMEDOUT ? "the connection is gone"
             : *target->error                                         ? target->error
                                                                      : curl_easy_strerror(code));
    return OUTCOME_BROKEN;
}

static enum outcome outcome_of(struct target *target, long status)
{
    struct curl_header *replayed;
    curl_off_t seconds = 0;
    snprintf(target->why, sizeof target->why, "the server answered %ld: %.*s", status,
             (int)strcspn(target->answer, "\r\n"), target->answer);
    switch (status) {
    case 408: /* too slow for the server, so it never had all of it */
    case 429:
    case 503:
    case 504:
    case 507:
        curl_easy_getinfo(target->curl, CURLINFO_RETRY_AFTER, &seconds);
        target->wait_ns = (uint64_t)(seconds < 60 ? seconds : 60) * SEC;
        return OUTCOME_LATER;
    case 401: /* of the follower, not of the entry */
        return OUTCOME_STOP;
    }
    if (status >= 400 && status < 500)
        return OUTCOME_REJECTED;
    if (status < 200 || status >= 300)
        return OUTCOME_STOP;
    return curl_easy_header(target->curl, "Idempotent-Replayed", 0, CURLH_HEADER, -1, &replayed) ==
                   CURLHE_OK
               ? OUTCOME_REPEATED
               : OUTCOME_DONE;
}

static enum outcome perform(struct target *target, const char *path, struct curl_slist *headers)
{
    CURL *curl = target->curl;
    char url[sizeof target->base + 8192];
    long status = 0;
    if (snprintf(url, sizeof url, "%s%s", target->base, path) >= (int)sizeof url) {
        snprintf(target->why, sizeof target->why, "path is longer than 8192 bytes");
        return OUTCOME_REJECTED;
    }
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    *target->error = *target->answer = '\0';
    target->answer_size = 0;
    target->wait_ns = 0;
    CURLcode code = curl_easy_perform(curl);
    if (code != CURLE_OK)
        return broken(target, code);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return outcome_of(target, status);
}

/* -------------------------------------------------------------------------------------- headers */

static bool add(struct curl_slist **headers, const char *name, const char *value)
{
    char line[700];
    snprintf(line, sizeof line, "%s:%s%s", name, *value ? " " : "", value);
    struct curl_slist *longer = curl_slist_append(*headers, line);
    if (longer)
        *headers = longer;
    return longer != NULL;
}

static bool add_own(struct target *target, struct curl_slist **headers)
{
    return add(headers, "Accept", "application/json") && add(headers, "Expect", "") &&
           (!*target->authorization || add(headers, "Authorization", target->authorization));
}

static bool add_entry(const struct target *target, const struct entry *entry,
                      struct curl_slist **headers)
{
    char id[ENTRY_ID_MAX];
    entry_id_print(&entry->id, id);
    bool is_right = add(headers, "Update-Source", settings_source(target->settings)) &&
                    add(headers, "Update-Position", id);
    for (int i = 0; i < ENTRY_HEADERS && is_right; i++)
        if (entry->headers[i] || i == ENTRY_TYPE) /* libcurl would send a form's type */
            is_right =
                add(headers, entry_header_name(i), entry->headers[i] ? entry->headers[i] : "");
    return is_right;
}

static enum outcome no_memory(struct target *target)
{
    snprintf(target->why, sizeof target->why, "out of memory");
    return OUTCOME_LATER;
}

/* -------------------------------------------------------------------------------- what is asked */

/* The file is read at each request, as a token may be replaced. */
static bool read_token(struct target *target)
{
    char token[SECRET_MAX];
    *target->authorization = '\0';
    if (!*target->settings->server_token_file)
        return true;
    if (!secret_read(target->settings->server_token_file, token, target->why, sizeof target->why))
        return false;
    snprintf(target->authorization, sizeof target->authorization, "Bearer %s", token);
    return true;
}

enum outcome target_ask(struct target *target, struct entry_id *stands)
{
    struct curl_slist *headers = NULL;
    if (!read_token(target))
        return OUTCOME_STOP;
    if (!add_own(target, &headers)) {
        curl_slist_free_all(headers);
        return no_memory(target);
    }
    curl_easy_setopt(target->curl, CURLOPT_CUSTOMREQUEST, NULL);
    curl_easy_setopt(target->curl, CURLOPT_HTTPGET, 1L);
    target->may_connect = true;
    enum outcome outcome = perform(target, "/v2/tensors?limit=1", headers);
    target->may_connect = false;
    curl_slist_free_all(headers);
    if (outcome == OUTCOME_REJECTED)
        return OUTCOME_STOP;
    if (outcome != OUTCOME_DONE ||
        standing_read(stands, target->answer, settings_source(target->settings)))
        return outcome;
    snprintf(target->why, sizeof target->why,
             "the server's answer to GET /v2/tensors has no positions: it is no tensord, or an "
             "older one");
    return OUTCOME_STOP;
}

enum outcome target_post(struct target *target, const struct entry *entry)
{
    struct curl_slist *headers = NULL;
    enum outcome outcome;
    bool has_body = entry->body || strcmp(entry->method, "DELETE") != 0;
    curl_easy_setopt(target->curl, CURLOPT_HTTPGET, 1L);
    if (has_body) {
        curl_easy_setopt(target->curl, CURLOPT_POST, 1L);
        curl_easy_setopt(target->curl, CURLOPT_POSTFIELDS, entry->body ? entry->body : "");
        curl_easy_setopt(target->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)entry->body_size);
    }
    curl_easy_setopt(target->curl, CURLOPT_CUSTOMREQUEST, entry->method);
    if (add_own(target, &headers) && add_entry(target, entry, &headers))
        outcome = perform(target, entry->path, headers);
    else
        outcome = no_memory(target);
    curl_slist_free_all(headers);
    return outcome;
}
