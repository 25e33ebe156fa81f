/* Makes stages from stored nodes. Stages that have the same domain and read a common array are merged ("joined" below), so
 * that the array is read and decoded once. For example, a stage with u*u, v*v and u*v reads u and v once. Only nodes of the
 * same level (length of the longest path from the sources) are joined, because a stage must not depend on itself. A join that
 * does not fit in memory is undone. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "exec/plan/lower.h"
#include "exec/vm/frames.h"
#include "opt/opt.h"

static bool same_tiles(const cb_stage *a, const cb_stage *b)
{
    if (!cb_grid_equal(a->kept, b->kept)) return false;
    return memcmp(a->task_chunks, b->task_chunks, (size_t)a->kept->ndim * sizeof(int64_t)) == 0;
}

/* Returns true if the two stages compute different outputs of one call of a block function. */
static bool same_call(const cubed_plan *p, const cb_stage *a, const cb_stage *b)
{
    const cb_node *nodes = p->ir.nodes;
    if (!cb_ir_same_call(&p->ir, a->outs[0].node, b->outs[0].node)) return false;
    for (int i = 0; i < a->nouts; i++) {
        for (int k = 0; k < b->nouts; k++) {
            if (nodes[a->outs[i].node].output == nodes[b->outs[k].node].output) return false;
        }
    }
    return true;
}

/* Bytes that a worker on another machine reads or writes during the latency of one request (CB_OPT_FAR_BYTES; Amazon S3 User
 * Guide, "optimizing Amazon S3 performance": 100 to 200 ms). */
#define LATENCY_BYTES (uint64_t)(0.15 * CB_OPT_FAR_BYTES)

static bool keeps_worker(const cb_stage *s)
{
    return s->ntasks > 0 &&
           cb_sat_add(s->bytes_read, s->bytes_written) / (uint64_t)s->ntasks > LATENCY_BYTES;
}

int64_t cb_opt_stored_pieces(const cubed_plan *p, const cb_stage *s, int d)
{
    if (s->reduce->body.nbranches > 0) return 1;
    const cb_grid *states = p->ir.nodes[s->reduce->list[0].states].grid;
    const int axis = states->ndim - (s->kept->ndim - d);
    if (axis < 0) return 1;
    return cb_max_i64(1, cb_axis_count(&states->axis[axis]) / cb_axis_count(&s->kept->axis[d]));
}

/* Returns true if the stage merges groups of states whose pieces are smaller than its own chunks. Then split_output.c divides its
 * chunks, so the size of its tasks is not known yet. */
static bool is_undivided(const cubed_plan *p, const cb_stage *s)
{
    bool undivided = false;
    for (int d = 0; d < s->kept->ndim && s->reduce->groups; d++)
        undivided = undivided || cb_opt_stored_pieces(p, s, d) > 1;
    return undivided;
}

/* Returns true if two merges of states without common inputs must not be joined: as separate stages they end earlier, because
 * workers on other machines that are idle in one stage run tasks of the other. */
static bool share_workers(const cubed_plan *p, const cb_stage *a, const cb_stage *b)
{
    return p->other_machines && a->ntasks < (int64_t)p->max_workers && keeps_worker(a) &&
           keeps_worker(b) && !is_undivided(p, a);
}

