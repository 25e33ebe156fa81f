#include "store/services/s3_listing.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "store/core/uri.h"

void cb_s3_put_prefix(const cb_remote *s, const cb_remote_call *c, cb_buf *query)
{
    cb_buf_puts(query, "&prefix=");
    cb_uri_put(query, s->root, "");
    if (*s->root && *c->key) cb_buf_puts(query, "%2F");
    cb_uri_put(query, c->key, "");
    if (*s->root || *c->key) cb_buf_puts(query, "%2F");
}

void cb_s3_put_list_query(const cb_remote *s, const cb_remote_call *c, cb_buf *query)
{
    const cubed_store_request *r = c->request;
    cb_buf_puts(query, "list-type=2&encoding-type=url");
    if (r->page) {
        cb_buf_puts(query, "&continuation-token=");
        cb_uri_put(query, r->page, "");
    }
    if (r->delimiter) cb_buf_puts(query, "&delimiter=%2F");
    cb_s3_put_prefix(s, c, query);
}

cubed_status cb_s3_put_name(cb_buf *name, cb_buf *text, cb_xml_part in, const char *element,
                            cubed_error *err)
{
    cb_xml_part x;
    name->size = text->size = 0;
    if (!cb_xml_find(in, element, &x) || !cb_xml_put_text(text, x)) return cb_s3_malformed(err);
    cb_buf_put(name, "", 0);
    if (!text->failed) cb_uri_decode(name, text->data, text->size, true);
    return text->failed || name->failed ? cb_fail(err, CUBED_E_NOMEM, "no memory for a listing")
                                        : CUBED_OK;
}

cubed_status cb_s3_malformed(cubed_error *err)
{
    return cb_fail(err, CUBED_E_IO, "the reply is not a listing of S3");
}

cubed_status cb_s3_check_end(cb_xml_part all, const char *token, cubed_error *err)
{
    cb_xml_part x;
    if (!cb_xml_find(all, "IsTruncated", &x) || x.size < 4 || strncasecmp(x.text, "true", 4) != 0)
        return CUBED_OK;
    return cb_fail(err, CUBED_E_IO,
                   "the listing is truncated without a continuation (%s): the service does not "
                   "support this version of listings",
                   token);
}

/* Keeps plus signs in names. AWS encodes a space as '+' and a plus sign as "%2B". Services that encode a space as "%20" leave
 * plus signs unchanged. Such a service is detected if the text contains "%20", or if the decoded name is not below the requested
 * prefix. */
static void keep_plus(const cb_remote *s, const cubed_store_request *r, const cb_buf *text,
                      cb_buf *name)
{
    if (!name->data || !memchr(text->data, '+', text->size) ||
        (!strstr(text->data, "%20") && cb_remote_is_below(s, name->data, r->key)))
        return;
    name->size = 0;
    cb_uri_decode(name, text->data, text->size, false);
}

/* Appends the version of an entry. A version that is not an ETag is a number. */
static void put_version(cb_buf *out, cb_xml_part entry, const char *element)
{
    cb_xml_part x;
    if (strcmp(element, "ETag") == 0) {
        cb_remote_put_tag(out, entry, element);
        return;
    }
    out->size = 0;
    if (cb_xml_find(entry, element, &x)) cb_buf_put(out, x.text, x.size);
}

static cubed_status tell_all(const cb_remote *s, const cubed_store_request *r, cb_xml_part rest,
                             bool prefixes, const char *element, cubed_error *err)
{
    cb_buf name, text, version;
    cb_xml_part x, size;
    cubed_status st = CUBED_OK;
    cb_buf_init(&name, s->head.alloc);
    cb_buf_init(&text, s->head.alloc);
    cb_buf_init(&version, s->head.alloc);
    while (cb_xml_next(&rest, prefixes ? "CommonPrefixes" : "Contents", &x)) {
        CB_GO(cb_s3_put_name(&name, &text, x, prefixes ? "Prefix" : "Key", err));
        keep_plus(s, r, &text, &name);
        const uint64_t bytes =
            !prefixes && cb_xml_find(x, "Size", &size) ? strtoull(size.text, NULL, 10) : 0;
        if (!prefixes && name.size && name.data[name.size - 1] == '/') continue;
        put_version(&version, x, element);
        CB_GO(cb_remote_tell_entry(s, r, &name, bytes, prefixes, &version, err));
    }
out:
    cb_buf_free(&version);
    cb_buf_free(&name);
    cb_buf_free(&text);
    return st;
}

cubed_status cb_s3_read_page(cb_remote *s, cb_remote_call *c, cubed_store_request *r,
                             cubed_error *err)
{
    return cb_s3_read_entries(s, c, r, "ETag", err);
}

cubed_status cb_s3_read_entries(const cb_remote *s, cb_remote_call *c, cubed_store_request *r,
                                const char *element, cubed_error *err)
{
    cb_xml_part all = {c->http.text.data, c->http.text.size}, x;
    if (!all.size || !cb_xml_find(all, "ListBucketResult", &all)) return cb_s3_malformed(err);
    CB_TRY(tell_all(s, r, all, false, element, err));
    CB_TRY(tell_all(s, r, all, true, element, err));
    if (!r->next_page) return CUBED_OK;
    if (!cb_xml_find(all, "NextContinuationToken", &x) || x.size == 0)
        return cb_s3_check_end(all, "NextContinuationToken", err);
    return cb_remote_tell_next_page(s, r, x, err);
}
