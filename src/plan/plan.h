/* A whole plan: nodes, stages, limits. See cubed/plan.h. */
#ifndef CB_PLAN_PLAN_H
#define CB_PLAN_PLAN_H

#include <stdatomic.h>

#include "cubed/plan.h"
#include "place/place.h"
#include "plan/context.h"
#include "plan/ir.h"
#include "plan/stage.h"
#include "zarr/zarr.h"

/* What is needed to read or write chunks of a Zarr source or target. */
typedef struct cb_storage {
    cb_zarr_meta meta; /* sources and targets with a URL; strings in the plan's zone */
    cb_place place;
    cubed_store *store;   /* sources: open while the plan lives */
    cb_zarr_array *array; /* the same */
} cb_storage;

/* See cubed/plan.h; strings in the plan's zone. */
typedef struct cb_plan_group {
    const char *url, *attrs;
    int format;
    bool consolidate;
} cb_plan_group;

/* One more than a plan may have. */
#define CB_MAX_WORKERS (1 << 20)

struct cubed_plan {
    atomic_int refs;
    cubed_context *ctx;   /* referenced */
    cb_zone *zone;        /* owns groups and limits */
    cb_ir ir;             /* its zone owns all else that the plan points to */
    cb_storage **storage; /* one per node, NULL of those without a URL */
    bool *
        reused; /* per node: tasks read the same chunks, decoded ones are kept while there is room */
    int nstages;
    cb_stage *stages; /* inputs before users */
    /* Arrays over memory that has an owner, referenced. */
    cubed_array **owned;
    int nowned, owned_cap;
    int ntargets;
    int *targets; /* node numbers, in the caller's order */
    int ngroups;
    cb_plan_group *groups;
    uint64_t allowed_mem, reserved_mem;
    uint64_t
        library_mem; /* while the plan is made: of libraries, which arenas leave free (opt/build.c) */
    unsigned max_workers;
    bool other_machines;      /* workers run there: see cubed_plan_options */
    unsigned machine_workers; /* that share a machine; 0: all */
    uint64_t machine_mem;     /* what it has; 0: not known here */
    bool share_tasks;         /* while it is made: see cubed_plan_options */
    bool optimized;           /* the same; a loaded plan is not known to be */
    bool reserve_a_quarter;   /* the same, */
    uint64_t wanted_reserve;  /* and what is reserved if that is no more than a quarter */
    const char *work_dir;     /* NULL: none */
    cb_need need;             /* of the largest task of any stage */
    uint64_t graph_mem;       /* of the arrays that it was made of */
    uint64_t metadata;        /* see cb_plan_metadata */
    uint64_t metadata_mem;    /* what of it is counted beside tasks and reserved_mem */
    uint64_t intermediate_budget, result_bytes;
    uint64_t cache_bytes; /* of everything that is worth keeping to be read again */
};

/* How long stages take: sets the processor time of each. */
CUBED_MUST_CHECK cubed_status cb_plan_estimate(cubed_plan *p, cubed_error *err);
/* The times of a stage. */
void cb_stage_seconds(const cubed_plan *p, const cb_stage *s, cubed_stage_info *info);

/* An empty plan with a zone; one reference. */
CUBED_MUST_CHECK cubed_status cb_plan_alloc(cubed_context *ctx, cubed_plan **out, cubed_error *err);
/* Room for what is known of each node's storage: nothing yet. */
CUBED_MUST_CHECK cubed_status cb_plan_alloc_storage(cubed_plan *p, cubed_error *err);
/* Opens sources and works out the metadata of targets, for nodes that have none yet. A source must
 * have the shape and type that its node says. */
CUBED_MUST_CHECK cubed_status cb_plan_open_storage(cubed_plan *p, cubed_error *err);
/* Gives a node its place, and what is known of it already. */
CUBED_MUST_CHECK cubed_status cb_plan_add_storage(cubed_plan *p, int node, const cb_storage *from,
                                                  cubed_error *err);
/* Works out the metadata of one target, whose chunks are others than before. */
CUBED_MUST_CHECK cubed_status cb_plan_target(cubed_plan *p, int node, cubed_error *err);
/* From nodes and the outputs and tasks of stages: compiles, projects, and checks the budget. */
CUBED_MUST_CHECK cubed_status cb_plan_finish(cubed_plan *p, cubed_error *err);
/* The chunks of a Zarr array that can be read by themselves; points into the metadata. */
cb_grid cb_plan_zarr_grid(const cb_zarr_meta *m);
#define CB_STORE_BYTES ((size_t)512) /* an open one, beside its address */
/* What a run's tables take, at most: per node, target and stage; per chunk of an intermediate, where it is and how many
 * will read it, beside a bit for whether it exists; and per task that is held while it waits for chunks: no more
 * than CB_RUN_WINDOW, or one of each stage. The runtime asserts them. */
