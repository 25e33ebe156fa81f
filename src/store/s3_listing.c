#include "store/s3_listing.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "store/uri.h"

static void put_prefix(const cb_remote *s, const cb_remote_call *c, cb_buf *query)
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
    put_prefix(s, c, query);
}

/* A page begins behind a key and an id: both are in the request's `page`, as the query has them. */
void cb_s3_put_uploads_query(const cb_remote *s, const cb_remote_call *c, cb_buf *query)
{
    cb_buf_puts(query, "uploads=&encoding-type=url");
    if (c->request->page) cb_buf_printf(query, "&%s", c->request->page);
    put_prefix(s, c, query);
}

static bool put_name(cb_buf *name, cb_buf *text, cb_xml_part in, const char *element)
{
    cb_xml_part x;
    name->size = text->size = 0;
    if (!cb_xml_find(in, element, &x) || !cb_xml_put_text(text, x) || text->failed) return false;
    cb_buf_put(name, "", 0);
    cb_uri_decode(name, text->data, text->size, true);
    return true;
}

static cubed_status malformed(cubed_error *err)
{
    return cb_fail(err, CUBED_E_IO, "the reply is not a listing of S3");
}

static cubed_status tell_all(const cb_remote *s, const cubed_store_request *r, cb_xml_part rest,
                             bool prefixes, cubed_error *err)
{
    cb_buf name, text;
    cb_xml_part x, size;
    cubed_status st = CUBED_OK;
    cb_buf_init(&name, s->head.alloc);
    cb_buf_init(&text, s->head.alloc);
    while (cb_xml_next(&rest, prefixes ? "CommonPrefixes" : "Contents", &x)) {
        if (!put_name(&name, &text, x, prefixes ? "Prefix" : "Key")) CB_GO(malformed(err));
        const uint64_t bytes =
            !prefixes && cb_xml_find(x, "Size", &size) ? strtoull(size.text, NULL, 10) : 0;
        if (!prefixes && name.size && name.data[name.size - 1] == '/') continue;
        CB_GO(cb_remote_tell_entry(s, r, &name, bytes, prefixes, err));
    }
out:
    cb_buf_free(&name);
    cb_buf_free(&text);
    return st;
}

cubed_status cb_s3_read_page(cb_remote *s, cb_remote_call *c, cubed_store_request *r,
                             cubed_error *err)
{
    cb_xml_part all = {c->http.text.data, c->http.text.size}, x;
    if (!all.size || !cb_xml_find(all, "ListBucketResult", &all)) return malformed(err);
    CB_TRY(tell_all(s, r, all, false, err));
    CB_TRY(tell_all(s, r, all, true, err));
    if (!r->next_page || !cb_xml_find(all, "NextContinuationToken", &x)) return CUBED_OK;
    return cb_remote_tell_next_page(s, r, x) ? CUBED_OK : malformed(err);
}

/* --- Uploads that were not completed ------------------------------------------------------------------ */

/* INT64_MAX: it is none. */
static int64_t second_of(cb_xml_part x)
{
    char text[32];
    if (x.size >= sizeof text) return INT64_MAX;
    memcpy(text, x.text, x.size);
    text[x.size] = 0;
    const int64_t second = cb_parse_utc(text);
    return second ? second : INT64_MAX;
}

/* The names in a query, and the elements that have their values. */
static cubed_status tell_next_uploads(cubed_store_request *r, cb_xml_part all, cubed_error *err)
{
    static const char *const names[2][2] = {{"key-marker=", "NextKeyMarker"},
                                            {"&upload-id-marker=", "NextUploadIdMarker"}};
    cb_xml_part x;
    cb_buf page, text, name;
    cubed_status st = CUBED_OK;
    if (!cb_xml_find(all, "IsTruncated", &x) || x.size != 4 || memcmp(x.text, "true", 4) != 0)
        return CUBED_OK;
    cb_buf_init(&page, &cb_system_allocator);
    cb_buf_init(&text, &cb_system_allocator);
    cb_buf_init(&name, &cb_system_allocator);
    for (int i = 0; i < 2; i++) {
        if (!put_name(&name, &text, all, names[i][1])) CB_GO(malformed(err));
        cb_buf_puts(&page, names[i][0]);
        cb_uri_put(&page, i == 0 ? name.data : text.data, ""); /* keys come encoded */
    }
    if (page.failed || page.size >= CUBED_STORE_PAGE_CAP)
        CB_GO(cb_fail(err, CUBED_E_IO, "a list of uploads goes on at a key that is too long"));
    memcpy(r->next_page, page.data, page.size + 1);
out:
    cb_buf_free(&page);
    cb_buf_free(&text);
    cb_buf_free(&name);
    return st;
}

cubed_status cb_s3_read_uploads(cb_remote *s, cb_remote_call *c, cubed_store_request *r,
                                cubed_error *err)
{
    cb_xml_part all = {c->http.text.data, c->http.text.size}, rest, x, part;
    cb_buf name, text;
    cubed_status st = CUBED_OK;
    if (!all.size || !cb_xml_find(all, "ListMultipartUploadsResult", &all)) return malformed(err);
    cb_buf_init(&name, s->head.alloc);
    cb_buf_init(&text, s->head.alloc);
    for (rest = all; cb_xml_next(&rest, "Upload", &x);) {
        if (!put_name(&name, &text, x, "Key")) CB_GO(malformed(err));
        const int64_t begun = cb_xml_find(x, "Initiated", &part) ? second_of(part) : INT64_MAX;
        text.size = 0;
        if (!cb_xml_find(x, "UploadId", &part) || !cb_xml_put_text(&text, part))
            CB_GO(malformed(err));
        CB_GO(cb_remote_tell_upload(s, r, &name, text.data, begun, err));
    }
    st = tell_next_uploads(r, all, err);
out:
    cb_buf_free(&name);
    cb_buf_free(&text);
    return st;
}
