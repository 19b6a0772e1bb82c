#include "server/memory/block.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { SMALLEST_LOG2 = 14, LARGE_LOG2 = 21, MAPPED_LOG2 = 17 };

#define HUGE_PAGE ((size_t)1 << LARGE_LOG2)

static int log2_of(size_t n)
{
    return 63 - __builtin_clzll((unsigned long long)n);
}

static size_t class_size(int size_class)
{
    if (size_class < BLOCK_SMALL_CLASSES)
        return (size_t)1 << (SMALLEST_LOG2 + size_class);
    int eighths = size_class - BLOCK_SMALL_CLASSES + 1;
    size_t octave = HUGE_PAGE << (eighths / 8);
    size_t size = octave + (octave / 8) * (size_t)(eighths % 8);
    return (size + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
}

/* The smallest class that holds `size` bytes, or -1. */
static int class_of(size_t size)
{
    if (size <= HUGE_PAGE) {
        int small = size <= 1 ? 0 : log2_of(size - 1) + 1 - SMALLEST_LOG2;
        return small < 0 ? 0 : small;
    }
    int octave = log2_of(size);
    if (octave - LARGE_LOG2 >= BLOCK_LARGE_CLASSES / 8)
        return -1;
    int eighth = (int)((size - ((size_t)1 << octave)) >> (octave - 3));
    int size_class = BLOCK_SMALL_CLASSES - 1 + 8 * (octave - LARGE_LOG2) + eighth;
    while (size_class < BLOCK_CLASSES && class_size(size_class) < size)
        size_class++;
    /* Rounding up to huge pages makes some of the lowest classes equal: the first of equal ones is
     * used. */
    while (class_size(size_class - 1) >= size)
        size_class--;
    return size_class < BLOCK_CLASSES ? size_class : -1;
}

static int class_for(size_t bytes)
{
    size_t size;
    return __builtin_add_overflow(bytes, sizeof(struct block), &size) ? -1 : class_of(size);
}

/* Maps memory, aligned to huge pages when it can hold one. */
static void *map(size_t size)
{
    size_t slack = size >= HUGE_PAGE ? HUGE_PAGE : 0;
    char *p = mmap(NULL, size + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (!slack)
        return p;
    char *aligned = (char *)(((uintptr_t)p + slack - 1) & ~(uintptr_t)(slack - 1));
    if (aligned > p)
        munmap(p, (size_t)(aligned - p));
    if (aligned < p + slack)
        munmap(aligned + size, (size_t)(p + slack - aligned));
    madvise(aligned, size, MADV_HUGEPAGE);
    return aligned;
}

static bool is_mapped(size_t size)
{
    return size >= (size_t)1 << MAPPED_LOG2;
}

static struct block *allocate_block(struct blocks *blocks, int size_class)
{
    size_t size = class_size(size_class);
    struct block *block = is_mapped(size) ? map(size) : aligned_alloc(TENSOR_ALIGNMENT, size);
    if (!block)
        return NULL;
    block->capacity = size - sizeof *block;
    block->size_class = size_class;
    block->is_pinned = blocks->pinned_for && is_mapped(size) && size >= blocks->pinned_from &&
                       blocks->pinned_for->pin(block, size);
    atomic_fetch_add_explicit(&blocks->allocated_bytes, size, memory_order_relaxed);
    return block;
}

static void free_block(struct blocks *blocks, struct block *block)
{
    size_t size = block_cost(block);
    atomic_fetch_sub_explicit(&blocks->allocated_bytes, size, memory_order_relaxed);
    if (block->is_pinned)
        blocks->pinned_for->unpin(block);
    if (is_mapped(size))
        munmap(block, size);
    else
        free(block);
}

void blocks_init(struct blocks *blocks, size_t cache_bytes)
{
    *blocks = (struct blocks){.cache_bytes = cache_bytes};
    for (int i = 0; i < BLOCK_CLASSES; i++)
        pthread_mutex_init(&blocks->lists[i].lock, NULL);
}

void blocks_pin(struct blocks *blocks, const struct backend *backend, size_t bytes)
{
    blocks->pinned_for = backend;
    blocks->pinned_from = bytes;
}

void blocks_release(struct blocks *blocks)
{
    for (int i = 0; i < BLOCK_CLASSES; i++) {
        struct block_list *list = &blocks->lists[i];
        for (struct block *b = list->free, *next; b; b = next) {
            next = b->next;
            free_block(blocks, b);
        }
        pthread_mutex_destroy(&list->lock);
    }
    assert(atomic_load(&blocks->allocated_bytes) == 0);
}

static struct block *take_free(struct block_list *list)
{
    pthread_mutex_lock(&list->lock);
    struct block *block = list->free;
    if (block) {
        list->free = block->next;
        if (--list->count < list->least)
            list->least = list->count;
    }
    pthread_mutex_unlock(&list->lock);
    return block;
}

struct block *blocks_get(struct blocks *blocks, size_t bytes)
{
    int size_class = class_for(bytes);
    if (size_class < 0)
        return NULL;
    struct block *block = take_free(&blocks->lists[size_class]);
    if (block)
        atomic_fetch_sub_explicit(&blocks->cached_bytes, block_cost(block), memory_order_relaxed);
    else
        block = allocate_block(blocks, size_class);
    if (!block)
        return NULL;
    block->next = NULL;
    block->used = 0;
    return block;
}

void blocks_put(struct blocks *blocks, struct block *block)
{
    size_t size = block_cost(block);
    struct block_list *list = &blocks->lists[block->size_class];
    size_t cached = atomic_fetch_add_explicit(&blocks->cached_bytes, size, memory_order_relaxed);
    if (cached + size > blocks->cache_bytes) {
        atomic_fetch_sub_explicit(&blocks->cached_bytes, size, memory_order_relaxed);
        free_block(blocks, block);
        return;
    }
    pthread_mutex_lock(&list->lock);
    block->next = list->free;
    list->free = block;
    list->count++;
    pthread_mutex_unlock(&list->lock);
}

size_t blocks_cost(size_t bytes)
{
    int size_class = class_for(bytes);
    return size_class < 0 ? SIZE_MAX : class_size(size_class);
}

size_t block_cost(const struct block *block)
{
    return class_size(block->size_class);
}

/* Takes `least` blocks off the list: the number that were not needed since the last trim. They come
 * from the warm end, which needs no walk through the list. */
static struct block *cut_idle(struct block_list *list)
{
    pthread_mutex_lock(&list->lock);
    struct block *idle = NULL;
    for (size_t n = list->least; n > 0; n--) {
        struct block *block = list->free;
        list->free = block->next;
        block->next = idle;
        idle = block;
        list->count--;
    }
    list->least = list->count;
    pthread_mutex_unlock(&list->lock);
    return idle;
}

void blocks_trim(struct blocks *blocks)
{
    for (int i = 0; i < BLOCK_CLASSES; i++)
        for (struct block *b = cut_idle(&blocks->lists[i]), *next; b; b = next) {
            next = b->next;
            atomic_fetch_sub_explicit(&blocks->cached_bytes, block_cost(b), memory_order_relaxed);
            free_block(blocks, b);
        }
}
