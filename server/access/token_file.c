#include "server/access/token_file.h"

#include "proto/number/digits.h"
#include "server/base/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_SIZE = 64, LINE_BYTES = 1024 };

/* A list of tokens under construction, and the file that it is read from. */
struct reader {
    struct clients *clients;
    struct token *list;
    int count;
    bool are_restricted; /* some line has `tensors=`: no token may use names that its own line does
                            not list */
    struct rights *rights; /* of the line that is read */
    const char *path;
    int line;
    struct error *error;
};

/* One error tells the faults of all lines, as many as its message has room for. */
static enum error_code refuse_line(const struct reader *r, const char *why)
{
    static const char more[] = "; ...";
    struct error *error = r->error;
    if (error->code == ERROR_NONE)
        return error_set(error, ERROR_INVALID_PARAMETER, NULL, "%.200s, line %d: %s", r->path,
                         r->line, why);
    size_t used = strlen(error->message), room = sizeof error->message - used;
    bool is_full =
        used >= sizeof more && strcmp(error->message + used + 1 - sizeof more, more) == 0;
    if (is_full || room < sizeof more)
        return error->code;
    int size = snprintf(error->message + used, room, "; line %d: %s", r->line, why);
    if ((size_t)size + sizeof more > room)
        memcpy(error->message + used, more, sizeof more);
    return error->code;
}

static enum error_code refuse_token_count(const struct reader *r)
{
    char why[32];
    snprintf(why, sizeof why, "%d tokens are the most", TOKENS_MAX);
    return refuse_line(r, why);
}

static enum error_code refuse_long_line(const struct reader *r)
{
    char why[40];
    snprintf(why, sizeof why, "a line has at most %d bytes", LINE_BYTES - 2);
    return refuse_line(r, why);
}

static enum error_code read_digest(const struct reader *r, struct token *token, const char *secret)
{
    static const char prefix[] = "sha256:";
    if (strncmp(secret, prefix, sizeof prefix - 1) == 0) {
        if (digest_parse(token->digest, secret + sizeof prefix - 1))
            return ERROR_NONE;
        return refuse_line(r, "after sha256: allowed are exactly 64 hexadecimal digits");
    }
    if (*secret == '\0')
        return refuse_line(r, "the token is empty");
    for (const char *p = secret; *p; p++)
        if (*p < '!' || *p > '~')
            return refuse_line(r, "a token is visible ASCII");
    return digest_of(token->digest, secret, strlen(secret)) ? ERROR_NONE
                                                            : refuse_line(r, "no memory");
}

static bool read_size(uint64_t *size, const char *text)
{
    static const struct {
        char letter;
        uint64_t factor;
    } units[] = {{'K', KIB}, {'M', MIB}, {'G', GIB}, {'T', TIB}};
    uint64_t number, factor = 1;
    const char *end = digits_read(text, UINT64_MAX, &number);
    if (!end)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units && *end; i++)
        if (*end == units[i].letter && end[1] == '\0') {
            factor = units[i].factor;
            end++;
        }
    return *end == '\0' && number > 0 && !__builtin_mul_overflow(number, factor, size);
}

static bool read_count(uint64_t *count, const char *text)
{
    const char *end = digits_read(text, UINT64_MAX, count);
    return end && *end == '\0' && *count > 0;
}

/* Reads one word of those that follow a token; false when no such word may stand there. */
static bool read_word(struct token *token, const char *word)
{
    struct rights *rights = token->rights;
    const char *value = strchr(word, '=');
    size_t size = value ? (size_t)(value++ - word) : 0;
#define IS(NAME) (size == sizeof NAME - 1 && memcmp(word, NAME, size) == 0)
    return IS("rate")           ? limit_parse(&token->requests, value)
           : IS("bytes")        ? limit_parse(&token->bytes, value)
           : IS("tensors")      ? rights_add(rights, value)
           : IS("tensor_bytes") ? read_size(&rights->most_bytes, value)
           : IS("tensor_count") ? read_count(&rights->most_count, value)
                                : false;
#undef IS
}

static enum error_code read_limits(const struct reader *r, struct token *token, char *text)
{
    char *rest, *word = strtok_r(text, " \t", &rest);
    for (; word; word = strtok_r(NULL, " \t", &rest))
        if (!read_word(token, word))
            return refuse_line(r,
                               "after the token allowed are limits such as rate=100/s bytes=10M/s "
                               "(K, M, G; a second, minute or hour: s, m, h), tensors=alice-* or "
                               "tensors=emb:ro, tensor_bytes=1G and tensor_count=10");
    return ERROR_NONE;
}

