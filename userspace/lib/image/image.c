// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Images: what spaces, and the objects of code in them, live in. */
#include <errno.h>
#include <libelf.h>
#include <stdlib.h>
#include "image/image.h"

int rvt_image_create(struct rvt_image **image)
{
	*image = calloc(1, sizeof(**image));
	if (!*image)
		return -ENOMEM;
	(*image)->seed = 1;
	pthread_mutex_init(&(*image)->lock, NULL);
	elf_version(EV_CURRENT);
	return 0;
}

void rvt_image_destroy(struct rvt_image *image)
{
	struct rvt_mapping *unused;
	struct rvt_space *space;

	if (!image)
		return;
	while ((space = image->spaces)) {
		image->spaces = space->next;
		rvt_space_clear(space);
		free(space);
	}
	while ((unused = image->unused)) {
		image->unused = unused->left;
		free(unused);
	}
	if (image->blocks)
		image->destroy_blocks(image->blocks);
	rvt_image_close_files(image);
	pthread_mutex_destroy(&image->lock);
	free(image);
}
