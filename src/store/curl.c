#include "store/curl.h"

#ifdef CB_CURL_LIBRARY

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* check_layers: allow global: a library is loaded once in a process; nothing changes after that */
static struct {
    pthread_once_t once;
    cb_curl functions;
    char missing[256]; /* "": all is there */
} library = {.once = PTHREAD_ONCE_INIT};

static void load(void)
{
    void *object = dlopen(CB_CURL_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE), *f;
    if (!object) snprintf(library.missing, sizeof library.missing, "%s", dlerror());
#define LOAD(name)                                                                                 \
    f = object ? dlsym(object, "curl_" #name) : NULL;                                              \
    memcpy(&library.functions.name, &f, sizeof f);                                                 \
    if (!f && !*library.missing)                                                                   \
        snprintf(library.missing, sizeof library.missing, "it has no curl_" #name);
    CB_CURL_FUNCTIONS(LOAD)
#undef LOAD
}

cubed_status cb_curl_load(cubed_error *err)
{
    pthread_once(&library.once, load);
    if (!*library.missing) return CUBED_OK;
    return cb_fail(err, CUBED_E_UNSUPPORTED,
                   "stores on other machines are asked by " CB_CURL_LIBRARY
                   ", which is not there: %s: install it (Debian's libcurl4)",
                   library.missing);
}

const cb_curl *cb_curl_get(void) { return &library.functions; }

#else

cubed_status cb_curl_load(cubed_error *err)
{
    (void)err;
    return CUBED_OK;
}

#endif
