#include "report/layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_text.h"

enum { MAX_BENDS = 4000, SWEEPS = 6, GAP = 14, BETWEEN = 56, BEND_HEIGHT = 4 };

/* One use of an array by a stage, as input or output. */
typedef struct use {
    int stage, id, node;
    bool output;
    cubed_stored_info array;
} use;

static int count_uses(const cubed_plan *plan, int nstages, use *out)
{
    cubed_stored_info x;
    int n = 0;
    for (int s = 0; s < nstages; s++) {
        for (int k = 0; cubed_plan_get_input(plan, s, k, &x, NULL) == CUBED_OK; k++, n++) {
            if (out) out[n] = (use){s, x.id, -1, false, x};
        }
        for (int k = 0; cubed_plan_get_output(plan, s, k, &x, NULL) == CUBED_OK; k++, n++) {
            if (out) out[n] = (use){s, x.id, -1, true, x};
        }
    }
    return n;
}

static int by_id(const void *a, const void *b)
{
    const use *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return (x->stage > y->stage) - (x->stage < y->stage);
}

/* Creates the nodes: stages 0..nstages-1, then one node per array ID. */
static void add_nodes(layout *l, int nstages, use *uses, int nuses)
{
    for (int s = 0; s < nstages; s++) l->node[s] = (layout_node){.kind = LAYOUT_STAGE, .stage = s};
    l->nnodes = nstages;
    qsort(uses, (size_t)nuses, sizeof *uses, by_id);
    for (int i = 0; i < nuses; i++) {
        if (i == 0 || uses[i].id != uses[i - 1].id)
            l->node[l->nnodes++] = (layout_node){.kind = LAYOUT_ARRAY, .array = uses[i].array};
        uses[i].node = l->nnodes - 1;
    }
}

/* Places every node to the right of its dependencies, and sources next to their first reader. */
static void choose_columns(layout *l, const use *uses, int nuses)
{
    bool moved = true;
    for (int round = 0; moved && round <= l->nnodes; round++) {
        moved = false;
        for (int i = 0; i < nuses; i++) {
            int from = uses[i].output ? uses[i].stage : uses[i].node;
            int to = uses[i].output ? uses[i].node : uses[i].stage;
            if (l->node[to].column > l->node[from].column) continue;
            l->node[to].column = l->node[from].column + 1;
            moved = true;
        }
    }
    for (int i = 0; i < nuses;) {
        int first = l->nnodes, k = i;
        bool made = false;
        for (; k < nuses && uses[k].node == uses[i].node; k++) {
            made = made || uses[k].output;
            if (l->node[uses[k].stage].column < first) first = l->node[uses[k].stage].column;
        }
        if (!made) l->node[uses[i].node].column = first - 1;
        i = k;
    }
    for (int i = 0; i < l->nnodes; i++) {
        if (l->node[i].column >= l->ncolumns) l->ncolumns = l->node[i].column + 1;
    }
}

static int count_bends(const layout *l, const use *uses, int nuses)
{
    int64_t n = 0;
    for (int i = 0; i < nuses; i++)
        n += abs(l->node[uses[i].stage].column - l->node[uses[i].node].column) - 1;
    return n <= MAX_BENDS ? (int)n : 0;
}

static void add_edges(layout *l, const use *uses, int nuses, bool bends)
{
    for (int i = 0; i < nuses; i++) {
        int at = uses[i].output ? uses[i].stage : uses[i].node;
        int to = uses[i].output ? uses[i].node : uses[i].stage;
        while (bends && l->node[at].column + 1 < l->node[to].column) {
            l->node[l->nnodes] =
                (layout_node){.kind = LAYOUT_BEND, .column = l->node[at].column + 1};
            l->edge[l->nedges++] = (layout_edge){at, l->nnodes, false};
            at = l->nnodes++;
        }
        l->edge[l->nedges++] = (layout_edge){at, to, true};
    }
}

/* Formats "name (1, 2, 3)". */
static const char *with_extents(const char *name, int n, const int64_t *v, char text[LAYOUT_SHAPE])
{
    size_t at = (size_t)snprintf(text, LAYOUT_SHAPE, "%s (", name);
    for (int d = 0; d < n && at < LAYOUT_SHAPE; d++)
        at += (size_t)snprintf(text + at, LAYOUT_SHAPE - at, "%s%" PRId64, d ? ", " : "", v[d]);
    if (at < LAYOUT_SHAPE) snprintf(text + at, LAYOUT_SHAPE - at, ")");
    return text;
}

const char *layout_type(const cubed_stored_info *x, char text[LAYOUT_SHAPE])
{
    char dtype[CUBED_DTYPE_TEXT_CAP];
    return with_extents(cubed_dtype_text(x->dtype, dtype), x->ndim, x->shape, text);
}

const char *layout_chunks(const cubed_stored_info *x, char text[LAYOUT_SHAPE])
{
    return with_extents("chunks", x->ndim, x->chunks, text);
}

