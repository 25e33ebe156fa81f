#include "base/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

bool cb_library_load(const char *file, const cb_library_function *functions, size_t n,
                     char *missing, size_t cap)
{
    void *object = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    bool all = object != NULL;
    if (!object) snprintf(missing, cap, "%s", dlerror());
    for (size_t i = 0; i < n; i++) {
        void *f = object ? dlsym(object, functions[i].name) : NULL;
        memcpy(functions[i].to, &f, sizeof f);
        if (!f && all) snprintf(missing, cap, "it has no %s", functions[i].name);
        all = all && f;
    }
    return all;
}