#define CB_RUN_NODE_BYTES   ((size_t)96)
#define CB_RUN_TARGET_BYTES ((size_t)3072)
#define CB_RUN_STAGE_BYTES  ((size_t)64)
#define CB_RUN_CHUNK_BYTES  ((size_t)12)
#define CB_RUN_HELD_BYTES   ((size_t)20)
#define CB_RUN_WINDOW       ((int64_t)1 << 16)
uint64_t cb_plan_run_bytes(const cubed_plan *p);
/* Bytes of the plan, of the arrays that it was made of and of a run's tables. Stages are projected. */
uint64_t cb_plan_metadata(const cubed_plan *p);
/* The same, however many tasks come to wait for chunks when passes are put into a copy. */
uint64_t cb_plan_most_metadata(const cubed_plan *p);
/* So much of them is part of what reserved_mem is for: a quarter of it, and what any process has room for. */
#define CB_PLAN_FREE_BYTES ((uint64_t)4 << 20)
uint64_t cb_plan_uncounted_metadata(uint64_t reserved_mem);
uint64_t cb_plan_counted_metadata(uint64_t metadata, uint64_t reserved_mem);
/* Memory that projections leave: of all workers, or of each. */
uint64_t cb_plan_spare(const cubed_plan *p, bool all);
/* Marks the arrays of which decoded chunks are worth keeping; bytes of all of them, and of indices of
 * shards. */
uint64_t cb_plan_mark_reuse(cubed_plan *p);
/* How often loads that want it kept read a chunk of such an array, in all; SIZE_MAX: not known. */
size_t cb_plan_chunk_reads(const cubed_plan *p, int node, const int64_t *idx);
/* Writes the plan's bytes (serial.h), without the header. */
CUBED_MUST_CHECK cubed_status cb_plan_write(const cubed_plan *p, cb_plan_use use, cb_buf *out,
                                            cubed_error *err);
/* Names what is computed, with the contents of arrays in memory, which are all read for it, and not how: 32 digits.
 * Sources in stores count by their places. */
#define CB_PLAN_ID_CAP 33
CUBED_MUST_CHECK cubed_status cb_plan_identify(const cubed_plan *p, char id[CB_PLAN_ID_CAP],
                                               cubed_error *err);
/* Whether that is so: functions that are sources have contents that nobody knows. */
bool cb_plan_is_known(const cubed_plan *p);
/* What is believed of a plan's bytes: that they are data, which is checked; that their code may run; that
 * they come from the driver of this worker process. */
typedef enum cb_plan_trust { CB_TRUST_DATA, CB_TRUST_CODE, CB_TRUST_DRIVER } cb_plan_trust;
/* cubed_plan_save and _load (exec/finish.c: what was read, with its stages compiled); a worker's plan has sources whose data is still NULL. */
CUBED_MUST_CHECK cubed_status cb_plan_save(const cubed_plan *p, cb_plan_use use, void **data,
                                           size_t *size, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_plan_read(cubed_context *ctx, const void *data, size_t size,
                                           cb_plan_trust trust, cubed_plan **out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_plan_load(cubed_context *ctx, const void *data, size_t size,
                                           cb_plan_trust trust, cubed_plan **out, cubed_error *err);
/* Memory sources up to this size travel in the plan. */
#define CB_PLAN_EMBED_BYTES ((size_t)64 << 10)
/* Whether the node is a source in memory that does not; its bytes if it is one. */
bool cb_plan_is_shared(const cb_node *n, size_t *size);

/* Whether result number `target` goes to memory, and its bytes. */
bool cb_plan_memory_result(const cubed_plan *p, int target, size_t *size);

/* Puts where the program made what the stage computes into its error. */
void cb_plan_say_origins(const cubed_plan *p, int stage, cubed_error *err);

/* The place of a URL, for which there must be a kind of store. */
CUBED_MUST_CHECK cubed_status cb_plan_find_place(const cubed_context *ctx, cb_zone *zone,
                                                 const char *url, cb_place *out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_plan_check_work_dir(const cubed_context *ctx, const char *url,
                                                     cubed_error *err);
/* Whether other processes see all stores. */
CUBED_MUST_CHECK cubed_status cb_plan_check_shared(const cubed_context *ctx, const cb_ir *ir,
                                                   cubed_error *err);
/* CUBED_E_ARG if what the plan writes would destroy what it reads, or something else that it writes, however these
 * places are spelled. Called when it is made, and when a run begins with `again`: places are then parsed anew. */
CUBED_MUST_CHECK cubed_status cb_plan_check_places(const cubed_plan *p, bool again,
                                                   cubed_error *err);

#endif
