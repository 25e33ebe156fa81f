/* Takes any bytes as a listing of S3 in XML and as text of XML, and each line as the head of a reply of Redis. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/services/resp.h"
#include "store/services/s3_listing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds) abort();
}

/* Checks that every reported key is below the listed prefix. */
static cubed_status tell(void *ctx, const cubed_store_entry *e, cubed_error *err)
{
    (void)err;
    require(strncmp(e->key, "group/", 6) == 0 && e->key[6] &&
            cb_key_check(e->key, NULL) == CUBED_OK);
    ++*(size_t *)ctx;
    return CUBED_OK;
}

static void read_listing(const char *text, size_t size)
{
    cubed_error err = CUBED_ERROR_INIT;
    char next[CUBED_STORE_PAGE_CAP] = "";
    size_t n = 0;
    cb_remote s = {.head = {.alloc = &cb_system_allocator, .url = "s3://b/root"}, .root = "root"};
    cubed_store_request r = {
        .op = CUBED_STORE_LIST, .key = "group", .entry = tell, .entry_ctx = &n, .next_page = next};
    cb_remote_call c = {.what = CB_REMOTE_LIST, .key = "group", .request = &r, .store = &s};
    cb_http_call_init(&c.http, &cb_system_allocator);
    cb_buf_put(&c.http.text, text, size);
    const cubed_status st = cb_s3_read_page(&s, &c, &r, &err);
    require((st == CUBED_OK) == (err.message[0] == 0) && memchr(next, 0, sizeof next));
    cb_remote_fault f;
    cb_remote_read_fault(&c.http, &f);
    require(memchr(f.code, 0, sizeof f.code) && memchr(f.message, 0, sizeof f.message));
    cb_http_call_free(&c.http);
}

static void read_lines(const char *text, size_t size)
{
    cb_resp_reply r;
    for (const char *at = text, *end = text + size; at < end;) {
        const char *line = memchr(at, '\n', (size_t)(end - at)), *next = line ? line + 1 : end;
        char copy[300];
        const size_t k = (size_t)(next - at) < sizeof copy ? (size_t)(next - at) : sizeof copy - 1;
        cubed_error err = CUBED_ERROR_INIT;
        memcpy(copy, at, k);
        copy[k] = 0;
        copy[strcspn(copy, "\r\n")] = 0;
        const cubed_status st = cb_resp_parse(copy[0], copy + (*copy != 0), &r, &err);
        require((st == CUBED_OK) == (err.message[0] == 0));
        if (st == CUBED_OK && r.type == '$')
            require(r.number >= 0 && r.number <= CB_RESP_MOST_BULK);
        if (st == CUBED_OK && r.type == '*')
            require(r.number >= 0 && r.number <= CB_RESP_MOST_REPLIES);
        at = next;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_listing((const char *)data, size);
    read_lines((const char *)data, size);
    return 0;
}
