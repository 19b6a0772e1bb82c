#include "tests/support/http/preload.h"

#include "tests/support/http/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* BUILD/tests/production/LIBRARY, for a program in BUILD/tests/... */
static void find_library(const char *library, char *path, size_t size)
{
    static const char folder[] = "/tests/";
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    assert_true(length > 0);
    path[length] = '\0';
    char *end = strstr(path, folder);
    assert_non_null(end);
    end += strlen(folder);
    snprintf(end, size - (size_t)(end - path), "production/%s", library);
    assert_int_equal(access(path, R_OK), 0);
}

int preload_start(void **state, const char *library, const char *const *settings)
{
    char path[4096];
    find_library(library, path, sizeof path);
    setenv("LD_PRELOAD", path, 1);
    int failed = fixture_start_with(state, settings);
    unsetenv("LD_PRELOAD");
    return failed;
}

int starve_start(void **state, const char *const *settings, atomic_long **left)
{
    char path[64];
    int fd = memfd_create("left", 0);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, sizeof **left), 0);
    *left = mmap(NULL, sizeof **left, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(*left, MAP_FAILED);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
    setenv("STARVE_LEFT", path, 1);
    int failed = preload_start(state, "starve.so", settings);
    unsetenv("STARVE_LEFT");
    close(fd);
    return failed;
}
