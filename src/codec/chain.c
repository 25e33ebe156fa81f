/* Runs codec chains. A shard is a step that runs other parts of the chain for its inner chunks and its index. */
#include "codec/codec.h"

#include <string.h>

#include "base/le.h"
#include "codec/codec_pkg.h"
#include "codec/shard_layout.h"

static bool is_shard(const cb_codec_step *s) { return s->vt == &cb_codec_sharding_indexed; }

/* The recursion ends because shards nest at most as deep as a chain has steps. */
static size_t shard_bound(const cb_codec_chain *c, const cb_codec_step *s);

size_t cb_step_bound(const cb_codec_chain *c, const cb_codec_step *s)
{
    return is_shard(s) ? shard_bound(c, s) : s->vt->bound(&s->conf, &s->ctx, s->raw_size);
}

size_t cb_subread_bytes(const cb_codec_chain *c, cb_codec_subread part)
{
    return c->step[part.first].raw_size;
}

size_t cb_subread_bound(const cb_codec_chain *c, cb_codec_subread part)
{
    return cb_step_bound(c, &c->step[part.first + part.n - 1]);
}

static size_t shard_bound(const cb_codec_chain *c, const cb_codec_step *s)
{
    size_t n;
    if (cb_mul_size((size_t)s->ninner, cb_subread_bound(c, s->inner), &n) ||
        cb_add_size(n, cb_subread_bound(c, s->index), &n))
        return 0;
    return n;
}

size_t cb_codec_chain_bound(const cb_codec_chain *c) { return cb_subread_bound(c, c->all); }

bool cb_codec_chain_is_raw(const cb_codec_chain *c)
{
    for (int i = 0; i < c->all.n; i++) {
        if (!c->step[i].skip) return false;
    }
    return true;
}

int cb_codec_part_layout(const cb_codec_chain *c, cb_codec_subread part, cb_codec_layout *out)
{
    const int end = part.first + part.n;
    bool moved = false;
    *out = (cb_codec_layout){.swap = NULL};
    for (int d = 0; d < CUBED_MAX_NDIM; d++) out->axis[d] = d;
    for (int i = part.first; i < end; i++) {
        const cb_codec_step *s = &c->step[i];
        if (s->skip) continue;
        if (s->vt == &cb_codec_transpose) {
            int before[CUBED_MAX_NDIM];
            memcpy(before, out->axis, sizeof before);
            const cb_transpose_conf *conf = (const void *)&s->conf;
            for (int d = 0; d < s->ctx.ndim; d++) out->axis[d] = before[conf->axis[d]];
            moved = true;
        } else if (s->vt == &cb_codec_bytes) {
            out->swap = s;
        } else if (s->vt == &cb_codec_shuffle) {
            const cb_shuffle_conf *conf = (const void *)&s->conf;
            const size_t unit = (size_t)conf->elementsize;
            if (moved || c->step[part.first].ctx.item_size % unit != 0) return i;
            out->shuffled = unit;
            return i + 1;
        } else {
            return i;
        }
    }
    return end;
}

/* The steps that run, in order, and the maximum output of each in bytes. All outputs except the last alternate between two
 * temporary buffers. */
typedef struct schedule {
    int n;
    int step[CB_MAX_CODECS];
    size_t out[CB_MAX_CODECS];
    size_t temp[2];
} schedule;

static schedule make_schedule(const cb_codec_chain *c, cb_codec_subread part, cb_codec_way way,
                              uint32_t mask)
{
    schedule s = {.n = 0};
    for (int k = 0; k < part.n; k++) {
        const int of = way == CB_DECODE ? part.n - 1 - k : k, i = part.first + of;
        const cb_codec_step *t = &c->step[i];
        /* The mask has a bit for each step from the second one on. The last step cannot be skipped, because it removes the
         * mask. */
        const bool masked = of > 0 && of < 33 && of < part.n - 1 && mask >> (of - 1) & 1;
        if (t->skip || masked) continue;
        s.step[s.n] = i;
        s.out[s.n++] = way == CB_DECODE ? t->raw_size : cb_step_bound(c, t);
    }
    for (int k = 0; k + 1 < s.n; k++) s.temp[k % 2] = cb_max_size(s.temp[k % 2], s.out[k]);
    return s;
}

