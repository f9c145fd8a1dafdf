#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# perf's letters and fields: what is taken, and what is refused with a reason. Needs no recording.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
rv=build/host/perf-rvtrace

# says NAME TEXT COMMAND...: the command fails with a message that holds this (extended regular
# expression).
says()
{
	local name=$1 text=$2 message
	shift 2
	message=$("$@" 2>&1 >/dev/null)
	if [ $? -eq 1 ] && grep -qE -- "$text" <<<"$message"; then
		ok 0 "$name"
	else
		diag <<<"not '$text' but: $message"
		ok 1 "$name"
	fi
}

# says_2 NAME TEXT COMMAND OPTION VALUE: the same of a command whose exit status may be 1 or 2.
says_2()
{
	local message status

	# shellcheck disable=SC2086 # the command may be two words
	message=$("$rv" $3 "$4$([ ${#4} = 2 ] || echo =)$5" 2>&1 >/dev/null)
	status=$?
	[ $status = 1 ] || [ $status = 2 ] && grep -qF -- "$2" <<<"$message"
	status=$?
	[ $status = 0 ] || diag <<<"not '$2' but: $message"
	ok $status "$1"
}

# What is taken gets as far as the missing hardware.
no_hardware="not a RISC-V machine|no trace hardware|'rvtrace' is missing"
absent='/nonexistent/perf.data: No such file'
# Of perf's letters these mean something in a RISC-V trace ...
for letters in w i i100 i100i i5t i1us i10ns i2ms b c r I e e-o e-l e-ol e+o-l g g32 G G8 l l8 L \
	L128 s s100 Z T q \
	ibcreg16l64 i0nse 'i100us,b e'; do
	says "inject --itrace=$letters" \
		"$absent" "$rv" inject -i /nonexistent/perf.data --itrace="$letters"
done
# ... and these do not.
for letter in y x p o d A f m M t a; do
	says "--itrace=$letter is refused with a reason" "'$letter' is not supported: .{10}" \
		"$rv" script -i /nonexistent/perf.data --itrace="$letter"
done
says "--itrace: no such letter" "no letter 'k'.*letters: i, b" "$rv" script --itrace=ik
says "--itrace: e has no such flag" "flags o and l" "$rv" script --itrace=e-x
says "script: G and L are for inject" "perf rvtrace inject" "$rv" script --itrace=G

says "report: when there is colour" \
	"auto, always or never, not 'sometimes'" "$rv" report --color sometimes

for fields in comm,tid,pid,time,cpu,event,period,ip,sym,symoff,dso,addr,flags,callindent,insn,insnlen,srcline \
	brstack brstacksym brstackoff +srcline,-dso hw:ip,sym trace:comm; do
	says "-F $fields" "$absent" "$rv" script -i /nonexistent/perf.data -F "$fields"
done
says "-F ipc wants the clock" "--clock MHZ" "$rv" script -F +ipc
says "-F ipc with the clock" "$absent" "$rv" script -i /nonexistent/perf.data -F +ipc --clock 1000
says "-F: what a trace does not have" "trace has no field 'phys_addr'" "$rv" script -F ip,phys_addr
says "-F: what stock perf prints" "perf script --no-itrace" "$rv" script -F ip,trace
says "-F: what nobody has" "no field 'colour'; fields: comm" "$rv" script -F colour
says "--insn-trace: formats" "raw or disasm, not 'xed'" "$rv" script --insn-trace=xed
# Built with capstone or without: it works, or it says what is missing.
says "--insn-trace=disasm" \
	"$absent|install libcapstone-dev" "$rv" script -i /nonexistent/perf.data --insn-trace=disasm
for pair in "--call-trace --insn-trace" "--branches --call-trace" "--raw-pc --insn-trace" \
	"--call-ret-trace --call-trace" "--itrace=i1i --insn-trace=raw"; do
	# shellcheck disable=SC2086 # words
	says "script $pair" "${pair%%[ =]*} and .* are two views" "$rv" script $pair
