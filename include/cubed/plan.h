/* Plans: the stages of a computation and their memory, decided and checked before anything runs. */
#ifndef CUBED_PLAN_H
#define CUBED_PLAN_H

#include "cubed/array.h"
#include "cubed/zarr.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An optimised computation: its stages, tasks and memory limits. Reference-counted. It changes only by cubed_plan_bind_result
 * and cubed_plan_set_limits; several threads may call all other functions of this header at the same time. */
typedef struct cubed_plan cubed_plan;

/* The destination of one result. Zero it, then set `array` and either `url` or `data`. */
typedef struct cubed_target {
    cubed_array *array;
    const char *url; /* STORE or STORE::PATH of the Zarr array to create */
    int zarr_format; /* 2 or 3; 0: 3 */
    /* JSON: the "codecs" list of format 3; for format 2 a compressor, or a list of filters that ends with a compressor. NULL:
     * zstd level 1 */
    const char *codecs;
    /* Chunks of the Zarr array. NULL: the chunks of `array`. If `array` is the result of a function on whole blocks, and its
     * chunks do not fit into memory, the Zarr array has shorter chunks. */
    const int64_t *chunks;
    /* Shape of shards (format 3); NULL: every chunk is an object. A shard holds several chunks, and one task writes the whole
     * shard. Each length is a multiple of the chunk's length, or -1 for the whole axis. CUBED_CHUNKS_KEPT: the array's own
     * chunks along the axis, which may be irregular, are the shards, and `chunks` is the shape of the chunks within. */
    const int64_t *shards;
    bool skip_empty; /* chunks that hold only the fill value are not stored */
    bool durable;    /* written data survive a power failure: slow */
    bool
        overwrite; /* replaces an existing array at `url`; otherwise an existing array causes CUBED_E_EXISTS */
    /* The array at `url` exists, and the run changes only the part that `array` is written to. The part begins at
     * region_start[d] along axis d. Set by cubed_region_target. */
    bool region;
    int64_t region_start[CUBED_MAX_NDIM];
    /* For a region. True: only elements region_lo[d] to region_hi[d] - 1 of the array at `url` are written; `array` has whole
     * chunks, so it may have more elements. False: all elements of `array` are written. If region_hi[d] exceeds the length of
     * the array at `url`, that array grows to this length (cubed_append_target). */
    bool region_has_part;
    int64_t region_lo[CUBED_MAX_NDIM], region_hi[CUBED_MAX_NDIM];
    /* Without url: a C-order buffer for the result, borrowed until the plan is freed. May be NULL; then
     * cubed_plan_bind_result sets it. */
    void *data;
    /* Without url: STORE or STORE::PATH to which user-defined functions write while `array` is computed; NULL: no function
     * writes. The plan must not read sources from this place. */
    const char *writes;
    const char *name; /* without url: name of the result in plans and drawings; NULL: "result" */
} cubed_target;

