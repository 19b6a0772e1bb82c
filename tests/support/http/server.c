#include "tests/support/http/server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SETTINGS_MAX = 32, START_SECONDS = 60, STOP_SECONDS = 60, POLL_MS = 5 };

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* BUILD/tensord for a program in BUILD/tests/... or BUILD/bench/...; what TENSORD names for others,
 * and for an emulated one, whose BUILD/tensord this machine cannot start. */
static void find_program(char *path, size_t size)
{
    static const char *const folders[] = {"/tests/", "/bench/"};
    const char *named = getenv("TENSORD");
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    char *cut = NULL;

    path[length < 0 ? 0 : length] = '\0';
    for (int i = 0; i < 2 && cut == NULL; i++)
        cut = strstr(path, folders[i]);
    if (cut != NULL && getenv("EMULATOR") == NULL)
        snprintf(cut, size - (size_t)(cut - path), "/tensord");
    else
        snprintf(path, size, "%s", named != NULL ? named : "build/tensord");
}

static void pass_socket(int socket)
{
    enum { FIRST_DESCRIPTOR = 3 };
    char pid[16];

    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    setenv("LISTEN_PID", pid, 1);
    setenv("LISTEN_FDS", "1", 1);
    if (dup2(socket, FIRST_DESCRIPTOR) < 0 || fcntl(FIRST_DESCRIPTOR, F_SETFD, 0) != 0)
        _exit(127);
}

static void run_child(const char *path, const char *const *settings, const char *log_path,
                      int socket)
{
    const char *argv[SETTINGS_MAX + 3] = {path, "--listen=127.0.0.1:0"};
    int log = open(log_path, O_WRONLY | O_APPEND);

    for (int i = 0; settings != NULL && settings[i] != NULL && i < SETTINGS_MAX; i++)
        argv[i + 2] = settings[i];
    /* A test that crashes must not leave its server behind. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dup2(log, STDOUT_FILENO) >= 0 && dup2(log, STDERR_FILENO) >= 0) {
        if (socket >= 0)
            pass_socket(socket);
        execv(path, (char *const *)argv);
    }
    dprintf(STDERR_FILENO, "%s: %s\n", path, strerror(errno));
    _exit(127);
}

char *server_log(const struct server *s)
{
    FILE *file = fopen(s->log_path, "r");
    char *text = NULL;
    size_t capacity = 0;

    if (file == NULL)
        return NULL;
    if (getdelim(&text, &capacity, '\0', file) < 0 && text != NULL)
        text[0] = '\0';
    fclose(file);
    return text;
}

static void print_log(const struct server *s)
{
    char *log = server_log(s);

    if (log != NULL)
        fprintf(stderr, "log of the server:\n%.20000s\n", log);
    free(log);
}

static bool find_port(struct server *s)
{
    char *log = server_log(s), *line = log != NULL ? strstr(log, "\"msg\":\"listening\"") : NULL;
    char *end = line != NULL ? strchr(line, '\n') : NULL, *address;

    if (end != NULL) {
        while (line > log && line[-1] != '\n')
            line--;
        *end = '\0';
        address = strstr(line, "127.0.0.1:");
        if (address != NULL)
            s->port = atoi(address + strlen("127.0.0.1:"));
    }
    free(log);
    return s->port != 0;
}

static int find_listener(const struct server *s, const char *wanted)
{
    char *log = server_log(s), *found = log != NULL ? strstr(log, wanted) : NULL;
    int port = found != NULL ? atoi(found + strlen(wanted)) : 0;

    free(log);
    return port;
}

int server_port(const struct server *s, const char *prefix)
{
    char wanted[128];
    int port = 0;

    snprintf(wanted, sizeof(wanted), "\"listening\",\"address\":\"%s", prefix);
    for (int ms = 0; ms < START_SECONDS * 1000 && port == 0; ms += POLL_MS) {
        port = find_listener(s, wanted);
        if (port == 0)
            pause_ms(POLL_MS);
    }
    return port;
}

static int count(const char *text, const char *part)
{
    int found = 0;

    while ((text = strstr(text, part)) != NULL) {
        text += strlen(part);
        found++;
    }
    return found;
}

bool server_says(const struct server *s, const char *part, int times)
{
    for (int ms = 0; ms < START_SECONDS * 1000; ms += POLL_MS) {
        char *log = server_log(s);
        bool said = log != NULL && count(log, part) >= times;

        free(log);
        if (said)
            return true;
        pause_ms(POLL_MS);
    }
    return false;
}

bool server_running(struct server *s)
{
    siginfo_t ended = {0};

    /* WNOWAIT: the exit status stays for server_wait. */
    return s->pid != 0 && waitid(P_PID, (id_t)s->pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid == 0;
}

static bool launch(struct server *s, int socket, const char *const *settings)
{
    char path[4096];
    int log;

    *s = (struct server){.log_path = "/tmp/tensord-log.XXXXXX"};
    find_program(path, sizeof(path));
    log = mkstemp(s->log_path);
    if (log < 0)
        return false;
    close(log);
    s->pid = fork();
    if (s->pid == 0)
        run_child(path, settings, s->log_path, socket);
    return s->pid > 0;
}

bool server_start_on(struct server *s, int socket, const char *const *settings)
{
    if (!launch(s, socket, settings))
        return false;
    for (int ms = 0; ms < START_SECONDS * 1000; ms += POLL_MS) {
        if (find_port(s))
            return true;
        if (!server_running(s))
            break;
        pause_ms(POLL_MS);
    }
    fprintf(stderr, "tensord did not start\n");
    kill(s->pid, SIGKILL);
    server_wait(s);
    return false;
}

bool server_start(struct server *s, const char *const *settings)
{
    return server_start_on(s, -1, settings);
}

void server_terminate(const struct server *s)
{
    kill(s->pid, SIGTERM);
}

static int await_end(struct server *s)
{
    int status = 0;
    pid_t ended = 0;

    for (int ms = 0; ms < STOP_SECONDS * 1000 && ended == 0; ms += POLL_MS) {
        ended = waitpid(s->pid, &status, WNOHANG);
        if (ended == 0)
            pause_ms(POLL_MS);
    }
    if (ended == s->pid)
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
    return -1;
}

int server_wait(struct server *s)
{
    int result = await_end(s);
    if (result != 0)
        print_log(s);
    unlink(s->log_path);
    s->pid = 0;
    return result;
}

int server_refuse(const char *const *settings, char **text)
{
    struct server s;
    int result = launch(&s, -1, settings) ? await_end(&s) : -1;
    *text = server_log(&s);
    unlink(s.log_path);
    return result;
}

int server_stop(struct server *s)
{
    server_terminate(s);
    return server_wait(s);
}

long server_memory_kb(const struct server *s, const char *field)
{
    char path[64], line[256];
    size_t length = strlen(field);
    long kb = -1;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)s->pid);
    file = fopen(path, "r");
    if (file == NULL)
        return -1;
    while (kb < 0 && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, field, length) == 0 && line[length] == ':')
            kb = atol(line + length + 1);
    fclose(file);
    return kb;
}
