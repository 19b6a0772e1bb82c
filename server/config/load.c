/* The sources of settings: a file, the environment, the command line. */
#include "server/config/settings_table.h"

#include <errno.h>
#include <ini.h>
#include <string.h>

/* libinih's bound, less the newline and the NUL. */
enum { LINE_MAX_BYTES = INI_MAX_LINE - 2, SECTION_MAX = 64 };

struct loader {
    const struct settings_table *table;
    void *values;
    config_fault *told;
    void *context;
    bool has_faults;
};

static void tell(struct loader *loader, const struct error *fault)
{
    loader->has_faults = true;
    loader->told(loader->context, fault);
}

/* Sets one setting. The sentence of a fault begins with `where`. */
static void set(struct loader *loader, const char *where, const char *name, const char *value)
{
    struct error error, fault;
    if (settings_table_set(loader->table, loader->values, name, value, &error) == ERROR_NONE)
        return;
    (void)error_set(&fault, ERROR_INVALID_PARAMETER, NULL, "%.250s%s", where, error.message);
    tell(loader, &fault);
}

/* ----------------------------------------------------------------------------------------- file */

struct file_reader {
    struct loader *loader;
    const char *path;
    FILE *file;
    int line;
    bool is_due;               /* the line must be a setting, and has not been read as one */
    char section[SECTION_MAX]; /* the last one that was refused */
};

static void refuse_line(struct file_reader *reader, const char *why)
{
    struct error fault;
    (void)error_set(&fault, ERROR_INVALID_PARAMETER, NULL, "%.200s, line %d: %s", reader->path,
                    reader->line, why);
    tell(reader->loader, &fault);
}

static void end_line(struct file_reader *reader)
{
    if (reader->is_due)
        refuse_line(reader, "allowed are name = value and # comments");
    reader->is_due = false;
}

/* libinih would take the rest of a line that does not fit as another line. */
static void refuse_long_line(struct file_reader *reader, char *text)
{
    char why[128];
    for (int c = 0; c != '\n' && c != EOF;)
        c = fgetc(reader->file);
    snprintf(why, sizeof why,
             "it is too long; a file's lines have at most %d bytes, the environment and the "
             "command line take more",
             LINE_MAX_BYTES);
    refuse_line(reader, why);
    *text = '\0';
}

/* libinih takes an indented line as one more value of the setting above it. */
static void cut_indent(char *text)
{
    static const char mark[] = "\xEF\xBB\xBF"; /* of UTF-8, as some editors write it */
    size_t indent = strncmp(text, mark, sizeof mark - 1) == 0 ? sizeof mark - 1 : 0;
    indent += strspn(text + indent, " \t\r\n\v\f");
    memmove(text, text + indent, strlen(text + indent) + 1);
}

static bool is_setting(const char *text)
{
    return *text && !strchr(";#", *text) && (*text != '[' || !strchr(text, ']'));
}

/* As fgets, for libinih. */
static char *read_text(char *text, int size, void *stream)
{
    struct file_reader *reader = stream;
    end_line(reader);
    if (!fgets(text, size, reader->file))
        return NULL;
    reader->line++;
    size_t length = strlen(text);
    if (length == (size_t)size - 1 && text[length - 1] != '\n')
        refuse_long_line(reader, text);
    cut_indent(text);
    reader->is_due = is_setting(text);
    return text;
}

static void refuse_section(struct file_reader *reader, const char *section)
{
    char why[128];
    if (strcmp(reader->section, section) == 0)
        return;
    snprintf(reader->section, sizeof reader->section, "%s", section);
    snprintf(why, sizeof why, "section [%.50s]: allowed is no section, or [%.30s]", section,
             reader->loader->table->program);
    refuse_line(reader, why);
}

static int take_setting(void *context, const char *section, const char *name, const char *value)
{
    struct file_reader *reader = context;
    char where[256];
    reader->is_due = false;
    snprintf(where, sizeof where, "%.200s, line %d: ", reader->path, reader->line);
    if (*section && strcmp(section, reader->loader->table->program) != 0)
        refuse_section(reader, section);
    else
        set(reader->loader, where, name, value);
    return 1;
}

