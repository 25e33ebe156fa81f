/* Plans, and arrays with their graphs, as bytes: serial_write.c, serial_read.c.
 *
 *   "CUBEDPLN"  8 bytes; "CUBEDARR" if the bytes are an array
 *   version     4 bytes, little endian
 *   checksum    4 bytes: CRC-32 of the bytes that follow
 *   body        fields in the order of serial_write.c: integers as LEB128 varints (signed ones zigzag), strings
 *               as a length and bytes
 *
 * The body has the decisions of the planner: the nodes, which of them are stored, and the outputs and tasks of each stage.
 * Programs and projections (memory bounds) follow from these decisions, and are computed again on loading. */
#ifndef CB_PLAN_SERIAL_H
#define CB_PLAN_SERIAL_H

#include "plan/plan.h"

#define CB_PLAN_VERSION      19
#define CB_PLAN_HEADER_BYTES 16
#define CB_PLAN_MAGIC        "CUBEDPLN"
#define CB_ARRAY_MAGIC       "CUBEDARR"

#endif
