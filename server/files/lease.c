#include "server/files/lease_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 320, LEASE_NAME_MAX = TENSOR_NAME_MAX + 8 };

struct line {
    uint64_t epoch;
    char owner[NODE_ID_MAX + 1]; /* "-": nobody */
    char etag[ETAG_MAX];
};

static void lease_file(char *file, const char *name)
{
    snprintf(file, LEASE_NAME_MAX, ".%s.lease", name);
}

/* A line that says something else says that nobody holds the name. */
static void read_line(const char *text, struct line *line)
{
    struct line found = {.epoch = 0};
    if (sscanf(text, "%" SCNu64 " %100s %63s", &found.epoch, found.owner, found.etag) >= 2 &&
        found.epoch < UINT64_MAX / 2 && !strchr(found.owner, '/'))
        *line = found;
}

static int open_line(const struct leases *leases, const char *name, int flags, struct line *line,
                     struct error *error)
{
    char file[LEASE_NAME_MAX], text[LINE_MAX_BYTES] = "";
    *line = (struct line){.owner = "-"};
    lease_file(file, name);
    int fd = lease_open_file(leases->folder, file, flags, LOCK_TRIES);
    if (fd >= 0 && pread(fd, text, sizeof text - 1, 0) > 0)
        read_line(text, line);
    if (fd < 0 && errno == EWOULDBLOCK)
        error_set(error, ERROR_TENSOR_HELD, NULL,
                  "another server is at the lease of the tensor '%s'; nothing was applied", name);
    else if (fd < 0 && errno == ENOENT && !(flags & O_CREAT))
        error_set(error, ERROR_TENSOR_HELD, NULL,
                  "this server does not hold the tensor '%s'; nothing was applied", name);
    else if (fd < 0)
        (void)lease_failed("lock", file, error);
    return fd;
}

static bool is_own(const struct leases *leases, const struct line *line,
                   const struct writer_lease *lease)
{
    char id[NODE_ID_MAX + 1];
    lease_print_id(leases, lease->session, id);
    return lease->session != 0 && line->epoch == lease->epoch && strcmp(line->owner, id) == 0;
}

/* No session of this process is another server. */
static bool is_held_by_another(const struct leases *leases, const struct line *line)
{
    size_t own = strlen(leases->process);
    if (strcmp(line->owner, "-") == 0 ||
        (strncmp(line->owner, leases->process, own) == 0 && line->owner[own] == '.'))
        return false;
    return faccessat(leases->nodes, line->owner, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

/* Under `lock`, and that of the line. */
static enum error_code take_line(struct leases *leases, int fd, const struct line *line,
                                 struct writer_lease *lease, struct error *error)
{
    char id[NODE_ID_MAX + 1], text[LINE_MAX_BYTES];
    uint64_t epoch = 1 + (line->epoch > leases->epoch ? line->epoch : leases->epoch);
    lease_print_id(leases, leases->own->number, id);
    snprintf(text, sizeof text, "%" PRIu64 " %s\n", epoch, id);
    if (!lease_write_file(fd, text))
        return lease_failed("write", "a lease", error);
    leases->epoch = epoch;
    *lease = (struct writer_lease){leases->own->number, epoch};
    return ERROR_NONE;
}

enum error_code lease_take(struct leases *leases, const char *name, struct writer_lease *lease,
                           struct taken_lease *taken, uint64_t now_ns, struct error *error)
{
    struct line line;
    enum error_code code = ERROR_NONE;
    *taken = (struct taken_lease){.is_lost = false};
    if (now_ns >= atomic_load(&leases->own->until_ns) &&
        leases_beat(leases, now_ns, error) != ERROR_NONE)
        return error->code;
    int fd = open_line(leases, name, O_CREAT, &line, error);
    if (fd < 0)
        return error->code;
    pthread_mutex_lock(&leases->lock);
    taken->is_lost = !is_own(leases, &line, lease);
    strcpy(taken->etag, line.etag);
    if (is_held_by_another(leases, &line))
        code = error_set(error, ERROR_TENSOR_HELD, NULL,
                         "the tensor '%s' is held by the server %s, which alone writes it; nothing "
                         "was applied",
                         name, line.owner);
    else if (taken->is_lost || lease->session != leases->own->number)
        code = take_line(leases, fd, &line, lease, error);
    pthread_mutex_unlock(&leases->lock);
    close(fd);
    return code;
}

int lease_lock(struct leases *leases, const char *name, const struct writer_lease *lease,
               struct error *error)
{
    struct line line;
    int fd = open_line(leases, name, 0, &line, error);
    if (fd < 0 || is_own(leases, &line, lease))
        return fd;
    close(fd);
    error_set(error, ERROR_TENSOR_HELD, NULL,
              "this server does not hold the tensor '%s'%s%s; nothing was applied", name,
              line.owner[0] == '-' ? "" : ", but ", line.owner[0] == '-' ? "" : line.owner);
    return -1;
}

void lease_unlock(int locked)
{
    if (locked >= 0)
        close(locked);
}

bool lease_give_back(struct leases *leases, const char *name, const struct writer_lease *lease,
                     const char *etag)
{
    struct error error;
    char file[LEASE_NAME_MAX], text[LINE_MAX_BYTES];
    struct line line;
    int fd = lease->session ? open_line(leases, name, 0, &line, &error) : -1;
    if (fd < 0)
        return lease->session == 0 || errno == ENOENT;
    lease_file(file, name);
    snprintf(text, sizeof text, "%" PRIu64 " - %s\n", lease->epoch, etag ? etag : "");
    if (is_own(leases, &line, lease) && (!etag || !lease_write_file(fd, text)))
        unlinkat(leases->folder, file, 0);
    close(fd);
    return true;
}
