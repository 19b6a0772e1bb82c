#include "server/files/checkpoint.h"

#include "server/base/clock.h"
#include "server/files/files.h"
#include "server/files/text_file.h"
#include "server/tensors/store_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char file_name[] = ".tensord-positions";

/* Cuts off what stands before `end`; NULL: there is no such byte. */
static char *cut(char **at, char end)
{
    char *word = *at, *stop = strchr(word, end);
    if (!stop)
        return NULL;
    *stop = '\0';
    *at = stop + 1;
    return word;
}

static bool read_line(struct sources *sources, char *line)
{
    struct position position;
    struct error error;
    char *at = line, *text = cut(&at, ' '), *source = text ? cut(&at, ' ') : NULL;
    if (!source || strlen(at) > SOURCE_TOKEN_MAX ||
        position_parse(&position, source, text, &error) != ERROR_NONE)
        return false;
    sources_advance(sources, at, &position);
    return true;
}

static bool read_lines(struct sources *sources, char *text)
{
    char *line;
    while (*text && (line = cut(&text, '\n')))
        if (!read_line(sources, line))
            return false;
    return !*text;
}

void checkpoint_load(struct files *files)
{
    struct sources *sources = &files->checkpoint.mark.sources;
    char *text = text_file_read(&files->folder, file_name);
    if (!text)
        return;
    if (read_lines(sources, text + 1)) {
        store_set_sources(files->store, sources);
    } else {
        sources->count = 0;
        log_say(files->log, LOG_WARN, "sources of updates begin anew", "damaged", file_name);
    }
    free(text);
}

static void print(char *text, const struct sources *sources)
{
    *text = '\0';
    for (int i = sources->count - 1; i >= 0; i--) {
        const struct source *s = &sources->list[i];
        text += sprintf(text, "%" PRIu64 "-%" PRIu64 " %s %s\n", s->position.high, s->position.low,
                        s->position.source, s->token);
    }
}

static void write_file(struct files *files, const struct sources *sources)
{
    char text[CHECKPOINT_TEXT_MAX], *written = files->checkpoint.written;
    struct error error;
    print(text, sources);
    if (strcmp(text, written) == 0)
        return;
    if (text_file_write(&files->folder, file_name, text, strlen(text), &error) == ERROR_NONE) {
        strcpy(written, text);
        return;
    }
    *written = '\0';
    log_say(files->log, LOG_WARN, "a restart begins at older positions", "error", error.message);
}

/* When the first change came that is in no file. */
static uint64_t unsaved_since(struct store *store)
{
    char name[TENSOR_NAME_MAX + 1];
    uint64_t since_ns;
    return store_next_unsaved(store, UINT64_MAX, name, &since_ns) ? since_ns : UINT64_MAX;
}

void checkpoint_pass(struct files *files)
{
    struct mark *last = &files->checkpoint.mark, mark;
    if (files->is_shared)
        return;
    store_get_sources(files->store, &mark.sources);
    mark.taken_ns = clock_ns();
    uint64_t unsaved_ns = unsaved_since(files->store);
    bool is_true = mark.taken_ns < unsaved_ns;
    if (!is_true && last->taken_ns >= unsaved_ns)
        return;
    write_file(files, is_true ? &mark.sources : &last->sources);
    *last = mark;
}
