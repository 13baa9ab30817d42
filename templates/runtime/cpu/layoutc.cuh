// The vocabulary of layoutc's kernels on a host: cuda/layoutc.cuh's names, run thread by thread and checked.
// Compile with -ffp-contract=off; LC_UNCHECKED leaves the checks of memory out.
#pragma once

#define KERNEL(...) static void
#define DEVICE inline
#define CONSTANT_PARAM const
#define UNROLL
#define UNROLL_BY(times)
#define NO_UNROLL

#include "state.h"
#include "math.h"
#include "../arithmetic.h"
#ifdef LC_UNCHECKED
#include "unchecked.h"
#else
#include "memory.h"
#endif
#include "elements.h"
#include "warp.h"
#include "warpgroup.h"
#include "boxes.h"
#ifdef LC_UNDEFINED
#include "undefined.h"
#endif
