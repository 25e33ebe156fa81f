/* A whole plan: nodes, stages, limits (cubed/plan.h). */
#ifndef CB_PLAN_PLAN_H
#define CB_PLAN_PLAN_H

#include <stdatomic.h>

#include "context/context.h"
#include "cubed/plan.h"
#include "place/place.h"
#include "plan/ir.h"
#include "plan/stage_types.h"
#include "zarr/zarr.h"

/* Storage of a source or target: its Zarr array. */
typedef struct cb_storage {
    cb_zarr_meta meta; /* sources and targets with a URL; strings in the plan's zone */
    cb_place place;
    /* name of the place in records of updates: place.text. In Icechunk repositories, the name is the same for all snapshots; if a
     * plan reads several snapshots of a repository, they are numbered in the order of their nodes */
    const char *origin;
    cubed_store *store;   /* for sources: the store, open as long as the plan exists */
    cb_zarr_array *array; /* for sources: the Zarr array, open as long as the plan exists */
    cb_opened *opened;    /* for sources: owns `store` and `array`, which other plans may share */
    int64_t length; /* for regions that extend an array: the length of the array before the run */
} cb_storage;

/* A group that the run creates (cubed_plan_options.groups). Strings are in the plan's zone. */
typedef struct cb_plan_group {
    const char *url, *attrs, *copy_of;
    const char *
        references; /* places that the user lets the document at `copy_of` refer to (place/confine.h); NULL: no places */
    int format;
    bool consolidate, overwrite;
} cb_plan_group;

/* Size of a plan's ID, including the terminating NUL: CUBED_PLAN_ID_CAP of cubed/run.h. */
#define CB_PLAN_ID_CAP 33
/* The number of workers is less than this. */
#define CB_MAX_WORKERS (1 << 20)

/* Members of a plan that are used only while it is made. They are zero in a loaded plan. */
typedef struct cb_plan_making {
    /* bytes of memory that libraries allocate; not available to arenas (opt/build.c) */
    uint64_t library_mem;
    bool share_tasks;        /* see cubed_plan_options */
    bool optimized;          /* the plan is optimised */
    bool reserve_a_quarter;  /* reserved_mem must be at most a quarter of allowed_mem */
    uint64_t wanted_reserve; /* requested reserved_mem, before it was limited to a quarter */
} cb_plan_making;

/* The members of a plan that workers change while they run its tasks (run/driver/work.c). */
typedef struct cb_plan_worker {
    _Atomic(struct cb_io *) opened; /* the run opened by the last message */
    void (*_Atomic close_opened)(cubed_plan *p);
    _Atomic uint64_t held_mem; /* value that reports return as cubed_task_report.process_mem */
    _Atomic uint64_t limit;    /* limit of private memory (cb_memory_limit_begin); 0: unknown */
} cb_plan_worker;

/* Identifies what is computed, regardless of the extents of arrays, so that a later plan with longer sources is recognised
 * (cb_plan_note_growth). Empty in loaded plans, and in plans without sources and targets in stores. */
typedef struct cb_growth {
    uint8_t hash[16];
    const void *
        axes; /* serialised extents of all nodes, and whether they may grow (growth.c); in the plan's zone */
    size_t size; /* size of `axes` in bytes; 0 if the growth is unknown */
} cb_growth;

/* A plan. After it is made, only these members change: refs, id, worker, the addresses of results in `ir`
 * (cubed_plan_bind_result), and the limits with the members that follow from them (cubed_plan_set_limits). */
