#include "store/http/http_redirect.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

enum { MOST_REDIRECTS = 10 };

/* Returns true if a server with an address of this kind may be contacted. This depends on the kind of the first server's
 * address. */
static bool may_ask(cb_redirects *r, const char *host, cb_address_kind kind)
{
    static const char *const words[] = {"a public address", "an address of a local network",
                                        "a link-local or metadata address",
                                        "an address of this machine"};
    if (kind <= r->first && (kind != CB_ADDRESS_LINK_LOCAL || r->first == CB_ADDRESS_LINK_LOCAL))
        return true;
    snprintf(r->refused, sizeof r->refused,
             r->referred && r->farthest == CB_ADDRESS_ANY
                 ? "a reference leads to %.100s, %s, but its document came from %s: if you "
                   "trust the reference, allow it: --allow-references PREFIX, or "
                   "storage_options={\"allow_references\": [PREFIX]} in Python"
                 : "the server redirects to %.100s, %s, from %s: such a redirect is not "
                   "followed",
             host, words[kind], words[r->first]);
    return false;
}

static bool get_host(const cb_redirects *r, char host[CB_MOST_HOST])
{
    const char *url = NULL;
    if (curl_easy_getinfo(r->curl, CURLINFO_EFFECTIVE_URL, &url) != CURLE_OK || !url) return false;
    cb_host_of(url, host);
    return true;
}

/* Gets the kind of an address and its port. */
static cb_address_kind kind_of_socket(const struct curl_sockaddr *address, int *port)
{
    char text[INET6_ADDRSTRLEN] = "";
    *port = 0;
    if (address->family == AF_INET) {
        struct sockaddr_in four;
        memcpy(&four, &address->addr, sizeof four);
        *port = ntohs(four.sin_port);
        inet_ntop(AF_INET, &four.sin_addr, text, sizeof text);
    } else if (address->family == AF_INET6) {
        struct sockaddr_in6 six;
        memcpy(&six, &address->addr, sizeof six);
        *port = ntohs(six.sin6_port);
        inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof text);
    }
    return cb_address_kind_of(text);
}

/* Called before a connection is made. Refuses forbidden addresses, so nothing is sent to them. */
static curl_socket_t open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *address)
{
    cb_redirects *r = ctx;
    char host[CB_MOST_HOST];
    int port;
    const cb_address_kind kind = kind_of_socket(address, &port);
    const bool proxied = r->proxy_port && port == r->proxy_port;
    if (purpose == CURLSOCKTYPE_IPCXN && r->first != CB_ADDRESS_ANY && !proxied &&
        (!get_host(r, host) || !may_ask(r, host, kind)))
        return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* Called before a request is sent, on new and reused connections. */
static int before_request(void *ctx, char *remote,
                          char *local, /* NOLINT(readability-non-const-parameter): libcurl's type */
                          int remote_port, int local_port)
{
    cb_redirects *r = ctx;
    char host[CB_MOST_HOST];
    (void)local;
    (void)local_port;
    if (!get_host(r, host)) return CURL_PREREQFUNC_ABORT;
    cb_address_kind kind = cb_address_kind_of(host);
    /* This is the address of the proxy, which does not show where the server is. */
    const bool proxied = r->proxy_port && remote_port == r->proxy_port;
    if (!proxied && remote && *remote) {
        const cb_address_kind real = cb_address_kind_of(remote);
        if (real > kind) kind = real;
    }
    if (r->first == CB_ADDRESS_ANY) r->first = kind;
    if (!may_ask(r, host, kind)) return CURL_PREREQFUNC_ABORT;
    if (kind < r->farthest) r->farthest = kind;
    return CURL_PREREQFUNC_OK;
}

/* Returns the port of a proxy. libcurl's default is 1080. */
static long find_port(const char *proxy)
{
    if (!proxy || !*proxy) return 0;
    const char *from = strstr(proxy, "://");
    from = from ? from + 3 : proxy;
    const char *bracket = strchr(from, ']'), *colon = strrchr(bracket ? bracket : from, ':');
    const long port = colon ? strtol(colon + 1, NULL, 10) : 0;
    return port > 0 ? port : strncasecmp(proxy, "https://", 8) == 0 ? 443 : 1080;
}

bool cb_redirects_follow(cb_redirects *r, CURL *curl, const char *url, const char *proxy,
                         cb_address_kind limit)
{
    const bool tls = strncasecmp(url, "https:", 6) == 0;
    *r = (cb_redirects){.curl = curl,
                        .proxy_port = find_port(proxy),
                        .referred = limit != CB_ADDRESS_ANY,
                        .first = limit,
                        .farthest = CB_ADDRESS_ANY};
    return curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L) == 0 &&
           curl_easy_setopt(curl, CURLOPT_MAXREDIRS, (long)MOST_REDIRECTS) == 0 &&
           curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, tls ? "https" : "http,https") == 0 &&
           curl_easy_setopt(curl, CURLOPT_UNRESTRICTED_AUTH, 0L) == 0 &&
           curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket) == 0 &&
           curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, r) == 0 &&
           curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, before_request) == 0 &&
           curl_easy_setopt(curl, CURLOPT_PREREQDATA, r) == 0;
}
