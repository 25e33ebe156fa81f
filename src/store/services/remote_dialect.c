/* Functions that dialects share: names of objects, entries of listings, versions, faults, checksums. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/text.h"
#include "store/core/uri.h"
#include "store/http/digest.h"
#include "store/services/remote.h"

void cb_remote_put_key(const cb_remote *s, cb_buf *out, const char *key, const char *keep)
{
    char kept[32];
    snprintf(kept, sizeof kept, "/%s", keep);
    cb_uri_put(out, s->root, kept);
    if (*s->root && *key) cb_buf_puts(out, "/");
    cb_uri_put(out, key, kept);
}

/* Returns the text after the prefix and the '/' that follows it, "" if the text is the prefix, or NULL if it is not below it. */
static const char *skip_prefix(const char *text, const char *prefix)
{
    const size_t n = strlen(prefix);
    if (n == 0) return text;
    if (!text || strncmp(text, prefix, n) != 0 || (text[n] && text[n] != '/')) return NULL;
    return text + n + (text[n] == '/');
}

bool cb_remote_is_below(const cb_remote *s, const char *name, const char *prefix)
{
    return skip_prefix(skip_prefix(name, s->root), prefix);
}

cubed_status cb_remote_tell_entry(const cb_remote *s, const cubed_store_request *r, cb_buf *name,
                                  uint64_t size, bool is_prefix, const cb_buf *version,
                                  cubed_error *err)
{
    const size_t skip = *s->root ? strlen(s->root) + 1 : 0;
    if (name->failed || (version && version->failed))
        return cb_fail(err, CUBED_E_NOMEM, "no memory for a listing");
    if (is_prefix && name->size && name->data[name->size - 1] == '/') name->data[--name->size] = 0;
    if (!name->data || !cb_remote_is_below(s, name->data, r->key))
        return cb_fail(err, CUBED_E_IO,
                       "the listing has \"%.200s\", which is not below the requested prefix",
                       name->data ? name->data : "");
    /* Skip objects that represent directories, whose names end in '/', and names that are not valid keys. */
    if (name->size <= skip + strlen(r->key) + (*r->key ? 1 : 0) ||
        strlen(name->data) != name->size || cb_key_check(name->data + skip, NULL) != CUBED_OK)
        return CUBED_OK;
    const cubed_store_entry e = {.key = name->data + skip,
                                 .size = is_prefix ? 0 : size,
                                 .is_prefix = is_prefix,
                                 .version = version && version->size &&
                                                    version->size < sizeof(cubed_object_version)
                                                ? version->data
                                                : NULL};
    return r->entry(r->entry_ctx, &e, err);
}

void cb_remote_put_tag(cb_buf *out, cb_xml_part entry, const char *element)
{
    cb_xml_part x;
    out->size = 0;
    cb_buf_puts(out, "\"");
    const bool there = cb_xml_find(entry, element, &x) && x.size && cb_xml_put_text(out, x);
    if (out->failed) return;
    if (!there)
        out->size = 0;
    else if (out->size > 1 && out->data[1] == '"')
        memmove(out->data, out->data + 1, out->size--);
    else
        cb_buf_puts(out, "\"");
    out->data[out->size] = 0;
}

cubed_status cb_remote_tell_next_page(const cb_remote *s, cubed_store_request *r, cb_xml_part token,
                                      cubed_error *err)
{
    cb_buf text;
    cubed_status st = CUBED_OK;
    cb_buf_init(&text, s->head.alloc);
    const bool valid = cb_xml_put_text(&text, token);
    if (text.failed)
        st = cb_fail(err, CUBED_E_NOMEM, "no memory for a listing");
    else if (!valid || text.size >= CUBED_STORE_PAGE_CAP)
        st = cb_fail(err, CUBED_E_IO, "the listing's token is not text of less than %d bytes",
                     CUBED_STORE_PAGE_CAP);
    else
        memcpy(r->next_page, text.data, text.size + 1);
    cb_buf_free(&text);
    return st;
}

void cb_remote_set_version(cubed_object_info *info, const char *text)
{
    info->version.text[0] = 0;
    if (text && strlen(text) < sizeof info->version.text)
        memcpy(info->version.text, text, strlen(text) + 1);
}

cb_http_ready cb_remote_refuse(cb_remote_call *c, cubed_status st)
{
    c->http.status = st;
    return CB_HTTP_NO;
}

cubed_status cb_remote_endpoint(cb_zone *zone, const char *name, const char *given,
                                const char **out, bool *tls, cubed_error *err)
{
    char *endpoint = cb_zone_strdup(zone, given);
    if (!endpoint) return cb_fail(err, CUBED_E_NOMEM, "no memory for an endpoint");
    *tls = strncasecmp(endpoint, "https://", 8) == 0;
    const char *host = strstr(endpoint, "://");
    if ((!*tls && strncasecmp(endpoint, "http://", 7) != 0) || !host[3] || host[3] == '/' ||
        strpbrk(endpoint, "?#@ "))
        return cb_fail(err, CUBED_E_ARG, "%s is \"%s\", expected http://HOST or https://HOST", name,
                       strchr(endpoint, '@') ? "(with a user)" : endpoint);
    char *end = endpoint + strlen(endpoint);
    while (end[-1] == '/') *--end = 0;
    *out = endpoint;
    return CUBED_OK;
}

cubed_status cb_remote_make_id(cb_remote_call *c, cubed_error *err)
{
    unsigned char random[16];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return cb_fail(err, CUBED_E_IO, "the operating system returned no random numbers");
    cb_hex(random, sizeof random, c->id);
    return CUBED_OK;
}

void cb_remote_put_crc32c(uint32_t crc, char *text)
{
    const unsigned char bytes[4] = {(unsigned char)(crc >> 24), (unsigned char)(crc >> 16),
                                    (unsigned char)(crc >> 8), (unsigned char)crc};
    cb_base64_encode(bytes, sizeof bytes, text);
}

bool cb_remote_has_crc32c(const cb_remote_call *c, const char *text, size_t n)
{
    char own[12];
    /* Only a checksum of the whole object can be checked. A longer text is a checksum of parts. */
    if (!text || n != 8 || !c->whole || c->http.code != 200) return true;
    cb_remote_put_crc32c(cb_crc32c(0, c->pieces->dst, c->pieces->got), own);
    return memcmp(own, text, n) == 0;
}

void cb_remote_read_fault_of(cb_xml_part error, cb_remote_fault *f, const cubed_allocator *a)
{
    const struct {
        const char *name;
        char *to;
        size_t cap;
    } parts[] = {{"Code", f->code, sizeof f->code}, {"Message", f->message, sizeof f->message}};
    *f = (cb_remote_fault){"", ""};
    for (size_t i = 0; i < 2 && error.size; i++) {
        cb_xml_part x;
        cb_buf text;
        cb_buf_init(&text, a);
        if (cb_xml_find(error, parts[i].name, &x) && cb_xml_put_text(&text, x) && !text.failed)
            snprintf(parts[i].to, parts[i].cap, "%s", text.data ? text.data : "");
        cb_buf_free(&text);
    }
}

void cb_remote_read_fault(const cb_http_call *c, cb_remote_fault *f)
{
    cb_remote_read_fault_of((cb_xml_part){c->text.data, c->text.size}, f, c->text.alloc);
    const char *code = cb_http_header(c, "x-ms-error-code");
    if (!*f->code && code) snprintf(f->code, sizeof f->code, "%s", code);
}