struct cubed_plan {
    atomic_int refs;
    cubed_context *ctx;   /* the plan holds a reference to it */
    cb_zone *zone;        /* owns the strings of groups and limits */
    cb_ir ir;             /* the zone of `ir` owns everything else that the plan points to */
    cb_storage **storage; /* one pointer for each node; NULL for nodes without a URL */
    /* One flag for each node. True: tasks read its chunks repeatedly, so its decoded chunks are cached if memory allows. */
    bool *reused;
    int nstages;
    cb_stage *stages; /* each stage comes after the stages that it reads from */
    /* Arrays whose memory has an owner (cubed_array_set_owner). The plan holds a reference to each of them, so the memory lives
     * at least as long as the plan. */
    cubed_array **owned;
    int nowned, owned_cap;
    int ntargets;
    int *targets; /* node numbers, in the caller's order */
    int ngroups;
    cb_plan_group *groups;
    uint64_t allowed_mem, reserved_mem;
    unsigned max_workers;
    bool other_machines;      /* workers run on other machines (cubed_plan_options) */
    unsigned machine_workers; /* number of workers on each machine; 0 if all are on one machine */
    uint64_t machine_mem;     /* memory in bytes of the workers' machine; 0 if unknown */
    const char *work_dir;     /* NULL if the plan has no work directory */
    char id
        [CB_PLAN_ID_CAP]; /* ID of a fetched plan; "" for other plans, whose ID cb_plan_identify computes */
    uint8_t goal[16]; /* hash of the request without contents: see cb_plan_note_goal */
    cb_growth growth;
    /* growth of the nodes at and below kept states alone: cb_plan_note_states_growth */
    cb_growth states_growth;
    bool maps_sources;  /* the plan has mapped the memory that nodes read, and unmaps it */
    cb_need need;       /* memory of the largest task of any stage */
    uint64_t graph_mem; /* memory in bytes of the arrays that the plan was made from */
    uint64_t metadata;  /* see cb_plan_metadata */
    /* The part of `metadata` that is counted in addition to the tasks and to reserved_mem. */
    uint64_t metadata_mem;
    /* For a warning: another plan, with somewhat more memory, that moves far fewer bytes. If there is no such plan, and in
     * loaded plans, cliff_mem is 0. */
    uint64_t cliff_mem; /* allowed_mem of the compared plan */
    uint64_t cliff_bytes,
        cliff_requests; /* bytes and requests of the compared plan's reads and writes */
    uint64_t intermediate_budget, result_bytes;
    uint64_t cache_bytes; /* size of all chunks that are worth caching */
    /* Prefetching by each worker. fetch_depth: maximum number of concurrent requests. fetch_joins: chunks of one shard are read
     * together. fetch_bytes, fetch_buffers: memory for the requests. */
    unsigned fetch_depth;
    bool fetch_joins;
    /* fetch_buffers does not include the memory of connections */
    uint64_t fetch_bytes, fetch_buffers;
    cb_reads *reads; /* reads of all stages; NULL if no store has latency */
    cb_plan_making making;
    cb_plan_worker worker;
};

/* Creates an empty plan with a zone and one reference. */
CUBED_MUST_CHECK cubed_status cb_plan_alloc(cubed_context *ctx, cubed_plan **out, cubed_error *err);
/* Allocates empty storage entries for the nodes. */
CUBED_MUST_CHECK cubed_status cb_plan_alloc_storage(cubed_plan *p, cubed_error *err);
/* Creates the storage entry of each node with a URL, and parses the place of the URL. Does not open stores. Hashes of the plan
 * use these places. */
CUBED_MUST_CHECK cubed_status cb_plan_find_places(cubed_plan *p, cubed_error *err);
/* For nodes without storage: opens sources, and determines the metadata of targets. A source must have the shape and type of
 * its node. Reuses the stores and arrays that `like`, a plan of the same arrays, has opened; `like` may be NULL. */
CUBED_MUST_CHECK cubed_status cb_plan_open_storage(cubed_plan *p, const cubed_plan *like,
                                                   cubed_error *err);
/* Returns the number of sources to open concurrently, with a thread for each (cb_pool_each). */
unsigned cb_plan_sources_at_once(const cubed_plan *p);
/* Sets the place of a node, and the metadata that is known already. */
CUBED_MUST_CHECK cubed_status cb_plan_add_storage(cubed_plan *p, int node, const cb_storage *from,
                                                  cubed_error *err);
