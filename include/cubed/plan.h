/* Plans: what will run, decided and checked before anything does. */
#ifndef CUBED_PLAN_H
#define CUBED_PLAN_H

#include "cubed/array.h"
#include "cubed/zarr.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable once made, reference-counted, thread-safe. */
typedef struct cubed_plan cubed_plan;

/* Where one result goes. Zero it, then set `array` and either `url` or `data`. */
typedef struct cubed_target {
    cubed_array *array;
    const char *url;    /* STORE or STORE::PATH of the Zarr array to make */
    int zarr_format;    /* 2 or 3; 0: 3 */
    const char *codecs; /* JSON: v3 "codecs" list; v2 compressor, or a list of filters that
                            * ends with one; NULL: zstd level 1 */
    /* Of the Zarr array. NULL: the array's own, or shorter ones where those of a function on whole
     * blocks do not fit the memory. */
    const int64_t *chunks;
    /* Chunks are stored together in shards of this shape (format 3), which tasks write whole: each a
     * multiple of the chunk, -1 for the whole axis, or CUBED_CHUNKS_KEPT: the array's own chunks along it, whose lengths
     * may differ, are the shards then, and `chunks` says what is in them. NULL: every chunk is an object. */
    const int64_t *shards;
    bool skip_empty; /* chunks with nothing but the fill value are not stored */
    bool durable;    /* what is written survives a power failure: slow */
    bool overwrite;  /* replace what is at `url`; else that is CUBED_E_EXISTS */
    /* The array at `url` exists, and stays but for the part that `array` goes into, which begins at
     * region_start[d] along axis d: set by cubed_region_target. */
    bool region;
    int64_t region_start[CUBED_MAX_NDIM];
    /* Of a region: only the elements region_lo[d] to region_hi[d] - 1 of the array at `url` are written, where the chunks
     * of `array` have more. Not set: all elements of `array`. */
    bool region_has_part;
    int64_t region_lo[CUBED_MAX_NDIM], region_hi[CUBED_MAX_NDIM];
    /* Without url: the result goes to this C-order buffer, borrowed until the plan is gone. It may
     * be NULL and given later by cubed_plan_bind_result. */
    void *data;
    /* Without url: STORE or STORE::PATH that functions write to while `array` is computed, if they do. Sources of
     * the plan may not lie there. */
    const char *writes;
    const char *name; /* without url: what plans and drawings call the result; NULL: "result" */
} cubed_target;

/* Sets *target so that x, of any type, goes into the part of `into` that begins at start[ndim].
 *
 * A chunk (shard) that x covers in part is read when it is written, and keeps its other elements, also if other tasks, plans
 * or processes write those at the same time: the chunk is put if it still is what was read, else it is read again. So
 * several targets of one plan may be regions of one array. Every chunk is put as a whole: at any time it is the old one or
 * the new one. Elements that several writers write at once have the value of one of them. Chunks that a failed run has
 * written stay, and a run is made again, not resumed. The plan must not read the array. Reads nothing.
 *
 * into    an array of cubed_array_open, which lives as long as *target
 * target  its `array` is a new reference: x within whole chunks
 *
 * Errors: CUBED_E_ARG for a region that is not within the array, and for an array that is not stored. A run is
 * CUBED_E_UNSUPPORTED if chunks are covered in part and the store ignores conditions of puts. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_region_target(cubed_array *x, const cubed_array *into,
                                                            const int64_t *start,
                                                            cubed_target *target, cubed_error *err);

/* Whether results, once they are stored, can be made a file of NetCDF by cubed_new_file_publish: types, codecs, chunks, and lengths of
 * dimensions of one name. *mem is the most memory that it takes then, when the run is over. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_netcdf_check(const cubed_target *targets, int n,
                                                           uint64_t *mem, cubed_error *err);

/* A group around results. A run makes it when they are all there. */
typedef struct cubed_plan_group {
    const char *url;   /* STORE or STORE::PATH */
    int zarr_format;   /* 2 or 3 */
    const char *attrs; /* a JSON object; NULL: none, or those that it has */
    bool consolidate;  /* it gets a copy of all metadata below it */
    /* Not NULL: no group, but a copy of the Zarr array at that STORE or STORE::PATH, object by object, whatever its
     * elements and codecs are. In another format than its own for texts and bytes of any length alone. An object that
     * is larger than what a worker may use is CUBED_E_BUDGET. */
    const char *copy_of;
    bool overwrite; /* such a copy replaces what is there; else that is CUBED_E_EXISTS */
} cubed_plan_group;

