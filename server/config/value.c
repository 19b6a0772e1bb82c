#include "server/config/value.h"

#include "proto/number/digits.h"
#include "server/base/units.h"

#include <inttypes.h>
#include <string.h>

struct unit {
    const char *name;
    uint64_t factor;
};

/* Largest first: printing takes the first that divides the value. */
static const struct unit sizes[] = {{"T", TIB}, {"G", GIB}, {"M", MIB}, {"K", KIB}, {"", 1}, {0}};
static const struct unit times[] = {
    {"h", HOUR}, {"m", 60 * SEC}, {"s", SEC}, {"ms", MSEC}, {0},
};
static const struct unit counts[] = {{"", 1}, {0}};
static const char *const booleans[] = {"false", "true", NULL};

static const struct unit *units_of(enum config_kind kind)
{
    return kind == CONFIG_SIZE ? sizes : kind == CONFIG_TIME ? times : counts;
}

static const char *const *words_of(const struct setting *setting)
{
    return setting->kind == CONFIG_BOOL ? booleans : setting->allowed.words;
}

/* `auto` is kept as 0, unless 0 is a value of its own. */
static uint64_t automatic_value(const struct setting *setting)
{
    return setting->allowed.least == 0 ? CONFIG_AUTO : 0;
}

static bool is_worded(const struct setting *setting)
{
    return setting->kind == CONFIG_BOOL || setting->kind == CONFIG_WORD;
}

static bool parse_word(const struct setting *setting, const char *text, uint64_t *value)
{
    const char *const *words = words_of(setting);
    for (uint64_t i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0) {
            *value = i;
            return true;
        }
    return false;
}

static bool parse_units(enum config_kind kind, const char *text, uint64_t *value)
{
    uint64_t number;
    const char *p = digits_read(text, UINT64_MAX, &number);
    if (!p)
        return false;
    if (number == 0 && *p == '\0') {
        *value = 0; /* 0 needs no unit */
        return true;
    }
    for (const struct unit *u = units_of(kind); u->name; u++)
        if (strcmp(u->name, p) == 0)
            return !__builtin_mul_overflow(number, u->factor, value);
    return false;
}

bool config_time_parse(const char *text, uint64_t *ns)
{
    return parse_units(CONFIG_TIME, text, ns);
}

static void print_words(const struct setting *setting, char *text, size_t size)
{
    size_t used = 0;
    for (const char *const *w = words_of(setting); *w && used < size; w++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", *w);
}

static enum error_code refuse(const struct setting *setting, const char *text, struct error *error)
{
    static const char *const forms[] = {
        [CONFIG_SIZE] = "bytes, with K, M, G or T for larger units,",
        [CONFIG_TIME] = "a number with ms, s, m or h",
        [CONFIG_COUNT] = "a number",
    };
    char least[CONFIG_VALUE_MAX], most[CONFIG_VALUE_MAX], words[CONFIG_VALUE_MAX];
    if (is_worded(setting)) {
        print_words(setting, words, sizeof words);
        return error_set(error, ERROR_INVALID_PARAMETER, NULL, "%s = %.100s: allowed is one of %s",
                         setting->name, text, words);
    }
    config_number_print(setting, setting->allowed.least, least);
    config_number_print(setting, setting->allowed.most, most);
    return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                     "%s = %.100s: allowed is %s from %.30s to %.30s%s", setting->name, text,
                     forms[setting->kind], setting->allowed.least ? least : "0", most,
                     setting->allowed.automatic ? ", or auto" : "");
}

enum error_code config_number_parse(const struct setting *setting, const char *text,
                                    uint64_t *value, struct error *error)
{
    if (setting->allowed.automatic && strcmp(text, "auto") == 0) {
        *value = automatic_value(setting);
        return ERROR_NONE;
    }
    if (is_worded(setting))
        return parse_word(setting, text, value) ? ERROR_NONE : refuse(setting, text, error);
    if (parse_units(setting->kind, text, value) && *value >= setting->allowed.least &&
        *value <= setting->allowed.most)
        return ERROR_NONE;
    return refuse(setting, text, error);
}

void config_number_print(const struct setting *setting, uint64_t value, char *text)
{
    if (is_worded(setting)) {
        snprintf(text, CONFIG_VALUE_MAX, "%s", words_of(setting)[value]);
        return;
    }
    if (value == 0 || (setting->allowed.automatic && value == automatic_value(setting))) {
        strcpy(text,
               setting->allowed.automatic && value == automatic_value(setting) ? "auto" : "0");
        return;
    }
    const struct unit *u = units_of(setting->kind);
    while (value % u->factor != 0 && u[1].name)
        u++;
    snprintf(text, CONFIG_VALUE_MAX, "%" PRIu64 "%s", value / u->factor, u->name);
}