/* Makes *target a region: x is written into the part of `into` that begins at start[ndim]. This function reads nothing. The
 * plan must not read the array `into`.
 *
 * Chunks (or shards) that x covers in part:
 * - Such a chunk is read when it is written, and keeps its other elements. Other tasks, plans or processes may write these
 *   elements at the same time, so several targets of one plan may be regions of one array.
 * - The chunk is put only if it is still the chunk that was read. Otherwise it is read again.
 * - An element that several writers write at the same time gets the value of one of them.
 *
 * Every chunk is put as a whole, so readers always see either the old chunk or the new one. Chunks that a failed run has
 * written are kept; such a run can be repeated, but not resumed.
 *
 * into    an array of cubed_array_open, which outlives *target
 * target  `target->array` receives a new reference: x, extended to whole chunks
 *
 * Errors: CUBED_E_ARG for a region outside of the array, and for an array that is not stored. A run fails with
 * CUBED_E_UNSUPPORTED if chunks are covered in part and the store ignores the conditions of puts. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_region_target(cubed_array *x, const cubed_array *into,
                                                            const int64_t *start,
                                                            cubed_target *target, cubed_error *err);

/* Makes *target append x to an array: x is written after the last element of `into` along `axis` (0 to ndim - 1). A complete
 * run increases the length of `axis` by the length of x.
 *
 * After all chunks are written, the run changes the length in the metadata, in the order of the targets. Until then readers see
 * the old array, and its elements do not change. If the length of one of several arrays cannot be changed, the run restores the
 * lengths of the arrays before it. A failed run leaves chunks after the end of the array; the next run overwrites them.
 *
 * Two processes must not append at the same time, because they would write the same elements. So a process must hold the array
 * (cubed_place_hold) from before it opens `into` until the run has ended.
 *
 * x       has the shape of `into` except along `axis`; its elements are converted to the type of `into`
 * into    an array of cubed_array_open, which outlives *target
 * target  `target->array` receives a new reference: x, extended to whole chunks
 *
 * Errors: those of cubed_region_target; CUBED_E_AXIS for an axis that `into` does not have; CUBED_E_UNSUPPORTED for irregular
 * chunks along `axis`. A run fails with CUBED_E_EXISTS if the length has changed since `into` was opened. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_append_target(cubed_array *x, const cubed_array *into,
                                                            int axis, cubed_target *target,
                                                            cubed_error *err);

/* Checks whether the stored results of the targets can be published as a NetCDF file by cubed_new_file_publish: types, codecs,
 * chunks, and whether dimensions of one name have the same length.
 *
 * mem  receives the maximum number of bytes that publishing uses after the run
 *
 * CUBED_E_UNSUPPORTED for irregular chunks. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_netcdf_check(const cubed_target *targets, int n,
                                                           uint64_t *mem, cubed_error *err);

/* A Zarr group that contains results. A run creates the group after all results are complete. */
typedef struct cubed_plan_group {
    const char *url; /* STORE or STORE::PATH */
    int zarr_format; /* 2 or 3 */
    const char *
        attrs; /* a JSON object; NULL: an existing group keeps its attributes, a new group has none */
    bool consolidate; /* the group gets a copy of all metadata below it */
    /* STORE or STORE::PATH of a Zarr array with any type and codecs. If not NULL, the run copies the array object by object, and
     * does not create a group. The copy has the Zarr format of the array, except for strings and bytes of variable length.
     * CUBED_E_BUDGET for an object that is larger than the memory of a worker. */
    const char *copy_of;
    bool
        overwrite; /* the copy replaces an existing array; otherwise an existing array causes CUBED_E_EXISTS */
} cubed_plan_group;

typedef struct cubed_plan_options {
    size_t struct_size;
    uint64_t
        allowed_mem; /* bytes that each worker may use; 0: 2 GB, or the machine's memory per worker if that is less */
    uint64_t
        reserved_mem; /* part of allowed_mem that is reserved for code, libraries and metadata */
    unsigned max_workers; /* 0: one per core */
    const char *
        work_dir; /* directory for intermediates that do not stay in memory; NULL: intermediates cannot spill */
    bool optimize;                  /* false: every operation is a separate stage */
    const cubed_plan_group *groups; /* created in this order */
    int num_groups;
    /* Allows cooperative tasks: several workers perform one task of a copy together, and each worker holds a share of the
     * task's chunks. The planner uses such tasks if they save reads because they are larger than allowed_mem. Set it for
     * executors whose workers are threads. Other executors can run such a plan within the same memory, but they read more than
     * the plan reports. */
    bool share_tasks;
    /* Limits the reserved memory to a quarter of allowed_mem, even if reserved_mem is larger. */
    bool reserve_a_quarter;
    /* Workers run on other machines, so the memory of this machine does not limit them. Executors whose workers are on this
     * machine check its memory when they run the plan. */
    bool other_machines;
    /* number of workers on each of the other machines; 0: all workers share one machine */
    unsigned machine_workers;
    /* memory of each of the other machines in bytes; 0: unknown, so it is not checked */
    uint64_t machine_mem;
    /* Replaces the parameters of functions on blocks; may be NULL. The planner calls it at least once for each function. Equal
     * parameters must be replaced by equal parameters. *out is borrowed until the plan is created; set it to `params` if
     * nothing changes. */
    cubed_status (*params)(void *ctx, const char *function, const void *params, size_t size,
                           const void **out, size_t *out_size, cubed_error *err);
    void *params_ctx;
    /* Creates the arrays of the targets again for another allowed_mem, for arrays that depend on it by an argument `task_mem`;
     * may be NULL. If a plan is refused, the planner uses this function to advise an allowed_mem that is also valid for such
     * arrays.
     *
     * arrays[i] is the array of targets[i], which the function may replace. A replacement is borrowed until the next call and
     * until the plan is created. CUBED_E_BUDGET if the arrays need more than `allowed_mem`. */
    cubed_status (*remake)(void *ctx, uint64_t allowed_mem, cubed_array **arrays, cubed_error *err);
    void *remake_ctx;
    /* STORE or STORE::PATH of a Zarr group that keeps partial results of reductions, so that an update (cubed_run_options.update)
     * after a reduced axis has grown reads only new elements; NULL: updates compute such reductions again. The plan replaces the
     * arrays 0, 1, ... in the group. Only updates can run the plan. CUBED_E_ARG if the plan has no reduction over chunks of a
     * stored array. */
    const char *partials;
} cubed_plan_options;
#define CUBED_DEFAULT_RESERVED_MEM ((uint64_t)16 << 20)
#define CUBED_PLAN_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(cubed_plan_options), 0, CUBED_DEFAULT_RESERVED_MEM, 0, NULL, true, NULL, 0, true,   \
            false, false, 0, 0, NULL, NULL, NULL, NULL, NULL                                       \
    }

