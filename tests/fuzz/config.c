/* A configuration file. One that is accepted is printed, and must be accepted again and mean the
 * same. */
#include "server/config/config.h"

#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void check_fault(void *context, const struct error *fault)
{
    *(bool *)context = true;
    fuzz_error(fault);
}

/* A fault is told, or there is none. */
static bool load(struct config *config, int fd)
{
    char path[64], *nothing[] = {NULL};
    struct config_sources sources = {path, nothing, nothing};
    bool was_told = false;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    bool is_right = config_load(config, &sources, check_fault, &was_told);
    FUZZ_CHECK(is_right == !was_told);
    return is_right;
}

static void check_same(const struct config *a, const struct config *b)
{
    for (int i = 0; i < setting_count(); i++) {
        char text[2][CONFIG_VALUE_MAX];

        config_value_print(a, setting_at(i), text[0]);
        config_value_print(b, setting_at(i), text[1]);
        FUZZ_CHECK(strcmp(text[0], text[1]) == 0);
    }
}

static void check_print(const struct config *config)
{
    int fd = memfd_create("printed", MFD_CLOEXEC);
    FILE *file = fdopen(fd, "w");
    struct config again;

    FUZZ_CHECK(file);
    config_print(config, file);
    FUZZ_CHECK(fflush(file) == 0);
    FUZZ_CHECK(load(&again, fd));
    check_same(config, &again);
    fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct config config;
    int fd = memfd_create("given", MFD_CLOEXEC);

    FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    if (load(&config, fd))
        check_print(&config);
    close(fd);
    return 0;
}
