#include "store/auth/sigv4.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/core/uri.h"
#include "store/http/digest.h"

enum { MOST_HEADERS = 32, MOST_PARAMETERS = 32, DATE = sizeof "20130524T000000Z", DAY = 8 };

typedef struct header {
    const char *name, *value;
    size_t name_size, order; /* order: original position among headers with the same name */
} header;

static int by_name(const void *a, const void *b)
{
    const header *x = a, *y = b;
    const size_t n = x->name_size < y->name_size ? x->name_size : y->name_size;
    const int c = memcmp(x->name, y->name, n);
    if (c) return c;
    if (x->name_size != y->name_size) return x->name_size < y->name_size ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

static size_t split_headers(const cb_buf *lines, header out[MOST_HEADERS])
{
    size_t n = 0;
    for (const char *at = lines->data; at < lines->data + lines->size && n < MOST_HEADERS;
         at += strlen(at) + 1) {
        const char *colon = strchr(at, ':');
        if (!colon) continue;
        out[n] = (header){at, colon + 1, (size_t)(colon - at), n};
        n++;
    }
    qsort(out, n, sizeof *out, by_name);
    return n;
}

/* Appends the value without spaces at its ends, and with a single space for several consecutive spaces. */
static void put_trimmed(cb_buf *out, const char *value)
{
    const char *end = value + strlen(value);
    while (*value == ' ') value++;
    while (end > value && end[-1] == ' ') end--;
    for (; value < end; value++) {
        if (*value != ' ' || value[-1] != ' ') cb_buf_put(out, value, 1);
    }
}

static bool same_name(const header *a, const header *b)
{
    return a->name_size == b->name_size && memcmp(a->name, b->name, a->name_size) == 0;
}

/* Appends the lines of all headers in canonical form. */
static void put_headers(cb_buf *out, const header *h, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && same_name(&h[i], &h[i - 1])) {
            cb_buf_puts(out, ",");
        } else {
            if (i > 0) cb_buf_puts(out, "\n");
            cb_buf_put(out, h[i].name, h[i].name_size);
            cb_buf_puts(out, ":");
        }
        put_trimmed(out, h[i].value);
    }
    cb_buf_puts(out, "\n");
}

static void put_names(cb_buf *out, const header *h, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && same_name(&h[i], &h[i - 1])) continue;
        if (i > 0) cb_buf_puts(out, ";");
        cb_buf_put(out, h[i].name, h[i].name_size);
    }
}

/* Orders query parameters by name, then value. A name ends at '=', so "a" precedes "a-b". */
static int by_parameter(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    for (;; x++, y++) {
        const int p = *x == '&' || !*x ? -2 : *x == '=' ? -1 : (unsigned char)*x;
        const int q = *y == '&' || !*y ? -2 : *y == '=' ? -1 : (unsigned char)*y;
        if (p != q) return p < q ? -1 : 1;
        if (p == -2) return 0;
    }
}

static cubed_status put_query(cb_buf *out, const char *query, cubed_error *err)
{
    const char *all[MOST_PARAMETERS];
    size_t n = 0;
    for (const char *at = query; *at; at += strcspn(at, "&"), at += *at == '&') {
        if (n == MOST_PARAMETERS)
            return cb_fail(err, CUBED_E_INTERNAL, "bug: the query of a signed request is too long");
        all[n++] = at;
    }
    qsort(all, n, sizeof *all, by_parameter);
    for (size_t i = 0; i < n; i++) {
        const size_t size = strcspn(all[i], "&");
        if (i > 0) cb_buf_puts(out, "&");
        cb_buf_put(out, all[i], size);
        if (!memchr(all[i], '=', size)) cb_buf_puts(out, "=");
    }
    return CUBED_OK;
}

static const char *algorithm(const cb_sigv4 *s) { return s->google ? "GOOG4" : "AWS4"; }
static const char *scope_end(const cb_sigv4 *s)
{
    return s->google ? "goog4_request" : "aws4_request";
}

static bool signing_key(const cb_sigv4 *s, const char *day, unsigned char key[CB_SHA256_BYTES])
{
    char first[512];
    const int n = snprintf(first, sizeof first, "%s%s", algorithm(s), s->secret);
    if (n >= (int)sizeof first) return false;
    const bool ok = cb_hmac_sha256(first, (size_t)n, day, DAY, key) &&
                    cb_hmac_sha256(key, CB_SHA256_BYTES, s->region, strlen(s->region), key) &&
                    cb_hmac_sha256(key, CB_SHA256_BYTES, s->service, strlen(s->service), key) &&
                    cb_hmac_sha256(key, CB_SHA256_BYTES, scope_end(s), strlen(scope_end(s)), key);
    explicit_bzero(first, sizeof first);
    return ok;
}

static bool sign(const cb_sigv4 *s, const char *date, const cb_buf *request, cb_buf *text,
                 char signature[2 * CB_SHA256_BYTES + 1])
{
    unsigned char hash[CB_SHA256_BYTES], key[CB_SHA256_BYTES];
    char digits[2 * CB_SHA256_BYTES + 1];
    if (!cb_sha256(request->data, request->size, hash) || !signing_key(s, date, key)) return false;
    cb_hex(hash, sizeof hash, digits);
    cb_buf_printf(text, "%s-HMAC-SHA256\n%s\n%.8s/%s/%s/%s\n%s", algorithm(s), date, date,
                  s->region, s->service, scope_end(s), digits);
    const bool ok = !text->failed && cb_hmac_sha256(key, sizeof key, text->data, text->size, hash);
    cb_hex(hash, sizeof hash, signature);
    explicit_bzero(key, sizeof key);
    return ok;
}

