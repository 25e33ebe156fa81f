/* Running chains of codecs. */
#include "codec/codec.h"

#include <string.h>

#include "base/le.h"
#include "codec/codec_pkg.h"

static bool is_shard(const cb_codec_step *s) { return s->vt == &cb_codec_sharding_indexed; }

size_t cb_step_bound(const cb_codec_chain *c, const cb_codec_step *s)
{
    return is_shard(s) ? cb_shard_bound(c, s) : s->vt->bound(&s->conf, &s->ctx, s->raw_size);
}

size_t cb_subread_bytes(const cb_codec_chain *c, cb_codec_subread part)
{
    return c->step[part.first].raw_size;
}

size_t cb_subread_bound(const cb_codec_chain *c, cb_codec_subread part)
{
    return cb_step_bound(c, &c->step[part.first + part.n - 1]);
}

size_t cb_codec_chain_bound(const cb_codec_chain *c) { return cb_subread_bound(c, c->all); }

bool cb_codec_chain_is_raw(const cb_codec_chain *c)
{
    for (int i = 0; i < c->all.n; i++) {
        if (!c->step[i].skip) return false;
    }
    return true;
}

bool cb_codec_chain_layout(const cb_codec_chain *c, cb_codec_layout *out)
{
    out->swap = NULL;
    for (int d = 0; d < CUBED_MAX_NDIM; d++) out->axis[d] = d;
    for (int i = 0; i < c->all.n; i++) {
        const cb_codec_step *s = &c->step[c->all.first + i];
        if (s->skip) continue;
        if (s->vt == &cb_codec_transpose) {
            int before[CUBED_MAX_NDIM];
            memcpy(before, out->axis, sizeof before);
            for (int d = 0; d < s->ctx.ndim; d++) out->axis[d] = before[s->conf.axis[d]];
        } else if (s->vt == &cb_codec_bytes) {
            out->swap = s;
        } else {
            return false;
        }
    }
    return true;
}

/* Steps that do something, in the order in which they run, and the bytes that each may give. What
 * all but the last give goes to one of two temporaries in turn. */
typedef struct schedule {
    int n;
    int step[CB_MAX_CODECS];
    size_t out[CB_MAX_CODECS];
    size_t temp[2];
} schedule;

static schedule make_schedule(const cb_codec_chain *c, cb_codec_subread part, bool decode,
                              uint32_t mask)
{
    schedule s = {.n = 0};
    for (int k = 0; k < part.n; k++) {
        const int of = decode ? part.n - 1 - k : k, i = part.first + of;
        const cb_codec_step *t = &c->step[i];
        /* The lowest bit is for the step behind the first one; the last one takes the mask away. */
        const bool masked = of > 0 && of < 33 && of < part.n - 1 && mask >> (of - 1) & 1;
        if (t->skip || masked) continue;
        s.step[s.n] = i;
        s.out[s.n++] = decode ? t->raw_size : cb_step_bound(c, t);
    }
    for (int k = 0; k + 1 < s.n; k++) s.temp[k % 2] = cb_max_size(s.temp[k % 2], s.out[k]);
    return s;
}

/* Which steps an encoded chunk did not go through, as its first bytes say if the last step put them there. */
static uint32_t mask_of(const cb_codec_chain *c, cb_codec_subread part, bool decode,
                        const void *src, size_t src_size)
{
    const bool has = decode && c->step[part.first + part.n - 1].vt == &cb_codec_filter_mask;
    return has && src_size >= 4 ? (uint32_t)cb_le_get(src, 4) : 0;
}

static cb_need step_need(const cb_codec_chain *c, const cb_codec_step *t, bool decode)
{
    if (is_shard(t)) return cb_shard_need(c, t, decode);
    cubed_codec_need n = decode ? t->vt->decode_need(&t->conf, &t->ctx, t->raw_size)
                                : t->vt->encode_need(&t->conf, &t->ctx, t->raw_size);
    return (cb_need){n.arena, n.library};
}

cb_need cb_subread_need(const cb_codec_chain *c, cb_codec_subread part, bool decode)
{
    schedule s = make_schedule(c, part, decode, 0);
    cb_need most = {0, 0};
    for (int k = 0; k < s.n; k++) {
        cb_need n = step_need(c, &c->step[s.step[k]], decode);
        most = cb_need_either(most, (cb_need){cb_arena_round(n.arena), n.library});
    }
    for (int k = 0; k < 2; k++) most.arena = cb_sat_add(most.arena, cb_arena_round(s.temp[k]));
    return most;
}

cb_need cb_codec_chain_decode_need(const cb_codec_chain *c)
{
    return cb_subread_need(c, c->all, true);
}

cb_need cb_codec_chain_encode_need(const cb_codec_chain *c)
{
    return cb_subread_need(c, c->all, false);
}

