/* Pipelines chunks: a task may run as soon as the intermediate chunks that it reads exist. There are no barriers between stages.
 *
 * Stages follow the stages that they read. Tasks of a stage that reads no intermediate are taken in order, so only a cursor is
 * kept. Any other stage holds the tasks before its cursor until they may run. All stages together hold at most a window of tasks,
 * in equal shares. Tasks after the cursor have not been examined.
 *
 * A held task watches one missing chunk: the chunk that is written last if everything runs in order. When that chunk exists, the
 * task looks for another missing chunk, or is ready. So only two facts are kept about reads: a bit per chunk that says whether it
 * exists, and the number of future reads of each chunk (chunks/chunks.h).
 *
 * Invariants:
 *
 * - A task is in one list at a time: of ready tasks, or of tasks that watch a chunk. It leaves the list when it is taken.
 * - No stage holds more than its share, and shares only grow. So each stage always examines its next tasks, and the first
 *   unfinished stage has a task that can run.
 * - All reads of a whole array together count as one read of each of its chunks.
 * - Ready tasks of later stages are taken first, because they free chunks of earlier stages. */
#include "run/driver/ready.h"

#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "exec/plan/operations.h"
#include "exec/plan/operator.h"

/* RANGE_BYTES: tasks that move fewer bytes than this are grouped into ranges. */
#define RANGE_BYTES ((uint64_t)1 << 20)
#define RANGE_TASKS 32
/* Maximum number of tasks per range, however small the tasks are. It is limited because the reports of a range arrive
 * together. */
#define RANGE_MOST 4096
#define NOTHING    UINT32_MAX
/* Number of tasks that determine the mean duration. The first tasks of a function may be much slower than later tasks, because
 * they load data and libraries. */
#define TIMED_MOST 4
/* The first ranges have tasks for 1 / FIRST_SHARE of the intended duration, because estimates do not include the time of
 * transfers from and to stores. */
#define FIRST_SHARE 4
/* Chunk number that stands for all chunks of an array. */
#define WHOLE (-1)

/* State of the chunks of a stored array that tasks wait for. */
typedef struct node_chunks {
    /* a bit for each chunk: it exists; NULL if no task waits for chunks of the array */
    uint64_t *done;
    int64_t nchunks;
    int64_t missing;
    int64_t whole; /* number of unfinished tasks that read the whole array */
} node_chunks;

typedef struct held {
    int64_t task;
    /* part of a hash of the watched chunk, because different chunks may share a list */
    uint32_t stage : 17, tag : 15;
    uint32_t next; /* next task in the same list */
} held;

typedef struct stage_tasks {
    int64_t next; /* the first task that has not been examined */
    uint32_t batch;
    uint32_t nheld, head, tail; /* list of ready tasks */
    float seconds;              /* mean duration of recent tasks */
    uint8_t timed; /* number of tasks in the mean, up to TIMED_MOST; 0: none has ended */
    bool learns;   /* range sizes follow measured durations */
    bool waits;    /* tasks wait for chunks, so the stage holds them until they can run */
    bool over;     /* all tasks have been taken */
} stage_tasks;

_Static_assert(sizeof(node_chunks) <= 32, "what a run keeps of a node");
_Static_assert(sizeof(stage_tasks) <= 32, "what a run keeps of a stage");
_Static_assert(CB_MAX_NODES <= 1 << 17, "a stage's number has 17 bits");
_Static_assert(sizeof(held) + sizeof(uint32_t) <= CB_RUN_HELD_BYTES, "what a run keeps of a task");

struct cb_ready {
    cb_ready_args a;
    const cubed_plan *p;
    const cubed_allocator *alloc;
    node_chunks *nodes; /* state of the chunks of each node */
    stage_tasks *stages;
    int latest; /* no stage after this one has ready tasks */
    held *tasks;
    uint32_t *watchers; /* lists by hash of the watched chunk; chunks may share a list */
    uint32_t ntasks, nwatchers, unused;
    /* total number of tasks that waiting stages may hold, and number of unfinished waiting stages */
    int64_t window, waiting;
};

static void *table(const cubed_allocator *a, size_t n, size_t size, cubed_error *err,
                   cubed_status *st)
{
    size_t bytes;
    void *p = cb_mul_size(n, size, &bytes) ? NULL : cb_alloc_zero(a, bytes);
    if (!p) *st = cb_fail(err, CUBED_E_NOMEM, "no memory for a schedule of %zu entries", n);
    return p;
}

