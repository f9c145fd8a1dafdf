# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# What retired, and which traps were taken, out of QEMU's own log (one instruction per block, -d
# exec,nochain,int). QEMU logs an instruction when it begins: one that traps is the last before its
# exception and did not retire. A fetch fault has no line of its own. With -v LOW=PC only what is at
# or above PC is printed, with -v STOP=PC what comes before PC.

function retired()
{
	if (begun == STOP)
		exit
	if (begun != "" && begun >= LOW)
		print begun
	begun = ""
}

function field(name,    text)
{
	match($0, name "(0x)?[0-9a-f]+")
	text = substr($0, RSTART + length(name), RLENGTH - length(name))
	sub(/^0x/, "", text)
	while (length(text) < 16)
		text = "0" text
	return text
}

/^Trace / {
	retired()
	split($0, part, "/")
	begun = part[2]
	next
}

# The block before which an interrupt came is begun again.
/^Stopped execution/ {
	begun = ""
	next
}

/do_interrupt/ {
	interrupt = field("async:") + 0
	cause = field("cause:")
	epc = field("epc:")
	fetch = cause ~ /^0+[1c]$/ || cause == "0000000000000014"
	if (!interrupt && !fetch) {
		if (begun != epc && epc >= LOW) {
			print "exec-log: exception at " epc " behind " begun > "/dev/stderr"
			exit 1
		}
		begun = ""
	}
	retired()
	if (epc >= LOW)
		print "trap", interrupt ? "interrupt" : "exception", cause, epc
}

END {
	if (begun != STOP)
		retired()
}
