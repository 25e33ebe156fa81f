#include "plan/why.h"

const char *cb_why_text(cb_why why)
{
    static const char *const texts[CB_WHYS] = {
        [CB_WHY_NOT] = "",
        [CB_WHY_TARGET] = "a result",
        [CB_WHY_AS_WRITTEN] = "the plan is not optimised",
        [CB_WHY_OTHER_AXES] = "a reduction whose reader also has other axes",
        [CB_WHY_OTHER_REDUCE] =
            "a reduction over other elements than another reduction of the same reader",
        [CB_WHY_UNDER_REDUCE] = "a reduction whose complete result another reduction needs",
        [CB_WHY_UNDER_BLOCKS] = "a reduction that is read block by block",
        [CB_WHY_BLOCKS] = "computed in whole blocks",
        [CB_WHY_SCAN] = "computed chunk after chunk, each from the previous chunk",
        [CB_WHY_TEXT] = "strings in another shape",
        [CB_WHY_LONG] = "the chain of operations below it has the maximum length of one stage",
        [CB_WHY_MEMORY] =
            "if it were fused, a task would hold more arrays than fit in the allowed memory",
        [CB_WHY_PARTIAL] =
            "a reduction split into parts, because its few chunks would leave workers idle",
        [CB_WHY_SPREAD] =
            "a reduction in smaller chunks, because its own chunks would leave workers idle",
        [CB_WHY_RECHUNK] = "an intermediate step of a rechunk, which avoids repeated reads",
        [CB_WHY_BLOCK_INPUT] = "in the blocks of its reader, which would otherwise read more",
        [CB_WHY_FINER] =
            "in smaller blocks than its chunks: chunks do not fit, or workers would be idle",
        [CB_WHY_RESHAPE] = "read in another shape",
        [CB_WHY_KEPT] = "partial results that are kept for updates",
    };
    return texts[why];
}