static void measure(const cubed_plan *plan, layout_node *n)
{
    enum { LETTER = 7 };
    int letters = 26;
    if (n->kind == LAYOUT_BEND) {
        n->height = BEND_HEIGHT;
        return;
    }
    if (n->kind == LAYOUT_STAGE) {
        cubed_stage_info s;
        if (cubed_plan_get_stage(plan, n->stage, &s, NULL) == CUBED_OK) {
            int w = text_width(s.name, LAYOUT_TEXT);
            if (w > letters) letters = w;
        }
        n->height = 4 * LAYOUT_LINE + 2 * LAYOUT_PAD;
    } else {
        char text[LAYOUT_SHAPE];
        const char *lines[] = {n->array.name, layout_type(&n->array, text)};
        for (int i = 0; i < 2; i++) {
            int w = text_width(lines[i], LAYOUT_TEXT);
            if (w > letters) letters = w;
        }
        n->height = 3 * LAYOUT_LINE + 2 * LAYOUT_PAD;
    }
    n->width = letters * LETTER + 2 * LAYOUT_PAD;
}

static double center(const layout_node *n) { return n->y + n->height / 2; }

static int by_wish(const void *a, const void *b)
{
    const layout_node *x = *(layout_node *const *)a, *y = *(layout_node *const *)b;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    if (x->wanted != y->wanted) return x->wanted < y->wanted ? -1 : 1;
    return (x->y > y->y) - (x->y < y->y);
}

/* Computes the preferred centre of each node: the mean centre of its neighbours on one side, or on both sides if `side` is
 * 0. */
static void compute_centres(layout *l, int side)
{
    for (int i = 0; i < l->nnodes; i++) {
        l->node[i].wanted = 0;
        l->node[i].links = 0;
    }
    for (int i = 0; i < l->nedges; i++) {
        layout_node *from = &l->node[l->edge[i].from], *to = &l->node[l->edge[i].to];
        if (side <= 0) {
            to->wanted += center(from);
            to->links++;
        }
        if (side >= 0) {
            from->wanted += center(to);
            from->links++;
        }
    }
    for (int i = 0; i < l->nnodes; i++) {
        layout_node *n = &l->node[i];
        n->wanted = n->links ? n->wanted / n->links : center(n);
    }
}

/* Places the nodes of a column near their preferred centres, in order and without overlaps. Uses the mean of packing from
 * above and from below. */
static void pack(layout_node *const *n, int count)
{
    double edge = -1e18;
    for (int i = 0; i < count; i++) {
        double top = n[i]->wanted - n[i]->height / 2;
        n[i]->y = top > edge ? top : edge;
        edge = n[i]->y + n[i]->height + GAP;
    }
    edge = 1e18;
    for (int i = count - 1; i >= 0; i--) {
        double top = n[i]->wanted - n[i]->height / 2;
        if (top + n[i]->height > edge) top = edge - n[i]->height;
        edge = top - GAP;
        n[i]->y = (n[i]->y + top) / 2;
    }
}

static void place(layout *l, layout_node **sorted)
{
    for (int i = 0; i < l->nnodes; i++) sorted[i] = &l->node[i];
    for (int round = 0; round <= SWEEPS; round++) {
        /* The first round only separates nodes. The last two rounds use neighbours on both sides. */
        if (round > 0) compute_centres(l, round >= SWEEPS - 1 ? 0 : round % 2 ? -1 : 1);
        qsort(sorted, (size_t)l->nnodes, sizeof(layout_node *), by_wish);
        for (int i = 0, k; i < l->nnodes; i = k) {
            for (k = i; k < l->nnodes && sorted[k]->column == sorted[i]->column; k++) continue;
            pack(sorted + i, k - i);
        }
    }
    double x = 0, top = 1e18;
    for (int i = 0, k; i < l->nnodes; i = k) {
        double width = 0;
        for (k = i; k < l->nnodes && sorted[k]->column == sorted[i]->column; k++) {
            if (sorted[k]->width > width) width = sorted[k]->width;
            if (sorted[k]->y < top) top = sorted[k]->y;
        }
        for (int m = i; m < k; m++) {
            sorted[m]->x = x;
            sorted[m]->width = width;
        }
        l->width = x + width;
        x = l->width + BETWEEN;
    }
    for (int i = 0; i < l->nnodes; i++) {
        layout_node *n = &l->node[i];
        n->y -= top;
        if (n->y + n->height > l->height) l->height = n->y + n->height;
    }
}

cubed_status layout_make(const cubed_plan *plan, layout *out, cubed_error *err)
{
    cubed_plan_info info;
    layout_node **sorted = NULL;
    cubed_status st = CUBED_E_NOMEM;
    memset(out, 0, sizeof *out);
    cubed_plan_get_info(plan, &info);
    int nuses = count_uses(plan, info.num_stages, NULL);
    size_t most = (size_t)info.num_stages + (size_t)nuses + MAX_BENDS;
    use *uses = text_alloc((size_t)nuses, sizeof *uses, err);
    if (!uses) goto out;
    count_uses(plan, info.num_stages, uses);
    out->node = text_alloc(most, sizeof *out->node, err);
    if (!out->node) goto out;
    out->edge = text_alloc(most, sizeof *out->edge, err);
    if (!out->edge) goto out;
    sorted = text_alloc(most, sizeof(layout_node *), err);
    if (!sorted) goto out;
    add_nodes(out, info.num_stages, uses, nuses);
    choose_columns(out, uses, nuses);
    add_edges(out, uses, nuses, count_bends(out, uses, nuses) > 0);
    for (int i = 0; i < out->nnodes; i++) measure(plan, &out->node[i]);
    place(out, sorted);
    st = CUBED_OK;
out:
    text_free(uses);
    text_free(sorted);
    if (st != CUBED_OK) layout_free(out);
    return st;
}

void layout_free(layout *l)
{
    text_free(l->node);
    text_free(l->edge);
    memset(l, 0, sizeof *l);
}