/* --- Chunks ------------------------------------------------------------------------------------------- */

static bool is_done(const node_chunks *n, int64_t chunk) { return cb_bits_has(n->done, chunk); }

static void set_done(node_chunks *n, int64_t chunk)
{
    if (is_done(n, chunk)) return;
    cb_bits_add(n->done, chunk);
    n->missing--;
}

static cubed_status wait_for(cb_ready *r, int node, cubed_error *err)
{
    node_chunks *n = &r->nodes[node];
    cubed_status st = CUBED_OK;
    if (n->done) return CUBED_OK;
    n->nchunks = n->missing = cb_grid_count(r->p->ir.nodes[node].grid);
    n->done = table(r->alloc, cb_bits_words(n->nchunks), sizeof *n->done, err, &st);
    return st;
}

static bool is_whole(const node_chunks *n, const cb_box *chunks)
{
    return n->nchunks > 1 && cb_box_count(chunks) == n->nchunks;
}

/* Returns the number of the last chunk in the box that does not exist; -1 if all exist. */
static int64_t last_missing(const node_chunks *n, const cb_grid *g, const cb_box *box)
{
    int64_t idx[CUBED_MAX_NDIM] = {0};
    const int last = box->ndim - 1;
    int d;
    if (n->missing == 0) return -1;
    for (d = 0; d <= last; d++) idx[d] = box->hi[d] - 1;
    do {
        const int64_t end = cb_grid_ravel(g, idx);
        const int64_t run = last < 0 ? 1 : box->hi[last] - box->lo[last];
        for (int64_t c = end; c > end - run; c--) {
            if (!is_done(n, c)) return c;
        }
        for (d = last - 1; d >= 0 && --idx[d] < box->lo[d]; d--) idx[d] = box->hi[d] - 1;
    } while (d >= 0);
    return -1;
}

/* --- Future reads ------------------------------------------------------------------------------------- */

static void count_read(const cb_ready *r, int node, const cb_box *chunks, bool come)
{
    int64_t idx[CUBED_MAX_NDIM];
    memcpy(idx, chunks->lo, sizeof idx);
    do {
        int64_t c = cb_grid_ravel(r->p->ir.nodes[node].grid, idx);
        if (come)
            cb_chunks_add_reader(r->a.chunks, node, c);
        else
            cb_chunks_release(r->a.chunks, node, c);
    } while (cb_odometer_next(chunks, idx));
}

static cubed_status expect_read(void *ctx, int node, const cb_box *chunks, cubed_error *err)
{
    cb_ready *r = ctx;
    node_chunks *n = &r->nodes[node];
    if (!r->p->ir.nodes[node].stored) return CUBED_OK;
    CB_TRY(wait_for(r, node, err));
    if (r->a.notes || !cb_node_is_intermediate(&r->p->ir.nodes[node])) return CUBED_OK;
    if (!is_whole(n, chunks) || n->whole++ == 0) count_read(r, node, chunks, true);
    return CUBED_OK;
}

static cubed_status forget_read(void *ctx, int node, const cb_box *chunks, cubed_error *err)
{
    const cb_ready *r = ctx;
    node_chunks *n = &r->nodes[node];
    (void)err;
    if (r->a.notes || !cb_node_is_intermediate(&r->p->ir.nodes[node])) return CUBED_OK;
    if (!is_whole(n, chunks) || --n->whole == 0) count_read(r, node, chunks, false);
    return CUBED_OK;
}

/* --- Finding the output of an earlier run ------------------------------------------------------------- */

typedef struct remains {
    cb_ready *r;
    bool known; /* existence is known for all chunks of the arrays for which tasks wait */
    bool all;   /* all chunks that were looked for exist */
} remains;

static cubed_status look_for_chunks(void *ctx, int node, const cb_box *chunks, cubed_error *err)
{
    remains *x = ctx;
    cb_chunks *broker = x->r->a.chunks;
    node_chunks *n = &x->r->nodes[node];
    const cb_node *array = &x->r->p->ir.nodes[node];
    int64_t idx[CUBED_MAX_NDIM];
    memcpy(idx, chunks->lo, sizeof idx);
    do {
        int64_t c = cb_grid_ravel(array->grid, idx);
        bool found = n->done && is_done(n, c);
        /* A missing chunk of an intermediate is only needed if a task that has to run reads it. */
        if (found || (cb_node_is_intermediate(array) && !cb_chunks_has_readers(broker, node, c)))
            continue;
        if (!n->done || !x->known) CB_TRY(cb_chunks_find_whole(broker, node, c, &found, err));
        if (found && n->done) set_done(n, c);
        x->all = x->all && found;
    } while (cb_odometer_next(chunks, idx));
    return CUBED_OK;
}