/* Determines the metadata of one target again, after its chunks have changed. */
CUBED_MUST_CHECK cubed_status cb_plan_target(cubed_plan *p, int node, cubed_error *err);
/* Return the grid of the stored objects of a Zarr array, and the grid of the chunks that can be read separately. The grids point
 * into the metadata. */
cb_grid cb_plan_object_grid(const cb_zarr_meta *m);
cb_grid cb_plan_zarr_grid(const cb_zarr_meta *m);
/* Maximum sizes in bytes of the tables that a run keeps:
 *
 * NODE, TARGET, STAGE  for each node, target and stage
 * CHUNK                for each chunk of an intermediate: its place and number of readers; a bit for its existence is not
 *                      included
 * HELD                 for each task that waits for chunks. At most CB_RUN_WINDOW tasks wait at the same time, or one per stage
 *                      if that is more.
 *
 * src/run and src/chunks assert these sizes. */
#define CB_RUN_NODE_BYTES   ((size_t)96)
#define CB_RUN_TARGET_BYTES ((size_t)3072)
#define CB_RUN_STAGE_BYTES  ((size_t)80)
#define CB_RUN_CHUNK_BYTES  ((size_t)12)
#define CB_RUN_HELD_BYTES   ((size_t)20)
#define CB_RUN_WINDOW       ((int64_t)1 << 16)
/* Returns the memory of a task of a stage, including concurrent prefetches. */
static inline uint64_t cb_plan_projected(const cubed_plan *p, const cb_stage *s)
{
    return cb_sat_add(cb_sat_add(s->need.arena, s->need.library), p->fetch_bytes);
}
/* Serialises the plan (serial.h), without the header. */
CUBED_MUST_CHECK cubed_status cb_plan_write(const cubed_plan *p, cb_plan_use use, cb_buf *out,
                                            cubed_error *err);
/* Records a hash of the request, the plan's "goal": the nodes before the optimiser changes them. Plans for another number of
 * workers or other limits may have other intermediates, but write the same data to targets. */
CUBED_MUST_CHECK cubed_status cb_plan_note_goal(cubed_plan *p, cubed_error *err);
/* Records the request without the extents of arrays, so that a later plan of the same request is recognised after its sources
 * have grown. Call it with the nodes before the optimiser changes them. */
CUBED_MUST_CHECK cubed_status cb_plan_note_growth(cubed_plan *p, cubed_error *err);
/* Like cb_plan_note_growth, for the nodes at and below the reductions whose states are kept (keeps[i] for each node). The first
 * axis that such a reduction reduces may grow. */
CUBED_MUST_CHECK cubed_status cb_plan_note_states_growth(cubed_plan *p, const bool *keeps,
                                                         cubed_error *err);
/* Returns true if node number `node` has states of a reduction that the plan keeps for updates: a further target of the plan. */
bool cb_plan_keeps_states(const cubed_plan *p, int node);
/* Sets `name` to a hash of the request without extents, and of the contents of arrays in memory. Sets it to "" if the growth is
 * unknown (cb_growth).
 *
 * states  of the nodes at and below kept states only (cb_plan_note_states_growth) */
CUBED_MUST_CHECK cubed_status cb_plan_identify_growth(const cubed_plan *p, bool states,
                                                      char name[CB_PLAN_ID_CAP], cubed_error *err);
/* Result of comparing the extents of two plans (cb_growth_compare). */
typedef enum cb_grown {
    CB_GROWN_SAME,   /* all extents are equal */
    CB_GROWN_LONGER, /* arrays have grown, and common elements are computed in the same way */
    CB_GROWN_FIXED, /* an axis has grown on which existing elements depend, such as a reduced axis */
    CB_GROWN_SHRUNK, /* an axis is shorter */
    CB_GROWN_UNKNOWN /* the bytes belong to another request */
} cb_grown;
/* Compares the extents of two plans with the same cb_growth.hash. `before` is cb_growth.axes of the earlier plan; the bytes may
 * be damaged. */