/* Creates a plan: decides stages and memory. Writes nothing. A target that exists and may not be overwritten is reported by the
 * run.
 *
 * Errors: CUBED_E_BUDGET if a task or the machine has too little memory. The message gives the operation, the memory that it
 * needs, and the memory that is allowed. It also gives a sufficient allowed_mem (err->enough_mem), and fewer workers if the
 * machine's memory requires this. The planner has verified this value by creating a plan with it. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_new(cubed_context *ctx,
                                                       const cubed_target *targets, int ntargets,
                                                       const cubed_plan_options *options,
                                                       cubed_plan **out, cubed_error *err);
/* Checks that several computations, which will run one after another, fit the same limits. Writes nothing.
 *
 * targets  the targets of all computations, those of the first computation first. If `options->remake` is set, it gets the arrays
 *          of all these targets in one call.
 * counts   the number of targets of each computation
 * nplans   the number of computations
 * options  limits for each computation. `options->groups` are created by the last one.
 *
 * Errors: those of cubed_plan_new for the first computation that is refused. The advice of CUBED_E_BUDGET (err->enough_mem)
 * is sufficient for all computations. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_check(cubed_context *ctx,
                                                         const cubed_target *targets,
                                                         const int *counts, int nplans,
                                                         const cubed_plan_options *options,
                                                         cubed_error *err);
/* Creates Zarr groups, and copies of Zarr arrays, without a plan. Use it if there is no array to compute.
 *
 * groups   n entries, created in this order; an entry with `copy_of` is a copy of an array
 * memory   maximum size in bytes of an object that is copied; 0: 2 GB
 * durable  makes written data survive a power failure */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_groups_make(cubed_context *ctx,
                                                          const cubed_plan_group *groups, int n,
                                                          uint64_t memory, bool durable,
                                                          cubed_error *err);
/* Take a reference and return the plan; release a reference (NULL is allowed). */
CUBED_API cubed_plan *cubed_plan_ref(cubed_plan *plan);
CUBED_API void cubed_plan_unref(cubed_plan *plan);

/* Sets the buffer of result number `target` (in the order of the targets), which has no url. `size` must be the bytes of the
 * result, and the buffer must not overlap memory that the plan reads. Must not be called while the plan runs. A loaded plan
 * has no addresses: bind its results in memory again before it runs. CUBED_E_ARG for a wrong target, size or buffer. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_bind_result(cubed_plan *plan, int target,
                                                               void *data, size_t size,
                                                               cubed_error *err);

/* Changes the limits of a plan, but not its stages and tasks. Must not be called while the plan runs. Fails with
 * CUBED_E_BUDGET, and changes nothing, if the memory is too small for the tasks or the machine.
 *
 * options  allowed_mem, reserved_mem, max_workers and work_dir replace the limits of the plan unless they are 0 or NULL. The
 *          options about machines are also used. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_set_limits(cubed_plan *plan,
                                                              const cubed_plan_options *options,
                                                              cubed_error *err);

/* Serialises a plan. The bytes have a version and a checksum, but no secrets. Relative paths become absolute, so that the
 * plan means the same in any directory.
 *
 * data  receives the bytes, which cubed_plan_free_bytes frees
 *
 * Errors: CUBED_E_UNSUPPORTED if the plan reads borrowed memory of more than 64 KiB. Smaller sources are part of the bytes. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_save(const cubed_plan *plan, void **data,
                                                        size_t *size, cubed_error *err);
CUBED_API void cubed_plan_free_bytes(const cubed_plan *plan, void *data, size_t size);
/* Creates a plan from the bytes of cubed_plan_save. Checks all bytes. Opens the sources, which must still have their shapes and
 * types. Refuses a plan that contains code: a user-defined function, which has all rights of this process.
 *
 * Errors: CUBED_E_FORMAT for bytes that are not a plan; CUBED_E_UNSUPPORTED for bytes of another version, and for functions
 * that the context does not know; CUBED_E_ARG for code. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_load(cubed_context *ctx, const void *data,
                                                        size_t size, cubed_plan **out,
                                                        cubed_error *err);
/* Creates a plan from the bytes of cubed_plan_save, and accepts code: a user-defined function. Use it only for plans from
 * people who may run programs on this machine. Errors: those of cubed_plan_load, except for code. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_load_code(cubed_context *ctx, const void *data,
                                                             size_t size, cubed_plan **out,
                                                             cubed_error *err);

/* Assumptions for comparing plans: uncompressed bytes per second that all workers together store or load, and seconds per
 * request. They are roughly those of a local disk. */
