/* Removes secrets in URLs from messages and reports. */
#define _GNU_SOURCE
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "cubed/base.h"

/* Returns the length of the URL scheme that ends at `at`. */
static size_t scheme_before(const char *text, const char *at)
{
    const char *from = at;
    while (from > text && (isalnum((unsigned char)from[-1]) || strchr("+-.", from[-1]))) from--;
    return (size_t)(at - from);
}

/* Returns true for schemes of Azure, whose URLs have a container before the @. */
static bool has_container(const char *scheme, size_t n)
{
    return (n == 2 && strncasecmp(scheme, "az", n) == 0) ||
           ((n == 4 || n == 5) && strncasecmp(scheme, "abfss", n) == 0);
}

/* Returns the end of a URL in a message. */
static const char *end_of(const char *url) { return url + strcspn(url, " \t\r\n\"<>`"); }

/* Removes "USER:PASSWORD@" at `from`, which follows "://". Returns the remaining string. */
static char *drop_user(const char *text, char *from)
{
    const size_t n = strcspn(from, "/ \t\r\n"), scheme = scheme_before(text, from - 3);
    char *at = memrchr(from, '@', n);
    if (!at) return from;
    if (has_container(from - 3 - scheme, scheme) && !memchr(from, ':', (size_t)(at - from)))
        return from;
    memmove(from, at + 1, strlen(at + 1) + 1);
    return from;
}

/* Returns the length of a separator of query parameters, plain or encoded, or 0 if there is none. */
static size_t divider(const char *at)
{
    if (*at == '?' || *at == '&' || *at == ';') return 1;
    return strncasecmp(at, "%3f", 3) == 0 || strncmp(at, "%26", 3) == 0 ? 3 : 0;
}

/* Returns true if the name is that of a secret query parameter: signatures of Azure, S3 and Google, and keys of other
 * services. */
static bool is_secret(const char *name, size_t n)
{
    static const char *const names[] = {"sig",
                                        "signature",
                                        "x-amz-signature",
                                        "x-amz-credential",
                                        "x-amz-security-token",
                                        "x-goog-signature",
                                        "x-goog-credential",
                                        "awsaccesskeyid",
                                        "googleaccessid",
                                        "token",
                                        "access_token",
                                        "password",
                                        "secret",
                                        "key",
                                        "api_key",
                                        "apikey"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i]) == n && strncasecmp(name, names[i], n) == 0) return true;
    }
    return false;
}

/* Removes the values of secret parameters in the URL's query. */
static void drop_values(char *url)
{
    for (char *at = url; at < end_of(url);) {
        const size_t skip = divider(at);
        at += skip ? skip : 1;
        const size_t n = strcspn(at, "=&?; \t\r\n\"<>`");
        if (skip == 0 || at[n] != '=' || !is_secret(at, n)) continue;
        char *value = at + n + 1, *end = value;
        while (end < end_of(value) && divider(end) == 0 && strncmp(end, "::", 2) != 0) end++;
        memmove(value, end, strlen(end) + 1);
        at = value;
    }
}

void cubed_hide_secrets(char *text)
{
    for (char *at = text; (at = strstr(at, "://")) != NULL;) {
        at = drop_user(text, at + 3);
        drop_values(at);
    }
}