cb_grown cb_growth_compare(const void *before, size_t size, const cb_growth *now);
/* Computes the plan's ID and its goal, each as 32 digits and a terminating NUL. The ID is a hash of the computation regardless
 * of its execution; the goal is a hash of the request. Reads all contents of arrays in memory, once. Sources in stores are
 * identified by their places.
 *
 * goal  CB_PLAN_ID_CAP bytes; may be NULL */
CUBED_MUST_CHECK cubed_status cb_plan_identify(const cubed_plan *p, char id[CB_PLAN_ID_CAP],
                                               char *goal, cubed_error *err);
/* Like cb_plan_identify, but plans that differ only in their snapshots of Icechunk repositories have equal IDs. The goals differ.
 * The ID of a fetched plan is the plan's ID. */
CUBED_MUST_CHECK cubed_status cb_plan_identify_update(const cubed_plan *p, char id[CB_PLAN_ID_CAP],
                                                      char *goal, cubed_error *err);
/* Computes the ID of a plan that no longer changes, and stores it in the plan, so that a worker can compare it with the ID in
 * each message. Does nothing if the plan has no ID because it reads from functions. */
CUBED_MUST_CHECK cubed_status cb_plan_keep_id(cubed_plan *p, cubed_error *err);
/* Returns true if the plan can have an ID that identifies all contents that it reads. Contents of sources that are functions
 * are unknown. */
bool cb_plan_is_known(const cubed_plan *p);
/* Trust in a plan's bytes.
 *
 * DATA    the bytes are checked, and code in them is refused
 * CODE    code in the bytes may run
 * DRIVER  the bytes come from the driver of this worker process */
typedef enum cb_plan_trust { CB_TRUST_DATA, CB_TRUST_CODE, CB_TRUST_DRIVER } cb_plan_trust;
/* Serialise and deserialise a plan. The stages of a deserialised plan are not compiled yet (exec/operators/finish.h). */
CUBED_MUST_CHECK cubed_status cb_plan_save(const cubed_plan *p, cb_plan_use use, void **data,
                                           size_t *size, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_plan_read(cubed_context *ctx, const void *data, size_t size,
                                           cb_plan_trust trust, cubed_plan **out, cubed_error *err);
/* Memory sources up to this size are part of the plan's bytes. */
#define CB_PLAN_EMBED_BYTES ((size_t)64 << 10)
/* Returns true if the node is a memory source too large for the plan's bytes. *size is its size if the node is in
 * memory. */
bool cb_plan_is_shared(const cb_node *n, size_t *size);

/* Returns true if result number `target` goes to memory, and sets its size. */
bool cb_plan_memory_result(const cubed_plan *p, int target, size_t *size);

/* Parses the place of a URL. A store must support it. */
CUBED_MUST_CHECK cubed_status cb_plan_find_place(const cubed_context *ctx, cb_zone *zone,
                                                 const char *url, cb_place *out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_plan_check_work_dir(const cubed_context *ctx, const char *url,
                                                     cubed_error *err);
/* Checks that other processes can access all stores. */
CUBED_MUST_CHECK cubed_status cb_plan_check_shared(const cubed_context *ctx, const cb_ir *ir,
                                                   cubed_error *err);
/* Returns true if a run in this process writes to no place: the plan has no intermediates, groups or results in stores. */
bool cb_plan_writes_nothing(const cubed_plan *p);
/* Fails with CUBED_E_ARG if an output of the plan would destroy an input or another output, even if the URLs of one place
 * differ. Called when the plan is made, and when a run begins.
 *
 * again  parses the places again; set when a run begins */
CUBED_MUST_CHECK cubed_status cb_plan_check_places(const cubed_plan *p, bool again,
                                                   cubed_error *err);

#endif
