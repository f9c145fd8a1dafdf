// SPDX-License-Identifier: GPL-2.0-only
#define PREFIX second
#define ON_STEP 4
#include "comes-and-goes.h"