done
says "script --raw-pc twice is one view" "$absent" "$rv" script -i /nonexistent/perf.data --raw-pc --raw-pc
says "report -g -s" "-s chooses the columns .* and -g" "$rv" report -g -s sym
says "report --call-graph=caller --sort" "give one of them" "$rv" report --call-graph=caller --sort dso
for command in report script stat "inject" "profile -f folded"; do
	# shellcheck disable=SC2086 # words
	says "$command: no recording: what to do" "Record first: perf rvtrace record" \
		"$rv" $command -i /nonexistent/perf.data
done
case $(uname -m) in riscv*) ;; *)
	says "list: another machine" "this is a $(uname -m), not a RISC-V machine.*encoders.*Control" "$rv" list
	says "record: another machine" "not a RISC-V machine" "$rv" record -- true
	says "record -e riscv_ctr//: another machine" "not a RISC-V machine" "$rv" record -e riscv_ctr// -- true
esac
is "--version" "perf-rvtrace $(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)" "$("$rv" --version)"

says "report: keys" "cannot sort by 'colour'; keys: comm" "$rv" report -s comm,colour
says "report -g: orders" "caller or callee, not 'circle'" "$rv" report --call-graph=circle
for order in caller callee; do
	says "report -g $order" "$absent" "$rv" report -i /nonexistent/perf.data -g "$order"
done


says "annotate: no recording: what to do" "Record first" "$rv" annotate -i /nonexistent/perf.data
says "annotate --percent-limit" "--percent-limit: 'x' is no number" "$rv" annotate --percent-limit x
says "annotate --max-functions" "--max-functions: '0' is no number of at least 1" "$rv" annotate --max-functions 0
says "annotate: two functions" "a recording is given with -i" "$rv" annotate work more
says "diff: no recording: what to do" "Record first" "$rv" diff /nonexistent/perf.data /nonexistent/other
for files in "" one "one two three"; do
	# shellcheck disable=SC2086 # words
	says "diff $files" "Give two of them: perf rvtrace diff A B" "$rv" diff $files
done
says "diff --exit-code" "--exit-code: 'x' is no number" "$rv" diff --exit-code x one two
says "report --before" "--before is for --html" "$rv" report --before other.data
says "export: no recording: what to do" "Record first" "$rv" export --sqlite "$TOP/build/never" -i /nonexistent/perf.data
says "export: to what" "export to what\? Give --sqlite FILE" "$rv" export
says "gdb: no recording: what to do" "Record first" "$rv" gdb -i /nonexistent/perf.data </dev/null
says "gdb --start" "'middle' is neither begin nor end" "$rv" gdb --start middle </dev/null
says "gdb --cpu: another way" "monitor goto" "$rv" gdb --cpu 1 </dev/null
says "latency: no recording: what to do" "Record first" "$rv" latency -i /nonexistent/perf.data
says "latency --over: times" "'50' is no length of time, like 50us" "$rv" latency --over 50 work
says "latency --over: units" "'5m' is no length of time" "$rv" latency --over 5m work
says "latency --slowest: of what" "--slowest: of which function" "$rv" latency --slowest 3
says "latency --over: of what" "--over: of which function" "$rv" latency --over 1ms
says "latency --own SYMBOL" "--own: for all functions" "$rv" latency --own work
says "latency: two functions" "unexpected|a recording is given with -i" "$rv" latency work more

# What users of stock perf type: taken, or answered with what to do instead.
for options in --ns -f --force "--ns --itrace=i100us"; do
	# shellcheck disable=SC2086 # words
	says "script $options" "$absent" "$rv" script -i /nonexistent/perf.data $options
done
for options in "-n --stdio" -f "-g graph,0.5,caller" "-g fractal" "--call-graph=callee,function,percent"; do
	# shellcheck disable=SC2086 # words
	says "report $options" "$absent" "$rv" report -i /nonexistent/perf.data $options
