/* Declarations shared by vm_open.c and vm.c only. */
#ifndef CB_EXEC_VM_STATE_H
#define CB_EXEC_VM_STATE_H

#include "exec/vm/vm.h"

/* An index load has no array: its values are positions, which grow linearly along each axis. Returns the value at `by` elements
 * after an element with value `value` along an axis. Wraps around on overflow. */
static inline int64_t cb_load_advance(const cb_load *load, int64_t value, int axis, int64_t by)
{
    return (int64_t)((uint64_t)value + (uint64_t)load->step[axis] * (uint64_t)by);
}

/* A chunk that is decoded piecewise. Positions are byte offsets in the decoded chunk. */
typedef struct vm_pieces {
    int64_t idx[CUBED_MAX_NDIM];
    int64_t origin, row; /* positions of element 0 of the box, and of the run of elements */
    int64_t lo, hi;      /* byte range of the chunk that is at `data` */
    const char *data;
    /* the codec block (part of an encoded chunk) that was decoded last; its bytes may be in the cache instead of the buffer */
    cb_pinned_codec_block block;
} vm_pieces;

typedef struct vm_load {
    const cb_load *load;
    size_t size;
    const char *base; /* address of element 0 of the box */
    union {
        int64_t stride[CUBED_MAX_NDIM];
        /* for CHUNK_POSITION loads: index in the array of element 0 of the run */
        int64_t row_idx[CUBED_MAX_NDIM];
    };
    const char *at; /* address of element 0 of the run */
    int64_t index_at,
        index_row; /* for INDEX loads: value at element 0 of the box, and of the run */
    void *reg;
    enum {
        LOAD_DIRECT,
        LOAD_UNIFORM,
        LOAD_GATHER,
        LOAD_PIECES,
        LOAD_INDEX,
        LOAD_BLOCKS,
        LOAD_CONST
    } how;
    /* for STORED loads: buffer of one chunk, a part of it, or a piece; loads of a group share it */
    void *chunk;
    bool resident;
    union {
        cb_pinned pinned;
        vm_pieces piece; /* PIECES */
        /* for CHUNK_POSITION loads: index in the array of element 0 of the box */
        int64_t box_idx[CUBED_MAX_NDIM];
        cb_box cover; /* while a group of loads is opened: the chunks that the load needs */
    };
} vm_load;

typedef struct vm_instr {
    cb_elem_fn elem;
    cb_cast_fn
        cast; /* cast function; used if elem is NULL and the instruction is not CB_INSTR_FIELD */
    cb_elem_fn stream; /* like elem, with writes that bypass the caches; may be NULL */
    void *dst;
    size_t size; /* bytes of an element of the result */
    uint16_t arg[3];
    uint16_t value; /* number of the instruction's result */
    uint16_t
        to_out; /* 1 + number of the output that the instruction writes directly; 0: a register */
    /* CB_INSTR_FIELD: position in the record, the record's size, and the size of units whose bytes are reversed (0: bytes are
     * not reversed). `record` is 0 for other instructions. */
    uint16_t offset, record;
    uint8_t reversed;
} vm_instr;

struct cb_vm {
    const cb_task *task;
    const cb_program *prog;
    const cb_branch *branch;
    int ndim, inner;
    int64_t extent[CUBED_MAX_NDIM];
    int64_t run;
    const cb_view *outs;
    vm_load *loads;
    /* number of evaluated instructions; excludes products that the kernel of a sum computes */
    int ninstrs;
    /* first instruction that takes as long as loading its operands (cb_instr_keeps_pace); NULL if there is none or if results
     * do not stay in registers */
    const vm_instr *paced;
    vm_instr *instrs;
    const void **value; /* one pointer for each value number */
    char *regs;
};

/* Returns true if the elements of a buffer are contiguous along the axes from `inner` to the last. `stride` has the buffer's
 * strides in bytes, `size` is the size of an element. */
static inline bool cb_vm_is_run(const cb_vm *vm, const int64_t *stride, size_t size, int inner)
{
    int64_t s = (int64_t)size;
    for (int d = vm->ndim - 1; d >= inner; d--) {
        if (vm->extent[d] != 1 && stride[d] != s) return false;
        s *= vm->extent[d];
    }
    return true;
}

#endif