static cubed_status put_date(const cb_sigv4 *s, char date[DATE], cubed_error *err)
{
    struct tm utc;
    if (gmtime_r(&s->now, &utc) && strftime(date, DATE, "%Y%m%dT%H%M%SZ", &utc) > 0)
        return CUBED_OK;
    return cb_fail(
        err, CUBED_E_IO,
        "the clock of this machine shows no valid time for signed requests: set the clock");
}

/* Appends the canonical request. */
static cubed_status put_request(cb_buf *out, const cb_sigv4_request *r, const char *query,
                                const header *h, size_t n, cubed_error *err)
{
    cb_buf_printf(out, "%s\n%s\n", r->method, r->path);
    CB_TRY(put_query(out, query, err));
    cb_buf_puts(out, "\n");
    put_headers(out, h, n);
    cb_buf_puts(out, "\n");
    put_names(out, h, n);
    cb_buf_printf(out, "\n%s", r->body);
    return CUBED_OK;
}

static cubed_status no_memory(cubed_error *err)
{
    return cb_fail(err, CUBED_E_NOMEM, "no memory to sign a request");
}

cubed_status cb_sigv4_sign(const cb_sigv4 *s, const cb_sigv4_request *r, cb_buf *headers,
                           cubed_error *err)
{
    header h[MOST_HEADERS];
    char date[DATE], signature[2 * CB_SHA256_BYTES + 1];
    cb_buf request, text, line;
    cubed_status st = CUBED_OK;
    CB_TRY(put_date(s, date, err));
    cb_buf_init(&request, headers->alloc);
    cb_buf_init(&text, headers->alloc);
    cb_buf_init(&line, headers->alloc);
    cb_buf_printf(headers, "x-%s-date: %s", s->google ? "goog" : "amz", date);
    cb_buf_put(headers, "", 1);
    if (s->token && *s->token) {
        cb_buf_printf(headers, "x-amz-security-token: %s", s->token);
        cb_buf_put(headers, "", 1);
    }
    const size_t n = headers->failed ? 0 : split_headers(headers, h);
    CB_GO(put_request(&request, r, r->query, h, n, err));
    cb_buf_printf(&line,
                  "authorization: %s-HMAC-SHA256 Credential=%s/%.8s/%s/%s/%s, SignedHeaders=",
                  algorithm(s), s->id, date, s->region, s->service, scope_end(s));
    put_names(&line, h, n);
    if (request.failed || line.failed || !sign(s, date, &request, &text, signature))
        CB_GO(no_memory(err));
    cb_buf_printf(&line, ", Signature=%s", signature);
    cb_buf_put(headers, line.data, line.size + 1);
    if (headers->failed || line.failed) st = no_memory(err);
out:
    cb_buf_free(&request);
    cb_buf_free(&text);
    cb_buf_free(&line);
    return st;
}

static void put_parameter(cb_buf *query, const char *name, const cb_buf *value)
{
    if (query->size) cb_buf_puts(query, "&");
    cb_buf_printf(query, "%s=", name);
    if (value->data) cb_uri_put(query, value->data, "");
    query->failed |= value->failed;
}

cubed_status cb_sigv4_sign_query(const cb_sigv4 *s, const cb_sigv4_request *r, unsigned seconds,
                                 const cb_buf *headers, cb_buf *query, cubed_error *err)
{
    header h[MOST_HEADERS];
    char date[DATE], signature[2 * CB_SHA256_BYTES + 1];
    cb_buf request, text;
    cubed_status st = CUBED_OK;
    CB_TRY(put_date(s, date, err));
    cb_buf_init(&request, query->alloc);
    cb_buf_init(&text, query->alloc);
    const size_t n = split_headers(headers, h);
    cb_buf_puts(query, r->query);
    cb_buf_printf(query, "%sX-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=%s&X-Amz-Expires=%u",
                  query->size ? "&" : "", date, seconds);
    cb_buf_printf(&text, "%s/%.8s/%s/%s/%s", s->id, date, s->region, s->service, scope_end(s));
    put_parameter(query, "X-Amz-Credential", &text);
    text.size = 0;
    put_names(&text, h, n);
    put_parameter(query, "X-Amz-SignedHeaders", &text);
    if (s->token && *s->token) {
        text.size = 0;
        cb_buf_puts(&text, s->token);
        put_parameter(query, "X-Amz-Security-Token", &text);
    }
    if (query->failed) CB_GO(no_memory(err));
    CB_GO(put_request(&request, r, query->data, h, n, err));
    text.size = 0;
    if (request.failed || !sign(s, date, &request, &text, signature)) CB_GO(no_memory(err));
    cb_buf_printf(query, "&X-Amz-Signature=%s", signature);
    if (query->failed) st = no_memory(err);
out:
    cb_buf_free(&request);
    cb_buf_free(&text);
    return st;
}
