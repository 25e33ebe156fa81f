/* What the machine takes for the parts of a Zarr to Zarr computation, each alone:
 *
 *   limits THREADS SOURCE... -- TARGET...
 *
 * reads all chunks of the sources, decodes them (blosc; other chunks count as raw), and writes the
 * chunks of the targets, which must be raw, once more. No engine is faster than the largest of the
 * three. Prints seconds as JSON. Files come from the page cache, in pieces that stay in the
 * second-level cache; buffers are touched before the clock starts. */
#define _GNU_SOURCE
#include <blosc.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 256, PIECE = 1 << 18 };

typedef struct chunk {
    char *path;
    size_t size;    /* stored */
    size_t decoded; /* 0: not blosc */
    char *stored;   /* NULL for raw chunks of sources */
} chunk;

typedef struct chunk_list {
    chunk *chunk;
    size_t n;
} chunk_list;

static chunk_list lists[2]; /* of sources and targets; nftw hands no argument to its callback */
static chunk_list *list = &lists[0];
static size_t largest = PIECE; /* a buffer for anything */

static void die(const char *what, const char *path)
{
    fprintf(stderr, "limits: cannot %s %s\n", what, path);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void load(chunk *c)
{
    int fd = open(c->path, O_RDONLY);
    c->stored = malloc(c->size + 1);
    if (fd < 0 || !c->stored) die("open", c->path);
    for (size_t done = 0; done < c->size;) {
        ssize_t n = read(fd, c->stored + done, c->size - done);
        if (n <= 0) die("read", c->path);
        done += (size_t)n;
    }
    close(fd);
}

static int add_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
    const char *name = path + at->base;
    if (type != FTW_F || !strcmp(name, "zarr.json") || !strncmp(name, ".z", 2)) return 0;
    chunk c = {.path = strdup(path), .size = (size_t)st->st_size};
    size_t compressed = 0, block;
    if (!c.path) die("name", path);
    load(&c);
    if (c.size >= BLOSC_MIN_HEADER_LENGTH)
        blosc_cbuffer_sizes(c.stored, &c.decoded, &compressed, &block);
    /* A header that fits by chance is one in billions. */
    if (compressed != c.size || c.stored[0] != BLOSC_VERSION_FORMAT) c.decoded = 0;
    if (c.decoded > largest) largest = c.decoded;
    if (list == &lists[0] && !c.decoded) {
        free(c.stored);
        c.stored = NULL;
    }
    list->chunk = realloc(list->chunk, (list->n + 1) * sizeof c);
    if (!list->chunk) die("name", path);
    list->chunk[list->n++] = c;
    return 0;
}

static void read_chunk(const chunk *c, char *buffer)
{
    int fd = open(c->path, O_RDONLY);
    if (fd < 0) die("open", c->path);
    for (ssize_t n; (n = read(fd, buffer, PIECE)) != 0;) {
        if (n < 0) die("read", c->path);
    }
    close(fd);
}

static void decode_chunk(const chunk *c, char *buffer)
{
    if (c->decoded && blosc_decompress_ctx(c->stored, buffer, c->decoded, 1) < 0)
        die("decode", c->path);
}

static void write_chunk(const chunk *c, char *buffer)
{
    char path[4096];
    (void)buffer;
    snprintf(path, sizeof path, "%s.limit", c->path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0) die("create", path);
    for (size_t done = 0; done < c->size;) {
        ssize_t n = write(fd, c->stored + done, c->size - done);
        if (n < 0) die("write", path);
        done += (size_t)n;
    }
    close(fd);
}

typedef struct job {
    void (*step)(const chunk *c, char *buffer);
    const chunk_list *on;
    atomic_size_t next;
    pthread_barrier_t ready;
} job;

static void *work(void *arg)
{
    job *j = arg;
    char *buffer = malloc(largest);
    if (!buffer) die("hold", "a chunk");
    memset(buffer, 1, largest);
    pthread_barrier_wait(&j->ready);
    for (size_t i; (i = atomic_fetch_add(&j->next, 1)) < j->on->n;)
        j->step(&j->on->chunk[i], buffer);
    pthread_barrier_wait(&j->ready);
    free(buffer);
    return NULL;
}

static double seconds(void (*step)(const chunk *c, char *buffer), const chunk_list *on,
                      unsigned threads)
{
    pthread_t id[MAX_THREADS];
    job j = {.step = step, .on = on};
    pthread_barrier_init(&j.ready, NULL, threads + 1);
    for (unsigned t = 0; t < threads; t++) {
        if (pthread_create(&id[t], NULL, work, &j) != 0) die("start", "a thread");
    }
    pthread_barrier_wait(&j.ready);
    double start = now();
    pthread_barrier_wait(&j.ready);
    double took = now() - start;
    for (unsigned t = 0; t < threads; t++) pthread_join(id[t], NULL);
    pthread_barrier_destroy(&j.ready);
    return took;
}

int main(int argc, char **argv)
{
    unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    if (threads < 1 || threads > MAX_THREADS) return 2;
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--"))
            list = &lists[1];
        else if (nftw(argv[i], add_file, 16, FTW_PHYS) != 0)
            die("walk", argv[i]);
    }
    double r = seconds(read_chunk, &lists[0], threads);
    double d = seconds(decode_chunk, &lists[0], threads);
    double w = seconds(write_chunk, &lists[1], threads);
    for (size_t i = 0; i < lists[1].n; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s.limit", lists[1].chunk[i].path);
        (void)unlink(path);
    }
    double most = r > d ? r : d;
    printf("{\"seconds\": %.6f, \"read\": %.6f, \"decode\": %.6f, \"write\": %.6f}\n",
           most > w ? most : w, r, d, w);
    return 0;
}
