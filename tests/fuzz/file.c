/* A file of tensor_dir, from the start of a server to its end: it is loaded or refused with a
 * sentence. What was loaded and may be written is saved, and the file of that is loaded as the same
 * tensor with the same keys and positions. */
#include "tests/fuzz/fuzz.h"

#include "server/base/clock.h"
#include "server/tensors/store_view.h"
#include "tests/support/files/file_world.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], path[sizeof folder + 16];
static int nowhere; /* where logs go */

static void remove_all(void)
{
    unlink(path);
    rmdir(folder);
}

static void make_folder(void)
{
    /* In memory where it can be: each start and each snapshot waits for the disk. */
    const char *parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof folder, "%s/tensord-fuzz.XXXXXX", parent);
    FUZZ_CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/t.safetensors", folder);
    atexit(remove_all);
    nowhere = open("/dev/null", O_WRONLY);
    FUZZ_CHECK(nowhere >= 0);
}

static void write_file(const uint8_t *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
}

/* What of a tensor a file keeps. */
struct content {
    struct resident_view view;
    struct position positions[POSITIONS_MAX];
    int position_count, key_count;
    unsigned char data[256]; /* its beginning */
};

static void note(struct file_world *w, struct content *content)
{
    struct turn turn;
    memset(content, 0, sizeof *content);
    FUZZ_CHECK(store_look(&w->store, "t", clock_ns(), &content->view));
    content->position_count = store_positions(&w->store, "t", clock_ns(), content->positions);
    file_world_take(w, &turn, "t");
    const struct resident *r = turn_resident(&turn, 0);
    content->key_count = turn.places[0].named->keys.count;
    if (r->bytes > 0)
        memcpy(content->data, r->tensor.data, r->bytes < 256 ? r->bytes : 256);
    file_world_leave(w, &turn);
}

static void check_same(const struct content *a, const struct content *b)
{
    FUZZ_CHECK(a->view.tensor.dtype == b->view.tensor.dtype);
    FUZZ_CHECK(a->view.tensor.rank == b->view.tensor.rank);
    FUZZ_CHECK(memcmp(a->view.tensor.shape, b->view.tensor.shape,
                      sizeof a->view.tensor.shape[0] * (size_t)a->view.tensor.rank) == 0);
    FUZZ_CHECK(a->view.version == b->view.version && a->view.generation == b->view.generation);
    FUZZ_CHECK(a->view.created_ms == b->view.created_ms && a->view.ttl_ns == b->view.ttl_ns);
    FUZZ_CHECK(memcmp(a->data, b->data, sizeof a->data) == 0);
    FUZZ_CHECK(a->position_count == b->position_count && a->key_count == b->key_count);
    for (int i = 0; i < a->position_count; i++)
        FUZZ_CHECK(!position_is_above(&a->positions[i], &b->positions[i]) &&
                   !position_is_above(&b->positions[i], &a->positions[i]));
}

/* False: it was refused. */
static bool load(struct file_world *w)
{
    struct error error;
    file_world_open(w, folder, nowhere);
    if (file_world_load(w, &error) == ERROR_NONE)
        return true;
    fuzz_error(&error);
    FUZZ_CHECK(strstr(error.message, "tensor_dir"));
    file_world_close(w);
    return false;
}

static void save_and_compare(struct file_world *w)
{
    struct content before, after;
    struct error error;
    note(w, &before);
    FUZZ_CHECK(file_world_save(w, "t", NULL, &error) == ERROR_NONE);
    file_world_close(w);
    FUZZ_CHECK(load(w));
    note(w, &after);
    check_same(&before, &after);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct file_world w;
    struct resident_view view;
    if (!path[0])
        make_folder();
    write_file(data, size);
    if (!load(&w))
        return 0;
    if (store_look(&w.store, "t", clock_ns(), &view) && !view.is_read_only)
        save_and_compare(&w);
    file_world_close(&w);
    return 0;
}
