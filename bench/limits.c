/* Measures the time that this machine needs for each part of a Zarr to Zarr computation:
 *
 *   limits THREADS SOURCE... -- TARGET...
 *
 * A loop in THREADS threads reads all chunks of the sources, decodes them (blosc and zstd; other chunks count as raw), and
 * writes the chunks of the targets again. Target chunks must be raw. The writes are spread between the reads. A program that does
 * the same and arithmetic takes longer. Prints as JSON the seconds and the processor time of this loop, and the seconds of each
 * of the three parts alone.
 *
 * Files come from the page cache, raw files in pieces that stay in the second-level cache. Buffers are touched, and files are
 * written once, before the clock starts. */
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
#include <zstd.h>

enum { MAX_THREADS = 256, PIECE = 1 << 18 };

typedef struct chunk {
    char *path;
    size_t size;    /* stored bytes */
    size_t decoded; /* size of the decoded chunk in bytes; 0: the chunk is raw */
    bool zstd;      /* the codec is zstd; otherwise blosc */
    char *stored;   /* the chunk's stored bytes; NULL if it is a raw chunk of a source */
    bool target;
} chunk;

typedef struct chunk_list {
    chunk *chunk;
    size_t n;
} chunk_list;

/* Chunks of sources and targets. They are global, because nftw passes no argument to its callback. */
static chunk_list lists[2];
static chunk_list *list = &lists[0];
static size_t largest = PIECE;        /* size of a buffer for any chunk */
static size_t largest_stored = PIECE; /* size of a buffer for the stored bytes of a decoded chunk */

typedef struct buffers {
    char *data, *stored;
    ZSTD_DCtx *zstd;
} buffers;

static void die(const char *what, const char *path)
{
    fprintf(stderr, "limits: cannot %s %s\n", what, path);
    exit(1);
}

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void read_whole(const char *path, char *to, size_t size)
{
    int fd = open(path, O_RDONLY);
    if (fd < 0) die("open", path);
    for (size_t done = 0; done < size;) {
        ssize_t n = read(fd, to + done, size - done);
        if (n <= 0) die("read", path);
        done += (size_t)n;
    }
    close(fd);
}

/* Finds the codec from the first bytes. One raw chunk in billions has a matching header by chance. */
static void find_codec(chunk *c, const char *head, size_t n)
{
    size_t compressed = 0, block;
    const unsigned long long frame = ZSTD_getFrameContentSize(head, n);
    if (frame != ZSTD_CONTENTSIZE_ERROR && frame != ZSTD_CONTENTSIZE_UNKNOWN) {
        c->zstd = true;
        c->decoded = (size_t)frame;
        return;
    }
    if (n >= BLOSC_MIN_HEADER_LENGTH) blosc_cbuffer_sizes(head, &c->decoded, &compressed, &block);
    if (compressed != c->size || head[0] != BLOSC_VERSION_FORMAT) c->decoded = 0;
}

static int add_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
    const char *name = path + at->base;
    if (type != FTW_F || !strcmp(name, "zarr.json") || !strncmp(name, ".z", 2)) return 0;
    chunk c = {.path = strdup(path), .size = (size_t)st->st_size, .target = list == &lists[1]};
    if (!c.path) die("name", path);
    char head[64];
    const size_t n = c.size < sizeof head ? c.size : sizeof head;
    read_whole(path, head, n);
    find_codec(&c, head, n);
    if (c.decoded > largest) largest = c.decoded;
    if (c.decoded && c.size > largest_stored) largest_stored = c.size;
    /* Keep the memory: if a hypervisor takes freed memory back, it may be slow to get again while the loops run. */
    if (list == &lists[1] || c.decoded) {
        c.stored = malloc(c.size + 1);
        if (!c.stored) die("hold", path);
        read_whole(path, c.stored, c.size);
    }
    list->chunk = realloc(list->chunk, (list->n + 1) * sizeof c);
    if (!list->chunk) die("name", path);
    list->chunk[list->n++] = c;
    return 0;
}

static void read_chunk(const chunk *c, const buffers *b)
{
    int fd = open(c->path, O_RDONLY);
    if (fd < 0) die("open", c->path);
    for (ssize_t n; (n = read(fd, b->data, PIECE)) != 0;) {
        if (n < 0) die("read", c->path);
    }
    close(fd);
}

