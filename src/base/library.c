/* needed for the declarations of dladdr and RTLD_DEEPBIND */
#define _GNU_SOURCE
#include "base/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static bool are_global(const char *const *needs)
{
    while (*needs && !dlsym(RTLD_DEFAULT, *needs)) needs++;
    return *needs != NULL;
}

/* Checks whether the global malloc is libc's. A library that is bound to its own symbols frees with libc's free, even strings
 * that libc allocated with the global malloc. */
static bool has_allocator_of_libc(void)
{
    Dl_info allocator, libc;
    void *allocates = dlsym(RTLD_DEFAULT, "malloc"),
         *version = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    return allocates && version && dladdr(allocates, &allocator) != 0 &&
           dladdr(version, &libc) != 0 && allocator.dli_fbase == libc.dli_fbase;
}

/* Looks up functions by name in the object with its dependencies, and in the process. Returns the file of the first function that
 * differs, or NULL if both lookups find the same functions. */
static const char *find_other_copy(void *object, const char *const *needs)
{
    Dl_info at;
    for (; *needs; needs++) {
        void *global = dlsym(RTLD_DEFAULT, *needs), *own = dlsym(object, *needs);
        if (global && own && global != own)
            return dladdr(global, &at) != 0 ? at.dli_fname : "a library";
    }
    return NULL;
}

static void *load(const char *file, const char *const *needs, char *missing, size_t cap)
{
    bool own = false;
    int flags = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
#ifdef RTLD_DEEPBIND
    own = are_global(needs) && has_allocator_of_libc();
    if (own) flags |= RTLD_DEEPBIND;
#endif
    void *object = dlopen(file, flags);
    if (!object) {
        snprintf(missing, cap, "%s", dlerror());
        return NULL;
    }
    const char *other = own ? NULL : find_other_copy(object, needs);
    if (!other) return object;
    snprintf(missing, cap,
             "%s is loaded for the whole process and would be mixed with it: unset LD_PRELOAD if "
             "it names an allocator, or open the store before the other library is loaded",
             other);
    return NULL;
}

bool cb_library_load(const char *file, const cb_library_function *functions, size_t n,
                     const char *const *needs, char *missing, size_t cap)
{
    void *object = load(file, needs, missing, cap);
    bool all = object != NULL;
    for (size_t i = 0; i < n; i++) {
        void *f = object ? dlsym(object, functions[i].name) : NULL;
        memcpy(functions[i].to, &f, sizeof f);
        if (!f && all) snprintf(missing, cap, "it has no %s", functions[i].name);
        all = all && f;
    }
    return all;
}
