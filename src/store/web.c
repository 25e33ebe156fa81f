/* http:// and https://: objects are what a server has at the URL with the key behind it. */
#include <string.h>

#include "base/error.h"
#include "store/remote.h"
#include "store/remotes.h"
#include "store/uri.h"

static cb_http_ready prepare(cb_remote *s, cb_remote_call *c)
{
    const char *path = strchr(s->head.url + strlen("https://"), '/');
    const size_t host = path ? (size_t)(path - s->head.url) : strlen(s->head.url);
    c->http.method = c->what == CB_REMOTE_HEAD ? "HEAD" : "GET";
    cb_buf_put(&c->http.url, s->head.url, host);
    cb_buf_puts(&c->http.url, "/");
    cb_remote_put_key(s, &c->http.url, c->key, "");
    if (*c->range) cb_http_put_header(&c->http, "range", c->range);
    /* A weak tag says nothing of single bytes; it is compared with what comes. */
    if (c->if_match && strncmp(c->if_match, "W/", 2) != 0)
        cb_http_put_header(&c->http, "if-match", c->if_match);
    if (c->if_none_match) cb_http_put_header(&c->http, "if-none-match", c->if_none_match);
    return CB_HTTP_GO;
}

static void tell(const cb_remote_call *c, cubed_object_info *info)
{
    const char *tag = cb_http_header(&c->http, "etag");
    cb_remote_set_version(info, tag ? tag : cb_http_header(&c->http, "last-modified"));
}

static const cb_dialect web = {.options = CB_REMOTE_OPTIONS,
                               .size = sizeof(cb_remote),
                               .most_deleted = 1,
                               .prepare = prepare,
                               .tell = tell};

const cubed_store_vtable cb_web_vtable = {
    .struct_size = sizeof(cubed_store_vtable),
    .version = CUBED_STORE_VERSION,
    .flags = CUBED_STORE_ETAGS,
    .scheme = "http",
    .max_in_flight = CB_HTTP_MOST,
    .request_bytes = CB_HTTP_REQUEST_BYTES,
    .process_bytes = CB_HTTP_PROCESS_BYTES,
    .close = cb_remote_close,
    .submit = cb_remote_submit,
    .cancel = cb_remote_cancel,
};

cubed_status cb_web_open(cb_net *net, const char *url, cubed_store **out, cubed_error *err)
{
    return cb_remote_open(net, &cb_web_vtable, &web, url, out, err);
}