static void decode(const chunk *c, const char *from, const buffers *b)
{
    const bool ok =
        c->zstd ? ZSTD_decompressDCtx(b->zstd, b->data, c->decoded, from, c->size) == c->decoded
                : blosc_decompress_ctx(from, b->data, c->decoded, 1) >= 0;
    if (!ok) die("decode", c->path);
}

static void decode_chunk(const chunk *c, const buffers *b)
{
    if (c->decoded) decode(c, c->stored, b);
}

static void write_chunk(const chunk *c, const buffers *b)
{
    char path[4096];
    (void)b;
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

static void move_chunk(const chunk *c, const buffers *b)
{
    if (c->target) {
        write_chunk(c, b);
    } else if (c->decoded) {
        read_whole(c->path, b->stored, c->size);
        decode(c, b->stored, b);
    } else {
        read_chunk(c, b);
    }
}

/* Spreads the written chunks evenly between the chunks that are read. */
static chunk_list spread(void)
{
    const chunk_list *in = &lists[0], *out = &lists[1];
    chunk_list all = {malloc((in->n + out->n + 1) * sizeof(chunk)), 0};
    size_t written = 0;
    if (!all.chunk) die("list", "the chunks");
    for (size_t i = 0; i < in->n; i++) {
        all.chunk[all.n++] = in->chunk[i];
        while (written < (i + 1) * out->n / in->n) all.chunk[all.n++] = out->chunk[written++];
    }
    return all;
}

typedef struct job {
    void (*step)(const chunk *c, const buffers *b);
    const chunk_list *on;
    atomic_size_t next;
    pthread_barrier_t ready;
} job;

static void *work(void *arg)
{
    job *j = arg;
    buffers b = {malloc(largest), malloc(largest_stored), ZSTD_createDCtx()};
    if (!b.data || !b.stored || !b.zstd) die("hold", "a chunk");
    memset(b.data, 1, largest);
    memset(b.stored, 1, largest_stored);
    pthread_barrier_wait(&j->ready);
    for (size_t i; (i = atomic_fetch_add(&j->next, 1)) < j->on->n;) j->step(&j->on->chunk[i], &b);
    pthread_barrier_wait(&j->ready);
    free(b.data);
    free(b.stored);
    ZSTD_freeDCtx(b.zstd);
    return NULL;
}

static double seconds(void (*step)(const chunk *c, const buffers *b), const chunk_list *on,
                      unsigned threads, double *cpu)
{
    pthread_t id[MAX_THREADS];
    job j = {.step = step, .on = on};
    pthread_barrier_init(&j.ready, NULL, threads + 1);
    for (unsigned t = 0; t < threads; t++) {
        if (pthread_create(&id[t], NULL, work, &j) != 0) die("start", "a thread");
    }
    pthread_barrier_wait(&j.ready);
    double start = now(CLOCK_MONOTONIC), used = now(CLOCK_PROCESS_CPUTIME_ID);
    pthread_barrier_wait(&j.ready);
    double took = now(CLOCK_MONOTONIC) - start;
    *cpu = now(CLOCK_PROCESS_CPUTIME_ID) - used;
    for (unsigned t = 0; t < threads; t++) pthread_join(id[t], NULL);
    pthread_barrier_destroy(&j.ready);
    return took;
}

static void remove_written(void)
{
    for (size_t i = 0; i < lists[1].n; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s.limit", lists[1].chunk[i].path);
        (void)unlink(path);
    }
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
    const chunk_list all = spread();
    double cpu, alone;
    /* Get memory for the written files first. A virtual machine may have to get it from its host, and the program that is
     * compared had it from the files of an earlier run. */
    seconds(write_chunk, &lists[1], threads, &alone);
    remove_written();
    double most = seconds(move_chunk, &all, threads, &cpu);
    double r = seconds(read_chunk, &lists[0], threads, &alone);
    double d = seconds(decode_chunk, &lists[0], threads, &alone);
    double w = seconds(write_chunk, &lists[1], threads, &alone);
    remove_written();
    printf(
        "{\"seconds\": %.6f, \"cpu\": %.6f, \"read\": %.6f, \"decode\": %.6f, \"write\": %.6f}\n",
        most, cpu, r, d, w);
    return 0;
}
