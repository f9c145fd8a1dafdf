// SPDX-License-Identifier: GPL-2.0-only
#define PREFIX first
#define ON_STEP 2
#include "comes-and-goes.h"
