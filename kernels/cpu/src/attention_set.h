// The parts of an attention body, in order.
#ifndef ELIZA_ATTENTION_SET_H
#define ELIZA_ATTENTION_SET_H

#include <math.h>

#include "attention.h"
#include "attention_lanes.h"
#include "rotation.h"
#include "attention_rows.h"
#include "attention_matrix.h"
#include "attention_tile.h"
#ifdef KV_CODED_TILES
#include KV_CODED_TILES
#endif
#include "attention_body.h"

#endif