/* Returns a mask of the steps that were skipped when a chunk was encoded. The first bytes of the chunk contain it if the last
 * step is "filter_mask". */
static uint32_t mask_of(const cb_codec_chain *c, cb_codec_subread part, cb_codec_way way,
                        const cb_codec_io *io)
{
    const bool has =
        way == CB_DECODE && c->step[part.first + part.n - 1].vt == &cb_codec_filter_mask;
    return has && io->src_size >= 4 ? (uint32_t)cb_le_get(io->src, 4) : 0;
}

static cb_need shard_need(const cb_codec_chain *c, const cb_codec_step *s, cb_codec_way way);

static cb_need step_need(const cb_codec_chain *c, const cb_codec_step *t, cb_codec_way way)
{
    if (is_shard(t)) return shard_need(c, t, way);
    cubed_codec_need n = (way == CB_DECODE ? t->vt->decode_need
                                           : t->vt->encode_need)(&t->conf, &t->ctx, t->raw_size);
    return (cb_need){n.arena, n.library};
}

cb_need cb_subread_need(const cb_codec_chain *c, cb_codec_subread part, cb_codec_way way)
{
    schedule s = make_schedule(c, part, way, 0);
    cb_need most = {0, 0};
    for (int k = 0; k < s.n; k++) {
        cb_need n = step_need(c, &c->step[s.step[k]], way);
        most = cb_need_either(most, (cb_need){cb_arena_round(n.arena), n.library});
    }
    for (int k = 0; k < 2; k++) most.arena = cb_sat_add(most.arena, cb_arena_round(s.temp[k]));
    return most;
}

static cb_need shard_need(const cb_codec_chain *c, const cb_codec_step *s, cb_codec_way way)
{
    size_t own = cb_sat_add(cb_arena_round(cb_subread_bytes(c, s->index)),
                            cb_arena_round(cb_subread_bytes(c, s->inner)));
    return cb_need_both((cb_need){own, 0}, cb_need_either(cb_subread_need(c, s->inner, way),
                                                          cb_subread_need(c, s->index, way)));
}

cb_need cb_codec_chain_decode_need(const cb_codec_chain *c)
{
    return cb_subread_need(c, c->all, CB_DECODE);
}

cb_need cb_codec_chain_encode_need(const cb_codec_chain *c)
{
    return cb_subread_need(c, c->all, CB_ENCODE);
}

/* Memory reserved for a step's call; end_call releases it. */
typedef struct working {
    size_t mark, library;
    void *scratch;
} working;

static cubed_status begin_call(const cb_codec_step *t, cb_need need, cb_arena *scratch, working *w,
                               cubed_error *err)
{
    *w = (working){.mark = cb_arena_mark(scratch), .library = need.library};
    CB_TRY(cb_arena_alloc(scratch, need.arena, "codec scratch", &w->scratch, err));
    cubed_status st = cb_arena_charge(scratch, need.library, t->vt->name, err);
    if (st != CUBED_OK) cb_arena_release(scratch, w->mark);
    return st;
}

static cubed_status end_call(const cb_codec_step *t, const working *w, cb_arena *scratch,
                             cubed_status st, cubed_error *err)
{
    cb_arena_uncharge(scratch, w->library);
    cb_arena_release(scratch, w->mark);
    return st == CUBED_OK ? st : cb_context(err, st, "codec %s", t->vt->name);
}

static cubed_status decode_shard(const cb_codec_chain *c, const cb_codec_step *s,
                                 const cb_codec_io *io, size_t *got, cubed_error *err);
static cubed_status encode_shard(const cb_codec_chain *c, const cb_codec_step *s,
                                 const cb_codec_io *io, size_t *got, cubed_error *err);

