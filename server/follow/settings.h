/* settings: the only list of what tensord-follow is told. A row gives the setting's name, its kind,
 * its default, what is allowed, and a line of help; kinds and bounds as in server/config/table.h.
 * From it come struct settings, the readers of file (section [tensord-follow] or none), environment
 * (FOLLOW_NAME) and command line, --help and --print-config. Order: defaults < file < environment <
 * command line. */
#ifndef SERVER_FOLLOW_SETTINGS_H
#define SERVER_FOLLOW_SETTINGS_H

#include "server/base/units.h"
#include "server/config/settings_table.h"

#define SETTINGS_TABLE(X)                                                                          \
    X(stream, TEXT, "updates", ANY, "the Redis stream that is read")                               \
    X(source, TEXT, "", ANY,                                                                       \
      "name of the stream to the server, its Update-Source: letters, digits, '_', '.' and '-'; "   \
      "empty: as `stream`")                                                                        \
    X(server, TEXT, "http://127.0.0.1:8080", ANY,                                                  \
      "the one tensord that entries are posted to: http:// or https://, host:port, base path")     \
    X(server_token_file, TEXT, "", ANY, "file with the bearer token for the server; empty: none")  \
    X(server_ca, TEXT, "", ANY, "PEM file: who signs the server's certificate; empty: the system") \
    X(server_cert, TEXT, "", ANY, "PEM file: the certificate that the server is shown")            \
    X(server_key, TEXT, "", ANY, "PEM file: its private key")                                      \
    X(redis, TEXT, "redis://127.0.0.1:6379", ANY,                                                  \
      "Redis or Valkey: redis://host:port, or rediss:// for TLS")                                  \
    X(redis_user, TEXT, "", ANY, "user for AUTH; empty: the default user")                         \
    X(redis_password_file, TEXT, "", ANY, "file with the password for AUTH; empty: no AUTH")       \
    X(redis_ca, TEXT, "", ANY, "PEM file: who signs Redis' certificate; empty: the system")        \
    X(redis_cert, TEXT, "", ANY, "PEM file: the certificate that Redis is shown")                  \
    X(redis_key, TEXT, "", ANY, "PEM file: its private key")                                       \
    X(batch, COUNT, "32", RANGE(1, 1000), "entries read at a time, all held in memory")            \
    X(removed, WORD, "stop", WORDS("stop", "accept"),                                              \
      "entries that the server lacks were removed from the stream: stop, or accept, because "      \
      "snapshots have them")                                                                       \
    X(server_timeout, TIME, "2m", RANGE(SEC, HOUR),                                                \
      "a request without an answer by then is repeated")                                           \
    X(redis_timeout, TIME, "10s", RANGE(SEC, HOUR), "Redis silent for so long is asked anew")      \
    X(least_pause, TIME, "50ms", RANGE(MSEC, 60 * SEC),                                            \
      "before a repeat; doubled with each until most_pause, and halved by chance")                 \
    X(most_pause, TIME, "10s", RANGE(MSEC, HOUR), "longest pause before a repeat")                 \
    X(metrics_listen, TEXT, "127.0.0.1:9465", ANY,                                                 \
      "address:port of /metrics and /health, numeric, [v6]:port; empty: none; port 0 picks one")   \
    X(log_level, WORD, "info", WORDS("debug", "info", "warn", "error"),                            \
      "least level that is logged: debug, info, warn, error")

enum { SOURCE_MAX = 64 }; /* of a source's name */

struct settings {
#define X(NAME, KIND, DEFAULT, ALLOWED, HELP) CONFIG_FIELD_##KIND NAME;
    SETTINGS_TABLE(X)
#undef X
};

/* In the order of the setting removed's words. */
enum removed { REMOVED_STOP, REMOVED_ACCEPT };

/* Reads all sources, and checks settings that belong together. False: each fault was told. */
MUST_CHECK bool settings_load(struct settings *settings, const struct config_sources *sources,
                              config_fault *told, void *context);

/* The stream's name in Update-Source. */
const char *settings_source(const struct settings *settings);

/* A configuration file: help and value of each setting; defaults are commented out. */
void settings_print(const struct settings *settings, FILE *out);
void settings_help(FILE *out);

/* Whether a setting has that name; `-` stands for `_` too. */
bool settings_know(const char *name);

#endif
