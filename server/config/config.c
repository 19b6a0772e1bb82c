#include "server/config/config.h"

#include "server/config/value.h"

#include <assert.h>
#include <errno.h>
#include <ini.h>
#include <stddef.h>
#include <string.h>

#define ANY                .words = NULL
#define RANGE(LEAST, MOST) .least = (LEAST), .most = (MOST)
#define AUTO(LEAST, MOST)  .automatic = true, .least = (LEAST), .most = (MOST)
#define WORDS(...)                                                                                 \
    .words = (const char *const[])                                                                 \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
#define WORD_OF(ID, TEXT) TEXT,
#define WORDS_OF(TABLE)                                                                            \
    .words = (const char *const[])                                                                 \
    {                                                                                              \
        TABLE(WORD_OF) NULL                                                                        \
    }

static const struct setting settings[] = {
#define X(NAME, KIND, DEFAULT, ALLOWED, RELOAD, HELP)                                              \
    {#NAME, CONFIG_##KIND, DEFAULT, {ALLOWED}, RELOAD, HELP, offsetof(struct config, NAME)},
    CONFIG_TABLE(X)
#undef X
};

enum { SETTINGS = sizeof settings / sizeof *settings };

static const char environment_prefix[] = "TENSORD_";

static const struct {
    const char *option;
    enum command_verb verb;
} verbs[] = {
    {"--help", COMMAND_HELP},
    {"--version", COMMAND_VERSION},
    {"--print-config", COMMAND_PRINT_CONFIG},
    {"--check-config", COMMAND_CHECK_CONFIG},
    {"--health", COMMAND_HEALTH},
};

int setting_count(void)
{
    return SETTINGS;
}

const struct setting *setting_at(int i)
{
    assert(i >= 0 && i < SETTINGS);
    return &settings[i];
}

static bool same_name(const char *name, const char *given)
{
    for (; *name && *given; name++, given++)
        if (*name != (*given == '-' ? '_' : *given))
            return false;
    return *name == *given;
}

const struct setting *setting_find(const char *name)
{
    for (int i = 0; i < SETTINGS; i++)
        if (same_name(settings[i].name, name))
            return &settings[i];
    return NULL;
}

static config_number *number_at(const struct config *config, const struct setting *setting)
{
    return (config_number *)((char *)config + setting->offset);
}

static char *text_at(const struct config *config, const struct setting *setting)
{
    return (char *)config + setting->offset;
}

static enum error_code set_text(struct config *config, const struct setting *setting,
                                const char *value, struct error *error)
{
    size_t size = strlen(value);
    if (size >= CONFIG_TEXT_MAX)
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "%s has %zu bytes, allowed are at most %d", setting->name, size,
                         CONFIG_TEXT_MAX - 1);
    if (value[strcspn(value, ";\r\n")])
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "%s holds a ';' or a line's end, which a file cannot say", setting->name);
    memcpy(text_at(config, setting), value, size + 1);
    return ERROR_NONE;
}

enum error_code config_set(struct config *config, const char *name, const char *value,
                           struct error *error)
{
    const struct setting *setting = setting_find(name);
    if (!setting)
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "there is no setting %.100s (tensord --help lists them)", name);
    if (setting->kind == CONFIG_TEXT)
        return set_text(config, setting, value, error);
    uint64_t number;
    enum error_code code = config_number_parse(setting, value, &number, error);
    if (code == ERROR_NONE)
        *number_at(config, setting) = number;
    return code;
}

void config_init(struct config *config)
{
    struct error error;
    memset(config, 0, sizeof *config);
    for (int i = 0; i < SETTINGS; i++) {
        enum error_code code = config_set(config, settings[i].name, settings[i].standard, &error);
        assert(code == ERROR_NONE);
    }
}

enum error_code command_parse(struct command *command, char **argv, char **environment,
                              struct error *error)
{
    *command = (struct command){.argv = argv, .environment = environment};
    for (char **e = environment; *e; e++)
        if (strncmp(*e, "TENSORD_CONFIG=", 15) == 0)
            command->file = *e + 15;
    for (char **a = argv + 1; *a; a++) {
        bool found = false;
        for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
            if (strcmp(*a, verbs[i].option) == 0) {
                command->verb = verbs[i].verb;
                found = true;
            }
        if (strncmp(*a, "--config=", 9) == 0)
            command->file = *a + 9;
        else if (!found && (strncmp(*a, "--", 2) != 0 || !strchr(*a, '=')))
            return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                             "argument %.100s: allowed are --name=value, --config=FILE, "
                             "--print-config, --check-config, --health, --version and --help",
                             *a);
    }
    return ERROR_NONE;
}

struct file_reader {
    struct config *config;
    FILE *file;
    int lines;
    bool is_too_long; /* the last line read */
    struct error *error;
};

/* As fgets. libinih would take the rest of a line that does not fit as one more line, or even as
 * another value. */