/* Returns the reason why two stages cannot be joined, apart from memory. Returns NULL if they can be joined. */
static const char *why_not(const cubed_plan *p, const cb_stage *a, const cb_stage *b)
{
    /* Strings and records are copied by a separate stage, because the virtual machine has no registers for these types. */
    if (cubed_dtype_kind(p->ir.nodes[a->outs[0].node].dtype) >= CUBED_KIND_TEXT ||
        cubed_dtype_kind(p->ir.nodes[b->outs[0].node].dtype) >= CUBED_KIND_TEXT)
        return "strings are copied in a separate stage";
    if (a->op->joined && a->op->joined == b->op->joined && same_call(p, a, b)) return NULL;
    if (a->op->apart || b->op->apart) return a->op->apart ? a->op->apart : b->op->apart;
    if (!a->reduce != !b->reduce) return "only one of them is a reduction";
    if (a->op->joined != b->op->joined) return "one is a reduction that is split into parts";
    if (!same_tiles(a, b)) return "their tasks write different chunks";
    if (!a->reduce) {
        const cb_grid *x = p->ir.nodes[a->outs[0].node].grid;
        if (!cb_grid_equal(x, p->ir.nodes[b->outs[0].node].grid))
            return "they write different chunks";
        return cb_programs_share_a_load(&a->tail, &b->tail) ? NULL : "they read nothing in common";
    }
    if (!cb_stage_same_domain(&p->ir, a->reduce->list[0].node, b->reduce->list[0].node))
        return "they reduce different elements";
    if (a->op->sibling_key)
        return share_workers(p, a, b) ? "they read nothing in common, and workers are idle" : NULL;
    return cb_programs_share_a_load(&a->reduce->body, &b->reduce->body)
               ? NULL
               : "they read nothing in common";
}

static bool may_join(const cubed_plan *p, const cb_stage *a, const cb_stage *b)
{
    return !why_not(p, a, b);
}

static bool read_the_same(const cb_stage *a, const cb_stage *b)
{
    const cb_program *x, *y;
    for (int i = 0; (x = cb_stage_program(a, i)) != NULL; i++) {
        for (int k = 0; (y = cb_stage_program(b, k)) != NULL; k++) {
            if (cb_programs_share_a_load(x, y)) return true;
        }
    }
    return false;
}

const char *cubed_plan_why_apart(const cubed_plan *p, int stage, int other)
{
    if (stage < 0 || other < 0 || stage >= p->nstages || other >= p->nstages || stage == other)
        return NULL;
    const cb_stage *a = &p->stages[stage], *b = &p->stages[other];
    if (!read_the_same(a, b)) return NULL;
    if (a->level != b->level) return "one waits for results that the other does not need";
    const char *why = why_not(p, a, b);
    return why ? why : "a task of both would need more than the allowed memory";
}

/* --- Joining ------------------------------------------------------------------------------------------ */

/* Data about a stage while stages are joined. */
typedef struct sibling {
    int level;
    bool gone;    /* this stage was joined into another one, and no longer exists */
    bool pending; /* outputs were joined to the stage after it was last compiled */
    /* Each program of the stage has at most one branch, and the operator has `adds_up`. If this holds for two stages, their
     * joined stage needs at most the sum of their memory. */
    bool straight;
    /* Upper bounds of the numbers of loads and of instructions of the stage's two programs: [0] for the body of its
     * reductions, [1] for its tail. */
    size_t loads[2], instrs[2];
    size_t held; /* lower bound of the bytes of chunks and results that a task holds */
    /* upper bound of a task's memory. For a copy, it is the memory of a stage that computes, because a join may make it such a
     * stage. */
    cb_need need;
    int room, reads_room; /* capacities of growing lists: outputs, and nodes that it reads */
    /* joiner.time when the stage was created, and when another stage was last joined to it */
    int born, changed;
} sibling;

/* Index of stages by keys. A key is a property that joined stages must share, so only stages with a common key are compared.
 * Stages are moved only after all joins. */
typedef struct joiner {
    cubed_plan *p;
    sibling *of; /* data about each stage, by its number */
    int time;
    int *head; /* by key: 1 + number of the first entry; 0: no entry */
    struct entry {
        int stage, next;
    } * entries;
    int nentries, cap;
    int *found, nfound; /* stage numbers */
    int *mark, search;  /* number of the last search that found each stage */
} joiner;

static cb_program *joint(cb_stage *s) { return s->reduce ? &s->reduce->body : &s->tail; }

/* Returns the number of keys of a stage. Its keys are the nodes that it reads, or one key from its operator. */
static int num_keys(cb_stage *s) { return s->op->sibling_key ? 1 : joint(s)->nreads; }

static int key_of(const joiner *j, cb_stage *s, int i)
{
    return s->op->sibling_key ? j->p->ir.nnodes + s->op->sibling_key(j->p, s) : joint(s)->reads[i];
}

