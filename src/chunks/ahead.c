#include "chunks/ahead.h"

#include <string.h>

#include "base/error.h"
#include "chunks/state.h"

/* Maximum number of chunks that a search ahead of the cursor visits. */
#define SEARCHED 256

/* State of one walk over the chunks that tasks will read, beginning at the cursor. */
typedef struct walk {
    cb_ahead *a;
    cb_task_count *count;
    cb_fetch_batch batch; /* chunks to request; unused during a search */
    bool search, found;
    int node, left;
    int64_t chunk;
    /* number of chunks of the current step that the cursor has passed and that this walk must still skip */
    int64_t skip;
} walk;

static void push(cb_ahead *a, int node, int64_t chunk)
{
    const unsigned k = (a->first + a->n++) % CB_AHEAD_SEEN;
    a->seen[k].node = node;
    a->seen[k].chunk = chunk;
    a->seen[k].task = a->task;
}

/* Visits a chunk that a task will read. Returns true if the walk continues with the next chunk. */
static bool look(walk *w, int node, const int64_t *idx)
{
    cb_ahead *a = w->a;
    const int64_t chunk = cb_grid_ravel(a->chunks->plan->ir.nodes[node].grid, idx);
    if (w->search) {
        w->found = node == w->node && chunk == w->chunk;
        return !w->found && w->left-- > 0;
    }
    w->batch.task = a->task;
    if (a->n == CB_AHEAD_SEEN ||
        cb_chunks_ask(a->chunks, &w->batch, node, idx, w->count) == CB_FETCH_LATER)
        return false;
    push(a, node, chunk);
    return true;
}

static cubed_status visit(void *ctx, int node, const cb_box *chunks, cubed_error *err)
{
    walk *w = ctx;
    int64_t idx[CUBED_MAX_NDIM];
    const int64_t n = cb_box_count(chunks);
    int64_t k = w->skip;
    (void)err;
    if (!cb_chunks_may_ask(w->a->chunks, node)) return CUBED_OK;
    w->skip -= cb_min_i64(n, k);
    if (k >= n) return CUBED_OK;
    for (int d = chunks->ndim - 1; d >= 0; d--) {
        const int64_t length = chunks->hi[d] - chunks->lo[d];
        idx[d] = chunks->lo[d] + k % length;
        k /= length;
    }
    do {
        const bool on = look(w, node, idx);
        w->a->at += on || w->found;
        if (!on) return CUBED_E_CANCELLED; /* this status only ends the walk */
    } while (cb_odometer_next(chunks, idx));
    return CUBED_OK;
}

/* Walks over the chunks until look() returns false, or to the end of the range. A search stops at the end of the running task. */
static void go(walk *w)
{
    cb_ahead *a = w->a;
    while (a->task < (w->search ? a->running + 1 : a->last)) {
        const cb_chunks *c = a->chunks;
        bool there = false;
        w->skip = a->at;
        if (c->options.visit(c->plan, a->stage, a->task, a->step, &there, visit, w) != CUBED_OK)
            return;
        a->at = 0;
        a->step = there ? a->step + 1 : 0;
        a->task += !there;
    }
}

static void ask(cb_ahead *a, cb_task_count *count)
{
    bool more = true;
    while (more) {
        walk w = {.a = a, .count = count};
        w.batch.owner = a;
        w.batch.most = a->chunks->plan->fetch_depth;
        go(&w);
        more = w.batch.n == CB_FETCH_BATCH;
        cb_fetch_submit(&w.batch);
    }
    if (a->task == a->last && a->next) ask(a->next, count);
}

/* Removes a chunk of the running task, and all chunks before it, from `seen`. Returns false if `seen` does not contain the
 * chunk. */
static bool remove_seen(cb_ahead *a, int node, int64_t chunk)
{
    for (unsigned i = 0; i < a->n; i++) {
        const unsigned k = (a->first + i) % CB_AHEAD_SEEN;
        if (a->seen[k].task != a->running) break;
        if (a->seen[k].node != node || a->seen[k].chunk != chunk) continue;
        a->first = (k + 1) % CB_AHEAD_SEEN;
        a->n -= i + 1;
        return true;
    }
    return false;
}

void cb_ahead_pass(cb_ahead *a, int node, const int64_t *idx, cb_task_count *count)
{
    const int64_t chunk = cb_grid_ravel(a->chunks->plan->ir.nodes[node].grid, idx);
    if (!cb_chunks_may_ask(a->chunks, node)) return;
    if (!remove_seen(a, node, chunk) && a->task == a->running) {
        const int64_t task = a->task, step = a->step, at = a->at;
        walk w = {.a = a, .search = true, .node = node, .chunk = chunk, .left = SEARCHED};
        go(&w);
        if (w.found) {
            a->n = 0;
        } else {
            a->task = task;
            a->step = step;
            a->at = at;
        }
    }
    ask(a, count);
}

void cb_ahead_run(cb_ahead *a, int64_t task, cb_task_count *count)
{
    a->running = task;
    cb_chunks_forget(a->chunks, a, task);
    while (a->n > 0 && a->seen[a->first].task < task) {
        a->first = (a->first + 1) % CB_AHEAD_SEEN;
        a->n--;
    }
    if (a->task < task) {
        a->task = task;
        a->step = a->at = 0;
    }
    ask(a, count);
}

void cb_ahead_end(cb_ahead *a)
{
    if (a->chunks) cb_chunks_forget(a->chunks, a, INT64_MAX);
    a->chunks = NULL;
}

void cb_ahead_go_on(cb_ahead *a, cb_ahead *next)
{
    if (a->chunks && next->chunks) a->next = next;
}

void cb_ahead_begin(cb_ahead *a, cb_chunks *chunks, int stage, int64_t first, int64_t last)
{
    cb_ahead_end(a);
    if (chunks->plan->fetch_depth == 0 || !chunks->options.visit) return;
    a->chunks = chunks;
    a->stage = stage;
    a->running = a->task = first;
    a->last = last;
    a->step = a->at = 0;
    a->first = a->n = 0;
    a->next = NULL;
}

bool cb_ahead_has(const cb_ahead *a, int stage, int64_t task)
{
    return a->chunks && a->stage == stage && task >= a->running && task < a->last;
}
