#include "store/http/curl.h"

#include "store/http/digest.h"

#ifdef CB_CURL_LIBRARY

#include <pthread.h>

#include "base/error.h"
#include "base/library.h"

/* check_layers: allow global: a library is loaded once in a process; nothing changes after that */
static struct {
    pthread_once_t once;
    cb_curl functions;
    bool there;
    char missing[512];
} library = {.once = PTHREAD_ONCE_INIT};

static void load(void)
{
#define FUNCTION(name) {"curl_" #name, &library.functions.name},
    const cb_library_function functions[] = {CB_CURL_FUNCTIONS(FUNCTION)};
#undef FUNCTION
    static const char *const needs[] = {"curl_easy_init", "SSL_new", "EVP_Digest",
                                        "nghttp2_session_client_new2", NULL};
    library.there =
        cb_library_load(CB_CURL_LIBRARY, functions, sizeof functions / sizeof *functions, needs,
                        library.missing, sizeof library.missing);
}

cubed_status cb_curl_load(cubed_error *err)
{
    pthread_once(&library.once, load);
    if (library.there) return cb_digest_load(err);
    return cb_fail(err, CUBED_E_UNSUPPORTED,
                   "stores on other machines need " CB_CURL_LIBRARY
                   " (Debian's libcurl4), which cannot be loaded: %s",
                   library.missing);
}

const cb_curl *cb_curl_get(void) { return &library.functions; }

#else

cubed_status cb_curl_load(cubed_error *err) { return cb_digest_load(err); }

#endif