done
says "inject --strip" "$absent" "$rv" inject -i /nonexistent/perf.data --strip
says "script --show-mmap-events" \
	"--show-mmap-events: perf script --no-itrace" "$rv" script --show-mmap-events
says "script -D" "-D: perf rvtrace dump" "$rv" script -D
says "script --xed" "--xed: --insn-trace=disasm" "$rv" script --insn-trace --xed
says "report --itrace" "--itrace=i1i: .*perf rvtrace inject" "$rv" report --itrace=i1i
says "report --branch-history" \
	"--branch-history: perf rvtrace inject --itrace=" "$rv" report --branch-history
says "inject -b" "-b: build ids are copied" "$rv" inject -b
says "record -g" "-g: sample an event beside the trace" "$rv" record -g -- true
says "report --children" "--children: report -g has counts" "$rv" report --children
says "record: nothing is left" "--all-user and --all-kernel leave nothing" \
	"$rv" record --all-user --all-kernel -- true
says "record --all-user is taken" "$no_hardware" "$rv" record --all-user -- true
says "record: the words of a command are its own" \
	"unrecognized option .--frobnicate.$" "$rv" record --frobnicate -- true -g
# Before the hardware is looked for.
for list in 1,x x 0 -5 1,,2 perf,bpf; do
	says "record --switches=$list" "'$list' is no list of processes, nor perf, bpf or command" \
		"$rv" record -a --switches="$list" -- true
done
says "record --switches: of which command" "there is no command" "$rv" record -a --switches=command
says "record --switches: whole cpus" "whole cpus" "$rv" record -p 1 --switches=bpf
for switches in perf bpf command 1,2 1-3; do
	says "record --switches=$switches is taken" "$no_hardware" \
		"$rv" record -a --switches="$switches" -- true
done
says "record -p" "'7,x' is no list of processes" "$rv" record -p 7,x
says "record -t" "'0' is no list of threads" "$rv" record -t 0
says "record -C" "'0-' is no list of cpus" "$rv" record -C 0-
for size in 100 0M x 1T 10MB -1M; do
	says "record --max-size $size" "'$size' is no size like 100M" "$rv" record --max-size="$size" -- true
done
for when in x 10 10S 0s 1s2 100MB; do
	says "record --switch-output=$when" "'$when' is neither signal, nor a size" \
		"$rv" record --switch-output="$when" -- true
done
for when in signal 100M 10s 5m 1h; do
	says "record --switch-output=$when is taken" "$no_hardware" "$rv" record --switch-output=$when -- true
done
says "record --switch-output --snapshot are taken" "$no_hardware" "$rv" record -S --switch-output -- true
says "record --switch-output=10M --snapshot" "without a size or time" "$rv" record -S --switch-output=10M -- true
for trigger in never sym: sym:f:over=soon sym:f:over=0s uprobe:f uprobe:f+1 signal:NONE signal:SEGV:over=1ms exit!=1; do
	says "record --trigger $trigger" "--trigger" "$rv" record --trigger "$trigger" -- true