static cubed_status run_step(const cb_codec_chain *c, const cb_codec_step *t, cb_codec_way way,
                             const cb_codec_io *io, size_t *got, cubed_error *err)
{
    if (is_shard(t)) return (way == CB_DECODE ? decode_shard : encode_shard)(c, t, io, got, err);
    const cb_need n = step_need(c, t, way);
    working w;
    CB_TRY(begin_call(t, n, io->scratch, &w, err));
    const cubed_codec_call call = {.conf = &t->conf,
                                   .ctx = &t->ctx,
                                   .src = io->src,
                                   .src_size = io->src_size,
                                   .dst = io->dst,
                                   .dst_cap = io->dst_cap,
                                   .scratch = w.scratch,
                                   .scratch_size = n.arena};
    cubed_status st = (way == CB_DECODE ? t->vt->decode : t->vt->encode)(&call, got, err);
    if (st == CUBED_OK && *got > io->dst_cap)
        st = cb_fail(err, CUBED_E_FORMAT,
                     "the codec reports %zu bytes of output, expected at most %zu", *got,
                     io->dst_cap);
    return end_call(t, &w, io->scratch, st, err);
}

cubed_status cb_subread_run(const cb_codec_chain *c, cb_codec_subread part, cb_codec_way way,
                            const cb_codec_io *io, size_t *got, cubed_error *err)
{
    /* If steps are skipped, temporary buffers stay large enough: the decoded size of a step is at most the maximum size of its
     * input. */
    schedule s = make_schedule(c, part, way, mask_of(c, part, way, io));
    if (s.n == 0) {
        if (io->src_size > io->dst_cap)
            return cb_fail(err, CUBED_E_FORMAT, "%zu bytes, expected %zu", io->src_size,
                           io->dst_cap);
        memcpy(io->dst, io->src, io->src_size);
        *got = io->src_size;
        return CUBED_OK;
    }
    size_t mark = cb_arena_mark(io->scratch);
    void *temp[2] = {NULL, NULL};
    cubed_status st = CUBED_OK;
    cb_codec_io step = *io;
    for (int k = 0; k < 2; k++)
        CB_GO(cb_arena_alloc(io->scratch, s.temp[k], "codec output", &temp[k], err));
    for (int k = 0; k < s.n; k++) {
        bool last = k == s.n - 1;
        step.dst = last ? io->dst : temp[k % 2];
        step.dst_cap = last ? io->dst_cap : s.out[k];
        CB_GO(run_step(c, &c->step[s.step[k]], way, &step, got, err));
        step.src = step.dst;
        step.src_size = *got;
        step.used = NULL; /* this step may have transposed the axes, so `used` is no longer valid */
    }
out:
    cb_arena_release(io->scratch, mark);
    return st;
}

cubed_status cb_subread_decode(const cb_codec_chain *c, cb_codec_subread part, const void *src,
                               size_t src_size, void *dst, cb_arena *scratch, cubed_error *err)
{
    size_t got = 0, bytes = cb_subread_bytes(c, part);
    const cb_codec_io io = {
        .src = src, .src_size = src_size, .dst = dst, .dst_cap = bytes, .scratch = scratch};
    CB_TRY(cb_subread_run(c, part, CB_DECODE, &io, &got, err));
    if (got != bytes)
        return cb_fail(err, CUBED_E_FORMAT, "the chunk decodes to %zu bytes, expected %zu", got,
                       bytes);
    return CUBED_OK;
}

cubed_status cb_codec_chain_decode(const cb_codec_chain *c, const void *src, size_t src_size,
                                   void *dst, cb_arena *scratch, cubed_error *err)
{
    return cb_subread_decode(c, c->all, src, src_size, dst, scratch, err);
}

cubed_status cb_codec_chain_decode_some(const cb_codec_chain *c, const void *src, size_t src_size,
                                        void *dst, size_t *got, cb_arena *scratch, cubed_error *err)
{
    const cb_codec_io io = {.src = src,
                            .src_size = src_size,
                            .dst = dst,
                            .dst_cap = c->chunk_bytes,
                            .scratch = scratch};
    return cb_subread_run(c, c->all, CB_DECODE, &io, got, err);
}

