#include "kernels/backend.h"
#include "kernels/cpu/compute.h"

static enum error_code cpu_run(struct lane *lane, struct plan *plan, struct error *error)
{
    return compute_run(plan, (const struct level *)lane, NULL, error);
}

/* A CPU lane has no state, the cores are in plan.options.threads: it is the level. */
static struct lane *cpu_open(int device, size_t memory_bytes, struct error *error)
{
    (void)device;
    (void)memory_bytes;
    (void)error;
    return (struct lane *)level_best();
}

static int cpu_devices(void)
{
    return 1;
}

static size_t cpu_available(int device)
{
    (void)device;
    return 0;
}

static bool cpu_pin(void *data, size_t bytes)
{
    (void)data;
    (void)bytes;
    return false;
}

static void cpu_unpin(void *data)
{
    (void)data;
}

static bool cpu_can_run(const struct plan *plan)
{
    (void)plan;
    return true;
}

static bool cpu_has_kernel(const struct kernel_key *key)
{
    for (int i = 0; i < level_count(); i++)
        if (!compute_has_kernel(level_at(i), key))
            return false;
    return true;
}

static size_t cpu_memory(const struct plan *plan)
{
    (void)plan;
    return 0;
}

static bool cpu_is_broken(const struct lane *lane)
{
    (void)lane;
    return false;
}

static void cpu_close(struct lane *lane)
{
    (void)lane;
}

const struct backend backend_cpu = {.name = "cpu",
                                    .devices = cpu_devices,
                                    .available = cpu_available,
                                    .pin = cpu_pin,
                                    .unpin = cpu_unpin,
                                    .open = cpu_open,
                                    .has_kernel = cpu_has_kernel,
                                    .can_run = cpu_can_run,
                                    .memory = cpu_memory,
                                    .run = cpu_run,
                                    .is_broken = cpu_is_broken,
                                    .close = cpu_close};
