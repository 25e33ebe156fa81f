/* Keys of the options that verbs have in common (common_options.c). */
#ifndef CUBED_CLI_COMMON_OPTIONS_H
#define CUBED_CLI_COMMON_OPTIONS_H

#define EXECUTOR_OPTION "executor-option"

enum {
    KEY_ALLOWED = 1,
    KEY_RESERVED,
    KEY_WORK_DIR,
    KEY_EXECUTOR,
    KEY_EXECUTOR_OPTION,
    KEY_WORKERS,
    KEY_REFERENCES,
    KEY_MACHINES,
    KEY_RETRIES,
    KEY_RESUME,
    KEY_OVERWRITE,
    KEY_TAKE_OVER,
    KEY_DURABLE,
    KEY_PROGRESS,
    KEY_PLAN,
    KEY_PLAN_SVG,
    KEY_EXPLAIN,
    KEY_PRICES,
    KEY_SAVE_PLAN,
    KEY_EVENTS,
    KEY_REPORT,
    KEY_JSON,
    KEY_NO_OPTIMIZE,
    KEY_ISA,
    KEY_THROUGH_BYTES
};

#endif