cubed_status cb_codec_chain_encode(const cb_codec_chain *c, const void *src, const int64_t *used,
                                   void *dst, size_t *got, cb_arena *scratch, cubed_error *err)
{
    const cb_codec_io io = {.src = src,
                            .src_size = c->chunk_bytes,
                            .dst = dst,
                            .dst_cap = cb_codec_chain_bound(c),
                            .used = used,
                            .scratch = scratch};
    return cb_subread_run(c, c->all, CB_ENCODE, &io, got, err);
}

/* --- Shards -------------------------------------------------------------------------------------------- */

static cubed_status decode_shard(const cb_codec_chain *c, const cb_codec_step *s,
                                 const cb_codec_io *io, size_t *got, cubed_error *err)
{
    cb_arena *scratch = io->scratch;
    size_t index_bytes = cb_subread_bound(c, s->index), bytes = cb_subread_bytes(c, s->inner);
    size_t mark = cb_arena_mark(scratch);
    cubed_status st = CUBED_OK;
    cb_shard_walk w = cb_shard_walk_start(c, s);
    void *index, *buffer;
    CB_CHECK(io->dst_cap >= s->raw_size, err);
    if (io->src_size < index_bytes)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the shard has %zu bytes, expected at least an index of %zu", io->src_size,
                       index_bytes);
    const char *src = io->src;
    const char *at = src + (s->index_in_front ? 0 : io->src_size - index_bytes);
    CB_GO(cb_arena_alloc(scratch, cb_subread_bytes(c, s->index), "shard index", &index, err));
    CB_GO(cb_arena_alloc(scratch, bytes, "inner chunk", &buffer, err));
    CB_GO(cb_subread_decode(c, s->index, at, index_bytes, index, scratch, err));
    for (int64_t i = 0; i < s->ninner; i++, cb_shard_walk_next(&w)) {
        static const int64_t origin[CUBED_MAX_NDIM];
        uint64_t offset, size;
        char *to = w.contiguous ? (char *)io->dst + cb_shard_walk_offset(&w, origin) : buffer;
        CB_GO(cb_shard_find(index, i, cb_subread_bound(c, s->inner), io->src_size, &offset, &size,
                            err));
        if (size)
            CB_GO(cb_subread_decode(c, s->inner, src + offset, (size_t)size, to, scratch, err));
        else
            cb_shard_fill(c, w.item, to, bytes);
        if (!w.contiguous) cb_shard_walk_copy(&w, io->dst, buffer, true);
    }
    *got = s->raw_size;
out:
    cb_arena_release(scratch, mark);
    return st == CUBED_OK ? st : cb_context(err, st, "codec sharding_indexed");
}

static cubed_status encode_shard(const cb_codec_chain *c, const cb_codec_step *s,
                                 const cb_codec_io *io, size_t *got, cubed_error *err)
{
    static const int64_t origin[CUBED_MAX_NDIM];
    size_t index_bytes = cb_subread_bound(c, s->index), bytes = cb_subread_bytes(c, s->inner);
    size_t bound = cb_subread_bound(c, s->inner), mark = cb_arena_mark(io->scratch), n;
    size_t at = s->index_in_front ? index_bytes : 0;
    cubed_status st = CUBED_OK;
    cb_shard_walk w = cb_shard_walk_start(c, s);
    void *p, *buffer;
    CB_CHECK(io->dst_cap >= shard_bound(c, s), err);
    CB_GO(cb_arena_alloc(io->scratch, cb_subread_bytes(c, s->index), "shard index", &p, err));
    CB_GO(cb_arena_alloc(io->scratch, bytes, "inner chunk", &buffer, err));
    uint64_t *index = p;
    cb_codec_io inner = {.src_size = bytes, .dst_cap = bound, .scratch = io->scratch};
    for (int64_t i = 0; i < s->ninner; i++, cb_shard_walk_next(&w)) {
        index[2 * i] = index[2 * i + 1] = UINT64_MAX;
        if (cb_shard_walk_outside(&w, io->used)) continue;
        const char *from = (const char *)io->src + cb_shard_walk_offset(&w, origin);
        if (!w.contiguous) {
            cb_shard_walk_copy(&w, (char *)(uintptr_t)io->src, buffer, false);
            from = buffer;
        }
        if (c->skip_empty && cb_shard_is_fill(c, w.item, from, bytes)) continue;
        inner.src = from;
        inner.dst = (char *)io->dst + at;
        CB_GO(cb_subread_run(c, s->inner, CB_ENCODE, &inner, &n, err));
        index[2 * i] = at;
        index[2 * i + 1] = n;
        at += n;
    }
    const cb_codec_io last = {.src = index,
                              .src_size = cb_subread_bytes(c, s->index),
                              .dst = (char *)io->dst + (s->index_in_front ? 0 : at),
                              .dst_cap = index_bytes,
                              .scratch = io->scratch};
    CB_GO(cb_subread_run(c, s->index, CB_ENCODE, &last, &n, err));
    CB_CHECK(n == index_bytes, err);
    *got = at + (s->index_in_front ? 0 : index_bytes);
out:
    cb_arena_release(io->scratch, mark);
    return st == CUBED_OK ? st : cb_context(err, st, "codec sharding_indexed");
}

