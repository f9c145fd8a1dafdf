// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <string.h>
#include "common/cmd.h"
#include "common/json.h"
#include "html/html.h"

/* Embeds a file of the page, between NAME_begin and NAME_end. */
#define PART(name, file) \
	__asm__(".section .rodata\n" \
		#name "_begin:\n" \
		".incbin \"" HTML_DIR "/" file "\"\n" \
		#name "_end:\n" \
		".previous\n"); \
	extern const char name##_begin[], name##_end[]

PART(html_style, "style.css");
PART(html_body, "body.html");
PART(html_data_js, "data.js");
PART(html_canvas_js, "canvas.js");
PART(html_flame_js, "flame.js");
PART(html_timeline_js, "timeline.js");
PART(html_tables_js, "tables.js");
PART(html_page_js, "page.js");

#define WRITE(name, out) fwrite(name##_begin, 1, name##_end - name##_begin, (out))

static int write_page(const struct html_options *html, struct html_data *data,
		      struct html_data *before, const struct view_options *options, FILE *out)
{
	int err;

	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<title>rvtrace</title>\n<style>\n", out);
	WRITE(html_style, out);
	fputs("</style>\n</head>\n", out);
	WRITE(html_body, out);
	fputs("<script type=\"application/json\" id=\"data\">", out);
	err = html_write_data(html, data, before, options, out);
	fputs("</script>\n<script>\n'use strict';\n", out);
	WRITE(html_data_js, out);
	WRITE(html_canvas_js, out);
	WRITE(html_flame_js, out);
	WRITE(html_timeline_js, out);
	WRITE(html_tables_js, out);
	WRITE(html_page_js, out);
	fputs("</script>\n</html>\n", out);
	return err;
}

static int open_data(struct html_data *data, const struct view_options *options,
		     const char *input, bool all)
{
	struct view_options wanted = *options;

	wanted.input = input;
	wanted.session.count = wanted.session.by_cpu = false;
	wanted.session.clock = true;
	data->view = view_open(&wanted);
	data->places = data->view ? places_create(view_session(data->view)) : NULL;
	return !data->view ? -EINVAL : !data->places ? -ENOMEM : html_gather(data, all);
}

int html_write(const struct html_options *html, const struct view_options *options, FILE *out)
{
	struct html_data data = { 0 }, before = { 0 };
	int err = json_supported() ? -EINVAL : open_data(&data, options, options->input, true);

	if (!err && html->before)
		err = open_data(&before, options, html->before, false);
	if (!err)
		err = write_page(html, &data, html->before ? &before : NULL, options, out);
	if (err && err != -EINVAL)
		cmd_error(err, "decoding ended: %s", strerror(-err));
	else if (!err && (view_interrupted(data.view) ||
			  (html->before && view_interrupted(before.view))))
		err = cmd_error(-EINTR, "interrupted: the page has what was decoded until then");
	html_free(&data);
	html_free(&before);
	return err;
}