typedef struct cubed_plan_options {
    size_t struct_size;
    uint64_t
        allowed_mem; /* bytes each worker may use; 0: 2 GB or what the machine has per worker */
    uint64_t reserved_mem; /* part of it kept for code, libraries and metadata */
    unsigned max_workers;  /* 0: one per core */
    const char *work_dir;  /* for intermediates that do not stay in memory; NULL: none may spill */
    bool optimize;         /* false: every operation is a stage of its own, as written */
    const cubed_plan_group *groups; /* in this order */
    int num_groups;
    /* Where tasks of a copy would read less if they were larger than allowed_mem, the workers may make
     * one together, each holding a share of its chunks: for executors whose workers are threads. Others
     * run such a plan, too, within the same memory, and read more than it says. */
    bool share_tasks;
    /* Whether reserved_mem is what is wanted at most: of a small allowed_mem no more than a quarter is reserved. */
    bool reserve_a_quarter;
    /* Whether workers run on other machines: how much memory this one has is then no limit of theirs. Executors of
     * which that is not true look when they run the plan. */
    bool other_machines;
    unsigned machine_workers; /* of those that share such a machine; 0: all */
    uint64_t machine_mem;     /* what it has; 0: not known, and not looked at */
    /* NULL, or is asked for other parameters of each function on blocks, once and more: of equal ones equal ones.
     * *out is borrowed until the plan is made, and `params` itself where nothing changes. */
    cubed_status (*params)(void *ctx, const char *function, const void *params, size_t size,
                           const void **out, size_t *out_size, cubed_error *err);
    void *params_ctx;
    /* NULL, or makes the arrays of the targets for another allowed_mem: for arrays whose functions were given a task_mem.
     * A refusal then advises what holds for such arrays. arrays[i] is that of targets[i]; a replacement is borrowed until
     * the next call and until the plan is made. CUBED_E_BUDGET: they need more than that. */
    cubed_status (*remake)(void *ctx, uint64_t allowed_mem, cubed_array **arrays, cubed_error *err);
    void *remake_ctx;
} cubed_plan_options;
#define CUBED_DEFAULT_RESERVED_MEM ((uint64_t)16 << 20)
#define CUBED_PLAN_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(cubed_plan_options), 0, CUBED_DEFAULT_RESERVED_MEM, 0, NULL, true, NULL, 0, true,   \
            false, false, 0, 0, NULL, NULL, NULL, NULL                                             \
    }

/* Decides stages and memory. CUBED_E_BUDGET if a task or the machine would not hold it: the message
 * gives the operation, its need, the allowance, and an allowed_mem (and fewer workers, where the machine takes no
 * more) with which the plan was made to find out that it fits: err->enough_mem. Nothing is written. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_new(cubed_context *ctx,
                                                       const cubed_target *targets, int ntargets,
                                                       const cubed_plan_options *options,
                                                       cubed_plan **out, cubed_error *err);
/* Makes groups and copies without a plan, where there is nothing to compute. `memory`: for objects that are copied; 0: 2
 * GB. `durable`: what is written survives a power failure. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_groups_make(cubed_context *ctx,
                                                          const cubed_plan_group *groups, int n,
                                                          uint64_t memory, bool durable,
                                                          cubed_error *err);
/* Takes a reference; returns the plan. Gives one up; NULL is allowed. */
CUBED_API cubed_plan *cubed_plan_ref(cubed_plan *plan);
CUBED_API void cubed_plan_unref(cubed_plan *plan);

/* Says where result number `target` (in the order of the targets) goes, which has no url: `size`
 * must be its bytes, and none of them may be what the plan reads. Not while the plan runs. A loaded plan
 * has no addresses: its results in memory are bound again before it can run. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_bind_result(cubed_plan *plan, int target,
                                                               void *data, size_t size,
                                                               cubed_error *err);

/* Other limits for the same stages and tasks: allowed_mem, reserved_mem, max_workers and work_dir of the
 * options, as far as they are not 0 or NULL, and what they say of machines. Not while the plan runs. CUBED_E_BUDGET, and nothing has
 * changed, if the tasks or the machine do not have room in them. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_set_limits(cubed_plan *plan,
                                                              const cubed_plan_options *options,
                                                              cubed_error *err);

/* The plan as bytes: versioned, checksummed, without secrets. Relative paths become absolute, so that
 * it means the same in any directory. CUBED_E_UNSUPPORTED if it reads borrowed memory larger than
 * 64 KiB (smaller sources travel inside). *data is freed with cubed_plan_free_bytes. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_save(const cubed_plan *plan, void **data,
                                                        size_t *size, cubed_error *err);
CUBED_API void cubed_plan_free_bytes(const cubed_plan *plan, void *data, size_t size);
/* Checks everything that it reads; CUBED_E_FORMAT for bytes that are no plan, CUBED_E_UNSUPPORTED
 * for another version. Sources are opened and must still have the shape and type they had. A plan that
 * carries code (a user's function, which can do whatever this process may) is refused. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_load(cubed_context *ctx, const void *data,
                                                        size_t size, cubed_plan **out,
                                                        cubed_error *err);
/* The same, and code is welcome: only for plans of somebody who may run programs here. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_load_code(cubed_context *ctx, const void *data,
                                                             size_t size, cubed_plan **out,
                                                             cubed_error *err);

/* What plans are compared by: bytes per second that are stored or loaded by all workers together, of
 * uncompressed data, and seconds that a request adds. A local disk's, roughly. */