/* --- Ranges -------------------------------------------------------------------------------------------- */

const cb_codec_step *cb_codec_part_ranged(const cb_codec_chain *c, cb_codec_subread part)
{
    schedule s = make_schedule(c, part, CB_DECODE, 0);
    const cb_codec_step *t = &c->step[s.step[0]];
    const size_t bytes = cb_subread_bytes(c, part);
    return s.n == 1 && t->vt->decode_runs && t->raw_size == bytes ? t : NULL;
}

size_t cb_codec_block_bound(const cb_codec_step *s)
{
    return s->vt->block_bound ? s->vt->block_bound(&s->conf, &s->ctx, s->raw_size) : 0;
}

cb_need cb_codec_range_need(const cb_codec_step *s)
{
    cubed_codec_need n = s->vt->range_need(&s->conf, &s->ctx, s->raw_size);
    return (cb_need){cb_arena_round(n.arena), n.library};
}

cubed_status cb_codec_range_locate(const cb_codec_step *s, const void *src, size_t src_size,
                                   size_t from, size_t size, cubed_codec_extent *out,
                                   cubed_error *err)
{
    const cubed_codec_call call = {
        .conf = &s->conf, .ctx = &s->ctx, .src = src, .src_size = src_size};
    const cubed_codec_range range = {.raw_size = s->raw_size, .from = from, .size = size};
    cubed_status st = s->vt->locate(&call, &range, out, err);
    return st == CUBED_OK ? st : cb_context(err, st, "codec %s", s->vt->name);
}

cubed_status cb_codec_runs_decode(const cb_codec_step *s, void *src,
                                  const cubed_codec_extent *located, const cubed_range *runs,
                                  size_t n, void *dst, cb_arena *scratch, cubed_error *err)
{
    const cubed_codec_need need = s->vt->range_need(&s->conf, &s->ctx, s->raw_size);
    const size_t from = (size_t)runs[0].offset;
    size_t bytes = 0;
    working w;
    for (size_t i = 0; i < n; i++) bytes += runs[i].size;
    CB_TRY(begin_call(s, (cb_need){need.arena, need.library}, scratch, &w, err));
    const cubed_codec_call call = {.conf = &s->conf,
                                   .ctx = &s->ctx,
                                   .src = src,
                                   .src_size = located->head + (located->hi - located->lo),
                                   .dst = dst,
                                   .dst_cap = bytes,
                                   .scratch = w.scratch,
                                   .scratch_size = need.arena};
    const cubed_codec_range range = {.raw_size = s->raw_size,
                                     .from = from,
                                     .size = (size_t)runs[n - 1].offset + runs[n - 1].size - from,
                                     .runs = runs,
                                     .nruns = n,
                                     .located = located,
                                     .bytes = src};
    return end_call(s, &w, scratch, s->vt->decode_runs(&call, &range, err), err);
}
