/* URLs: file: URLs, and URLs with a host. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "place/place_pkg.h"

/* Returns the length of the scheme, or 0 if none. */
static size_t scheme_length(const char *url)
{
    size_t n = 0;
    if (!isalpha((unsigned char)url[0])) return 0;
    while (isalnum((unsigned char)url[n]) || url[n] == '+' || url[n] == '-' || url[n] == '.') n++;
    return url[n] == ':' ? n : 0;
}

const char *cb_url_authority(const char *url)
{
    const size_t n = scheme_length(url);
    return n > 0 && strncmp(url + n, "://", 3) == 0 ? url + n + 3 : NULL;
}

const char *cb_url_of_file(const char *url)
{
    static const char local[] = "localhost/";
    /* length of "localhost", because the slash belongs to the path */
    const size_t host = sizeof local - 2;
    if (scheme_length(url) != 4 || strncasecmp(url, "file", 4) != 0) return NULL;
    const char *from = cb_url_authority(url);
    if (!from) return url[5] == '/' ? url + 5 : NULL;
    return strncasecmp(from, local, host + 1) == 0 ? from + host : from;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

cubed_status cb_url_decode(const char *url, const char *from, size_t n, cb_buf *out,
                           cubed_error *err)
{
    for (size_t i = 0; i < n; i++) {
        char c = from[i];
        if (c == '%') {
            const int high = i + 2 < n ? hex_value(from[i + 1]) : -1;
            const int low = i + 2 < n ? hex_value(from[i + 2]) : -1;
            c = (char)(high * 16 + low);
            if (high < 0 || low < 0 || c == 0 || c == '/')
                return cb_fail(err, CUBED_E_ARG,
                               "the URL \"%s\" has a %% that is not followed by two hexadecimal "
                               "digits of an allowed character: write %%25 for %% itself",
                               url);
            i += 2;
        }
        cb_buf_put(out, &c, 1);
    }
    return out->failed ? cb_fail(err, CUBED_E_NOMEM, "no memory for a place") : CUBED_OK;
}

void cb_url_put_file(const char *path, cb_buf *out)
{
    cb_buf_puts(out, "file://");
    for (; *path; path++) {
        if (*path == '%' || *path == ':')
            cb_buf_printf(out, "%%%02X", *path);
        else
            cb_buf_put(out, path, 1);
    }
}

/* Appends a key, encoding all characters except those allowed in a URL's path. Also encodes the colon, because "::" ends the URL
 * of a store. */
static void put_encoded(const char *part, size_t n, cb_buf *out)
{
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)part[i];
        if (isalnum(c) || (c && strchr("-._~!$&'()*+,;=@", c)))
            cb_buf_put(out, &c, 1);
        else
            cb_buf_printf(out, "%%%02X", c);
    }
}

/* Appends path parts after the first `base` bytes of *out, without "." and empty parts; ".." removes the last part. */
static cubed_status put_parts(const char *url, const char *at, size_t base, cb_buf *out,
                              cubed_error *err)
{
    cb_buf part;
    cb_buf_init(&part, out->alloc);
    cubed_status st = CUBED_OK;
    while (*at) {
        const size_t n = strcspn(at, "/");
        part.size = 0;
        CB_GO(cb_url_decode(url, at, n, &part, err));
        at += n + (at[n] == '/');
        if (part.size == 2 && memcmp(part.data, "..", 2) == 0) {
            while (out->size > base && out->data[--out->size] != '/') {
            }
        } else if (part.size > 0 && !(part.size == 1 && part.data[0] == '.')) {
            cb_buf_puts(out, "/");
            put_encoded(part.data, part.size, out);
        }
    }
    cb_buf_put(out, "", 0); /* adds the terminating NUL after a part was removed */
out:
    cb_buf_free(&part);
    return st;
}

static bool is_scheme(const char *url, const char *name)
{
    const size_t n = scheme_length(url);
    return n == strlen(name) && strncasecmp(url, name, n) == 0;
}

