/* A whole plan: nodes, stages, limits. See cubed/plan.h. */
#ifndef CB_PLAN_PLAN_H
#define CB_PLAN_PLAN_H

#include <stdatomic.h>

#include "cubed/plan.h"
#include "place/place.h"
#include "plan/context.h"
#include "plan/ir.h"
#include "plan/stage_types.h"
#include "zarr/zarr.h"

/* What is needed to read or write chunks of a Zarr source or target. */
typedef struct cb_storage {
    cb_zarr_meta meta; /* sources and targets with a URL; strings in the plan's zone */
    cb_place place;
    cubed_store *store;   /* sources: open while the plan lives */
    cb_zarr_array *array; /* the same */
    atomic_int *plans;    /* that share these two, of a source */
} cb_storage;

/* See cubed/plan.h; strings in the plan's zone. */
typedef struct cb_plan_group {
    const char *url, *attrs, *copy_of;
    const char *references; /* of the document at copy_of: cb_node.references */
    int format;
    bool consolidate, overwrite;
} cb_plan_group;

/* The number of workers is below this. */
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
    char id[33];              /* of a plan that was fetched; "": see cb_plan_identify */
    /* A worker's: the run that its last message opened, and what closes that (run/driver/work.c). */
    _Atomic(struct cb_io *) opened;
    void (*_Atomic close_opened)(cubed_plan *p);
    _Atomic uint64_t held_mem; /* cubed_task_report.process_mem of that worker */
    uint8_t goal[16];          /* what was asked for, but contents: see cb_plan_note_goal */
    bool maps_sources;         /* what nodes read of memory are its mappings */
    cb_need need;              /* of the largest task of any stage */
    uint64_t graph_mem;        /* of the arrays that it was made of */
    uint64_t metadata;         /* see cb_plan_metadata */
    uint64_t metadata_mem;     /* what of it is counted beside tasks and reserved_mem */
    /* Set where somewhat more memory would spare most of what a run moves; cliff_mem is 0 elsewhere, also in loaded plans. */
    uint64_t cliff_mem;                   /* the allowed_mem of the plan that was compared */
    uint64_t cliff_bytes, cliff_requests; /* that it reads and writes */
    uint64_t intermediate_budget, result_bytes;
    uint64_t cache_bytes; /* of everything that is worth keeping to be read again */
    /* What each worker asks for before it wants it: so many requests at a time, and memory for what they bring; whether
     * chunks of one shard are read together. */
    unsigned fetch_depth;
    bool fetch_joins;
    uint64_t fetch_bytes, fetch_buffers; /* buffers: without what connections take */
    cb_reads *reads;                     /* of all stages; NULL: no store has to wait */
};

/* An empty plan with a zone; one reference. */
CUBED_MUST_CHECK cubed_status cb_plan_alloc(cubed_context *ctx, cubed_plan **out, cubed_error *err);
/* Room for what is known of each node's storage: nothing yet. */
CUBED_MUST_CHECK cubed_status cb_plan_alloc_storage(cubed_plan *p, cubed_error *err);
/* Opens sources and works out the metadata of targets, for nodes that have none yet. A source must
 * have the shape and type that its node says. What `like`, a plan of the same arrays, has open is shared with it; NULL:
 * there is none. */
CUBED_MUST_CHECK cubed_status cb_plan_open_storage(cubed_plan *p, const cubed_plan *like,
                                                   cubed_error *err);
/* How many of the sources to ask for at once, a thread for each (cb_pool_each). */
unsigned cb_plan_sources_at_once(const cubed_plan *p);
/* Gives a node its place, and what is known of it already. */
CUBED_MUST_CHECK cubed_status cb_plan_add_storage(cubed_plan *p, int node, const cb_storage *from,
                                                  cubed_error *err);
/* Works out the metadata of one target, whose chunks are others than before. */
CUBED_MUST_CHECK cubed_status cb_plan_target(cubed_plan *p, int node, cubed_error *err);
/* The stored objects of a Zarr array, and the chunks that can be read by themselves; point into the metadata. */
cb_grid cb_plan_object_grid(const cb_zarr_meta *m);
cb_grid cb_plan_zarr_grid(const cb_zarr_meta *m);
/* What a run's tables take, at most: per node, target and stage; per chunk of an intermediate, where it is and how many
 * will read it, beside a bit for whether it exists; and per task that is held while it waits for chunks: no more
 * than CB_RUN_WINDOW, or one of each stage. src/run and src/chunks assert them. */
#define CB_RUN_NODE_BYTES   ((size_t)96)
#define CB_RUN_TARGET_BYTES ((size_t)3072)
#define CB_RUN_STAGE_BYTES  ((size_t)80)
#define CB_RUN_CHUNK_BYTES  ((size_t)12)
#define CB_RUN_HELD_BYTES   ((size_t)20)
#define CB_RUN_WINDOW       ((int64_t)1 << 16)
/* What a task of a stage takes, with what is fetched ahead meanwhile. */
static inline uint64_t cb_plan_projected(const cubed_plan *p, const cb_stage *s)
{
    return cb_sat_add(cb_sat_add(s->need.arena, s->need.library), p->fetch_bytes);
}
/* Writes the plan's bytes (serial.h), without the header. */
CUBED_MUST_CHECK cubed_status cb_plan_write(const cubed_plan *p, cb_plan_use use, cb_buf *out,
                                            cubed_error *err);
/* Notes what is asked for, before it is decided how: nodes as they were flattened. Plans for another number of workers or
 * other limits may have other intermediates, but what they write into targets is the same. */
CUBED_MUST_CHECK cubed_status cb_plan_note_goal(cubed_plan *p, cubed_error *err);
/* Names what is computed and not how, and what was asked for (`goal`, of CB_PLAN_ID_CAP; NULL: nobody wants it): 32 digits
 * each, with the contents of arrays in memory, which are all read for it, once. Sources in stores count by their places. */
#define CB_PLAN_ID_CAP 33
CUBED_MUST_CHECK cubed_status cb_plan_identify(const cubed_plan *p, char id[CB_PLAN_ID_CAP],
                                               char *goal, cubed_error *err);
/* cb_plan_identify, once for a plan that does not change any more: of a worker, who checks each range against it. */
CUBED_MUST_CHECK cubed_status cb_plan_keep_id(cubed_plan *p, cubed_error *err);
/* Whether the id names all contents: those of sources that are functions are not known. */
bool cb_plan_is_known(const cubed_plan *p);
/* What is believed of a plan's bytes: that they are data, which is checked; that their code may run; that
 * they come from the driver of this worker process. */
typedef enum cb_plan_trust { CB_TRUST_DATA, CB_TRUST_CODE, CB_TRUST_DRIVER } cb_plan_trust;
/* A plan's bytes, and what is read of them: its stages are yet to be compiled (exec/operators/finish.h). */
CUBED_MUST_CHECK cubed_status cb_plan_save(const cubed_plan *p, cb_plan_use use, void **data,
                                           size_t *size, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_plan_read(cubed_context *ctx, const void *data, size_t size,
                                           cb_plan_trust trust, cubed_plan **out, cubed_error *err);
/* Memory sources up to this size travel in the plan. */
#define CB_PLAN_EMBED_BYTES ((size_t)64 << 10)
/* Whether the node is a source in memory that is too large to travel; *size is its bytes if it is in memory. */
bool cb_plan_is_shared(const cb_node *n, size_t *size);

/* Whether result number `target` goes to memory, and its bytes. */
bool cb_plan_memory_result(const cubed_plan *p, int target, size_t *size);

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
