/* Plans, and arrays with their graphs, as bytes: serial_write.c, serial_read.c.
 *
 *   "CUBEDPLN"  8 bytes; of an array "CUBEDARR"
 *   version     4 bytes, little endian
 *   checksum    4 bytes: CRC-32 of the bytes that follow
 *   body        fields in the order of serial_write.c: integers as LEB128 varints (signed ones zigzag), strings
 *               as a length and bytes
 *
 * The bytes contain decisions: nodes, which of them are stored, the outputs and tasks of each stage. Programs and projections
 * follow from these decisions and are recreated on loading. */
#ifndef CB_PLAN_SERIAL_H
#define CB_PLAN_SERIAL_H

#include "plan/plan.h"

#define CB_PLAN_VERSION      19
#define CB_PLAN_HEADER_BYTES 16
#define CB_PLAN_MAGIC        "CUBEDPLN"
#define CB_ARRAY_MAGIC       "CUBEDARR"

#endif