#define CUBED_ASSUMED_BANDWIDTH 1e9
#define CUBED_ASSUMED_LATENCY   1e-4
/* Assumed bytes per second that one worker reads or writes in memory. Processor time is estimated for such a machine; on
 * another machine it scales with that machine's speed. */
#define CUBED_ASSUMED_COMPUTE 1e10

/* Totals of a plan: see cubed_plan_get_info. */
typedef struct cubed_plan_info {
    int num_stages;
    int num_arrays; /* stored arrays: intermediates and results */
    int64_t num_tasks;
    uint64_t allowed_mem;   /* per worker */
    uint64_t reserved_mem;  /* per worker */
    uint64_t projected_mem; /* projection of the largest task of any stage, without reserved_mem */
    /* Bytes of the plan, of the arrays from which it was created, and of the tables of a run. Not included is the part that
     * reserved_mem covers: 4 MiB, or a quarter of reserved_mem if that is more. The memory of every worker includes these
     * bytes. */
    uint64_t metadata_mem;
    unsigned max_workers;
    uint64_t intermediate_budget; /* bytes for intermediates in memory, all workers together */
    uint64_t
        cache_budget; /* bytes for cached decoded chunks and shard indices, part of the memory that intermediates do not use */
    /* Upper bound on the memory of a process with all workers: tasks, plans, intermediates and caches. Does not include the
     * memory that the process held before the run, which reserved_mem covers. */
    uint64_t process_mem;
    uint64_t bytes_read;    /* decoded bytes of sources and intermediates */
    uint64_t bytes_written; /* decoded */
    uint64_t requests;      /* number of chunks that are read or written */
    uint64_t
        elements; /* elements of all arrays, including sources and virtual ones: a measure of the work */
    double seconds; /* estimate for all stages, one after another: see cubed_stage_info */
    double
        compute_seconds; /* processor time of all workers for decoding, computing and encoding; part of `seconds` */
    /* Bytes of targets in the caller's memory or in memory://, in addition to everything above. */
    uint64_t result_bytes;
    const char *work_dir; /* may be NULL */
    unsigned coop; /* maximum number of workers that share a task; 1 unless share_tasks is set */
    bool code;     /* the plan contains code: see cubed_plan_load_code */
    bool
        resumable; /* runs of the plan can be resumed: no source is a function, whose values may change between runs */
    bool
        waits; /* a source is a function, or a store is on another machine, so estimates of time may be inaccurate */
} cubed_plan_info;
/* Gets the totals of a plan. work_dir belongs to the plan. */
CUBED_API void cubed_plan_get_info(const cubed_plan *plan, cubed_plan_info *info);

/* Gets the places to which a document of the plan may refer. A document is a file of kerchunk references or a repository of
 * Icechunk. cubed_context_allow_references allowed these places when the arrays were opened; saved plans keep them.
 *
 * i         number of the document, from 0
 * document  receives the URL of the document
 *
 * Returns the places, one per line; NULL, with an unspecified *document, if there is no document with that number. Both strings
 * belong to the plan. */
CUBED_API const char *cubed_plan_get_references(const cubed_plan *plan, int i,
                                                const char **document);