done
says "record --switch-output=SIZE --profile" "small files" "$rv" record --profile --switch-output=10M -- true
says "record --switch-output --profile --keep" "many profiles" "$rv" record --profile --keep x --switch-output=1h -- true
says "record --index is taken" "$no_hardware" "$rv" record --index -- true
says "record --index --profile" "give --keep FILE" "$rv" record --index --profile -- true
says "record --index --profile --keep is taken" "$no_hardware" "$rv" record --index --profile --keep x -- true
says "record --index: of CTR" "--index is for traces" "$rv" record --index -e riscv_ctr// -- true
says "record -D 10-20" "ranges of time are not supported" "$rv" record -D 10-20 -- true
says "record -D -1 without --control" "give .*--control fifo:PATH" "$rv" record -D -1 -- true
says "record -D" "-D: 'x' is no number" "$rv" record -D x -- true
says "record -D 100 is taken" "$no_hardware" "$rv" record -D 100 -- true
says "record --control: what it is" "neither fifo:PATH.* nor fd:NUMBER" "$rv" record --control me -- true
says "record --control: no file" "cannot open /nonexistent: No such file" "$rv" record --control fifo:/nonexistent -- true
says "record --control: no FIFO" "options.t is no FIFO; make one with mkfifo" "$rv" record --control "fifo:$0" -- true
says "record --control: not open" "descriptor 99 is not open" "$rv" record --control fd:99 -- true
says "record -u -p" "does not go together with -p" "$rv" record -u root -p 1
says "record -u -a" "do not go together with -a" "$rv" record -u root -a
says "record -F: a trace is not sampled" "a trace is not sampled, it has every branch|$no_hardware" "$rv" record -F 100 -- true

says "record --per-thread: of which" "needs a command, -p or -t" "$rv" record --per-thread

# Whatever takes a number says what it takes, and what was typed.
for number in -1 1x x "" " 1" 0x 99999999999999999999; do
	for option in "report --max-lines" "report --jobs" "stat --jobs" "profile --jobs" \
		"script --max-lines" "script --jobs" "inject --jobs" ${number:+"record -c" "record -F" "record -z"} \
		"decode --src" "decode --jobs" "decode --wrapped-at" "dump --wrapped-at" \
		"tandem to-truth --hart" "tandem to-truth --xlen" "tandem verify --max-reports" \
		"tandem verify --limit" "tandem show --mlen"; do
		says_2 "$option '$number'" "${option##* }: '$number' is no number" \
			"${option% *}" "${option##* }" "$number"
	done
done
for number in -1 1x x "" 99999999999999999999; do
	for option in "--raw FILE@ADDRESS" "--image ELF@BIAS"; do
		message=$("$rv" decode --chip e31 "${option% *}" "/nonexistent@$number" "$0" 2>&1)
		[ $? = 2 ] && case $number in
		[0-9]*) [ "$message" = "perf-rvtrace decode: $option: '$number' is no number" ] ;;
		*) [ "$message" = "perf-rvtrace decode: /nonexistent@$number: No such file or directory" ] ;;
		esac
		ok_or_show $? "decode $option: '$number'" <(echo "$message")
	done
done
says "report --jobs: range" "--jobs: '257' is no number from 1 to 256" "$rv" report --jobs 257
says "record -z: range" "-z: '20' is no number from 1 to 19" "$rv" record -z20
says "record -m: more than 64 bits" "no pair of buffer sizes" "$rv" record -m 18446744073709551617
says "record -e rHEX: more than 64 bits" "no event" "$rv" record -e r11112222333344445 -- true
says "record -e: a term's number" "'0x' is no number" "$rv" record -e page-faults/period=0x/ -- true
for letters in i99999999999999999999 i9999999999999999ms g99999999999999999999 \
	s99999999999999999999; do
	says "--itrace=$letters" "--itrace: .*(more than 64 bits|too long)" "$rv" script --itrace=$letters
done
for range in nan, 1,inf ,x -1,2 5,4 1,2,3 "1,2 5,4" "1,2 x"; do
	says "script --time $range" "--time: '$range' is no time range" \
		"$rv" script -i /nonexistent/perf.data --time="$range"
done

says "script --reltime --deltatime" "two forms of time: give one" "$rv" script --reltime --deltatime
for option in --json --raw-pc; do
	says "script --reltime $option" "$option has no times that --reltime and --deltatime change" \
		"$rv" script --reltime $option
done
says "script --raw-pc -S" "--raw-pc shows what all functions did" "$rv" script --raw-pc -S main
says "script --data --dsos" "--data shows what all functions did" "$rv" script --data --dsos libc.so.6
for format in folded svg pprof callgrind chrome perfetto counts; do
	says "profile -f $format --dso" "--dso: a profile of the format $format has what ran in all files" \
		"$rv" profile -f $format --dso sort
