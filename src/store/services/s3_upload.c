#define _GNU_SOURCE
#include "store/services/s3_upload.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "store/core/uri.h"
#include "store/services/s3_listing.h"

/* Appends the query of a page of uploads. A page starts after a key and an upload ID, and the request's `page` has both in the
 * form of a query. */
static void put_uploads_query(const cb_remote *s, const cb_remote_call *c, cb_buf *query)
{
    cb_buf_puts(query, "uploads=&encoding-type=url");
    if (c->request->page) cb_buf_printf(query, "&%s", c->request->page);
    cb_s3_put_prefix(s, c, query);
}

void cb_s3_put_upload_query(const cb_remote *s, const cb_remote_call *c, cb_buf *query)
{
    switch (c->what) {
    case CB_REMOTE_UPLOADS: put_uploads_query(s, c, query); break;
    case CB_REMOTE_CREATE: cb_buf_puts(query, "uploads="); break;
    case CB_REMOTE_PART:
    case CB_REMOTE_COMPLETE:
    case CB_REMOTE_ABORT:
        if (c->what == CB_REMOTE_PART) cb_buf_printf(query, "partNumber=%zu&", c->part);
        cb_buf_puts(query, "uploadId=");
        cb_uri_put(query, c->upload ? c->upload->body.data : c->source, "");
        break;
    default: break;
    }
}

bool cb_s3_put_parts(cb_remote_call *c, bool checksums)
{
    c->body.size = 0;
    cb_buf_puts(&c->body,
                "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">");
    for (size_t i = 1; i <= c->nparts; i++) {
        const cb_remote_call *part = &c->upload[i];
        char crc[12];
        cb_remote_put_crc32c(part->crc32c, crc);
        cb_buf_printf(&c->body, "<Part><PartNumber>%zu</PartNumber><ETag>", i);
        if (!cb_xml_escape(&c->body, cb_http_header(&part->http, "etag"))) return false;
        cb_buf_puts(&c->body, "</ETag>");
        if (checksums) cb_buf_printf(&c->body, "<ChecksumCRC32C>%s</ChecksumCRC32C>", crc);
        cb_buf_puts(&c->body, "</Part>");
    }
    cb_buf_puts(&c->body, "</CompleteMultipartUpload>");
    c->http.body = c->body.data;
    c->http.body_size = c->body.size;
    return !c->body.failed;
}

bool cb_s3_put_element(const cb_remote_call *c, const char *name, cb_buf *out)
{
    const cb_xml_part all = {c->http.text.data, c->http.text.size};
    cb_xml_part x;
    return all.size && cb_xml_find(all, name, &x) && cb_xml_put_text(out, x) && !out->failed &&
           out->size;
}

bool cb_s3_read_upload(cb_remote_call *c)
{
    if (c->what == CB_REMOTE_PART) return cb_http_header(&c->http, "etag");
    c->body.size = 0;
    return cb_s3_put_element(c, "UploadId", &c->body);
}

/* --- Unfinished uploads ------------------------------------------------------------------------------- */

/* Returns a time in seconds. Returns INT64_MAX if the string is not a valid time. */
static int64_t second_of(cb_xml_part x)
{
    char text[32];
    if (x.size >= sizeof text) return INT64_MAX;
    memcpy(text, x.text, x.size);
    text[x.size] = 0;
    const int64_t second = cb_parse_utc(text);
    return second ? second : INT64_MAX;
}

/* Sets the next page. `names` are parameters of the query and the elements with their values. */
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
        CB_GO(cb_s3_put_name(&name, &text, all, names[i][1], err));
        cb_buf_puts(&page, names[i][0]);
        cb_uri_put(&page, i == 0 ? name.data : text.data, ""); /* keys are encoded in the reply */
    }
    if (page.failed) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for a list of uploads"));
    if (page.size >= CUBED_STORE_PAGE_CAP)
        CB_GO(cb_fail(err, CUBED_E_IO, "a list of uploads continues at a key that is too long"));
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
    if (!all.size || !cb_xml_find(all, "ListMultipartUploadsResult", &all))
        return cb_s3_malformed(err);
    cb_buf_init(&name, s->head.alloc);
    cb_buf_init(&text, s->head.alloc);
    for (rest = all; cb_xml_next(&rest, "Upload", &x);) {
        CB_GO(cb_s3_put_name(&name, &text, x, "Key", err));
        const int64_t begun = cb_xml_find(x, "Initiated", &part) ? second_of(part) : INT64_MAX;
        text.size = 0;
        if (!cb_xml_find(x, "UploadId", &part) || !cb_xml_put_text(&text, part))
            CB_GO(cb_s3_malformed(err));
        if (text.failed) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for a list of uploads"));
        CB_GO(cb_remote_tell_upload(s, r, &name, text.data, begun, err));
    }
    st = tell_next_uploads(r, all, err);
out:
    cb_buf_free(&name);
    cb_buf_free(&text);
    return st;
}
