/* config: the settings. Order: defaults < file < environment < command line. An unknown name, a bad
 * value or a value out of bounds stops the start. */
#ifndef SERVER_CONFIG_CONFIG_H
#define SERVER_CONFIG_CONFIG_H

#include "kernels/error.h"
#include "server/config/table.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { CONFIG_TEXT_MAX = 512, CONFIG_VALUE_MAX = CONFIG_TEXT_MAX };

enum config_kind { CONFIG_SIZE, CONFIG_TIME, CONFIG_COUNT, CONFIG_BOOL, CONFIG_WORD, CONFIG_TEXT };

/* Numbers are atomic because a reload changes those that are reloadable while requests read them.
 * Texts never change after the start. */
typedef _Atomic uint64_t config_number;
typedef char config_text[CONFIG_TEXT_MAX];

struct config {
#define CONFIG_FIELD_SIZE                             config_number
#define CONFIG_FIELD_TIME                             config_number
#define CONFIG_FIELD_COUNT                            config_number
#define CONFIG_FIELD_BOOL                             config_number
#define CONFIG_FIELD_WORD                             config_number
#define CONFIG_FIELD_TEXT                             config_text
#define X(NAME, KIND, DEFAULT, ALLOWED, RELOAD, HELP) CONFIG_FIELD_##KIND NAME;
    CONFIG_TABLE(X)
#undef X
};

struct setting {
    const char *name;
    enum config_kind kind;
    const char *standard; /* the default, as text */
    struct {
        bool automatic; /* `auto` is a value */
        uint64_t least, most;
        const char *const *words; /* NULL-terminated */
    } allowed;
    bool reloadable;
    const char *help;
    size_t offset; /* in struct config */
};

int setting_count(void);
const struct setting *setting_at(int i);

/* The setting of that name, in which `-` stands for `_` too; NULL when there is none. */
const struct setting *setting_find(const char *name);

/* Where settings come from beside the defaults. */
struct config_sources {
    const char *file;   /* NULL: none */
    char **environment; /* NULL-terminated; TENSORD_NAME=value counts */
    char **arguments;   /* NULL-terminated; --name=value counts */
};

/* The defaults. */
void config_init(struct config *config);

/* Called for each fault, an INVALID_PARAMETER that says where the fault stands, what was found and
 * what is allowed. */
typedef void config_fault(void *context, const struct error *fault);

/* Reads all sources in their order, and reports every fault, whatever came before it. True when
 * there was none, else `config` must not be used. */
MUST_CHECK bool config_load(struct config *config, const struct config_sources *sources,
                            config_fault *told, void *context);

/* The same of any table: who takes a setting (as config_set), and what its sources call it. */
struct config_reader {
    enum error_code (*set)(void *target, const char *name, const char *value, struct error *error);
    void *target;
    const char *section; /* of a file, where it has any */
    const char *prefix;  /* of the environment's names */
};

MUST_CHECK bool config_read(const struct config_reader *reader,
                            const struct config_sources *sources, config_fault *told,
                            void *context);

/* Sets one setting from its text. Errors: INVALID_PARAMETER. */
MUST_CHECK enum error_code config_set(struct config *config, const char *name, const char *value,
                                      struct error *error);

/* Takes over the reloadable settings of `next`. Other settings that differ need a restart:
 * `ignored` is called for each. */
void config_reload(struct config *config, const struct config *next,
                   void (*ignored)(void *context, const struct setting *setting), void *context);

/* Prints a setting's value as the sources write it, into `text` of CONFIG_VALUE_MAX bytes. */
void config_value_print(const struct config *config, const struct setting *setting, char *text);

/* name = value, a line for each setting that is not at its default; a comment where all are. */
void config_print_changes(const struct config *config, FILE *out);

/* A configuration file: help and value of each setting; defaults are commented out. */
void config_print(const struct config *config, FILE *out);

void config_help(FILE *out);

#endif
