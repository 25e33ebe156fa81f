/* Declares the functions of libcurl under their usual names, although libcurl is loaded at run time. It is loaded by the first
 * request to a remote store, because loading libcurl and the two dozen libraries that it needs takes longer than running a small
 * plan. */
#ifndef CB_STORE_CURL_H
#define CB_STORE_CURL_H

#define CURL_DISABLE_TYPECHECK /* macros of curl.h would hide functions of the same names */
#include <curl/curl.h>

#include "cubed/base.h"

/* Loads libcurl. Call this before any function of libcurl. libcurl is never unloaded. CUBED_E_UNSUPPORTED if libcurl is not
 * installed. Thread-safe. */
CUBED_MUST_CHECK cubed_status cb_curl_load(cubed_error *err);

/* Sets the certificates and the proxy for a URL. */
struct cb_http_way;
bool cb_curl_set_way(CURL *curl, const struct cb_http_way *way, const char *url);

#ifdef CB_CURL_LIBRARY
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

#define CB_CURL_FUNCTIONS(F)                                                                       \
    F(easy_cleanup)                                                                                \
    F(easy_getinfo)                                                                                \
    F(easy_init)                                                                                   \
    F(easy_perform)                                                                                \
    F(easy_reset)                                                                                  \
    F(easy_setopt)                                                                                 \
    F(easy_strerror)                                                                               \
    F(getdate)                                                                                     \
    F(global_cleanup)                                                                              \
    F(global_init)                                                                                 \
    F(multi_add_handle)                                                                            \
    F(multi_cleanup)                                                                               \
    F(multi_info_read)                                                                             \
    F(multi_init)                                                                                  \
    F(multi_poll)                                                                                  \
    F(multi_remove_handle)                                                                         \
    F(multi_setopt)                                                                                \
    F(multi_socket_action)                                                                         \
    F(multi_wakeup)                                                                                \
    F(slist_append)                                                                                \
    F(slist_free_all)                                                                              \
    F(version_info)

typedef struct cb_curl {
#define MEMBER(name) __typeof__(curl_##name) *(name);
    CB_CURL_FUNCTIONS(MEMBER)
#undef MEMBER
} cb_curl;

/* Returns the table of libcurl's functions that cb_curl_load has filled. */
const cb_curl *cb_curl_get(void);

#define curl_easy_cleanup(...)        cb_curl_get()->easy_cleanup(__VA_ARGS__)
#define curl_easy_getinfo(...)        cb_curl_get()->easy_getinfo(__VA_ARGS__)
#define curl_easy_init()              cb_curl_get()->easy_init()
#define curl_easy_perform(...)        cb_curl_get()->easy_perform(__VA_ARGS__)
#define curl_easy_reset(...)          cb_curl_get()->easy_reset(__VA_ARGS__)
#define curl_easy_setopt(...)         cb_curl_get()->easy_setopt(__VA_ARGS__)
#define curl_easy_strerror(...)       cb_curl_get()->easy_strerror(__VA_ARGS__)
#define curl_getdate(...)             cb_curl_get()->getdate(__VA_ARGS__)
#define curl_global_cleanup()         cb_curl_get()->global_cleanup()
#define curl_global_init(...)         cb_curl_get()->global_init(__VA_ARGS__)
#define curl_multi_add_handle(...)    cb_curl_get()->multi_add_handle(__VA_ARGS__)
#define curl_multi_cleanup(...)       cb_curl_get()->multi_cleanup(__VA_ARGS__)
#define curl_multi_info_read(...)     cb_curl_get()->multi_info_read(__VA_ARGS__)
#define curl_multi_init()             cb_curl_get()->multi_init()
#define curl_multi_poll(...)          cb_curl_get()->multi_poll(__VA_ARGS__)
#define curl_multi_remove_handle(...) cb_curl_get()->multi_remove_handle(__VA_ARGS__)
#define curl_multi_setopt(...)        cb_curl_get()->multi_setopt(__VA_ARGS__)
#define curl_multi_socket_action(...) cb_curl_get()->multi_socket_action(__VA_ARGS__)
#define curl_multi_wakeup(...)        cb_curl_get()->multi_wakeup(__VA_ARGS__)
#define curl_slist_append(...)        cb_curl_get()->slist_append(__VA_ARGS__)
#define curl_slist_free_all(...)      cb_curl_get()->slist_free_all(__VA_ARGS__)
#define curl_version_info(...)        cb_curl_get()->version_info(__VA_ARGS__)
#endif

#endif