/* Counts the chunks that exist. */
static cubed_status count_chunks(void *ctx, int node, const cb_box *chunks, cubed_error *err)
{
    const cb_ready *r = ctx;
    node_chunks *n = &r->nodes[node];
    int64_t idx[CUBED_MAX_NDIM];
    (void)err;
    memcpy(idx, chunks->lo, sizeof idx);
    while (n->done) {
        set_done(n, cb_grid_ravel(r->p->ir.nodes[node].grid, idx));
        if (!cb_odometer_next(chunks, idx)) break;
    }
    return CUBED_OK;
}

static cubed_status has_remains(cb_ready *r, int stage, int64_t task, bool known, bool *all,
                                cubed_error *err)
{
    const cb_stage *s = &r->p->stages[stage];
    remains x = {r, known, true};
    if (r->a.notes) {
        *all = cb_notes_missing(r->a.notes, stage, task) != task;
        return *all && !known ? cb_stage_task_writes(r->p, s, task, count_chunks, r, err)
                              : CUBED_OK;
    }
    CB_TRY(cb_stage_task_writes(r->p, s, task, look_for_chunks, &x, err));
    *all = x.all;
    return CUBED_OK;
}

/* --- Preparation before the run ----------------------------------------------------------------------- */

/* Decides whether the driver finds a stage's unfinished tasks before the run starts, and sets *look. The driver must do this if
 * tasks of the stage wait for chunks of other stages, or if other tasks wait for chunks of this stage. Prepares the records of
 * existing chunks, so that only reads of unfinished tasks are counted. For other stages, the driver looks for unfinished tasks
 * when it reaches them. */
static cubed_status note_outputs(cb_ready *r, const cb_stage *s, bool *look, cubed_error *err)
{
    *look = s->level > 0;
    for (int o = 0; o < s->nouts; o++) *look = *look || r->nodes[s->outs[o].node].done;
    for (int o = 0; o < s->nouts && *look; o++) CB_TRY(wait_for(r, s->outs[o].node, err));
    return CUBED_OK;
}

static cubed_status expect_reads(cb_ready *r, int stage, cubed_error *err)
{
    const cb_stage *s = &r->p->stages[stage];
    bool look = false, done = false;
    if (r->a.resumed) CB_TRY(note_outputs(r, s, &look, err));
    for (int64_t t = 0; t < s->ntasks && (look || s->level > 0); t++) {
        if (cubed_cancel_is_set(r->a.cancel))
            return cb_fail(err, CUBED_E_CANCELLED, "interrupted before the first task");
        if (look) CB_TRY(has_remains(r, stage, t, false, &done, err));
        if (!done && s->level > 0) CB_TRY(cb_stage_task_reads(r->p, s, t, expect_read, r, err));
    }
    return CUBED_OK;
}

/* Returns the plan's estimate of the duration of a task. */
static double seconds_of_task(const cb_ready *r, const cb_stage *s)
{
    cubed_stage_info info;
    cb_stage_seconds(r->p, s, &info);
    return (info.read_seconds + info.compute_seconds + info.write_seconds) / (double)s->ntasks;
}

/* Returns the number of tasks of `each` seconds that together take 1/share of the intended duration of a range. */
static int64_t tasks_in(const cb_ready *r, double each, int share)
{
    if (r->a.range_ms == 0) return 1;
    const double n = each > 0 ? (double)r->a.range_ms / 1000 / share / each : RANGE_MOST;
    return n < RANGE_MOST ? (int64_t)n + 1 : RANGE_MOST;
}

/* Returns `batch`, or a smaller number of the `left` tasks, so that all workers have work until the end. Does not
 * shorten a range so much that its overhead exceeds its work, even if workers are idle as a result. */
static uint32_t cut_batch(const cb_ready *r, int64_t batch, int64_t left, double each)
{
    const int64_t share =
        cb_max_i64(left / (4 * (int64_t)r->a.workers), tasks_in(r, each, CUBED_RANGE_OVERHEADS));
    return (uint32_t)cb_max_i64(1, cb_min_i64(cb_min_i64(batch, share), r->a.most_tasks));
}

