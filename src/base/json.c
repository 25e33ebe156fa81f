#include "base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Marks a string that represents a large integer: U+FDD0, which Unicode reserves for internal use. */
#define BIG "\xEF\xB7\x90"
enum { BIG_SIZE = sizeof BIG - 1 };

const char *cb_json_big(const json_t *v)
{
    const char *s = json_string_value(v);
    if (!s || strncmp(s, BIG, BIG_SIZE) != 0) return NULL;
    s += BIG_SIZE;
    size_t sign = *s == '-', digits = strspn(s + sign, "0123456789");
    return digits > 0 && s[sign + digits] == 0 ? s : NULL;
}

/* Estimates the bytes that malloc of the C library uses for a request of n bytes. */
static size_t allocated(size_t n) { return (n + 8 + 15) / 16 * 16; }

/* Returns the capacity of a list, which starts at 8 and doubles. */
static size_t doubled(size_t n)
{
    size_t room = 8;
    while (room <= n) room *= 2;
    return room;
}

size_t cb_json_bytes(const json_t *v)
{
    enum { VALUE = 16, ARRAY = 40, OBJECT = 80, PAIR = 64, BUCKET = 16 };
    size_t bytes = allocated(VALUE), i;
    const char *key;
    json_t *x;
    if (!v) return 0;
    if (json_is_string(v)) return 2 * bytes + allocated(json_string_length(v) + 1);
    if (json_is_array(v)) {
        bytes = allocated(ARRAY) + allocated(doubled(json_array_size(v)) * sizeof(void *));
        json_array_foreach(v, i, x) bytes += cb_json_bytes(x);
    } else if (json_is_object(v)) {
        bytes = allocated(OBJECT) + allocated(doubled(json_object_size(v)) * BUCKET);
        json_object_foreach((json_t *)(uintptr_t)v, key, x) bytes +=
            allocated(PAIR + strlen(key)) + cb_json_bytes(x);
    }
    return bytes;
}

json_t *cb_json_uint64(uint64_t v)
{
    char text[BIG_SIZE + 24];
    if (v <= INT64_MAX) return json_integer((json_int_t)v);
    snprintf(text, sizeof text, BIG "%" PRIu64, v);
    return json_string(text);
}

void cb_json_put(json_t *object, const char *key, json_t *value, bool *ok)
{
    if (json_object_set_new(object, key, value) != 0) *ok = false;
}

void cb_json_add(json_t *list, json_t *value, bool *ok)
{
    if (json_array_append_new(list, value) != 0) *ok = false;
}

json_t *cb_json_if(bool ok, json_t *v)
{
    if (ok) return v;
    json_decref(v);
    return NULL;
}

json_t *cb_json_copy(const json_t *v)
{
    json_t *copy = json_copy((json_t *)(uintptr_t)v);
    return cb_json_if(json_object_size(copy) == json_object_size(v) &&
                          json_array_size(copy) == json_array_size(v),
                      copy);
}

json_t *cb_json_deep_copy(const json_t *v)
{
    json_t *copy = json_deep_copy(v);
    return cb_json_if(json_equal(copy, v), copy);
}

json_t *cb_json_ints(int n, const int64_t *v)
{
    json_t *list = json_array();
    bool ok = list != NULL;
    for (int i = 0; i < n; i++) cb_json_add(list, json_integer(v[i]), &ok);
    return cb_json_if(ok, list);
}

static const char *type_name(const json_t *v)
{
    if (!v) return "missing";
    if (cb_json_big(v)) return "an integer of more than 64 bits";
    switch (json_typeof(v)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "a list";
    case JSON_STRING: return "a string";
    case JSON_INTEGER: return "an integer";
    case JSON_REAL: return "a real number";
    case JSON_NULL: return "null";
    default: return "a boolean";
    }
}

