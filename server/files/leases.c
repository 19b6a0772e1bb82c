/* Sessions, and what a server sees of the others. */
#include "server/files/lease_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char nodes_name[] = ".tensord-nodes";

enum { LOCK_PAUSE_NS = 2000000 };

enum error_code lease_failed(const char *what, const char *name, struct error *error)
{
    return error_set(error, ERROR_TENSOR_FILE_FAILED, NULL, "cannot %s %.160s in tensor_dir: %s",
                     what, name, strerror(errno));
}

/* False with errno. */
static bool lock(int fd, int tries)
{
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK || --tries == 0)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = LOCK_PAUSE_NS}, NULL);
    }
    return true;
}

int lease_open_file(int folder, const char *name, int flags, int tries)
{
    for (;;) {
        struct stat found;
        int fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0640);
        if (fd < 0)
            return -1;
        if (lock(fd, tries) && fstat(fd, &found) == 0 && found.st_nlink > 0)
            return fd;
        int why = errno;
        bool is_gone = fstat(fd, &found) == 0 && found.st_nlink == 0;
        close(fd);
        errno = why;
        if (!is_gone)
            return -1;
    }
}

bool lease_write_file(int fd, const char *text)
{
    size_t size = strlen(text);
    return pwrite(fd, text, size, 0) == (ssize_t)size && ftruncate(fd, (off_t)size) == 0;
}

/* ------------------------------------------------------------------------------------- sessions */

void lease_print_id(const struct leases *leases, uint64_t session, char *id)
{
    snprintf(id, NODE_ID_MAX + 1, "%.80s.%" PRIu64, leases->process, session);
}

/* What could not stand in a line or as a file's name is left out of the machine's. */
static void name_process(struct leases *leases)
{
    char host[65] = "";
    uint64_t number = 0;
    size_t size = 0;
    gethostname(host, sizeof host - 1);
    for (const char *p = host; *p && size < 60; p++)
        if (tensor_name_is_legal(p, 1) || *p == '.')
            host[size++] = *p;
    host[size] = '\0';
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        number = (uint64_t)getpid() << 32 ^ (uint64_t)time(NULL);
    snprintf(leases->process, sizeof leases->process, "%s.%016" PRIx64,
             host[0] && host[0] != '.' ? host : "server", number);
}