static cubed_status add_entry(joiner *j, int key, int stage, cubed_error *err)
{
    if (j->head[key] && j->entries[j->head[key] - 1].stage == stage) return CUBED_OK;
    if (!cb_zone_grow(j->p->ir.zone, &j->entries, j->nentries, &j->cap, sizeof *j->entries))
        return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    j->entries[j->nentries] = (struct entry){stage, j->head[key]};
    j->head[key] = ++j->nentries;
    return CUBED_OK;
}

static int by_number(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Finds the stages from number `first` on that share a key with s. */
static void find_candidates(joiner *j, cb_stage *s, int first)
{
    const int keys = num_keys(s);
    j->nfound = 0;
    j->search++;
    for (int i = 0; i < keys; i++) {
        for (int e = j->head[key_of(j, s, i)]; e; e = j->entries[e - 1].next) {
            const int k = j->entries[e - 1].stage;
            if (k < first || j->of[k].gone || j->mark[k] == j->search) continue;
            j->mark[k] = j->search;
            j->found[j->nfound++] = k;
        }
    }
    qsort(j->found, (size_t)j->nfound, sizeof *j->found, by_number);
}

static bool reads_node(const cb_program *prog, int node)
{
    return prog->nreads &&
           bsearch(&node, prog->reads, (size_t)prog->nreads, sizeof node, by_number);
}

/* Returns the bytes that a task of s holds: chunks of arrays that the program `beside` (may be NULL) does not read, and results
 * that need tiles. A task holds all loads of a branch at the same time; the loads of a group share one chunk. */
static size_t held_by(const cubed_plan *p, cb_stage *s, const cb_program *beside)
{
    const cb_program *prog = joint(s);
    size_t bytes = 0;
    for (int b = 0; b < prog->nbranches; b++) {
        for (int v = 0; v < prog->branches[b].nloads; v++) {
            const cb_load *l = &prog->branches[b].loads[v];
            if (l->kind == CB_LOAD_STORED && !l->subread && !l->follows &&
                !(beside && reads_node(beside, l->node)))
                bytes = cb_sat_add(bytes, cb_chunk_bytes(p, l->node));
        }
    }
    for (int o = 0; o < s->nouts && !s->reduce; o++) {
        const cb_node *n = &p->ir.nodes[s->outs[o].node];
        if (!n->to_memory)
            bytes = cb_sat_add(
                bytes, cb_sat_mul((size_t)cb_grid_max_chunk(n->grid), cubed_dtype_size(n->dtype)));
    }
    return bytes;
}

/* Returns true if loads share a tile. Together with the loads of another stage, the groups may differ, so the memory of both
 * stages has no simple bound. */
static bool has_windows(const cb_branch *b)
{
    for (int v = 0; v < b->nloads; v++) {
        if (b->loads[v].kind == CB_LOAD_STORED && b->loads[v].window) return true;
    }
    return false;
}

/* Fills in the description of a compiled stage. A superinstruction counts as several instructions. */
static void weigh(const cubed_plan *p, cb_stage *s, sibling *about)
{
    about->reads_room = 0;
    about->straight = s->op->adds_up && joint(s)->nbranches <= 1 && s->tail.nbranches <= 1;
    for (int i = 0; i < 2 && about->straight; i++) {
        const cb_program *prog = cb_stage_program(s, i);
        const cb_branch *code = prog->nbranches ? &prog->branches[0] : &(cb_branch){.nloads = 0};
        about->straight = !has_windows(code);
        about->loads[i] = (size_t)code->nloads;
        about->instrs[i] = 0;
        for (int k = 0; k < code->ninstrs; k++)
            about->instrs[i] += code->instrs[k].kind == CB_INSTR_SUPER
                                    ? p->ctx->kernels.super[code->instrs[k].op].n
                                    : 1;
    }
    about->need = s->need;
    /* A copy becomes a stage that computes if it is joined with one. Then it needs more memory. */
    if (s->op->joined && s->op->joined != s->op) {
        cb_stage computes = *s;
        computes.op = s->op->joined;
        cb_stage_project(p, &computes);
        about->need = computes.need;
    }
    about->held = about->straight ? held_by(p, s, NULL) : 0;
}

/* Maximum memory of a value of any type: its register, and its entries in the virtual machine. */
#define VALUE_BYTES (CB_VM_REGISTER_BYTES + CB_VM_LOAD_BYTES + CB_VM_INSTR_BYTES + 64)

/* Returns an upper bound of the memory of two joined stages. It is the sum of both, with two exceptions: all registers are as
 * wide as the wider ones, and results that are written in place of a reduction's state may need tiles. */
static uint64_t bound(const cubed_plan *p, const cb_stage *a, const sibling *of_a,
                      const cb_stage *b, const sibling *of_b)
{
    const cb_stage *both[] = {a, b};
    uint64_t bytes = 0;
    for (int i = 0; i < 2; i++) {
        const size_t values = of_a->loads[i] + of_a->instrs[i] + of_b->loads[i] + of_b->instrs[i];
        bytes += cb_sat_mul(values, VALUE_BYTES);
    }
    cb_need need = {cb_sat_add(of_a->need.arena, of_b->need.arena),
                    cb_max_size(of_a->need.library, of_b->need.library)};
    for (int i = 0; i < 2; i++) {
        size_t chunks = 2; /* 2: a chunk and the chunk in which it is staged */
        for (int d = 0; d < both[i]->kept->ndim; d++)
            chunks = cb_sat_mul(chunks, (size_t)both[i]->task_chunks[d]);
        for (int o = 0; both[i]->reduce && o < both[i]->nouts; o++)
            bytes = cb_sat_add(bytes,
                               cb_sat_mul(chunks, cb_chunk_bytes(p, both[i]->outs[o].node) + 64));
    }
    need.arena = cb_sat_add(need.arena, bytes);
    return cb_opt_need(p, need);
}

/* Adds the outputs of b to a. Growing lists are reallocated to twice the needed length. */
static cubed_status put_outputs(cubed_plan *p, cb_stage *a, sibling *about, const cb_stage *b,
                                cubed_error *err)
{
    const int n = a->nouts + b->nouts;
    if (n > about->room) {
        cb_stage_out *outs = cb_zone_alloc(p->ir.zone, (size_t)n * 2 * sizeof *outs);
        if (!outs) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
        memcpy(outs, a->outs, (size_t)a->nouts * sizeof *outs);
        a->outs = outs;
        about->room = 2 * n;
    }
    memcpy(a->outs + a->nouts, b->outs, (size_t)b->nouts * sizeof *b->outs);
    a->nouts = n;
    return CUBED_OK;
}

/* Merges the sorted lists of nodes that a and b read, in place from the end. */
static cubed_status put_reads(cubed_plan *p, cb_program *a, sibling *about, const cb_program *b,
                              cubed_error *err)
{
    int n = a->nreads;
    for (int k = 0; k < b->nreads; k++) n += !reads_node(a, b->reads[k]);
    if (n > about->reads_room) {
        int *reads = cb_zone_alloc(p->ir.zone, (size_t)n * 2 * sizeof *reads);
        if (!reads) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
        if (a->nreads) memcpy(reads, a->reads, (size_t)a->nreads * sizeof *reads);
        a->reads = reads;
        about->reads_room = 2 * n;
    }
    int i = a->nreads - 1, k = b->nreads - 1;
    for (int to = n - 1; k >= 0; to--) {
        if (i >= 0 && a->reads[i] >= b->reads[k]) {
            if (a->reads[i] == b->reads[k]) k--;
            a->reads[to] = a->reads[i--];
        } else {
            a->reads[to] = b->reads[k--];
        }
    }
    a->nreads = n;
    return CUBED_OK;
}

/* Compiles stage i, to which outputs were joined. */
static cubed_status settle(const joiner *j, int i, cubed_error *err)
{
    cb_stage *s = &j->p->stages[i];
    if (!j->of[i].pending) return CUBED_OK;
    CB_TRY(cb_stage_compile(j->p, s, err));
    cb_stage_project(j->p, s);
    j->of[i].pending = false;
    weigh(j->p, s, &j->of[i]);
    return CUBED_OK;
}

/* Joins stage b to stage a without compiling the result, if it is certain that both fit together. */
static cubed_status join_surely(joiner *j, cb_stage *a, sibling *about, cb_stage *b,
                                const sibling *other, bool *joined, cubed_error *err)
{
    *joined = about->straight && other->straight;
    for (int i = 0; i < 2; i++) {
        *joined = *joined && about->loads[i] + other->loads[i] <= CB_MAX_VALUES &&
                  about->instrs[i] + other->instrs[i] <= CB_MAX_VALUES;
    }
    *joined = *joined && bound(j->p, a, about, b, other) <= cb_opt_task_mem(j->p);
    if (!*joined) return CUBED_OK;
    about->held = cb_sat_add(about->held, held_by(j->p, b, joint(a)));
    CB_TRY(put_outputs(j->p, a, about, b, err));
    CB_TRY(put_reads(j->p, joint(a), about, joint(b), err));
    about->need.arena = cb_sat_add(about->need.arena, other->need.arena);
    about->need.library = cb_max_size(about->need.library, other->need.library);
    for (int i = 0; i < 2; i++) {
        about->loads[i] += other->loads[i];
        about->instrs[i] += other->instrs[i];
    }
    about->pending = true;
    return CUBED_OK;
}

static cubed_status join_exactly(joiner *j, cb_stage *a, sibling *about, const cb_stage *b,
                                 bool *joined, cubed_error *err)
{
    CB_TRY(put_outputs(j->p, a, about, b, err));
    cb_stage both = *a;
    a->nouts -= b->nouts;
    cubed_status st = cb_stage_compile(j->p, &both, err);
    if (st == CUBED_E_BUDGET) return CUBED_OK; /* the program is too long: do not join */
    if (st != CUBED_OK) return st;
    cb_stage_project(j->p, &both);
    if (cb_opt_need(j->p, both.need) > cb_opt_task_mem(j->p)) return CUBED_OK;
    *a = both;
    weigh(j->p, a, about);
    *joined = true;
    return CUBED_OK;
}

/* Joins b to stage i if the result fits in memory. `other` is the description of b. */
static cubed_status try_join(joiner *j, int i, cb_stage *b, const sibling *other, bool *joined,
                             cubed_error *err)
{
    cb_stage *a = &j->p->stages[i];
    sibling *about = &j->of[i];
    if (about->straight && other->straight) {
        const cb_need least = {cb_sat_add(about->held, held_by(j->p, b, joint(a))),
                               cb_max_size(about->need.library, other->need.library)};
        if (cb_opt_need(j->p, least) > cb_opt_task_mem(j->p)) return CUBED_OK;
    }
    CB_TRY(join_surely(j, a, about, b, other, joined, err));
    if (!*joined && about->pending) {
        CB_TRY(settle(j, i, err));
        CB_TRY(join_surely(j, a, about, b, other, joined, err));
    }
    if (!*joined) CB_TRY(join_exactly(j, a, about, b, joined, err));
    if (*joined) about->changed = ++j->time;
    return CUBED_OK;
}

/* Adds the keys of b to stage i. Duplicates do no harm. */
static cubed_status put_keys(joiner *j, int i, cb_stage *b, cubed_error *err)
{
    const int keys = num_keys(b);
    for (int k = 0; k < keys; k++) CB_TRY(add_entry(j, key_of(j, b, k), i, err));
    return CUBED_OK;
}

static cubed_status make_single(cubed_plan *p, int node, cb_stage *s, cubed_error *err)
{
    memset(s, 0, sizeof *s);
    s->nouts = 1;
    s->outs = cb_zone_alloc(p->ir.zone, sizeof *s->outs);
    if (!s->outs) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    s->outs[0].node = node;
    return cb_opt_tile(p, s, cb_opt_task_mem(p), err);
}

/* Joins a new stage to an existing one, or appends it. */
static cubed_status add_stage(joiner *j, cb_stage *s, bool merge_siblings, cubed_error *err)
{
    cubed_plan *p = j->p;
    sibling about = {.level = s->level};
    bool joined = false;
    if (merge_siblings) {
        weigh(p, s, &about);
        find_candidates(j, s, 0);
    }
    for (int i = 0; i < j->nfound && !joined; i++) {
        const int k = j->found[i];
        if (j->of[k].level != about.level || !may_join(p, &p->stages[k], s)) continue;
        CB_TRY(try_join(j, k, s, &about, &joined, err));
        if (joined) CB_TRY(put_keys(j, k, s, err));
    }
    if (joined) return CUBED_OK;
    about.born = ++j->time;
    j->of[p->nstages] = about;
    p->stages[p->nstages] = *s;
    if (merge_siblings) CB_TRY(put_keys(j, p->nstages, s, err));
    p->nstages++;
    return CUBED_OK;
}

/* Joins stage i with one of the stages after it. Sets *joined if they were joined. */
static cubed_status join_next(joiner *j, int i, bool *joined, cubed_error *err)
{
    cubed_plan *p = j->p;
    *joined = false;
    find_candidates(j, &p->stages[i], i + 1);
    for (int f = 0; f < j->nfound && !*joined; f++) {
        const int k = j->found[f];
        /* Skip pairs that were tried when the second stage was created, if neither stage has changed since. */
        const bool tried = j->of[k].changed == 0 && j->of[i].changed < j->of[k].born;
        if (tried || j->of[k].level != j->of[i].level || !may_join(p, &p->stages[i], &p->stages[k]))
            continue;
        CB_TRY(settle(j, k, err));
        CB_TRY(try_join(j, i, &p->stages[k], &j->of[k], joined, err));
        if (!*joined) continue;
        CB_TRY(put_keys(j, i, &p->stages[k], err));
        j->of[k].gone = true;
    }
    return CUBED_OK;
}

/* Joining is repeated until no stages can be joined. For example, u*u and v*v have no input in common until one of them is joined
 * with u*v. */
static cubed_status join_stages(joiner *j, cubed_error *err)
{
    cubed_plan *p = j->p;
    int kept = 0;
    for (int i = 0; i < p->nstages; i++) {
        bool joined = !j->of[i].gone;
        while (joined) CB_TRY(join_next(j, i, &joined, err));
    }
    for (int i = 0; i < p->nstages; i++) {
        if (j->of[i].gone) continue;
        CB_TRY(settle(j, i, err));
        if (kept < i) p->stages[kept] = p->stages[i];
        kept++;
    }
    p->nstages = kept;
    return CUBED_OK;
}

cubed_status cb_opt_make_stages(cubed_plan *p, bool merge_siblings, cubed_error *err)
{
    joiner j = {.p = p};
    cb_zone *zone = p->ir.zone;
    size_t n = (size_t)p->ir.nnodes, nstages = 0;
    for (size_t i = 0; i < n; i++) nstages += p->ir.nodes[i].stored;
    int *level = cb_zone_alloc(zone, n * sizeof *level);
    p->stages = cb_zone_alloc(zone, nstages * sizeof *p->stages);
    j.of = cb_zone_alloc(zone, nstages * sizeof *j.of);
    j.head = cb_zone_alloc(zone, (2 * n + 2) * sizeof *j.head);
    j.found = cb_zone_alloc(zone, nstages * sizeof *j.found);
    j.mark = cb_zone_alloc(zone, nstages * sizeof *j.mark);
    if (!level || !p->stages || !j.of || !j.head || !j.found || !j.mark)
        return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    p->nstages = 0;
    for (int i = 0; i < p->ir.nnodes; i++) {
        if (!p->ir.nodes[i].stored) continue;
        cb_stage s;
        CB_TRY(make_single(p, i, &s, err));
        level[i] = s.level = cb_stage_level(p, &s, level);
        CB_TRY(add_stage(&j, &s, merge_siblings, err));
    }
    return merge_siblings ? join_stages(&j, err) : CUBED_OK;
}
