/* settings_table: any program's table of settings and the struct that they fill: reading it from
 * its sources, and printing it. Order: defaults < file < environment < command line. An unknown
 * name, a bad value or a value out of bounds is a fault. */
#ifndef SERVER_CONFIG_SETTINGS_TABLE_H
#define SERVER_CONFIG_SETTINGS_TABLE_H

#include "kernels/error.h"

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

/* The value of `auto`; 0 where 0 is not allowed. */
#define CONFIG_AUTO UINT64_MAX

/* The type of a kind's field. */
#define CONFIG_FIELD_SIZE  config_number
#define CONFIG_FIELD_TIME  config_number
#define CONFIG_FIELD_COUNT config_number
#define CONFIG_FIELD_BOOL  config_number
#define CONFIG_FIELD_WORD  config_number
#define CONFIG_FIELD_TEXT  config_text

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
    size_t offset; /* in the struct */
};

struct settings_table {
    const char *program; /* also the section of a file, where it has any */
    const char *prefix;  /* of the environment's names */
    const struct setting *rows;
    int count;
};

/* Where settings come from beside the defaults. */
struct config_sources {
    const char *file;   /* NULL: none */
    char **environment; /* NULL-terminated; PREFIX_NAME=value counts */
    char **arguments;   /* NULL-terminated; --name=value counts */
};

/* Called for each fault, an INVALID_PARAMETER that says where the fault stands, what was found and
 * what is allowed. */
typedef void config_fault(void *context, const struct error *fault);

/* The setting of that name, in which `-` stands for `_` too; NULL when there is none. */
const struct setting *settings_table_find(const struct settings_table *table, const char *name);

/* The fields of a setting in a struct that the table fills. */
config_number *settings_table_number(const void *values, const struct setting *setting);
char *settings_table_text(const void *values, const struct setting *setting);

/* Sets one setting from its text. Errors: INVALID_PARAMETER. */
MUST_CHECK enum error_code settings_table_set(const struct settings_table *table, void *values,
                                              const char *name, const char *value,
                                              struct error *error);

/* The defaults, into `values` of all zeros. */
void settings_table_init(const struct settings_table *table, void *values);

/* Reads all sources in their order, and reports every fault, whatever came before it. True when
 * there was none, else `values` must not be used. */
MUST_CHECK bool settings_table_read(const struct settings_table *table, void *values,
                                    const struct config_sources *sources, config_fault *told,
                                    void *context);

/* Prints a setting's value as the sources write it, into `text` of CONFIG_VALUE_MAX bytes. */
void settings_table_value(const void *values, const struct setting *setting, char *text);

/* A configuration file: help and value of each setting; defaults are commented out. */
void settings_table_print(const struct settings_table *table, const void *values, FILE *out);

/* A line for each setting. */
void settings_table_help(const struct settings_table *table, FILE *out);

#endif