done
says "diff -i" "-i: two recordings are compared" "$rv" diff -i perf.data A B
says "inject: to a pipe" "must be a file" "$rv" inject -o -
says "report --percent-limit" \
	"--percent-limit: 'much' is no number" "$rv" report --percent-limit much
says "script --max-lines" "--max-lines: '-1' is no number" "$rv" script --max-lines=-1
says "script --clock" "--clock: '1GHz' is no number" "$rv" script --clock 1GHz
says "script --clock: range" "--clock: '1e20' is no number of MHz up to 1000000" "$rv" script --clock 1e20

# Events beside the trace: those that are taken get as far as the missing hardware.
for event in cpu-clock cycles:u L1-dcache-load-misses:k r1a8 'page-faults/period=10/' \
	'rvtrace//u,faults,cs:u' \
	rvtrace:u,cycles; do
	says "record -e $event" "$no_hardware" "$rv" record \
		-o "$TOP/build/never" -e "$event" -- true
done
says "record -e: no such event" \
	"no event 'cycle'; events: perf list" "$rv" record -e rvtrace//,cycle -- true
says "record -e: no such PMU" \
	"neither an event nor a PMU 'gpu'" "$rv" record -e gpu/event=1/ -- true
says "record -e: a group without the trace" "the trace leads the group" "$rv" record -e '{cycles,faults}' -- true
says "record -e: a group without its end" "ends with \}" "$rv" record -e '{rvtrace//,faults' -- true
says "record -e: modifiers of a group" "given to each" "$rv" record -e '{rvtrace//,faults}:u' -- true
says "record -e: no aux-action" "pause or resume, not 'stop'" \
	"$rv" record -e '{rvtrace//,faults/aux-action=stop/}' -- true
says "record -e: an action without a group" "needs a group" "$rv" record -e rvtrace//,faults/aux-action=pause/ -- true
says "record -e: the trace resumes itself" "of the trace itself is start-paused" \
	"$rv" record -e '{rvtrace/aux-action=resume/,faults}' -- true
says "record -e: another than the trace starts paused" "is for the trace" \
	"$rv" record -e '{rvtrace//,faults/aux-action=start-paused/}' -- true
says "record -e: trace in samples without a group" "aux-sample-size needs a group" \
	"$rv" record -e 'rvtrace//,faults/aux-sample-size=4096/' -- true
says "record -e: trace in samples of no such size" "'65536' is no size of trace in samples" \
	"$rv" record -e '{rvtrace//,faults/aux-sample-size=65536/}' -- true
says "record -e: trace in samples of the trace" "is for the events of its group" \
	"$rv" record -e '{rvtrace/aux-sample-size=4096/,faults}' -- true
says "record --aux-sample: no number" "'4K' is no size of trace in samples" \
	"$rv" record --aux-sample=4K -e '{rvtrace//,faults}' -- true
says "record --aux-sample: no group" "goes into the samples of its group" "$rv" record --aux-sample -- true
says "record --aux-sample: and snapshots" "not go together with --profile, -S" \
	"$rv" record --aux-sample -S -e '{rvtrace//,faults}' -- true
says "record -G: of a command" "-G goes together with -a or -C" "$rv" record -G x -- true
says "record -e: nothing" "'': no event" "$rv" record -e cycles,,faults -- true
says "record -e: a tracepoint that is not there" \
	"rvt_none:rvt_none: .*(mount|root)|no tracepoint 'rvt_none:rvt_none'" \
	"$rv" record -e rvt_none:rvt_none -- true
says "record -e: the driver's tracepoints are no trace" \
	"rvtrace:rvt_none" "$rv" record -e rvtrace:rvt_none -- true

done_testing