static cubed_status run_step(const cb_codec_chain *c, const cb_codec_step *t, bool decode,
                             const int64_t *used, const void *src, size_t src_size, void *dst,
                             size_t dst_cap, size_t *got, cb_arena *scratch, cubed_error *err)
{
    if (is_shard(t))
        return decode ? cb_shard_decode(c, t, src, src_size, dst, dst_cap, got, scratch, err)
                      : cb_shard_encode(c, t, src, used, dst, dst_cap, got, scratch, err);
    cb_need n = step_need(c, t, decode);
    size_t mark = cb_arena_mark(scratch);
    void *work = NULL;
    CB_TRY(cb_arena_alloc(scratch, n.arena, "codec scratch", &work, err));
    cubed_status st = cb_arena_charge(scratch, n.library, t->vt->name, err);
    if (st == CUBED_OK) {
        st = (decode ? t->vt->decode : t->vt->encode)(&t->conf, &t->ctx, src, src_size, dst,
                                                      dst_cap, got, work, n.arena, err);
        cb_arena_uncharge(scratch, n.library);
    }
    cb_arena_release(scratch, mark);
    if (st == CUBED_OK && *got > dst_cap)
        st = cb_fail(err, CUBED_E_FORMAT, "it says that it gave %zu bytes, but may give %zu", *got,
                     dst_cap);
    return st == CUBED_OK ? st : cb_context(err, st, "codec %s", t->vt->name);
}

cubed_status cb_subread_run(const cb_codec_chain *c, cb_codec_subread part, bool decode,
                            const int64_t *used, const void *src, size_t src_size, void *dst,
                            size_t dst_cap, size_t *got, cb_arena *scratch, cubed_error *err)
{
    /* What is left out makes no temporary larger: what a step decodes to is no longer than what it is given to decode
     * may be. */
    schedule s = make_schedule(c, part, decode, mask_of(c, part, decode, src, src_size));
    if (s.n == 0) {
        if (src_size > dst_cap)
            return cb_fail(err, CUBED_E_FORMAT, "%zu bytes, expected %zu", src_size, dst_cap);
        memcpy(dst, src, src_size);
        *got = src_size;
        return CUBED_OK;
    }
    size_t mark = cb_arena_mark(scratch);
    void *temp[2] = {NULL, NULL};
    cubed_status st = CUBED_OK;
    for (int k = 0; k < 2; k++)
        CB_GO(cb_arena_alloc(scratch, s.temp[k], "codec output", &temp[k], err));
    for (int k = 0; k < s.n; k++) {
        bool last = k == s.n - 1;
        void *to = last ? dst : temp[k % 2];
        size_t cap = last ? dst_cap : s.out[k];
        /* A step before it may have turned the axes. */
        const int64_t *part_used = k == 0 ? used : NULL;
        CB_GO(run_step(c, &c->step[s.step[k]], decode, part_used, src, src_size, to, cap, got,
                       scratch, err));
        src = to;
        src_size = *got;
    }
out:
    cb_arena_release(scratch, mark);
    return st;
}

cubed_status cb_subread_decode(const cb_codec_chain *c, cb_codec_subread part, const void *src,
                               size_t src_size, void *dst, cb_arena *scratch, cubed_error *err)
{
    size_t got = 0, bytes = cb_subread_bytes(c, part);
    CB_TRY(cb_subread_run(c, part, true, NULL, src, src_size, dst, bytes, &got, scratch, err));
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
    return cb_subread_run(c, c->all, true, NULL, src, src_size, dst, c->chunk_bytes, got, scratch,
                          err);
}

cubed_status cb_codec_chain_encode(const cb_codec_chain *c, const void *src, const int64_t *used,
                                   void *dst, size_t *got, cb_arena *scratch, cubed_error *err)
{
    return cb_subread_run(c, c->all, false, used, src, c->chunk_bytes, dst, cb_codec_chain_bound(c),
                          got, scratch, err);
}

/* --- Ranges -------------------------------------------------------------------------------------------- */

const cb_codec_step *cb_codec_chain_ranged(const cb_codec_chain *c)
{
    schedule s = make_schedule(c, c->all, true, 0);
    const cb_codec_step *t = &c->step[s.step[0]];
    return s.n == 1 && t->vt->decode_range && t->raw_size == c->chunk_bytes ? t : NULL;
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
    cubed_status st =
        s->vt->locate(&s->conf, &s->ctx, src, src_size, s->raw_size, from, size, out, err);
    return st == CUBED_OK ? st : cb_context(err, st, "codec %s", s->vt->name);
}

cubed_status cb_codec_range_decode(const cb_codec_step *s, void *src,
                                   const cubed_codec_extent *located, size_t from, size_t size,
                                   void *dst, cb_arena *scratch, cubed_error *err)
{
    cubed_codec_need n = s->vt->range_need(&s->conf, &s->ctx, s->raw_size);
    size_t mark = cb_arena_mark(scratch);
    void *work = NULL;
    CB_TRY(cb_arena_alloc(scratch, n.arena, "codec scratch", &work, err));
    cubed_status st = cb_arena_charge(scratch, n.library, s->vt->name, err);
    if (st == CUBED_OK) {
        st = s->vt->decode_range(&s->conf, &s->ctx, src, located, s->raw_size, from, size, dst,
                                 work, n.arena, err);
        cb_arena_uncharge(scratch, n.library);
    }
    cb_arena_release(scratch, mark);
    return st == CUBED_OK ? st : cb_context(err, st, "codec %s", s->vt->name);
}