/* Returns the end of the number that starts at text[0]. Sets *big for an integer that does not fit in int64. */
static const char *skip_number(const char *text, const char *end, bool *big)
{
    const char *p = text + (*text == '-');
    size_t digits = 0;
    char copy[24];
    *big = false;
    while (p + digits < end && p[digits] >= '0' && p[digits] <= '9') digits++;
    const char *behind = p + digits;
    if (behind < end && (*behind == '.' || *behind == 'e' || *behind == 'E')) {
        while (behind < end && *behind && strchr("0123456789.eE+-", *behind)) behind++;
    } else if (digits >= 19 && *p != '0') {
        size_t n = (size_t)(behind - text);
        *big = n >= sizeof copy;
        if (!*big) {
            memcpy(copy, text, n);
            copy[n] = 0;
            errno = 0;
            (void)strtoll(copy, NULL, 10);
            *big = errno == ERANGE;
        }
    }
    return behind > text ? behind : text + 1;
}

static bool is_key(const char *behind, const char *end)
{
    while (behind < end &&
           (*behind == ' ' || *behind == '\n' || *behind == '\t' || *behind == '\r'))
        behind++;
    return behind < end && *behind == ':';
}

static const char *behind_constant(const char *text, const char *end)
{
    static const char *const tokens[] = {"-Infinity", "Infinity", "NaN"};
    for (int k = 0; k < 3; k++) {
        size_t n = strlen(tokens[k]);
        if ((size_t)(end - text) >= n && memcmp(text, tokens[k], n) == 0) return text + n;
    }
    return NULL;
}

/* Converts Python's NaN, Infinity and -Infinity, which are not JSON, and large integers to strings. Leaves existing strings
 * unchanged. */
static void quote_constants(const char *text, size_t size, cb_buf *out)
{
    const char *p = text, *copied = text, *end = text + size;
    bool in_string = false;
    while (p < end) {
        if (in_string) {
            if (*p == '"') in_string = false;
            p += *p == '\\' && p + 1 < end ? 2 : 1;
            continue;
        }
        const char *behind = NULL;
        bool big = false;
        if (*p == '-' || *p == 'I' || *p == 'N') behind = behind_constant(p, end);
        if (!behind && (*p == '-' || (*p >= '0' && *p <= '9'))) {
            behind = skip_number(p, end, &big);
            if (!big) {
                p = behind;
                continue;
            }
        }
        if (behind && !is_key(behind, end)) {
            cb_buf_put(out, copied, (size_t)(p - copied));
            cb_buf_puts(out, big ? "\"" BIG : "\"");
            cb_buf_put(out, p, (size_t)(behind - p));
            cb_buf_puts(out, "\"");
            p = copied = behind;
            continue;
        }
        in_string = *p++ == '"';
    }
    cb_buf_put(out, copied, (size_t)(end - copied));
}

static int put_text(const char *text, size_t size, void *buf)
{
    cb_buf_put(buf, text, size);
    return ((cb_buf *)buf)->failed ? -1 : 0;
}

/* Removes quotes and markers of marked integers. Works in place, because the text becomes shorter. */
static size_t unquote_big(char *text, size_t size)
{
    char *to = text;
    bool in_string = false;
    for (size_t i = 0; i < size;) {
        if (!in_string && text[i] == '"' && size - i > BIG_SIZE &&
            memcmp(text + i + 1, BIG, BIG_SIZE) == 0) {
            size_t first = i + 1 + BIG_SIZE, sign = first + (text[first] == '-'), last = sign;
            while (last < size && text[last] >= '0' && text[last] <= '9') last++;
            if (last > sign && last < size && text[last] == '"' && text[sign] != '0' &&
                text[last + 1] != ':') {
                memmove(to, text + first, last - first);
                to += last - first;
                i = last + 1;
                continue;
            }
        }
        if (in_string && text[i] == '\\' && i + 1 < size)
            *to++ = text[i++];
        else if (text[i] == '"')
            in_string = !in_string;
        *to++ = text[i++];
    }
    return (size_t)(to - text);
}

bool cb_json_dump(const json_t *v, size_t flags, cb_buf *out)
{
    size_t start = out->size;
    if (json_dump_callback(v, put_text, out, flags | JSON_REAL_PRECISION(17)) != 0) return false;
    out->size = start + unquote_big(out->data + start, out->size - start);
    out->data[out->size] = 0;
    return true;
}