/* Gets source number `i` among the sources whose server is known not to report versions of objects. A server that has answered
 * no request so far is unknown.
 *
 * i    from 0 on; arrays of one store are one source
 * url  receives the URL of the store, which belongs to the plan
 *
 * Returns CUBED_VALIDATOR_VERSION, and leaves *url unchanged, if there are no more such sources. */
CUBED_API cubed_validator cubed_plan_get_validator(const cubed_plan *plan, int i, const char **url);

/* Properties of one stage: see cubed_plan_get_stage. */
typedef struct cubed_stage_info {
    const char *name; /* description for people: "mean(u*v) -> uv" */
    int64_t num_tasks;
    unsigned coop; /* number of workers that execute a task together; 1 unless share_tasks is set */
    uint64_t projected_mem; /* projection of the largest task, for each worker that executes it */
    uint64_t bytes_read;
    uint64_t bytes_written;
    uint64_t chunks_read; /* number of chunks that are read, with one request each */
    uint64_t chunks_written;
    int num_inputs;  /* number of stored arrays that the stage reads */
    int num_outputs; /* number of stored arrays that the stage computes */
    /* Estimated processor time of one worker. compute_seconds: for operations, and for reading and writing the caller's memory.
     * read_seconds: for loading and decoding chunks. write_seconds: for encoding and storing chunks. */
    double compute_seconds, read_seconds, write_seconds;
    /* Estimated duration at the assumed speeds (CUBED_ASSUMED_*). It is (processor times above + time of the store) / number of
     * workers that have a task, but at least the time of the store. Each task reads, computes and writes in sequence; workers
     * run in parallel. */
    double seconds;
} cubed_stage_info;
/* Gets stage number `stage`, in the order of planning. Strings belong to the plan. CUBED_E_INDEX if there is no such
 * stage. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_get_stage(const cubed_plan *plan, int stage,
                                                             cubed_stage_info *info,
                                                             cubed_error *err);
/* One stored array of a stage: an input or an output. */
typedef struct cubed_stored_info {
    int id;           /* an array has the same ID in every stage */
    const char *name; /* URL, "memory", cubed_target.name, "result" or "intermediate" */
    bool is_source, is_target;
    const char *
        why; /* human-readable reason why the array is stored, not recomputed where it is read; "" for sources */
    cubed_dtype dtype;
    int ndim;
    int64_t shape[CUBED_MAX_NDIM];
    int64_t chunks[CUBED_MAX_NDIM];
    /* The caller's array that has these elements; NULL for an array that the planner added, and in loaded plans. Use the
     * pointer only for comparisons. It is valid as long as the caller holds the array. */
    const cubed_array *array;
} cubed_stored_info;
/* Get input number i (of num_inputs) or output number i (of num_outputs) of a stage. CUBED_E_INDEX if i is out of range. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_get_input(const cubed_plan *plan, int stage,
                                                             int i, cubed_stored_info *info,
                                                             cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_get_output(const cubed_plan *plan, int stage,
                                                              int i, cubed_stored_info *info,
                                                              cubed_error *err);
/* Returns the name of codec number i of the chunks of the Zarr array with this ID, in the order of encoding, including the
 * codecs within shards; NULL if there are no more, or if the array is not a Zarr array. */
CUBED_API const char *cubed_plan_get_codec(const cubed_plan *plan, int id, int i);
/* All operations of one kind on elements of one size in a stage. */
typedef struct cubed_operation_info {
    const char *
        name; /* cubed_op_name, "cast", the name of a reduction such as "sum", or of a function on blocks such as "sort" */
    /* Number of operations: for reductions, elements of the input; for matrix products, rows times columns times the shared
     * extent. */
    double elements;
    size_t item_size; /* bytes of the largest element among the operands */
    double seconds;   /* processor time; part of compute_seconds of the stage */
} cubed_operation_info;
/* Gets at most `cap` operations of a stage; *n receives an upper bound of their total number. CUBED_E_INDEX if there is no
 * such stage. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_get_operations(const cubed_plan *plan, int stage,
                                                                  cubed_operation_info *list,
                                                                  int cap, int *n,
                                                                  cubed_error *err);
/* Gets the index, along each axis, of the first output chunk of a task. CUBED_E_INDEX if there is no such stage or task. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_get_block(const cubed_plan *plan, int stage,
                                                             int64_t task,
                                                             int64_t block[CUBED_MAX_NDIM],
                                                             int *ndim, cubed_error *err);
/* Gets at most `cap` distinct origins (cubed_array_set_origin) of the arrays that a stage computes or reads from sources,
 * starting with the last array; *n receives their total number. CUBED_E_INDEX if there is no such stage. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_plan_get_origins(const cubed_plan *plan, int stage,
                                                               uint32_t *origins, int cap, int *n,
                                                               cubed_error *err);
/* Assumptions for requests to stores on other machines, and for their rates: seconds until the first byte of a reply, and bytes
 * per second of one worker. */
