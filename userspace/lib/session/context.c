// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Where code is while it is decoded.
 *
 * Code of guests, that is of all that runs with V=1. Their addresses mean nothing to the host, so
 * that the space has none of its code: where a guest's is not given, its flow is lost.
 */
#include "image/image.h"
#include "state.h"

int rvt_session_open_guest(struct rvt_session *session, struct decode_context *decode)
{
	const char *vmlinux = session->options.guest_vmlinux;
	int err = rvt_space_create(decode->image, NULL, &decode->guest);

	if (!err)
		err = rvt_space_map_unreadable(decode->guest, 0, UINT64_MAX, 0, RVT_GUEST_CODE);
	return err || !vmlinux ? err : rvt_space_map_elf(decode->guest, vmlinux, 0);
}

int rvt_session_open_context(struct rvt_session *session, struct decode_context *decode)
{
	int err;

	*decode = (struct decode_context){ .image = NULL };
	err = rvt_image_create(&decode->image);
	if (!err)
		err = session->source->kernel(session, decode->image, &decode->kernel);
	return err ? err : rvt_session_open_guest(session, decode);
}
