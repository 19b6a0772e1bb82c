/* main: does what the command line asks for. */
#include "kernels/backend.h"
#include "kernels/cpu/level.h"
#include "kernels/machine.h"
#include "kernels/team.h"
#include "server/access/access.h"
#include "server/base/version.h"
#include "server/files/files.h"
#include "server/jobs/cores.h"
#include "server/life/command.h"
#include "server/life/life.h"
#include "server/memory/heap.h"
#include "server/net/health.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Idle teams of threads must sleep, not spin. The OpenMP runtime reads the variable before main, so
 * the program starts itself once more. */
static void make_teams_sleep(char **argv)
{
    if (getenv("OMP_WAIT_POLICY"))
        return;
    setenv("OMP_WAIT_POLICY", "passive", 1);
    execv("/proc/self/exe", argv);
}

static int print_config(const struct command *command)
{
    struct config config;
    if (!config_load(&config, &command->sources, life_report, NULL))
        return EXIT_FAILURE;
    config_print(&config, stdout);
    return EXIT_SUCCESS;
}

static int print_machine(void)
{
    struct machine machine;
    int cores = cores_of_machine();
    machine_read(&machine);
    team_make(cores);
    machine_measure(&machine, cores);
    printf("level               %s\n", level_best()->name);
    printf("cores               %d\n", cores);
    printf("second_level_bytes  %zu\n", machine.second_level_bytes);
    printf("third_level_bytes   %zu\n", machine.third_level_bytes);
    printf("line_ns             %.1f\n", machine.line_ns);
    printf("team_ns             %.0f\n", machine.team_ns);
    return EXIT_SUCCESS;
}

static int check_config(const struct command *command)
{
    struct config config;
    struct error error;
    const char *file = command->sources.file;
    if (!config_load(&config, &command->sources, life_report, NULL))
        return EXIT_FAILURE;
    if (access_check(&config, &error) != ERROR_NONE || files_check(&config, &error) != ERROR_NONE)
        return life_fail(&error);
    printf("ok, from %s%sthe environment and the command line:\n", file ? file : "",
           file ? ", " : "");
    config_print_changes(&config, stdout);
    return EXIT_SUCCESS;
}

static int ask_health(const struct command *command)
{
    struct config config;
    struct error error;
    if (!config_load(&config, &command->sources, life_report, NULL))
        return EXIT_FAILURE;
    if (health_ask(config.listen, config.base_path, &error) != ERROR_NONE)
        return life_fail(&error);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv, char **environment)
{
    struct command command;
    struct error error;
    if (command_parse(&command, argv + (argc > 0), environment, &error) != ERROR_NONE)
        return life_fail(&error);
    switch (command.verb) {
    case COMMAND_HELP:
        config_help(stdout);
        return EXIT_SUCCESS;
    case COMMAND_VERSION:
        printf(TENSORD_NAME " " TENSORD_VERSION " (%s)\n",
               backend_cuda() ? "CPU and CUDA" : "CPU, built without CUDA");
        return EXIT_SUCCESS;
    case COMMAND_PRINT_CONFIG:
        return print_config(&command);
    case COMMAND_PRINT_MACHINE:
        make_teams_sleep(argv);
        return print_machine();
    case COMMAND_CHECK_CONFIG:
        return check_config(&command);
    case COMMAND_HEALTH:
        return ask_health(&command);
    case COMMAND_SERVE:
        break;
    }
    make_teams_sleep(argv);
    life_prepare_process();
    heap_keep_little();
    return life_serve(&command.sources);
}