#define CUBED_ASSUMED_REPLY      0.03
#define CUBED_ASSUMED_WORKER_NET 8e7
/* Requests of a run to all stores of one scheme, such as s3://. A run's first requests open its arrays. Only schemes whose stores
 * are on other machines are counted. The numbers are upper bounds; only repeated requests (after a failure, or because a reply is
 * late) are not included. */
typedef struct cubed_store_traffic {
    const char *scheme; /* "s3" */
    uint64_t gets, heads;
    uint64_t puts;  /* puts, including all requests of uploads in parts */
    uint64_t lists; /* pages of listings */
    uint64_t
        copies; /* copies that move new arrays to the places of existing ones; 0 if no array exists there */
    uint64_t deletes; /* deletions, which services do not charge */
    /* Number of the `gets` that are saved if two conditions hold: the caches of workers have the chunks that other tasks read
     * before, and all chunks of a shard are read together. */
    uint64_t saved;
    uint64_t bytes_read, bytes_written; /* decoded */
    /* Requests per second to one prefix of keys: an array, or a part of an intermediate.
     *
     * get_rate, put_rate    highest number of gets, and of puts, copies and deletions, if all workers begin at the same time and
     *                       run at the assumed speeds
     * get_limit, put_limit  limits of the service for a prefix; 0: unknown
     * limit_seconds         time that waiting for these limits adds to the run */
    double get_rate, put_rate, get_limit, put_limit, limit_seconds;
} cubed_store_traffic;
/* Gets the traffic of each scheme, at most `cap` schemes; *n receives the number of all schemes. The strings live as long as
 * the library. Sends requests to stores on other machines, to find out whether arrays that the plan may overwrite exist.
 *
 * apart  workers do not share memory, so intermediates are in the work directory */
CUBED_API void cubed_plan_get_traffic(const cubed_plan *plan, bool apart, cubed_store_traffic *list,
                                      int cap, int *n);
/* Estimated use of workers by a run, at the assumed speeds. */
typedef struct cubed_worker_usage {
    double worker_seconds; /* seconds of all workers together */
    /* worker_seconds times allowed_mem, in units of 10^9 bytes times seconds */
    double gb_seconds;
} cubed_worker_usage;
/* Gets the use of workers. `apart` is true if workers do not share memory, so that intermediates are in the work directory. */
CUBED_API void cubed_plan_get_usage(const cubed_plan *plan, bool apart, cubed_worker_usage *usage);
/* Prices in US dollars: of 10^6 requests (get, put), and of 10^9 bytes (read, written). */
typedef struct cubed_store_price {
    double get, put, read, written;
} cubed_store_price;
/* Gets approximate list prices of the service that a scheme ("s3", "gs", "az") names, for requests from its region; all 0 for
 * services that charge nothing. Returns false, with all 0, for a scheme without traffic. */
CUBED_API bool cubed_store_list_price(const char *scheme, cubed_store_price *price);
/* Returns the cost of traffic in US dollars, including bytes read and written. Gets and heads have the price of a get; puts,
 * lists and copies have the price of a put. Deletions are free. */
CUBED_API double cubed_traffic_cost(const cubed_store_traffic *traffic,
                                    const cubed_store_price *price);
/* Gets warning number i, from 0: a sentence for people about a slow part of the plan and a faster alternative. Writes at most
 * `cap` bytes into `text`, terminating NUL included. Returns false if there are no more warnings. */
CUBED_API bool cubed_plan_get_warning(const cubed_plan *plan, int i, char *text, size_t cap);
/* Returns a sentence that states why two stages read the same array separately; NULL if they read no array in common, or are
 * the same stage. A static string. */
CUBED_API const char *cubed_plan_why_apart(const cubed_plan *plan, int stage, int other);

#ifdef __cplusplus
}
#endif

#endif
