#include "run/places/notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define FOLDER "done"

typedef struct range {
    int64_t first, last;
} range;

typedef struct stage_notes {
    range *list; /* ranges in order, with a gap between any two */
    size_t n, cap;
} stage_notes;

struct cb_notes {
    const cubed_plan *p;
    const cubed_allocator *alloc;
    stage_notes *stages;
};

cubed_status cb_note_done(cb_io *io, const cubed_task_range *r, cubed_error *err)
{
    char name[80];
    snprintf(name, sizeof name, FOLDER "/%d/%" PRId64 "-%" PRId64, r->stage, r->first, r->last);
    return cb_io_note(io, name, err);
}

typedef struct reader {
    const cubed_allocator *alloc;
    stage_notes *to;
    int64_t ntasks;
} reader;

static cubed_status add(void *ctx, const char *name, bool is_prefix, cubed_error *err)
{
    const reader *r = ctx;
    stage_notes *s = r->to;
    range one;
    char *end;
    if (is_prefix) return CUBED_OK;
    one.first = strtoll(name, &end, 10);
    if (end == name || *end != '-') return CUBED_OK;
    one.last = strtoll(end + 1, &end, 10);
    /* Objects with other names are ignored. */
    if (*end || one.first < 0 || one.last <= one.first || one.last > r->ntasks) return CUBED_OK;
    if (!cb_list_grow(r->alloc, &s->list, s->n, &s->cap, sizeof one))
        return cb_fail(err, CUBED_E_NOMEM, "out of memory: list of completed tasks");
    s->list[s->n++] = one;
    return CUBED_OK;
}

static int by_first(const void *a, const void *b)
{
    const range *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static void merge(stage_notes *s)
{
    size_t n = 0;
    if (s->n) qsort(s->list, s->n, sizeof *s->list, by_first);
    for (size_t i = 0; i < s->n; i++) {
        if (n > 0 && s->list[i].first <= s->list[n - 1].last)
            s->list[n - 1].last = cb_max_i64(s->list[n - 1].last, s->list[i].last);
        else
            s->list[n++] = s->list[i];
    }
    s->n = n;
}

cubed_status cb_notes_read(cb_io *io, const cubed_plan *plan, cb_notes **out, cubed_error *err)
{
    const cubed_allocator *a = &plan->ctx->alloc;
    cubed_status st = CUBED_OK;
    cb_notes *n = cb_alloc_zero(a, sizeof *n);
    if (!n) return cb_fail(err, CUBED_E_NOMEM, "out of memory: list of completed tasks");
    n->p = plan;
    n->alloc = a;
    n->stages = cb_alloc_zero(a, (size_t)plan->nstages * sizeof *n->stages);
    if (!n->stages) CB_GO(cb_fail(err, CUBED_E_NOMEM, "out of memory: list of completed tasks"));
    for (int i = 0; i < plan->nstages; i++) {
        char folder[32];
        reader r = {a, &n->stages[i], plan->stages[i].ntasks};
        snprintf(folder, sizeof folder, FOLDER "/%d", i);
        CB_GO(cb_io_notes(io, folder, add, &r, err));
        merge(&n->stages[i]);
    }
    *out = n;
    return CUBED_OK;
out:
    cb_notes_free(n);
    return st;
}

void cb_notes_free(cb_notes *n)
{
    if (!n) return;
    for (int i = 0; n->stages && i < n->p->nstages; i++)
        cb_free(n->alloc, n->stages[i].list, n->stages[i].cap * sizeof *n->stages[i].list);
    cb_free(n->alloc, n->stages, (size_t)n->p->nstages * sizeof *n->stages);
    cb_free(n->alloc, n, sizeof *n);
}

int64_t cb_notes_missing(const cb_notes *n, int stage, int64_t task)
{
    const stage_notes *s = &n->stages[stage];
    size_t lo = 0, hi = s->n; /* the first range that ends after the task is in lo..hi */
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (s->list[mid].last > task)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo < s->n && s->list[lo].first <= task ? s->list[lo].last : task;
}
