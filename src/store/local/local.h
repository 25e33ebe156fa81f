/* What the files of the local store share; for those only. */
#ifndef CB_STORE_LOCAL_H
#define CB_STORE_LOCAL_H

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/lock.h"
#include "base/owner.h"
#include "store/core/store.h"

/* Puts are written under a name that starts so, and listings leave such names out: what a killed
 * writer leaves behind is never taken for data. The name goes on with the process that writes (base/owner.h). */
#define CB_LOCAL_TEMP ".cubed-tmp-"

/* Mode of a directory that only its owner may list, enter and write. */
#define CB_LOCAL_PRIVATE ((mode_t)0700)

typedef struct local_store {
    cubed_store head;
    bool durable;
    bool is_private, root_is_private; /* directories below the root, and files; the root: see
                                       cb_store_keep_private */
    atomic_uint_least64_t puts;       /* makes temporary names unique within the process */
    cb_mutex lock;
    pid_t pid CB_GUARDED_BY(
        &lock); /* process that `owner` names; 0 if there is none yet. After a fork it is that of the parent. */
    char owner[CB_OWNER_CAP] CB_GUARDED_BY(&lock);
    int dir; /* descriptor of the root, of a store that cb_local_anchor has opened; else AT_FDCWD */
    size_t root; /* length of the path */
    size_t size; /* of this struct with the path behind it */
    char path[];
} local_store;

/* Opens a directory as a store with the table `vt` of functions: see cb_store_open_local. */
CUBED_MUST_CHECK cubed_status cb_local_open(const cubed_store_vtable *vt, const cubed_allocator *a,
                                            const char *path, bool durable, cubed_store **out,
                                            cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_local_path(const local_store *s, const char *key,
                                            char out[PATH_MAX], cubed_error *err);
/* The name by which the system finds a path of the store from `dir` on. */
static inline const char *cb_local_at(const local_store *s, const char *path)
{
    if (s->dir == AT_FDCWD) return path;
    return path[s->root] ? path + s->root + 1 : ".";
}
/* Of a file. A put makes a new one, so that file number, time and size together are as good as a counter. */
void cb_local_info(const struct stat *info, cubed_object_info *out);
/* Reports a path that is neither a regular file nor a link to one. */
cubed_status cb_local_not_regular(const char *path, mode_t mode, cubed_error *err);
/* Reports a path that cannot be written, for the errno `e`. Never CUBED_E_NOT_FOUND. */
cubed_status cb_local_cannot_write(int e, const char *path, cubed_error *err);
/* Makes a file beside `path`, to be written, closed, and renamed to it or unlinked; `make`: and the directories above. Else
 * CUBED_E_NOT_FOUND if there are none. */
CUBED_MUST_CHECK cubed_status cb_local_create(local_store *s, const char *path, bool make,
                                              char temp[PATH_MAX], int *fd, cubed_error *err);
/* errno of what failed. */
int cb_local_write_at(int fd, uint64_t offset, const char *src, size_t size);
/* Closes what was written, and tells what it is; errno of what failed. */
int cb_local_close_written(const local_store *s, int fd, cubed_object_info *out);
/* Makes the directories above `path`, which is changed and put right again; errno of what failed. */
int cb_local_make_parents(const local_store *s, char *path);
/* Permissions of new files, and of a new directory whose path has n bytes. */
mode_t cb_local_file_mode(const local_store *s);
mode_t cb_local_directory_mode(const local_store *s, size_t n);
/* Whether the path is a directory of this user that no other user can write; *info is what is there. */
bool cb_local_is_own(const local_store *s, const char *path, struct stat *info);
/* Whether another user may have created the path, or may write there. False on file systems that do not keep owner and mode of
 * a new directory (FUSE, SMB, NFS that maps root to another user): permissions say nothing there. */
bool cb_local_is_foreign(const local_store *s, const char *path, struct stat *info);
/* NULL and errno on failure. */
DIR *cb_local_open_dir(const local_store *s, const char *path);
/* So that a new name survives a power failure, too. errno of what failed. */
int cb_local_sync_parent(const local_store *s, const char *path);
/* Renames within the store; errno of what failed. */
int cb_local_rename(const local_store *s, const char *from, const char *to);

/* Renames it under the request's conditions. errno of what failed, EEXIST if they do not hold. */
int cb_local_replace(const local_store *s, const char *from, const char *to,
                     const cubed_store_request *r);
cubed_status cb_local_members(const local_store *s, const cubed_store_request *r, cubed_error *err);
cubed_status cb_local_swap(cubed_store *store, const char *a, const char *b, cubed_error *err);
cubed_status cb_local_begin_pieces(cubed_store *store, const char *key, cubed_store_pieces **out,
                                   cubed_error *err);
cubed_status cb_local_put_piece(cubed_store_pieces *pieces, uint64_t offset, const void *src,
                                size_t size, cubed_error *err);
cubed_status cb_local_end_pieces(cubed_store_pieces *pieces, cubed_error *err);
void cb_local_free_pieces(cubed_store_pieces *pieces);
cubed_status cb_local_anchor(cubed_store *store, const char *prefix, bool make, cubed_store **out,
                             cubed_error *err);
cubed_status cb_local_around(cubed_store *store, const char *prefix, cubed_store **out, char *name,
                             size_t cap, cubed_error *err);

#endif
