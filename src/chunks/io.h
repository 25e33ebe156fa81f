/* A run's view of storage: which bytes are behind a node's chunk.
 *
 * Sources and targets are Zarr arrays, or the caller's memory, which tasks address by themselves.
 * Intermediates live in memory while its budget lasts, then in the work directory; a chunk
 * is freed when its last reader is done. Reading and writing is thread-safe.
 */
#ifndef CB_CHUNKS_IO_H
#define CB_CHUNKS_IO_H

#include "cubed/run.h"
#include "mem/pages.h"
#include "plan/plan.h"

typedef struct cb_io cb_io;

/* Counters of one task. */
typedef struct cb_io_count {
    uint64_t bytes_read, bytes_written;   /* decoded */
    uint64_t stored_read, stored_written; /* encoded, from and to stores */
    uint64_t function_mem;                /* the most that a user's function took */
} cb_io_count;

/* How a run uses storage. */
typedef enum cb_io_mode {
    CB_IO_RUN,    /* a whole run: targets are made, intermediates are this process's own */
    CB_IO_DRIVER, /* a whole run by worker processes: intermediates lie in the work directory */
    CB_IO_BEGIN,  /* a run that others will work on and finish: nobody drives it */
    CB_IO_WORKER, /* a worker: targets exist; intermediates are shared in the work directory */
    CB_IO_FINISH  /* the end of a run that others have worked on */
} cb_io_mode;

typedef struct cb_io_options {
    cb_io_mode mode;
    bool
        resume; /* go on where an earlier run of the plan ended; of workers: it has begun all targets */
    unsigned keep; /* CUBED_KEEP_*: what may be left if the run ends early, see cb_io_keep */
    /* The run's name; NULL for a new one. Workers of a driver have its plan, too. */
    const char *run, *plan;
} cb_io_options;

/* Opens stores; but for workers, claims and prepares targets. A target that somebody else is writing is
 * CUBED_E_EXISTS. The plan must outlive it. */
CUBED_MUST_CHECK cubed_status cb_io_open(cubed_plan *plan, const cb_io_options *options,
                                         cb_io **out, cubed_error *err);
/* The run is complete: targets get their metadata, take the places of what they replace, and are free; then groups
 * are made. */
CUBED_MUST_CHECK cubed_status cb_io_commit(cb_io *io, cubed_error *err);
/* The run ended early, and may be resumed: close leaves what the options said. */
void cb_io_keep(cb_io *io);
/* Workers ended before their time: removes what they were writing. */
void cb_io_sweep(const cb_io *io);
/* Drivers remove intermediates and, unless committed, what they have made. */
void cb_io_close(cb_io *io);
/* A run in parts: an empty object in its folder; the names below a folder in it; and that folder, opened. */
CUBED_MUST_CHECK cubed_status cb_io_note(cb_io *io, const char *name, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_io_notes(cb_io *io, const char *folder, cubed_store_member_fn fn,
                                          void *ctx, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_io_spill(cb_io *io, cubed_error *err);
/* Says now and then that the run's driver is there. */
void cb_io_beat(cb_io *io);
/* Whether an earlier run of the plan has made everything. */
bool cb_io_finished(const cb_io *io);
const char *cb_io_run(const cb_io *io);
const char *cb_io_plan(const cb_io *io);

/* Whether the node is a target that an earlier run began. */
bool cb_io_resumes(const cb_io *io, int node);
/* Whether a chunk has been written by a run that is resumed, and is still there, whole. Never so for
 * results in memory. Before the task that makes it is begun: a chunk of a target that is not whole is deleted. */
CUBED_MUST_CHECK cubed_status cb_io_find_whole(cb_io *io, int node, int64_t chunk, bool *found,
                                               cubed_error *err);
/* The same of a target's chunk after that, when what is there is whole. */
CUBED_MUST_CHECK cubed_status cb_io_exists(cb_io *io, int node, int64_t chunk, bool *found,
                                           cubed_error *err);

/* One more read of chunk number `chunk` of an intermediate is to come; whether one is. Before the run starts. */
void cb_io_add_reader(cb_io *io, int node, int64_t chunk);
bool cb_io_has_readers(const cb_io *io, int node, int64_t chunk);
/* One of them is done: the last one frees the chunk. */
void cb_io_release(cb_io *io, int node, int64_t chunk);
const cb_budget *cb_io_intermediates(const cb_io *io);
uint64_t cb_io_spilled(const cb_io *io);
/* The most memory that chunks and indices took which were kept to be read again. */
uint64_t cb_io_cache_peak(const cb_io *io);

/* One chunk, whole (also at the edge: what is beyond the shape is unspecified), in C order. `reuse`: it
 * will be read once more, so it may be kept when it had to be decoded.
 * If it is an intermediate in memory, *direct points to it, and stays valid until the task that reads
 * it is reported done; else it is read and decoded into dst, and *direct is dst. */
CUBED_MUST_CHECK cubed_status cb_io_read(cb_io *io, int node, const int64_t *idx, bool reuse,
                                         void *dst, cb_arena *scratch, const void **direct,
                                         cb_io_count *count, cubed_error *err);
/* The same, but *direct may also point to a chunk that is kept to be read again, which stays there until
 * `scratch` is released to a mark before this call. Takes CB_IO_PIN_BYTES of it. */
#define CB_IO_PIN_BYTES CB_ARENA_DEFER_BYTES
CUBED_MUST_CHECK cubed_status cb_io_pin(cb_io *io, int node, const int64_t *idx, bool reuse,
                                        void *dst, cb_arena *scratch, const void **direct,
                                        cb_io_count *count, cubed_error *err);
/* Says that the chunk need not be kept for a read that was done without. */
void cb_io_pass(cb_io *io, int node, const int64_t *idx);
/* Bytes of a chunk of an intermediate from `offset` on. */
CUBED_MUST_CHECK cubed_status cb_io_read_range(cb_io *io, int node, const int64_t *idx,
                                               size_t offset, size_t size, void *dst,
                                               cb_io_count *count, cubed_error *err);
/* The elements of the box, which lies within one chunk, densely in C order; *direct as above. Of a node that
 * has parts (exec/need.h). */
CUBED_MUST_CHECK cubed_status cb_io_subread(cb_io *io, int node, const cb_box *box, void *dst,
                                            cb_arena *scratch, const void **direct,
                                            cb_io_count *count, cubed_error *err);
/* Writes one whole chunk in C order (padded at the edge by the caller). Beside src it takes from
 * the arena what exec/need.h says. */
CUBED_MUST_CHECK cubed_status cb_io_write(cb_io *io, int node, const int64_t *idx, const void *src,
                                          cb_arena *scratch, cb_io_count *count, cubed_error *err);

#endif
