#include "context/context.h"

#include <string.h>
#include <strings.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "files/files.h"
#include "mem/pages.h"
#include "place/confine.h"

cubed_status cubed_context_new(const cubed_context_options *options, cubed_context **out,
                               cubed_error *err)
{
    cubed_context_options o = CUBED_CONTEXT_OPTIONS_INIT;
    CB_TRY(CB_OPTIONS_TAKE("context", options, &o, err));
    const cubed_allocator *a = o.allocator ? o.allocator : &cb_system_allocator;
    cubed_context *ctx = cb_alloc_zero(a, sizeof *ctx);
    if (!ctx) return cb_fail(err, CUBED_E_NOMEM, "no memory for a context");
    if (!cb_kernels_init(o.isa, &ctx->kernels)) {
        cb_free(a, ctx, sizeof *ctx);
        const char *names[5];
        cb_kernels_available(names);
        char list[128] = "";
        for (int i = 0; names[i]; i++) {
            if (i) strncat(list, ", ", sizeof list - strlen(list) - 1);
            strncat(list, names[i], sizeof list - strlen(list) - 1);
        }
        return cb_fail(err, CUBED_E_ARG,
                       "isa \"%s\" is not supported by this machine, which supports: %s",
                       o.isa ? o.isa : "(best)", list);
    }
    atomic_init(&ctx->refs, 1);
    ctx->alloc = *a;
    cb_stores_init(&ctx->stores, &ctx->alloc);
    ctx->stores.open_file = cb_file_open_allowed;
    ctx->machine_memory = cb_machine_memory();
    *out = ctx;
    return CUBED_OK;
}

cubed_context *cubed_context_ref(cubed_context *ctx)
{
    atomic_fetch_add_explicit(&ctx->refs, 1, memory_order_relaxed);
    return ctx;
}

void cubed_context_unref(cubed_context *ctx)
{
    if (!ctx || atomic_fetch_sub_explicit(&ctx->refs, 1, memory_order_acq_rel) != 1) return;
    cubed_allocator a = ctx->alloc;
    cb_spare_drop(&ctx->spare);
    cb_opened_drop(&ctx->opened);
    cb_stores_free(&ctx->stores);
    cb_codecs_free(&ctx->codecs, &a);
    cb_added_block_fn *next, *added = atomic_load(&ctx->block_fns);
    for (; added; added = next) {
        next = added->next;
        cb_free(&a, added, sizeof *added);
    }
    cb_added_source_fn *after, *kind = atomic_load(&ctx->source_fns);
    for (; kind; kind = after) {
        after = kind->next;
        cb_free(&a, kind, sizeof *kind);
    }
    cb_added_executor *follows, *executor = atomic_load(&ctx->executors);
    for (; executor; executor = follows) {
        follows = executor->next;
        cb_free(&a, executor, sizeof *executor);
    }
    cb_free(&a, ctx, sizeof *ctx);
}

cubed_status cubed_context_set_variables(cubed_context *ctx, const char *const *variables,
                                         cubed_error *err)
{
    return cb_net_set_variables(&ctx->stores.net, variables, err);
}

/* Gets the URL under which the options of a store or document are recorded. Options of a repository apply to all its branches. */
static cubed_status find_scope(cb_zone *zone, const char *url, const char **out, cubed_error *err)
{
    cb_place place;
    CB_TRY(cb_place_parse(zone, url, &place, err));
    const size_t n = cb_store_root_length(place.store);
    char *scope = cb_zone_memdup(zone, place.store, n + 1);
    if (!scope) return cb_fail(err, CUBED_E_NOMEM, "no memory for a setting");
    scope[n] = 0;
    *out = scope;
    return CUBED_OK;
}

cubed_status cubed_context_set_storage_option(cubed_context *ctx, const char *url, const char *name,
                                              const char *value, cubed_error *err)
{
    const char *scope;
    cb_zone *zone;
    cb_buf prefixes;
    cubed_status st;
    CB_TRY(cb_zone_new(&ctx->alloc, &zone, err));
    cb_buf_init(&prefixes, &ctx->alloc);
    CB_GO(find_scope(zone, url, &scope, err));
    if (name && value && strcasecmp(name, CB_NET_REFERENCES) == 0) {
        CB_GO(cb_confine_put_prefixes(value, &prefixes, err));
        value = prefixes.size > 0 ? prefixes.data : "";
    }
    CB_GO(cb_net_set_option(&ctx->stores.net, scope, name, value, err));
out:
    cb_buf_free(&prefixes);
    cb_zone_free(zone);
    return st;
}

cubed_status cubed_context_allow_references(cubed_context *ctx, const char *document,
                                            const char *prefix, cubed_error *err)
{
    cb_zone *zone;
    cb_buf all;
    const char *known, *scope = "";
    cubed_status st;
    CB_TRY(cb_zone_new(&ctx->alloc, &zone, err));
    cb_buf_init(&all, &ctx->alloc);
    if (document) CB_GO(find_scope(zone, document, &scope, err));
    CB_GO(cb_net_get_references(&ctx->stores.net, zone, scope, &known, err));
    if (known) cb_buf_puts(&all, known);
    CB_GO(cb_confine_put_prefixes(prefix, &all, err));
    if (all.size > 0)
        CB_GO(cb_net_set_option(&ctx->stores.net, scope, CB_NET_REFERENCES, all.data, err));
out:
    cb_buf_free(&all);
    cb_zone_free(zone);
    return st;
}

cubed_status cubed_context_storage_options(cubed_context *ctx, char *out, size_t cap, size_t *size,
                                           cubed_error *err)
{
    cb_buf text;
    cb_buf_init(&text, &ctx->alloc);
    cb_buf_puts(&text, "");
    cubed_status st = cb_net_put_options(&ctx->stores.net, &text, err);
    *size = text.size + 1;
    if (st == CUBED_OK && cap > 0) {
        memcpy(out, text.data, cb_min_size(cap, *size));
        out[cap - 1] = 0;
    }
    if (text.data) explicit_bzero(text.data, text.cap);
    cb_buf_free(&text);
    return st;
}

cubed_status cubed_context_take_storage_options(cubed_context *ctx, const char *text,
                                                cubed_error *err)
{
    return cb_net_take_options(&ctx->stores.net, text, err);
}

cubed_status cubed_context_add_store(cubed_context *ctx, const cubed_store_vtable *vt,
                                     cubed_error *err)
{
    return cb_stores_add(&ctx->stores, vt, err);
}

cubed_status cubed_context_add_codec(cubed_context *ctx, const cubed_codec_vtable *vt,
                                     cubed_error *err)
{
    return cb_codecs_add(&ctx->codecs, &ctx->alloc, vt, err);
}

const char *cubed_context_isa(const cubed_context *ctx) { return ctx->kernels.isa; }