/* Returns true if parsing failed because memory ran out. In this case jansson sets no text, or the code for lack of memory. */
static bool lacks_memory(const json_error_t *why)
{
    return !why->text[0] || json_error_code(why) == json_error_out_of_memory;
}

cubed_status cb_json_parse(const char *where, const char *text, size_t size, json_t **out,
                           cubed_error *err)
{
    cb_buf quoted;
    /* Skip a byte order mark, which some editors add. */
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        size -= 3;
    }
    cb_buf_init(&quoted, &cb_system_allocator);
    quote_constants(text, size, &quoted);
    if (quoted.failed) {
        cb_buf_free(&quoted);
        return cb_fail(err, CUBED_E_NOMEM, "%s: no memory to parse %zu bytes", where, size);
    }
    json_error_t why;
    json_t *doc = json_loadb(quoted.data ? quoted.data : "", quoted.size,
                             JSON_ALLOW_NUL | JSON_DECODE_ANY, &why);
    cb_buf_free(&quoted);
    if (!doc && lacks_memory(&why))
        return cb_fail(err, CUBED_E_NOMEM, "out of memory: %s, %zu bytes of JSON", where, size);
    if (!doc)
        return cb_fail(err, CUBED_E_FORMAT, "%s: not JSON: line %d, column %d: %s", where, why.line,
                       why.column, why.text);
    *out = doc;
    return CUBED_OK;
}

cubed_status cb_json_try(const char *where, const char *text, size_t size, json_t **out,
                         cubed_error *err)
{
    cubed_error why = CUBED_ERROR_INIT;
    *out = NULL;
    const cubed_status st = cb_json_parse(where, text ? text : "", size, out, &why);
    if (st != CUBED_E_NOMEM) return CUBED_OK;
    if (err) *err = why;
    return st;
}

cubed_status cb_json_get_string(const char *where, const json_t *obj, const char *key,
                                const char **out, cubed_error *err)
{
    const json_t *v = json_object_get(obj, key);
    if (!json_is_string(v))
        return cb_fail(err, CUBED_E_FORMAT, "%s: \"%s\" must be a string, is %s", where, key,
                       type_name(v));
    *out = json_string_value(v);
    return CUBED_OK;
}

cubed_status cb_json_get_int(const char *where, const json_t *obj, const char *key, int64_t *out,
                             cubed_error *err)
{
    const json_t *v = json_object_get(obj, key);
    if (!json_is_integer(v))
        return cb_fail(err, CUBED_E_FORMAT, "%s: \"%s\" must be an integer, is %s", where, key,
                       type_name(v));
    *out = json_integer_value(v);
    return CUBED_OK;
}

cubed_status cb_json_get_ints(const char *where, const json_t *obj, const char *key, int64_t min,
                              int *n, int64_t out[CUBED_MAX_NDIM], cubed_error *err)
{
    const json_t *v = json_object_get(obj, key);
    if (!json_is_array(v))
        return cb_fail(err, CUBED_E_FORMAT, "%s: \"%s\" must be a list of integers, is %s", where,
                       key, type_name(v));
    size_t count = json_array_size(v);
    if (count > CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: \"%s\" has %zu entries, at most %d are "
                       "supported",
                       where, key, count, CUBED_MAX_NDIM);
    for (size_t i = 0; i < count; i++) {
        const json_t *e = json_array_get(v, i);
        if (!json_is_integer(e))
            return cb_fail(err, CUBED_E_FORMAT, "%s: \"%s\"[%zu] must be an integer, is %s", where,
                           key, i, type_name(e));
        out[i] = json_integer_value(e);
        if (out[i] < min)
            return cb_fail(err, CUBED_E_FORMAT,
                           "%s: \"%s\"[%zu] is %" PRId64 ", expected at least %" PRId64, where, key,
                           i, out[i], min);
    }
    *n = (int)count;
    return CUBED_OK;
}