#define CUBED_ASSUMED_BANDWIDTH 1e9
#define CUBED_ASSUMED_LATENCY   1e-4
/* Bytes per second that one worker reads or writes in memory: that of the machine by which processor time is estimated.
 * On another one it takes about as many times as long as that one is slower. */
#define CUBED_ASSUMED_COMPUTE 1e10

typedef struct cubed_plan_info {
    int num_stages;
    int num_arrays; /* stored ones, intermediates and results */
    int64_t num_tasks;
    uint64_t allowed_mem;   /* per worker */
    uint64_t reserved_mem;  /* per worker */
    uint64_t projected_mem; /* the largest task of any stage, without reserved_mem */
    /* Of the plan itself, the arrays that it was made of and the tables of a run, as far as these are more
     * than 4 MiB and a quarter of reserved_mem, which is for them, too. Every worker has room for it. */
    uint64_t metadata_mem;
    unsigned max_workers;
    uint64_t intermediate_budget; /* for intermediates in memory, all workers together */
    uint64_t cache_budget; /* for decoded chunks and indices of shards that tasks read again: of the
                             * same memory, what intermediates do not take */
    /* What a process with all workers takes at most beside what it holds before the run, which reserved_mem is for:
     * tasks, plans, intermediates and caches. */
    uint64_t process_mem;
    uint64_t bytes_read;    /* decoded, sources and intermediates */
    uint64_t bytes_written; /* decoded */
    uint64_t requests;      /* chunks read and written */
    uint64_t elements;      /* of all arrays, sources and virtual ones too: a measure of the work */
    double seconds;         /* of all stages, one after another: see cubed_stage_info */
    double
        compute_seconds; /* processor time of all workers, part of it: decoding, computing and encoding */
    /* Of targets in the caller's memory or in memory://, on top of everything above. */
    uint64_t result_bytes;
    const char *work_dir; /* may be NULL */
    unsigned coop;        /* the most workers that share a task: 1, or see share_tasks */
    bool code;            /* it carries code: see cubed_plan_load_code */
    bool resumable; /* it reads from no functions, which may give something else the next time */
} cubed_plan_info;
/* work_dir belongs to the plan. */
CUBED_API void cubed_plan_get_info(const cubed_plan *plan, cubed_plan_info *info);

/* The places that documents of the plan (references of kerchunk, repositories of Icechunk) may refer to, as
 * cubed_context_allow_references had it when their arrays were opened. The plan keeps them when it is saved.
 *
 * i         document number, from 0 on
 * document  receives the URL
 *
 * Returns the places, one a line; NULL if there is no document of that number. Both strings belong to the plan. */
CUBED_API const char *cubed_plan_get_references(const cubed_plan *plan, int i,
                                                const char **document);
/* Looks up source number `i` of those whose servers do not tell versions of objects, as far as the servers have been asked.
 *
 * i    from 0 on; arrays of one store are one source
 * url  receives the URL of the store, which belongs to the plan
 *
 * Returns CUBED_VALIDATOR_VERSION if there are no more such sources; then *url is unchanged. */
CUBED_API cubed_validator cubed_plan_get_validator(const cubed_plan *plan, int i, const char **url);

