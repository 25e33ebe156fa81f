#include "store/registry.h"

#include <ctype.h>
#include <inttypes.h>
#include <strings.h>

#include "base/error.h"

cubed_status cb_stores_init(cb_stores *s, const cubed_allocator *a, cubed_error *err)
{
    s->alloc = a;
    atomic_init(&s->added, NULL);
    return cb_memory_init(&s->memory, a, err);
}

void cb_stores_free(cb_stores *s)
{
    cb_added_store *next, *a = atomic_load(&s->added);
    for (; a; a = next) {
        next = a->next;
        cb_free(s->alloc, a, sizeof *a);
    }
    cb_memory_free(&s->memory);
}

/* Characters of the URL's scheme; 0: it is a path. */
static size_t scheme_length(const char *url)
{
    const char *end = *url == '/' ? NULL : strstr(url, "://");
    return end ? (size_t)(end - url) : 0;
}

static bool is_scheme(const char *url, size_t n, const char *scheme)
{
    return strncasecmp(url, scheme, n) == 0 && scheme[n] == 0;
}

static const cubed_store_vtable *find(const cb_stores *s, const char *url, size_t n)
{
    for (const cb_added_store *a = atomic_load(&s->added); a; a = a->next) {
        if (is_scheme(url, n, a->vt->scheme)) return a->vt;
    }
    return NULL;
}

static bool is_legal(const char *scheme)
{
    const size_t n = strlen(scheme);
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)scheme[i];
        if (!islower(c) && (i == 0 || (!isdigit(c) && !strchr("+-.", c)))) return false;
    }
    return n > 0;
}

cubed_status cb_stores_add(cb_stores *s, const cubed_store_vtable *vt, cubed_error *err)
{
    /* Of another layout nothing else is looked at. */
    if (vt->struct_size != sizeof *vt || vt->version != CUBED_STORE_VERSION)
        return cb_fail(err, CUBED_E_ARG,
                       "a store's vtable of version %" PRIu32
                       " and %zu bytes, expected version %d and %zu: compile the store with the "
                       "headers of libcubed %s",
                       vt->version, vt->struct_size, CUBED_STORE_VERSION, sizeof *vt,
                       CUBED_VERSION_STRING);
    if (!vt->scheme || !is_legal(vt->scheme))
        return cb_fail(err, CUBED_E_ARG,
                       "the scheme of a store is \"%s\", expected lower case letters, then also "
                       "digits, '+', '-' and '.'",
                       vt->scheme ? vt->scheme : "");
    if (!vt->open || !vt->close || !vt->submit)
        return cb_fail(err, CUBED_E_ARG, "the store of scheme %s needs open, close and submit",
                       vt->scheme);
    cb_added_store *added = cb_alloc_zero(s->alloc, sizeof *added);
    if (!added) return cb_fail(err, CUBED_E_NOMEM, "no memory for a store");
    const size_t n = strlen(vt->scheme);
    added->vt = vt;
    added->next = atomic_load(&s->added);
    /* Again if another thread has added one in between. */
    while (!is_scheme(vt->scheme, n, "file") && !is_scheme(vt->scheme, n, "memory") &&
           !find(s, vt->scheme, n)) {
        if (atomic_compare_exchange_weak(&s->added, &added->next, added)) return CUBED_OK;
    }
    cb_free(s->alloc, added, sizeof *added);
    return cb_fail(err, CUBED_E_EXISTS, "there is a store of scheme %s already", vt->scheme);
}

cubed_status cb_store_check(const cb_stores *s, const char *url, cubed_error *err)
{
    const size_t n = scheme_length(url);
    if (!*url) return cb_fail(err, CUBED_E_ARG, "a store's path is empty");
    if (n == 0 || is_scheme(url, n, "memory") || find(s, url, n)) return CUBED_OK;
    cb_buf all;
    cb_buf_init(&all, s->alloc);
    for (const cb_added_store *a = atomic_load(&s->added); a; a = a->next)
        cb_buf_printf(&all, ", %s://", a->vt->scheme);
    cubed_status st =
        cb_fail(err, CUBED_E_UNSUPPORTED,
                "\"%s\": stores of scheme %.*s are not supported; there are: a path, file://, "
                "memory://%s",
                url, (int)n, url, all.size > 0 ? all.data : "");
    cb_buf_free(&all);
    return st;
}

bool cb_store_is_of_process(const cb_stores *s, const char *url)
{
    const size_t n = scheme_length(url);
    if (n == 0) return false;
    const cubed_store_vtable *vt = find(s, url, n);
    return is_scheme(url, n, "memory") || (vt && vt->flags & CUBED_STORE_OF_PROCESS);
}

cubed_status cb_store_open(cb_stores *s, const char *url, bool durable, cubed_store **out,
                           cubed_error *err)
{
    CB_TRY(cb_store_check(s, url, err));
    const size_t n = scheme_length(url);
    if (n == 0) return cb_store_open_local(s->alloc, url, durable, out, err);
    const cubed_store_vtable *vt = find(s, url, n);
    if (vt) {
        const cubed_store_open_args args = {
            .struct_size = sizeof args, .url = url, .alloc = s->alloc, .durable = durable};
        return vt->open(vt, &args, out, err);
    }
    if (durable)
        return cb_fail(err, CUBED_E_ARG, "durable: \"%s\" is gone when the process ends", url);
    return cb_memory_open(&s->memory, url, out, err);
}
