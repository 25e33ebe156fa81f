/* Declarations shared by the files of the local store only. */
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

/* Prefix of temporary names. Listings skip them, so leftovers of a killed writer are never taken for data. The rest of the name
 * identifies the writing process (base/owner.h). */
#define CB_LOCAL_TEMP ".cubed-tmp-"

/* Mode of a directory that only its owner may list, enter and write. */
#define CB_LOCAL_PRIVATE ((mode_t)0700)

typedef struct local_store {
    cubed_store head;
    bool durable;
    /* New directories and files below the root, or the root itself, are accessible to this user only (cb_store_keep_private). */
    bool is_private, root_is_private;
    atomic_uint_least64_t puts; /* makes temporary names unique within the process */
    cb_mutex lock;
    pid_t pid CB_GUARDED_BY(
        &lock); /* process that `owner` identifies: 0 before the first put, the parent after a fork */
    char owner[CB_OWNER_CAP] CB_GUARDED_BY(&lock);
    int dir;     /* descriptor of the root in a store from cb_local_anchor; otherwise AT_FDCWD */
    size_t root; /* length of the path of the root */
    size_t size; /* size of this struct including the path */
    char path[];
} local_store;

/* Opens a directory as a store with the functions of `vt`: see cb_store_open_local. */
CUBED_MUST_CHECK cubed_status cb_local_open(const cubed_store_vtable *vt, const cubed_allocator *a,
                                            const char *path, bool durable, cubed_store **out,
                                            cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_local_path(const local_store *s, const char *key,
                                            char out[PATH_MAX], cubed_error *err);
/* Returns `path` relative to the descriptor s->dir, for system calls such as openat. */
static inline const char *cb_local_at(const local_store *s, const char *path)
{
    if (s->dir == AT_FDCWD) return path;
    return path[s->root] ? path + s->root + 1 : ".";
}
/* Gets size and version of a file. The version is a hash of inode number, modification time and size. It is as reliable as a
 * counter, because each put creates a new file. */
void cb_local_info(const struct stat *info, cubed_object_info *out);
/* Fills in an error for a path that is neither a regular file nor a link to a regular file, and returns its status. */
cubed_status cb_local_not_regular(const char *path, mode_t mode, cubed_error *err);
/* Fills in an error for a path that cannot be written because of errno `e`, and returns its status, which is never
 * CUBED_E_NOT_FOUND. */
cubed_status cb_local_cannot_write(int e, const char *path, cubed_error *err);
/* Creates a temporary file in the directory of `path`. The caller writes and closes the file, and renames or unlinks it. `make`
 * also creates missing directories; without it they are CUBED_E_NOT_FOUND. */
CUBED_MUST_CHECK cubed_status cb_local_create(local_store *s, const char *path, bool make,
                                              char temp[PATH_MAX], int *fd, cubed_error *err);
/* Returns 0 or errno. */
int cb_local_write_at(int fd, uint64_t offset, const char *src, size_t size);
/* Closes a written file and gets its info. Returns 0 or errno. */
int cb_local_close_written(const local_store *s, int fd, cubed_object_info *out);
/* Creates the directories above `path`, which is modified during the call. Returns 0 or errno. */
int cb_local_make_parents(const local_store *s, char *path);
/* Return the mode of new files, and the mode of a new directory whose path has n bytes. */
mode_t cb_local_file_mode(const local_store *s);
mode_t cb_local_directory_mode(const local_store *s, size_t n);
/* Returns true if the path is a directory of this user that no other user can write. Sets *info. */
bool cb_local_is_own(const local_store *s, const char *path, struct stat *info);
/* Returns true if another user may have created the path, or can write in it. Always returns false on file systems that do not
 * keep the owner and mode of a new directory, because permissions mean nothing there (FUSE, SMB, NFS that maps root to another
 * user). */
bool cb_local_is_foreign(const local_store *s, const char *path, struct stat *info);
/* Opens a directory for listing. Returns NULL and sets errno on failure. */
DIR *cb_local_open_dir(const local_store *s, const char *path);
/* Syncs the parent directory, so that a new name survives a power failure. Returns 0 or errno. */
int cb_local_sync_parent(const local_store *s, const char *path);
/* Renames within the store. Returns 0 or errno. */
int cb_local_rename(const local_store *s, const char *from, const char *to);

/* Renames a file if the conditions of the request `r` hold. Returns 0 or errno; EEXIST if a condition does not hold. */
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
