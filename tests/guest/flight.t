#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Flight mode: each hart traces all the time, and a dump of the machine's memory has what led to the
# kernel's panic.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/driver-lib.sh"

selftests stable stable own-hart=on flight
selftests testing testing own-hart=on flight
done_testing
