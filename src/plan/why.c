#include "plan/why.h"

const char *cb_why_text(cb_why why)
{
    static const char *const texts[CB_WHYS] = {
        [CB_WHY_NOT] = "",
        [CB_WHY_TARGET] = "a result",
        [CB_WHY_AS_WRITTEN] = "the plan is not optimised",
        [CB_WHY_OTHER_AXES] = "a reduction that is used for elements along other axes than it has",
        [CB_WHY_OTHER_REDUCE] =
            "a reduction over other elements than the reduction beside which it is used",
        [CB_WHY_UNDER_REDUCE] = "a reduction that another reduction needs whole",
        [CB_WHY_UNDER_BLOCKS] = "a reduction that is read block by block",
        [CB_WHY_BLOCKS] = "made in whole blocks",
        [CB_WHY_SCAN] = "made chunk after chunk, each from the one before",
        [CB_WHY_TEXT] = "text in another shape",
        [CB_WHY_LONG] = "the chain of operations below it is as long as one pass may be",
        [CB_WHY_MEMORY] =
            "with it a task would hold more arrays than the allowed memory has room for",
        [CB_WHY_PARTIAL] = "a reduction in parts: its few chunks would leave workers idle",
        [CB_WHY_SPREAD] = "a reduction in smaller chunks: its own would leave workers idle",
        [CB_WHY_RECHUNK] = "on the way to other chunks, so that less is read again and again",
        [CB_WHY_BLOCK_INPUT] = "in the blocks that its reader takes, which would read more without",
        [CB_WHY_FINER] =
            "in smaller blocks than its chunks, which do not fit or would leave workers idle",
        [CB_WHY_RESHAPE] = "read in another shape",
    };
    return texts[why];
}
