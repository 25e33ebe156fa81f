/* Opens and removes the folder of a run in the work directory. It contains intermediates, and the notes of a run in parts. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "run/places/io_state.h"

cubed_status cb_folder_open_work(cb_io *io, cubed_error *err)
{
    if (io->work) return CUBED_OK;
    CB_TRY(cb_place_open_store(&io->plan->ctx->stores, io->plan->work_dir, false, &io->work, err));
    cb_store_keep_private(io->work);
    return CUBED_OK;
}

/* Opens the folder itself, and checks the record in it. Later puts reach this folder even if another folder gets its name. */
static cubed_status open_place(cb_io *io, cubed_error *err)
{
    cb_claim c = io->folder;
    /* close the folder if an earlier broker of this run has opened it */
    cb_store_close(io->folder_place);
    io->folder_place = NULL;
    CB_TRY(cb_store_anchor(io->work, io->prefix, false, &io->folder_place, err));
    if (io->mode == CB_IO_WORKER) {
        CB_TRY(cb_claim_look(io->folder_place, "", io->zone, &c, err));
        return strcmp(c.record.run, io->self.run) == 0
                   ? CUBED_OK
                   : cb_fail(err, CUBED_E_NOT_FOUND, "the folder of run %s in %s is gone",
                             io->self.run, io->work->url);
    }
    CB_TRY(cb_claim_check_place(&io->folder, io->folder_place, io->zone, err));
    io->folder.place = io->folder_place;
    return CUBED_OK;
}

/* Moves the chunks of an earlier run of the plan into this run's folder. Moves them one by one, because processes of the earlier
 * run may still write and delete in its folder. */
static cubed_status take_left(cb_io *io, cubed_error *err)
{
    cb_claim c;
    CB_TRY(cb_claim_look(io->work, io->left, io->zone, &c, err));
    if (cb_version_is_none(&c.version)) return CUBED_OK;
    CB_TRY(cb_claim_check_free(&c, &io->self, err));
    CB_TRY(cb_claim_take(&c, &io->self, "", err));
    if (cb_store_copies(io->work))
        CB_TRY(cb_stage_copy_chunks(io->work, io->left, io->prefix, err));
    else if (io->work->vt->swap)
        CB_TRY(cb_stage_move_chunks(io->work, io->left, io->prefix, err));
    return cb_store_clear(io->work, io->left, err);
}

cubed_status cb_folder_open(void *ctx, cubed_store **store, const char **folder, cubed_error *err)
{
    cb_io *io = ctx;
    if (!io->plan->work_dir && io->mode != CB_IO_RUN)
        return cb_fail(err, CUBED_E_ARG,
                       "worker processes share intermediates in a work directory, but the plan has "
                       "no work directory: name one");
    if (!io->plan->work_dir)
        return cb_fail(
            err, CUBED_E_BUDGET,
            "intermediates need more than the %" PRIu64 " bytes of memory that the plan "
            "has for them, and the run has no work directory: set one, or allow more memory",
            io->plan->intermediate_budget);
    CB_TRY(cb_folder_open_work(io, err));
    /* Writes a record, by which `cubed clean` recognises the folder if the run is killed. */
    if (io->mode != CB_IO_WORKER) {
        CB_TRY(io->mode == CB_IO_FINISH ? cb_store_check_private(io->work, io->prefix, err)
                                        : cb_store_make_private(io->work, io->prefix, err));
        CB_TRY(cb_claim_look(io->work, io->prefix, io->zone, &io->folder, err));
        CB_TRY(cb_claim_check_free(&io->folder, &io->self, err));
        if (io->mode != CB_IO_FINISH) CB_TRY(cb_claim_take(&io->folder, &io->self, "", err));
    }
    io->has_folder = true;
    *store = io->work;
    *folder = io->prefix;
    const bool over = io->mode == CB_IO_FINISH && cb_version_is_none(&io->folder.version);
    if (*io->left && !over) CB_TRY(take_left(io, err));
    if (over || !cb_store_has_places(io->work)) return CUBED_OK;
    CB_TRY(open_place(io, err));
    *store = io->folder_place;
    *folder = "";
    return CUBED_OK;
}

cubed_status cb_io_spill(cb_io *io, cubed_error *err)
{
    return cb_chunks_open_work(io->chunks, err);
}

/* Sets the key of an object or a folder in the run's folder. If the store can open a folder itself, *store is the open folder, so
 * that a late note does not reach a folder of another run with the same name. */
static cubed_status find_in_folder(cb_io *io, const char *name, cubed_store **store, char *key,
                                   size_t cap, cubed_error *err)
{
    CB_TRY(cb_io_spill(io, err));
    *store = io->folder_place ? io->folder_place : io->work;
    return cb_key_join(key, cap, io->folder_place ? "" : io->prefix, name, err);
}

cubed_status cb_io_note(cb_io *io, const char *name, cubed_error *err)
{
    char key[4096];
    cubed_store *store;
    CB_TRY(find_in_folder(io, name, &store, key, sizeof key, err));
    return cb_store_put(store, key, "", 0, err);
}

cubed_status cb_io_notes(cb_io *io, const char *folder, cubed_store_member_fn fn, void *ctx,
                         cubed_error *err)
{
    char key[4096];
    cubed_store *store;
    CB_TRY(find_in_folder(io, folder, &store, key, sizeof key, err));
    return cb_store_members(store, key, fn, ctx, err);
}

void cb_folder_close(cb_io *io)
{
    /* Ignores errors, because the callers of this function cannot handle them. */
    cubed_status ignored = CUBED_OK;
    const bool over = cb_io_drives(io) || (io->mode == CB_IO_FINISH && io->committed);
    if (io->has_folder && over && (io->keep & CUBED_KEEP_INTERMEDIATES))
        ignored = cb_claim_say(&io->folder, CB_RUN_LEFT, NULL);
    else if (io->has_folder && over && cb_claim_check_own(&io->folder, NULL) == CUBED_OK)
        ignored = cb_store_clear(io->work, io->prefix, NULL);
    (void)ignored;
    cb_store_close(io->folder_place);
    cb_store_close(io->work);
}
