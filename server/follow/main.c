/* main: does what the command line asks for. */
#include "server/base/version.h"
#include "server/follow/follow.h"
#include "server/follow/metrics.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOG_BYTES = 64 * 1024 };
enum { EXIT_STOPPED = 3 }; /* the unit does not start it again then */

static void report(void *context, const struct error *fault)
{
    (void)context;
    fprintf(stderr, "tensord-follow: %s\n", fault->message);
}

static int fail(const struct error *error)
{
    report(NULL, error);
    return EXIT_FAILURE;
}

static int run_loop(const struct settings *settings, struct log *log, struct pause *pause)
{
    static struct counters counters;
    struct follower *follower = calloc(1, sizeof *follower);
    struct metrics_listener listener = {.daemon = NULL};
    struct error error;
    int status = EXIT_FAILURE;
    if (!follower) {
        perror("tensord-follow");
        return EXIT_FAILURE;
    }
    follower->settings = settings;
    follower->log = log;
    follower->counters = &counters;
    follower->pause = pause;
    if (metrics_start(&listener, settings->metrics_listen, &counters, &error) != ERROR_NONE)
        fail(&error);
    else if (!target_init(&follower->target, settings, pause))
        fprintf(stderr, "tensord-follow: out of memory\n");
    else {
        if (listener.daemon)
            log_say(log, LOG_INFO, "listening", "address", listener.address);
        status = follow(follower) ? EXIT_SUCCESS : EXIT_STOPPED;
        target_release(&follower->target);
    }
    metrics_stop(&listener);
    free(follower);
    return status;
}

static int serve(const struct settings *settings)
{
    struct log log;
    struct pause pause;
    struct error error;
    signal(SIGPIPE, SIG_IGN);
    if (!pause_init(&pause, settings->least_pause, settings->most_pause)) {
        perror("tensord-follow: signalfd");
        return EXIT_FAILURE;
    }
    if (log_init(&log, STDOUT_FILENO, LOG_BYTES, &error) != ERROR_NONE)
        return fail(&error);
    log_set_level(&log, (enum log_level)settings->log_level);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    int status = run_loop(settings, &log, &pause);
    curl_global_cleanup();
    log_release(&log);
    pause_release(&pause);
    return status;
}

static int refuse(const char *argument)
{
    const char *name = argument + strspn(argument, "-");
    fprintf(stderr,
            settings_know(name)
                ? "tensord-follow: argument %.100s: its value follows a '=', as in --name=value\n"
                : "tensord-follow: argument %.100s: allowed are --name=value, --config=FILE, "
                  "--print-config, --check-config, --version and --help\n",
            argument);
    return EXIT_FAILURE;
}

static bool is_assignment(const char *argument)
{
    return strncmp(argument, "--", 2) == 0 && strchr(argument, '=');
}

int main(int argc, char **argv, char **environment)
{
    static struct settings settings;
    struct config_sources sources = {.environment = environment, .arguments = argv + (argc > 0)};
    const char *verb = "";
    sources.file = getenv("FOLLOW_CONFIG");
    for (char **a = sources.arguments; *a; a++) {
        if (strncmp(*a, "--config=", 9) == 0)
            sources.file = *a + 9;
        else if (!is_assignment(*a))
            verb = *a;
    }
    if (strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0) {
        settings_help(stdout);
        return EXIT_SUCCESS;
    }
    if (strcmp(verb, "--version") == 0) {
        printf("tensord-follow " TENSORD_VERSION "\n");
        return EXIT_SUCCESS;
    }
    if (*verb && strcmp(verb, "--print-config") != 0 && strcmp(verb, "--check-config") != 0)
        return refuse(verb);
    if (!settings_load(&settings, &sources, report, NULL))
        return EXIT_FAILURE;
    if (strcmp(verb, "--print-config") == 0)
        settings_print(&settings, stdout);
    else if (*verb)
        printf("ok\n");
    return *verb ? EXIT_SUCCESS : serve(&settings);
}