static char *read_text(char *text, int size, void *stream)
{
    struct file_reader *reader = stream;
    if (!fgets(text, size, reader->file))
        return NULL;
    reader->lines++;
    size_t length = strlen(text);
    reader->is_too_long = length == (size_t)size - 1 && text[length - 1] != '\n';
    return reader->is_too_long ? NULL : text;
}

static int read_line(void *context, const char *section, const char *name, const char *value)
{
    struct file_reader *reader = context;
    if (reader->error->code != ERROR_NONE)
        return 0;
    if (*section && strcmp(section, "tensord") != 0) {
        error_set(reader->error, ERROR_INVALID_PARAMETER, NULL,
                  "section [%.50s]: allowed is no section, or [tensord]", section);
        return 0;
    }
    return config_set(reader->config, name, value, reader->error) == ERROR_NONE;
}

static enum error_code refuse_file(const char *path, const char *why, struct error *error)
{
    return error_set(error, ERROR_INVALID_PARAMETER, NULL, "cannot read %.200s: %s", path, why);
}

static enum error_code read_file(struct config *config, const char *path, struct error *error)
{
    struct error inner;
    error_clear(&inner);
    struct file_reader reader = {.config = config, .file = fopen(path, "re"), .error = &inner};
    if (!reader.file)
        return refuse_file(path, strerror(errno), error);
    int line = ini_parse_stream(read_text, &reader, read_line, &reader);
    int failure = ferror(reader.file) ? errno : 0;
    fclose(reader.file);
    if (failure)
        return refuse_file(path, strerror(failure), error);
    if (line < 0)
        return refuse_file(path, "out of memory", error);
    if (line == 0 && reader.is_too_long)
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "%.200s, line %d: it is too long; a file's lines have at most 198 bytes, "
                         "the environment and the command line take more",
                         path, reader.lines);
    if (line == 0)
        return ERROR_NONE;
    return error_set(error, ERROR_INVALID_PARAMETER, NULL, "%.200s, line %d: %s", path, line,
                     inner.code ? inner.message : "allowed are name = value and # comments");
}

/* Kubernetes puts TENSORD_PORT, TENSORD_SERVICE_HOST and more into every pod beside a Service that
 * is called tensord: these are not ours. */
static bool is_kubernetes(const char *name)
{
    return strncmp(name, "PORT", 4) == 0 || strncmp(name, "SERVICE_", 8) == 0;
}

static enum error_code read_variable(struct config *config, const char *variable,
                                     struct error *error)
{
    char name[64];
    const char *end = strchr(variable, '=');
    size_t prefix = sizeof environment_prefix - 1;
    if (!end || strncmp(variable, environment_prefix, prefix) != 0)
        return ERROR_NONE;
    const char *tail = variable + prefix;
    if (strncmp(tail, "CONFIG=", 7) == 0 || is_kubernetes(tail))
        return ERROR_NONE;
    struct error inner;
    size_t size = 0;
    for (; tail < end && size < sizeof name - 1; tail++)
        name[size++] = *tail >= 'A' && *tail <= 'Z' ? (char)(*tail - 'A' + 'a') : *tail;
    name[size] = '\0';
    if (config_set(config, name, end + 1, &inner) == ERROR_NONE)
        return ERROR_NONE;
    return error_set(error, ERROR_INVALID_PARAMETER, NULL, "environment %.*s: %s",
                     (int)(end - variable < 100 ? end - variable : 100), variable, inner.message);
}

static enum error_code read_argument(struct config *config, const char *argument,
                                     struct error *error)
{
    char name[64];
    const char *value = strchr(argument, '=');
    if (!value || strncmp(argument, "--config=", 9) == 0)
        return ERROR_NONE;
    snprintf(name, sizeof name, "%.*s", (int)(value - argument - 2), argument + 2);
    return config_set(config, name, value + 1, error);
}

enum error_code config_load(struct config *config, const struct command *command,
                            struct error *error)
{
    config_init(config);
    enum error_code code = command->file ? read_file(config, command->file, error) : ERROR_NONE;
    for (char **e = command->environment; code == ERROR_NONE && *e; e++)
        code = read_variable(config, *e, error);
    for (char **a = command->argv + 1; code == ERROR_NONE && *a; a++)
        code = read_argument(config, *a, error);
    return code;
}

void config_reload(struct config *config, const struct config *next,
                   void (*ignored)(void *context, const struct setting *setting), void *context)
{
    for (int i = 0; i < SETTINGS; i++) {
        const struct setting *s = &settings[i];
        if (s->kind == CONFIG_TEXT) {
            if (strcmp(text_at(config, s), text_at(next, s)) != 0)
                ignored(context, s);
        } else if (s->reloadable) {
            *number_at(config, s) = *number_at(next, s);
        } else if (*number_at(config, s) != *number_at(next, s)) {
            ignored(context, s);
        }
    }
}

void config_value_print(const struct config *config, const struct setting *setting, char *text)
{
    if (setting->kind == CONFIG_TEXT)
        snprintf(text, CONFIG_VALUE_MAX, "%s", text_at(config, setting));
    else
        config_number_print(setting, *number_at(config, setting), text);
}