/* Under `lock`. */
static enum error_code begin_session(struct leases *leases, struct error *error)
{
    char id[NODE_ID_MAX + 1];
    lease_print_id(leases, leases->own->number + 1, id);
    int fd = openat(leases->nodes, id, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
    if (fd < 0)
        return lease_failed("write", nodes_name, error);
    close(fd);
    atomic_fetch_add(&leases->own->number, 1);
    leases->beat = 0;
    return ERROR_NONE;
}

/* Under `lock`. False with errno; ENOENT: another server removed it. */
static bool write_beat(struct leases *leases)
{
    char id[NODE_ID_MAX + 1], text[32];
    lease_print_id(leases, leases->own->number, id);
    int fd = lease_open_file(leases->nodes, id, 0, LOCK_TRIES);
    if (fd < 0)
        return false;
    snprintf(text, sizeof text, "%" PRIu64 "\n", ++leases->beat);
    bool is_written = lease_write_file(fd, text);
    int why = errno;
    close(fd);
    errno = why;
    return is_written;
}

enum error_code leases_beat(struct leases *leases, uint64_t now_ns, struct error *error)
{
    enum error_code code = ERROR_NONE;
    pthread_mutex_lock(&leases->lock);
    bool is_written = write_beat(leases);
    if (!is_written && errno == ENOENT) {
        code = begin_session(leases, error);
        is_written = code == ERROR_NONE && write_beat(leases);
    }
    if (is_written)
        atomic_store(&leases->own->until_ns, now_ns + leases->term_ns / 2);
    else if (code == ERROR_NONE)
        code = lease_failed("write", nodes_name, error);
    pthread_mutex_unlock(&leases->lock);
    return code;
}

enum error_code leases_open(struct leases *leases, int folder, uint64_t term_ns,
                            struct writer_session *own, uint64_t now_ns, struct error *error)
{
    *leases = (struct leases){.folder = folder, .nodes = -1, .term_ns = term_ns, .own = own};
    name_process(leases);
    if (mkdirat(folder, nodes_name, 0750) == 0 || errno == EEXIST)
        leases->nodes = openat(folder, nodes_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (leases->nodes < 0)
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "tensor_share: cannot make %s in tensor_dir: %s", nodes_name,
                         strerror(errno));
    pthread_mutex_init(&leases->lock, NULL);
    if (begin_session(leases, error) == ERROR_NONE &&
        leases_beat(leases, now_ns, error) == ERROR_NONE)
        return ERROR_NONE;
    leases_close(leases);
    return error->code = ERROR_INVALID_PARAMETER;
}

void leases_close(struct leases *leases)
{
    char id[NODE_ID_MAX + 1];
    if (leases->nodes < 0)
        return;
    lease_print_id(leases, leases->own->number, id);
    unlinkat(leases->nodes, id, 0);
    close(leases->nodes);
    leases->nodes = -1;
    pthread_mutex_destroy(&leases->lock);
}

/* --------------------------------------------------------------------------- the other servers */

static uint64_t read_beat(int fd)
{
    char text[32] = "";
    return pread(fd, text, sizeof text - 1, 0) > 0 ? strtoull(text, NULL, 10) : 0;
}

static struct neighbour *find_neighbour(struct leases *leases, const char *id)
{
    for (int i = 0; i < leases->neighbour_count; i++)
        if (strcmp(leases->neighbours[i].id, id) == 0)
            return &leases->neighbours[i];
    if (leases->neighbour_count == NODES_MAX)
        return NULL;
    struct neighbour *new = &leases->neighbours[leases->neighbour_count++];
    *new = (struct neighbour){.beat = UINT64_MAX};
    strcpy(new->id, id);
    return new;
}

/* Its beat is looked at a last time where it cannot change any more. */
static void bury(const struct leases *leases, const struct neighbour *dead)
{
    int fd = lease_open_file(leases->nodes, dead->id, 0, 1);
    if (fd < 0)
        return;
    if (read_beat(fd) == dead->beat)
        unlinkat(leases->nodes, dead->id, 0);
    close(fd);
}

static void look_at(struct leases *leases, const char *id)
{
    struct neighbour *other = strlen(id) <= NODE_ID_MAX ? find_neighbour(leases, id) : NULL;
    int fd = other ? openat(leases->nodes, id, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    uint64_t beat = read_beat(fd);
    close(fd);
    other->is_there = true;
    if (beat != other->beat) {
        other->beat = beat;
        other->changed = leases->ticks;
    } else if (leases->ticks - other->changed > BEATS_A_TERM) {
        bury(leases, other);
    }
}

static void forget_those_gone(struct leases *leases)
{
    int kept = 0;
    for (int i = 0; i < leases->neighbour_count; i++)
        if (leases->neighbours[i].is_there)
            leases->neighbours[kept++] = leases->neighbours[i];
    leases->neighbour_count = kept;
    for (int i = 0; i < kept; i++)
        leases->neighbours[i].is_there = false;
}

void leases_watch(struct leases *leases, uint64_t now_ns)
{
    char own[NODE_ID_MAX + 1];
    if (now_ns - leases->ticked_ns < leases->term_ns / BEATS_A_TERM)
        return;
    leases->ticked_ns = now_ns;
    leases->ticks++;
    int fd = openat(leases->nodes, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    if (!list && fd >= 0)
        close(fd);
    if (!list)
        return;
    lease_print_id(leases, leases->own->number, own);
    for (struct dirent *entry; (entry = readdir(list));)
        if (entry->d_name[0] != '.' && strcmp(entry->d_name, own) != 0)
            look_at(leases, entry->d_name);
    closedir(list);
    forget_those_gone(leases);
}