/* Returns the minimum number of tasks of a range. It does not depend on the measured duration of a task. */
static int64_t least_batch(const cb_ready *r, const cb_stage *s)
{
    /* The duration of a user-defined function is unknown: see set_batch. */
    if (cb_stage_code(s)) return 1;
    const uint64_t each = cb_sat_add(s->bytes_read, s->bytes_written) / (uint64_t)s->ntasks;
    /* Workers prefetch the chunks of the next tasks of a range, so a range should have several tasks. */
    if (r->p->fetch_depth > 1 && s->op->visit) return RANGE_TASKS;
    return cb_min_i64((int64_t)(RANGE_BYTES / (each + 1)) + 1, RANGE_TASKS);
}

static uint32_t first_batch(const cb_ready *r, const cb_stage *s)
{
    if (s->ntasks == 0 || s->coop > 1 || cb_stage_code(s)) return 1;
    const double seconds = r->a.range_ms ? seconds_of_task(r, s) : 0;
    const int64_t batch = cb_max_i64(least_batch(r, s), tasks_in(r, seconds, FIRST_SHARE));
    return cut_batch(r, batch, s->ntasks, seconds);
}

static cubed_status make_tables(cb_ready *r, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    uint64_t may_wait = 0;
    r->nodes = table(r->alloc, (size_t)r->p->ir.nnodes, sizeof *r->nodes, err, &st);
    if (st == CUBED_OK)
        r->stages = table(r->alloc, (size_t)r->p->nstages, sizeof *r->stages, err, &st);
    if (st != CUBED_OK) return st;
    for (int i = 0; i < r->p->nstages; i++) {
        const cb_stage *s = &r->p->stages[i];
        r->stages[i] = (stage_tasks){.batch = first_batch(r, s),
                                     .learns = r->a.range_ms && s->coop <= 1,
                                     .head = NOTHING,
                                     .tail = NOTHING,
                                     .waits = s->level > 0,
                                     .over = s->ntasks == 0};
        if (!r->stages[i].waits || s->ntasks == 0) continue;
        may_wait = cb_sat_add(may_wait, (size_t)s->ntasks);
        r->waiting++;
    }
    r->latest = r->p->nstages - 1;
    r->window = cb_max_i64(r->a.window, r->waiting);
    r->ntasks = (uint32_t)cb_min_size(may_wait, (size_t)r->window);
    for (r->nwatchers = 1; 2 * r->nwatchers <= r->ntasks;) r->nwatchers *= 2;
    r->tasks = table(r->alloc, r->ntasks, sizeof *r->tasks, err, &st);
    if (st == CUBED_OK) r->watchers = table(r->alloc, r->nwatchers, sizeof *r->watchers, err, &st);
    if (st != CUBED_OK) return st;
    memset(r->watchers, 0xff, r->nwatchers * sizeof *r->watchers);
    for (uint32_t k = 0; k < r->ntasks; k++) r->tasks[k].next = k + 1 < r->ntasks ? k + 1 : NOTHING;
    r->unused = r->ntasks ? 0 : NOTHING;
    return CUBED_OK;
}

/* --- Waiting ------------------------------------------------------------------------------------------ */