typedef struct cubed_stage_info {
    const char *name; /* "mean(multiply) -> uu": what it does, for people */
    int64_t num_tasks;
    unsigned coop;          /* workers that make a task together: 1, or see share_tasks */
    uint64_t projected_mem; /* of its largest task, by each of them */
    uint64_t bytes_read;
    uint64_t bytes_written;
    uint64_t chunks_read; /* requests: one per chunk read */
    uint64_t chunks_written;
    int num_inputs;  /* stored arrays it reads */
    int num_outputs; /* stored arrays it makes */
    /* Estimates of processor time, by one worker: of its operations and of passing over the caller's memory; of
     * bringing and decoding the chunks that it reads; of encoding and putting those that it makes. */
    double compute_seconds, read_seconds, write_seconds;
    /* From beginning to end, by the assumptions above: what all of this and the store take, shared by as many workers
     * as there are tasks for, but at least what the store takes. A task reads, computes and writes one after another,
     * and other workers do so at the same time. */
    double seconds;
} cubed_stage_info;
/* Of stage number `stage`, in the order in which they are planned; texts belong to the plan. CUBED_E_INDEX if
 * there is none. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_get_stage(const cubed_plan *plan, int stage,
                                                             cubed_stage_info *info,
                                                             cubed_error *err);
/* One stored array of a stage: input or output number i. */
typedef struct cubed_stored_info {
    int id;           /* the same array has the same id in every stage */
    const char *name; /* URL, "memory", cubed_target.name, "result" or "intermediate" */
    bool is_source, is_target;
    const char
        *why; /* it is stored and not made again where it is read, for people; "" of sources */
    cubed_dtype dtype;
    int ndim;
    int64_t shape[CUBED_MAX_NDIM];
    int64_t chunks[CUBED_MAX_NDIM];
    /* The array that the plan was made of whose elements these are, as long as the caller has it: only to be compared.
     * NULL of what was added when the plan was made, and of plans that were loaded. */
    const cubed_array *array;
} cubed_stored_info;
/* Number i of the stored arrays that a stage reads (num_inputs), and that it makes (num_outputs). CUBED_E_INDEX
 * if there is none. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_get_input(const cubed_plan *plan, int stage,
                                                             int i, cubed_stored_info *info,
                                                             cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_get_output(const cubed_plan *plan, int stage,
                                                              int i, cubed_stored_info *info,
                                                              cubed_error *err);
/* Name of codec number i that chunks of a Zarr array with this id go through, those within its shards too, in
 * the order of encoding; NULL if there are no more, or the array is none. */
CUBED_API const char *cubed_plan_get_codec(const cubed_plan *plan, int id, int i);
/* What a stage computes: all its operations of one kind on elements of one size. */
typedef struct cubed_operation_info {
    const char *
        name; /* cubed_op_name; "cast"; "sum" and other reductions; or a function on blocks, "sort" */
    double elements; /* how often: of reductions, elements of the input; of matrix products, of both
                        * matrices' rows, columns and what they share, multiplied */
    size_t item_size; /* bytes of the largest element that it is done on */
    double seconds;   /* processor time of it, part of compute_seconds of the stage */
} cubed_operation_info;
/* At most `cap` are written, *n is how many there are at least. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_get_operations(const cubed_plan *plan, int stage,
                                                                  cubed_operation_info *list,
                                                                  int cap, int *n,
                                                                  cubed_error *err);
/* Which chunk of what a stage makes is the first that a task makes: its index along each axis. CUBED_E_INDEX if there
 * is no such task. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_get_block(const cubed_plan *plan, int stage,
                                                             int64_t task,
                                                             int64_t block[CUBED_MAX_NDIM],
                                                             int *ndim, cubed_error *err);
/* Where the program made what a stage computes and reads from sources: distinct numbers of
 * cubed_array_set_origin, the last first; at most `cap` are written, *n is how many there are. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_get_origins(const cubed_plan *plan, int stage,
                                                               uint32_t *origins, int cap, int *n,
                                                               cubed_error *err);
/* What a run asks of stores on other machines, all of one scheme together, with metadata and what a run says of itself:
 * no more, unless requests are repeated because they failed. Of shards, whose parts that lie side by side are read as
 * one, it may be much less. */
typedef struct cubed_store_traffic {
    const char *scheme; /* "s3" */
    uint64_t gets;      /* and requests that are charged alike: GET, HEAD */
    uint64_t puts;      /* PUT, LIST */
    uint64_t
        copies; /* charged as puts: what results that replace arrays, if these are there, are put into their place by */
    uint64_t bytes_read, bytes_written; /* decoded */
} cubed_store_traffic;
/* Of each scheme; at most `cap` are written, *n is how many there are. `apart`: workers have memory of their own, so
 * that intermediates lie in the work directory. Schemes live as long as the library. */
CUBED_API void cubed_plan_get_traffic(const cubed_plan *plan, bool apart, cubed_store_traffic *list,
                                      int cap, int *n);
/* US dollars for 10^6 requests, and for 10^9 bytes that leave or come. */
typedef struct cubed_store_price {
    double get, put, read, written;
} cubed_store_price;
/* Round list prices of the services behind a scheme ("s3", "gs", "az"), for who asks from within their region; all 0 of
 * those that take none. False, and all 0: traffic has no such scheme. */
CUBED_API bool cubed_store_list_price(const char *scheme, cubed_store_price *price);
CUBED_API double cubed_traffic_cost(const cubed_store_traffic *traffic,
                                    const cubed_store_price *price);
/* What is slow about the plan and what would be faster, for people: number i of such warnings, cut to `cap` bytes
 * with the 0 at the end. false: there are no more. */
CUBED_API bool cubed_plan_get_warning(const cubed_plan *plan, int i, char *text, size_t cap);
/* Why two stages that read the same array do so separately, for people. NULL if they read nothing in
 * common, or are one. */
CUBED_API const char *cubed_plan_why_apart(const cubed_plan *plan, int stage, int other);

#ifdef __cplusplus
}
#endif

#endif