/* Refuses a token that two names share: its client would not be known. */
static enum error_code check_unique(const struct reader *r, const char *name,
                                    const struct token *token)
{
    for (int i = 0; i < r->count; i++) {
        if (strcmp(r->list[i].client->name, name) == 0)
            return refuse_line(r, "the name is there twice");
        if (memcmp(r->list[i].digest, token->digest, DIGEST_BYTES) == 0)
            return refuse_line(r, "the token is there twice");
    }
    return ERROR_NONE;
}

static bool is_name(const char *name, size_t size)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    return size >= 1 && size <= NAME_MAX_SIZE && strspn(name, allowed) == size;
}

static enum error_code read_token(struct reader *r, char *line)
{
    struct token token = {.rights = r->rights};
    char *colon = strchr(line, ':');
    if (!colon || !is_name(line, (size_t)(colon - line)))
        return refuse_line(r, "allowed is name:token or name:sha256:<64 hex>, the name of 1 to 64 "
                              "letters, digits, '.', '_' and '-'");
    *colon = '\0';
    char *secret = colon + 1, *limits = secret + strcspn(secret, " \t");
    if (*limits)
        *limits++ = '\0';
    if (r->count == TOKENS_MAX)
        return refuse_token_count(r);
    if (read_digest(r, &token, secret) != ERROR_NONE ||
        read_limits(r, &token, limits) != ERROR_NONE || check_unique(r, line, &token) != ERROR_NONE)
        return r->error->code;
    token.client = clients_enter(r->clients, CLIENT_TOKEN, line);
    if (!token.client)
        return refuse_line(r, "no memory");
    r->are_restricted |= token.rights->count > 0;
    r->list[r->count++] = token;
    r->rights = NULL;
    return ERROR_NONE;
}

/* Reads one line. Its token and rights go into the list once the whole line is right. */
static enum error_code read_line(struct reader *r, char *line)
{
    r->rights = rights_new();
    if (!r->rights)
        return refuse_line(r, "no memory");
    enum error_code code = read_token(r, line);
    rights_leave(r->rights);
    return code;
}

static enum error_code read_lines(struct reader *r, FILE *file)
{
    char line[LINE_BYTES];
    bool is_whole = true; /* what follows a part of a line is no line */
    enum error_code code = ERROR_NONE;
    for (r->line = 1; is_whole && fgets(line, sizeof line, file); r->line++) {
        size_t size = strcspn(line, "\r\n");
        is_whole = line[size] != '\0' || size < sizeof line - 1;
        line[size] = '\0';
        char *start = line + strspn(line, " \t");
        if (!is_whole)
            code = refuse_long_line(r);
        else if (*start && *start != '#' && read_line(r, start) != ERROR_NONE)
            code = r->error->code;
    }
    explicit_bzero(line, sizeof line);
    return code;
}

static enum error_code read_token_file(struct reader *r)
{
    char buffer[4096]; /* the stream's, so that it can be wiped */
    FILE *file = fopen(r->path, "re");
    if (!file)
        return error_set(r->error, ERROR_INVALID_PARAMETER, NULL, "cannot read %.200s: %s", r->path,
                         strerror(errno));
    setvbuf(file, buffer, _IOFBF, sizeof buffer);
    enum error_code code = read_lines(r, file);
    if (code == ERROR_NONE && ferror(file))
        code = refuse_line(r, "cannot read it");
    fclose(file);
    explicit_bzero(buffer, sizeof buffer);
    /* An empty list would lock everybody out; an empty setting is how to ask for no tokens. */
    if (code == ERROR_NONE && r->count == 0)
        code = error_set(r->error, ERROR_INVALID_PARAMETER, NULL, "%.200s holds no token", r->path);
    return code;
}

enum error_code token_list_read(struct clients *clients, const char *path, struct token **list,
                                int *count, struct error *error)
{
    struct reader r = {.clients = clients, .path = path, .error = error};
    error_clear(error);
    r.list = calloc(TOKENS_MAX, sizeof *r.list);
    if (!r.list)
        return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "no memory for tokens");
    if (read_token_file(&r) != ERROR_NONE) {
        token_list_drop(clients, r.list, r.count);
        return error->code;
    }
    for (int i = 0; i < r.count; i++)
        r.list[i].rights->is_restricted = r.are_restricted;
    *list = r.list;
    *count = r.count;
    return ERROR_NONE;
}

void token_list_drop(struct clients *clients, struct token *list, int count)
{
    for (int i = 0; i < count; i++) {
        clients_leave(clients, list[i].client);
        rights_leave(list[i].rights);
    }
    free(list);
}