static void refuse_file(struct loader *loader, const char *path, const char *why)
{
    struct error fault;
    (void)error_set(&fault, ERROR_INVALID_PARAMETER, NULL, "cannot read %.200s: %s", path, why);
    tell(loader, &fault);
}

static void read_file(struct loader *loader, const char *path)
{
    struct file_reader reader = {.loader = loader, .path = path, .file = fopen(path, "re")};
    if (!reader.file) {
        refuse_file(loader, path, strerror(errno));
        return;
    }
    int parsed = ini_parse_stream(read_text, &reader, take_setting, &reader);
    if (ferror(reader.file))
        refuse_file(loader, path, strerror(errno));
    else if (parsed < 0)
        refuse_file(loader, path, "out of memory");
    fclose(reader.file);
}

/* ---------------------------------------------------------------------------------- environment */

static bool ends(const char *text, const char *tail)
{
    size_t size = strlen(text), tail_size = strlen(tail);
    return size >= tail_size && strcmp(text + size - tail_size, tail) == 0;
}

/* PORT_80_TCP, from the port's number on. */
static bool is_port_of_protocol(const char *text)
{
    static const char *const protocols[] = {"_TCP", "_UDP", "_SCTP"};
    size_t digits = strspn(text, "0123456789");
    for (size_t i = 0; digits > 0 && i < sizeof protocols / sizeof *protocols; i++) {
        size_t size = strlen(protocols[i]);
        if (strncmp(text + digits, protocols[i], size) == 0 &&
            (!text[digits + size] || text[digits + size] == '_'))
            return true;
    }
    return false;
}

/* Kubernetes puts such variables into every pod for each Service of the namespace: for one that is
 * called tensord-canary TENSORD_CANARY_SERVICE_HOST, _SERVICE_PORT, _SERVICE_PORT_HTTP, _PORT (an
 * URL), _PORT_80_TCP, _PORT_80_TCP_ADDR and more. */
static bool is_kubernetes(const char *name, const char *value)
{
    if (ends(name, "_SERVICE_HOST") || ends(name, "_SERVICE_PORT") ||
        strstr(name, "_SERVICE_PORT_"))
        return true;
    if (ends(name, "_PORT") && strstr(value, "://"))
        return true;
    for (const char *at = name; (at = strstr(at, "_PORT_")); at++)
        if (is_port_of_protocol(at + strlen("_PORT_")))
            return true;
    return false;
}

static void read_variable(struct loader *loader, const char *variable)
{
    char shouted[128], name[128], where[160];
    const char *value = strchr(variable, '=');
    size_t prefix = strlen(loader->table->prefix);
    if (!value++ || strncmp(variable, loader->table->prefix, prefix) != 0)
        return;
    snprintf(shouted, sizeof shouted, "%.*s", (int)(value - 1 - variable), variable);
    if (strcmp(shouted + prefix, "CONFIG") == 0 || is_kubernetes(shouted, value))
        return;
    size_t size = 0;
    for (const char *c = shouted + prefix; *c; c++)
        name[size++] = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    name[size] = '\0';
    snprintf(where, sizeof where, "environment %s: ", shouted);
    set(loader, where, name, value);
}

/* --------------------------------------------------------------------------------- command line */

static void read_argument(struct loader *loader, const char *argument)
{
    char name[64];
    const char *value = strchr(argument, '=');
    if (!value || strncmp(argument, "--config=", 9) == 0)
        return;
    snprintf(name, sizeof name, "%.*s", (int)(value - argument - 2), argument + 2);
    set(loader, "", name, value + 1);
}

bool settings_table_read(const struct settings_table *table, void *values,
                         const struct config_sources *sources, config_fault *told, void *context)
{
    struct loader loader = {.table = table, .values = values, .told = told, .context = context};
    if (sources->file)
        read_file(&loader, sources->file);
    for (char **e = sources->environment; *e; e++)
        read_variable(&loader, *e);
    for (char **a = sources->arguments; *a; a++)
        read_argument(&loader, *a);
    return !loader.has_faults;
}