/* Returns the default port of the scheme. */
static const char *default_port(const char *url)
{
    static const struct {
        const char *scheme, *port;
    } ports[] = {{"http", "80"}, {"https", "443"}, {"redis", "6379"}, {"rediss", "6379"}};
    for (size_t i = 0; i < sizeof ports / sizeof *ports; i++) {
        if (is_scheme(url, ports[i].scheme)) return ports[i].port;
    }
    return "";
}

/* Returns true if the authority is a host, which is case-insensitive, and not a name within a service. */
static bool has_host(const char *url)
{
    static const char *const services[] = {"memory", "s3", "gs", "gcs", "az", "abfs", "abfss"};
    for (size_t i = 0; i < sizeof services / sizeof *services; i++) {
        if (is_scheme(url, services[i])) return false;
    }
    return true;
}

/* Returns the canonical scheme of an alias. */
static const char *usual_scheme(const char *url)
{
    if (is_scheme(url, "gcs")) return "gs";
    return is_scheme(url, "abfs") || is_scheme(url, "abfss") ? "az" : NULL;
}

/* Appends "host:port", with hosts in lower case and without the default port. */
static cubed_status put_authority(const char *url, const char *from, size_t n, cb_buf *out,
                                  cubed_error *err)
{
    const bool fold = has_host(url);
    const char *bracket = memchr(from, ']', n);
    const char *tail = bracket ? bracket : from;
    const char *colon = memchr(tail, ':', n - (size_t)(tail - from));
    const size_t host = colon ? (size_t)(colon - from) : n, start = out->size;
    CB_TRY(cb_url_decode(url, from, host, out, err));
    for (size_t i = start; i < out->size && fold; i++)
        out->data[i] = (char)tolower((unsigned char)out->data[i]);
    if (!colon) return CUBED_OK;
    const char *port = colon + 1;
    size_t digits = n - host - 1;
    for (; digits > 0 && *port == '0'; digits--) port++;
    const char *usual = default_port(url);
    if (digits == 0 || (digits == strlen(usual) && strncmp(port, usual, digits) == 0))
        return CUBED_OK;
    cb_buf_puts(out, ":");
    cb_buf_put(out, port, digits);
    return CUBED_OK;
}

cubed_status cb_place_find_url(cb_zone *zone, const char *url, cb_place *p, cubed_error *err)
{
    const char *from = cb_url_authority(url);
    const size_t n = strcspn(from, "/");
    cubed_status st;
    cb_buf text;
    cb_buf_init(&text, cb_zone_allocator(zone));
    if ((is_scheme(url, "http") || is_scheme(url, "https")) && strpbrk(url, "?#"))
        CB_GO(cb_fail(err, CUBED_E_ARG,
                      "the URL \"%.*s...\" has a query or a fragment, expected none: signed URLs "
                      "cannot be read",
                      (int)strcspn(url, "?#") + 1, url));
    const char *scheme = usual_scheme(url);
    if (scheme) cb_buf_printf(&text, "%s://", scheme);
    for (const char *c = url; c < from && !scheme; c++) {
        const char lower = (char)tolower((unsigned char)*c);
        cb_buf_put(&text, &lower, 1);
    }
    CB_GO(put_authority(url, from, n, &text, err));
    const size_t base = text.size;
    CB_GO(put_parts(url, from + n, base, &text, err));
    p->store = text.failed ? NULL : cb_zone_strdup(zone, text.data);
    for (const char *at = p->path; *at;) {
        const size_t k = strcspn(at, "/");
        cb_buf_puts(&text, "/");
        put_encoded(at, k, &text);
        at += k + (at[k] == '/');
    }
    p->text = text.failed ? NULL : cb_zone_strdup(zone, text.data);
    if (!p->store || !p->text) st = cb_fail(err, CUBED_E_NOMEM, "no memory for a place");
out:
    cb_buf_free(&text);
    return st;
}
