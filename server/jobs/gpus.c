#include "server/jobs/gpus.h"

#include "proto/number/digits.h"
#include "server/base/list.h"

#include <stdio.h>
#include <string.h>

/* The streams of a device share this part, in percent, of the memory that is free at the start. */
enum { SHARED_PERCENT = 90 };

static enum error_code none(struct gpus *gpus, const char *why, struct error *error)
{
    gpus->backend = NULL;
    gpus->count = 0;
    snprintf(gpus->absence, sizeof gpus->absence, "%s", why);
    if (gpus->config->device == DEVICE_CUDA)
        return error_set(error, ERROR_INTERNAL, NULL, "device is cuda, but %s", why);
    return ERROR_NONE;
}

static void add(struct gpus *gpus, int device)
{
    size_t bytes = gpus->config->cuda_memory;
    if (bytes == 0)
        bytes = gpus->backend->available(device) / 100 * SHARED_PERCENT;
    gpus->list[gpus->count++] =
        (struct gpu){.device = device, .lane_bytes = bytes / gpus->config->cuda_streams};
}

static bool has(const struct gpus *gpus, int device)
{
    for (int i = 0; i < gpus->count; i++)
        if (gpus->list[i].device == device)
            return true;
    return false;
}

/* "0,2": numbers of devices that are there, at least one and each once. */
static bool add_listed(struct gpus *gpus, const char *list, int there)
{
    size_t size;
    for (const char *at = list; (at = list_next(at, &size)); at += size) {
        uint64_t device;
        if (digits_read(at, (uint64_t)there - 1, &device) != at + size || has(gpus, (int)device) ||
            gpus->count == GPUS_MAX)
            return false;
        add(gpus, (int)device);
    }
    return gpus->count > 0;
}

enum error_code gpus_init(struct gpus *gpus, const struct config *config,
                          const struct backend *backend, struct error *error)
{
    *gpus = (struct gpus){.backend = backend, .config = config};
    if (config->device == DEVICE_CPU)
        return none(gpus, "device is cpu", error);
    if (!backend)
        return none(gpus, "this program was built without CUDA", error);
    int there = backend->devices();
    if (there == 0)
        return none(gpus, "no CUDA device was found", error);
    bool all = strcmp(config->cuda_devices, "all") == 0;
    for (int device = 0; all && device < there && device < GPUS_MAX; device++)
        add(gpus, device);
    if (!all && !add_listed(gpus, config->cuda_devices, there))
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "cuda_devices is %s; it must be all, or up to %d different numbers below "
                         "%d, with commas",
                         config->cuda_devices, GPUS_MAX, there);
    return ERROR_NONE;
}

enum error_code gpus_give_up(struct gpus *gpus, struct error *error)
{
    char why[sizeof gpus->absence];
    snprintf(why, sizeof why, "%.150s", error->message);
    error_clear(error);
    return none(gpus, why, error);
}

int gpus_available(const struct gpus *gpus)
{
    return gpus->are_lost ? 0 : gpus->count;
}

bool gpus_are_preferred(const struct gpus *gpus)
{
    return gpus->count > 0 && gpus->config->device == DEVICE_CUDA;
}

/* A job that asked for a device and is too large for it goes there all the same, to be told so;
 * one that did not ask is computed by the CPU. */
static bool may_go(const struct gpus *gpus, const struct job *job, enum device asked, int gpu)
{
    const struct plan *plan = &job->plan;
    return gpus->backend->can_run(plan) && plan->touched_bytes >= gpus->config->cuda_threshold &&
           (asked == DEVICE_CUDA || gpus->backend->memory(plan) <= gpus->list[gpu].lane_bytes);
}

static int choose(struct gpus *gpus, const struct job *job)
{
    enum device asked = job->request.device;
    if (asked == DEVICE_DEFAULT)
        asked = (enum device)gpus->config->device;
    int available = gpus_available(gpus);
    if (asked == DEVICE_CPU || available == 0)
        return GPU_NONE;
    int gpu = job->request.device_index;
    if (gpu < 0 || gpu >= available)
        gpu = (int)(atomic_fetch_add_explicit(&gpus->next, 1, memory_order_relaxed) %
                    (unsigned)available);
    return may_go(gpus, job, asked, gpu) ? gpu : GPU_NONE;
}

void gpus_choose(struct gpus *gpus, struct job *job)
{
    if (job->gpu == GPU_UNKNOWN)
        job->gpu = choose(gpus, job);
}

bool gpus_lose(struct gpus *gpus)
{
    return !atomic_exchange(&gpus->are_lost, true);
}

bool gpus_are_missed(const struct gpus *gpus)
{
    return gpus->are_lost && gpus->config->device == DEVICE_CUDA;
}