static uint64_t hash_of(int node, int64_t chunk)
{
    return ((uint64_t)chunk ^ (uint64_t)node << 48) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint32_t *watchers_of(const cb_ready *r, uint64_t hash)
{
    return &r->watchers[hash >> 32 & (r->nwatchers - 1)];
}

static uint32_t tag_of(uint64_t hash) { return (uint32_t)(hash >> 49); }

typedef struct missed {
    const cb_ready *r;
    int node; /* node of the chunk; -1: no chunk is missing */
    int64_t chunk;
} missed;

/* Finds the missing chunk that is written last: the chunk with the highest number of the last stage. */
static cubed_status look_for_missing(void *ctx, int node, const cb_box *chunks, cubed_error *err)
{
    missed *m = ctx;
    const node_chunks *n = &m->r->nodes[node];
    (void)err;
    if (!n->done || node < m->node) return CUBED_OK;
    int64_t c = last_missing(n, m->r->p->ir.nodes[node].grid, chunks);
    if (c < 0 || (node == m->node && (m->chunk == WHOLE || c < m->chunk))) return CUBED_OK;
    m->node = node;
    m->chunk = is_whole(n, chunks) ? WHOLE : c;
    return CUBED_OK;
}

/* Puts a task into the list of ready tasks, or into the list of tasks that watch a chunk. */
static cubed_status examine(cb_ready *r, uint32_t k, cubed_error *err)
{
    held *t = &r->tasks[k];
    missed m = {r, -1, 0};
    CB_TRY(cb_stage_task_reads(r->p, &r->p->stages[t->stage], t->task, look_for_missing, &m, err));
    if (m.node >= 0) {
        const uint64_t hash = hash_of(m.node, m.chunk);
        uint32_t *list = watchers_of(r, hash);
        t->tag = tag_of(hash) & 0x7fff;
        t->next = *list;
        *list = k;
        return CUBED_OK;
    }
    stage_tasks *s = &r->stages[t->stage];
    t->next = NOTHING;
    if (s->head == NOTHING)
        s->head = k;
    else
        r->tasks[s->tail].next = k;
    s->tail = k;
    r->latest = (int)t->stage > r->latest ? (int)t->stage : r->latest;
    return CUBED_OK;
}

/* Examines the tasks that watch the chunk, in the order in which they began to watch. */
static cubed_status examine_watchers(cb_ready *r, int node, int64_t chunk, cubed_error *err)
{
    const uint64_t hash = hash_of(node, chunk);
    uint32_t *link = watchers_of(r, hash), k, back = NOTHING, next;
    while ((k = *link) != NOTHING) {
        held *t = &r->tasks[k];
        if (t->tag != tag_of(hash)) {
            link = &t->next;
            continue;
        }
        *link = t->next;
        t->next = back;
        back = k;
    }
    for (k = back; k != NOTHING; k = next) {
        next = r->tasks[k].next;
        CB_TRY(examine(r, k, err));
    }
    return CUBED_OK;
}

/* Examines as many further tasks of a stage as its share of held tasks allows. */
static cubed_status hold(cb_ready *r, int stage, cubed_error *err)
{
    stage_tasks *s = &r->stages[stage];
    const int64_t ntasks = r->p->stages[stage].ntasks;
    while (s->next < ntasks && s->nheld < r->window / r->waiting) {
        const int64_t task = s->next++;
        bool done = false;
        if (r->a.resumed) CB_TRY(has_remains(r, stage, task, true, &done, err));
        if (done) {
            CB_TRY(r->a.resumed(r->a.ctx, stage, task, err));
            continue;
        }
        const uint32_t k = r->unused;
        r->unused = r->tasks[k].next;
        r->tasks[k] = (held){.task = task, .stage = (uint32_t)stage & 0x1ffff};
        s->nheld++;
        CB_TRY(examine(r, k, err));
    }
    return CUBED_OK;
}

/* Examines further tasks of all stages. Stages without further tasks leave their share to the other stages. */
static cubed_status hold_all(cb_ready *r, cubed_error *err)
{
    for (bool again = true; again;) {
        again = false;
        for (int i = 0; i < r->p->nstages; i++) {
            stage_tasks *s = &r->stages[i];
            if (!s->waits || s->over) continue;
            CB_TRY(hold(r, i, err));
            if (s->nheld > 0 || s->next < r->p->stages[i].ntasks) continue;
            s->over = again = true;
            if (--r->waiting == 0) return CUBED_OK;
        }
    }
    return CUBED_OK;
}

cubed_status cb_ready_new(const cb_ready_args *args, cb_ready **out, cubed_error *err)
{
    const cubed_allocator *alloc = &args->plan->ctx->alloc;
    cubed_status st = CUBED_OK;
    cb_ready *r = table(alloc, 1, sizeof *r, err, &st);
    if (st != CUBED_OK) return st;
    r->a = *args;
    r->p = args->plan;
    r->alloc = alloc;
    CB_GO(make_tables(r, err));
    for (int i = r->p->nstages - 1; i >= 0; i--) CB_GO(expect_reads(r, i, err));
    CB_GO(hold_all(r, err));
    *out = r;
    return CUBED_OK;
out:
    cb_ready_free(r);
    return st;
}

void cb_ready_free(cb_ready *r)
{
    if (!r) return;
    for (int i = 0; r->nodes && i < r->p->ir.nnodes; i++) {
        const node_chunks *n = &r->nodes[i];
        cb_free(r->alloc, n->done, cb_bits_words(n->nchunks) * sizeof *n->done);
    }
    cb_free(r->alloc, r->nodes, (size_t)r->p->ir.nnodes * sizeof *r->nodes);
    cb_free(r->alloc, r->stages, (size_t)r->p->nstages * sizeof *r->stages);
    cb_free(r->alloc, r->tasks, r->ntasks * sizeof *r->tasks);
    cb_free(r->alloc, r->watchers, r->nwatchers * sizeof *r->watchers);
    cb_free(r->alloc, r, sizeof *r);
}

/* --- Taking tasks during the run ---------------------------------------------------------------------- */

/* Sets the range size from the measured durations and the tasks that are left, so that the last ranges are small. */
static void set_batch(cb_ready *r, int stage)
{
    stage_tasks *s = &r->stages[stage];
    if (!s->learns || s->timed == 0) return;
    const int64_t left = r->p->stages[stage].ntasks - s->next + s->nheld;
    const int64_t batch =
        cb_max_i64(least_batch(r, &r->p->stages[stage]), tasks_in(r, s->seconds, 1));
    s->batch = cut_batch(r, batch, left, s->seconds);
}

void cb_ready_timed(cb_ready *r, int stage, int64_t ns)
{
    stage_tasks *s = &r->stages[stage];
    const float seconds = (float)cb_max_i64(ns, 1) * 1e-9F;
    if (s->timed < TIMED_MOST) s->timed++;
    s->seconds += (seconds - s->seconds) / (float)s->timed;
}

/* Takes the next tasks of a stage whose tasks do not wait for chunks. */
static cubed_status take_next(cb_ready *r, int stage, int64_t *first, int64_t *last,
                              cubed_error *err)
{
    stage_tasks *s = &r->stages[stage];
    const int64_t ntasks = r->p->stages[stage].ntasks;
    *first = *last = s->next;
    while (s->next < ntasks && *last - *first < s->batch) {
        bool done = false;
        if (r->a.resumed) CB_TRY(has_remains(r, stage, s->next, true, &done, err));
        if (done && *last > *first) break;
        s->next++;
        if (done) CB_TRY(r->a.resumed(r->a.ctx, stage, *first, err));
        *first += done;
        *last = s->next;
    }
    return CUBED_OK;
}

/* Takes the next ready tasks of a stage. */
static cubed_status take_held(cb_ready *r, int stage, int64_t *first, int64_t *last,
                              cubed_error *err)
{
    stage_tasks *s = &r->stages[stage];
    *first = *last = s->head == NOTHING ? 0 : r->tasks[s->head].task;
    while (s->head != NOTHING && *last - *first < s->batch && r->tasks[s->head].task == *last) {
        held *t = &r->tasks[s->head];
        const uint32_t k = s->head;
        s->head = t->next;
        t->next = r->unused;
        r->unused = k;
        s->nheld--;
        ++*last;
    }
    if (*last == *first) return CUBED_OK;
    const bool over = s->nheld == 0 && s->next == r->p->stages[stage].ntasks;
    return over ? hold_all(r, err) : hold(r, stage, err);
}

cubed_status cb_ready_take(cb_ready *r, int *stage, int64_t *first, int64_t *last, cubed_error *err)
{
    *first = *last = 0;
    for (; r->latest >= 0; r->latest--) {
        *stage = r->latest;
        set_batch(r, *stage);
        if (r->stages[*stage].waits)
            CB_TRY(take_held(r, *stage, first, last, err));
        else
            CB_TRY(take_next(r, *stage, first, last, err));
        if (*first < *last) return CUBED_OK;
    }
    return CUBED_OK;
}

static cubed_status note_chunks(void *ctx, int node, const cb_box *chunks, cubed_error *err)
{
    cb_ready *r = ctx;
    node_chunks *n = &r->nodes[node];
    const cb_grid *g = r->p->ir.nodes[node].grid;
    int64_t idx[CUBED_MAX_NDIM];
    if (!n->done) return CUBED_OK;
    memcpy(idx, chunks->lo, sizeof idx);
    do set_done(n, cb_grid_ravel(g, idx));
    while (cb_odometer_next(chunks, idx));
    memcpy(idx, chunks->lo, sizeof idx);
    do CB_TRY(examine_watchers(r, node, cb_grid_ravel(g, idx), err));
    while (cb_odometer_next(chunks, idx));
    return n->missing == 0 ? examine_watchers(r, node, WHOLE, err) : CUBED_OK;
}

cubed_status cb_ready_done(cb_ready *r, int stage, int64_t task, cubed_error *err)
{
    const cb_stage *s = &r->p->stages[stage];
    CB_TRY(cb_stage_task_writes(r->p, s, task, note_chunks, r, err));
    return s->level > 0 ? cb_stage_task_reads(r->p, s, task, forget_read, r, err) : CUBED_OK;
}
