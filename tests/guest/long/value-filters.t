#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Filters by trap values and by implementation-defined signals (E-Trace chapter 4), and triggers of
# the Debug Module (3.2.4): of each trap and each function exactly those are traced that were asked
# for, and what was decoded is what the encoder was let see. Hardware that cannot is not asked.
. "$(dirname "$0")/../lib.sh"

rounds=20
lab_options='--append iomem=relaxed'
check "cross-compile the program that faults" workload tvals -static
check "cross-compile the program with three functions" workload spans -static
readelf=$TOP/tools/lab/cross/riscv64-linux-gnu-readelf
declare -A address size
while read -r value length name; do
	address[$name]=$value
	size[$name]=$length
done < <("$readelf" -sW "$guest_bin/spans" | awk '$4 == "FUNC" && $8 ~ /^(first|second|third)$/ { print $2, $3, $8 }')

# NAME BASE PAGES TERMS: tvals writes to four pages at BASE, which are no other recording's. The
# value that TERMS compare with is where it writes to page 2; PAGES are those whose handlers are
# traced then.
tvals()
{
	cat <<-'END'
	equal 20000000 2 ecause=0xb000,tval_match=1
	unequal 21000000 013 ecause=0xb000,tval_match=2
	below 22000000 01 ecause=0xb000,tval_match=3
	not-above 23000000 012 ecause=0xb000,tval_match=4
	above 24000000 3 ecause=0xb000,tval_match=5
	not-below 25000000 23 ecause=0xb000,tval_match=6
	latch 26000000 2 tval_match=1,tval_latch=1
	latch-above 27000000 3 ecause=0xb000,tval_match=5,tval_latch=1
	without-cause 28000000 2 tval_match=1
	END
}

script()
{
	printf 'insmod rvtrace.ko || exit 1\n'
	printf 'cd /sys/bus/event_source/devices/rvtrace/caps && cat tval_matches tval_latches impdef_signals > /mnt/share/caps; cd /mnt/share\n'
	printf 'rec() { name=$1; shift; perf-rvtrace record -q -m ,8M -o $name.data "$@"; }\n'
	while read -r name base _ terms; do
		printf 'rec %s -e rvtrace/context,%s,tval=0x%x/k -- tvals %s %d || exit 2\n' "$name" "$terms" \
			$((0x$base + 2 * 4096 + 16)) "$base" $rounds
	done < <(tvals)
	# Of another thread: there is nothing of the program.
	printf '%s\n' "rec thread -a -e rvtrace/context,thread=1,tval_match=1,tval=0x29002010/k -- tvals 29000000 $rounds || exit 3" \
		'encoder=$(readlink /sys/bus/rvtrace/devices/encoder-0 | sed "s,.*/\([0-9a-f]*\)[.][^/]*/encoder-0\$,\1,")' \
		"once() { rec \"\$@\" || [ \$? -eq 3 ]; }" \
		"once all -e rvtrace//u -- spans $rounds || exit 4" \
		"once one -e rvtrace/impdef_match=1,impdef=0x52,impdef_mask=0xff/u -- spans $rounds \$encoder impdef || exit 5" \
		"once masked -e rvtrace/impdef_match=1,impdef=0x01,impdef_mask=0x1/u -- spans $rounds \$encoder impdef || exit 6"
	# Trace is off for good when another task runs between a trigger that stops it and the next.
	printf '%s\n' 'for try in 0 1 2 3 4 5 6 7 8 9; do' \
		"rec debug-\$try -e rvtrace/trigger/u -- spans $rounds \$encoder debug" \
		'status=$?; [ $status -eq 3 ] || break; done' \
		'mv debug-$try.data debug.data; [ $status -eq 0 ] || exit 10'
	# What makes no sense, or what this hardware has not.
	for terms in tval_match=7 tval_latch=1 tval=5 tval_match=1,impdef_match=1; do
		printf 'rec bad -e rvtrace/%s/k -- true 2>> refused && exit 7\n' "$terms"
	done
	printf '%s\n' "rec bad -e rvtrace/impdef_match=1,impdef_mask=0x100/k -- true 2>> refused && exit 8" \
		"rec bad -e rvtrace/tval_match=1/u --filter 'stop 0/16@/mnt/share/spans' -- spans 1 2>> refused && exit 9" \
		'rmmod rvtrace; exit 0'
}

# tval_traced BASE: of which pages the truth has the handlers of all faults as traced, and how many
# faults each had. The second instruction counts: a latch goes off behind the first one that it does
# not match.
tval_traced()
{
	local file

	for file in "$dir"/truth/truth.*; do
		"$HOST/rvt-truth" "$file" | grep -E '^(on|off|trap|insns)'
	done | perl -e '
		my $base = hex $ARGV[0];
		my ($on, $page, $insns, @all, @traced) = (0, -1, 0);
		while (<STDIN>) {
			if (/^on/) { $on = 1; }
			elsif (/^off/) { $on = 0; }
			elsif (/^trap exception cause 15 .*tval ([0-9a-f]+)/) {
				my $at = hex($1) - $base;
				$page = $at >= 0 && $at < 4 * 4096 ? $at >> 12 : -1;
				$insns = 0;
			} elsif (/^insns \S+ count (\d+)/ && $page >= 0 && ($insns += $1) > 1) {
				$all[$page]++;
				$traced[$page] += $on;
				$page = -1;
			}
		}
		for my $n (0 .. 3) {
			print $n if $traced[$n];
			print "(only $traced[$n])" if $traced[$n] && $traced[$n] != $all[$n];
		}
		print " ", join(" ", @all), "\n";
	' "$1"
}

everything()
{
	set -o pipefail
	for name in $(tvals | cut -d' ' -f1) all one masked debug-{0..9} debug; do
		[ ! -e "$dir/share/$name.data" ] || raw_pc "$dir/share/$name.data" || return
	done | "$HOST/rvt-truth-diff" --min 10000 "$dir/truth"
}

# only_kernel NAME: there are instructions, and all are the kernel's
only_kernel()
{
	raw_pc "$dir/share/$1.data" |
		awk '/^#/ { next } { n++; bad += $3 != "S" } END { print n + 0, bad + 0; exit !(n > 100 && !bad) }'
}

# calls NAME: how often each function was entered, as "first N second N third N"
calls()
{
	raw_pc "$dir/share/$1.data" | awk -v first="${address[first]}" -v second="${address[second]}" \
		-v third="${address[third]}" '
		/^#/ || $3 != "U" { next }
		{ pc = $4; while (length(pc) < 16) pc = "0" pc }
		pc == first { a++ } pc == second { b++ } pc == third { c++ }
		END { print "first", a + 0, "second", b + 0, "third", c + 0 }'
}

# instructions NAME: of each function, as "first N second N third N"
instructions()
{
	raw_pc "$dir/share/$1.data" | awk -v functions="first ${address[first]} ${size[first]}
		second ${address[second]} ${size[second]} third ${address[third]} ${size[third]}" '
		function value(hex, i, n) {
			for (i = 1; i <= length(hex); i++) n = 16 * n + index("0123456789abcdef", substr(hex, i, 1)) - 1
			return n
		}
		BEGIN { n = split(functions, f); for (i = 1; i <= n; i += 3) { from[f[i]] = value(f[i + 1]); to[f[i]] = from[f[i]] + f[i + 2] } }
		/^#/ || $3 != "U" { next }
		{ pc = value($4); for (name in from) all[name] += pc >= from[name] && pc < to[name] }
		END { print "first", all["first"] + 0, "second", all["second"] + 0, "third", all["third"] + 0 }'
}

# notified NAME: how many marks there are at the first function, and elsewhere
notified()
{
	"$HOST/perf-rvtrace" script -i "$dir/share/$1.data" --symfs "$dir/share:$("$LAB" path guest)" \
		--itrace=w | tee "$dir/marks" | awk '/ first/ { n++; next } /trace-event/ { others++ }
		END { print n + 0, others + 0 }'
}

for setting in ntrace:testing etrace:stable; do
	format=${setting%:*}
	params=$TOP/tools/model/params/etrace-2.0
	hook_options="--params $params"
	GUEST_TIMEOUT=900 guest "$format" "${setting#*:}" "etrace=$params,formats=$format,user-io=on" "$(script)"
	ok $? "$format: recordings with filters; what makes no sense is refused"
	is "$format: caps tell the operators, the latches and the signals" \
		"1 2 3 4 5 6|1 2 3 4 5 6|0xff" "$(paste -sd'|' "$dir/share/caps")"
	check "$format: what was decoded is what the encoder was let see" everything
	while read -r name base pages _; do
		is "$format: trap values, $name: the handlers of those faults, and no others" \
			"$pages $rounds $rounds $rounds $rounds" "$(tval_traced "$base")"
		check "$format: trap values, $name: nothing but the kernel" only_kernel "$name"
	done < <(tvals)
	is "$format: trap values of another thread: nothing" \
		" $rounds $rounds $rounds $rounds" "$(tval_traced 29000000)"
	is "$format: impdef: one function" "first 0 second $rounds third 0" "$(calls one)"
	is "$format: impdef, masked: two functions" "first $rounds second 0 third $rounds" \
		"$(calls masked)"
	read -r _ first _ _ _ third < <(instructions all)
	is "$format: debug triggers: trace-off at the second function, trace-on at the third" \
		"first $first second $rounds third $third" "$(instructions debug)"
	is "$format: debug triggers: notify at the first function" "$rounds 0" "$(notified debug)"
	is "$format: without: all" "first $rounds second $rounds third $rounds" "$(calls all)"
	check "$format: no rule of the control interface was broken" no_violations
done

# Comparators without the input of trap values, with two of its operators, and no impdef signals.
guest less testing "warl-comparator=0x377d,impdef-bits=0" 'insmod rvtrace.ko || exit 1
	cd /sys/bus/event_source/devices/rvtrace/caps && cat tval_matches tval_latches impdef_signals > /mnt/share/caps
	cd /mnt/share
	for terms in tval_match=1 impdef_match=1; do
		perf-rvtrace record -q -o bad.data -e rvtrace/$terms/k -- true 2>> refused && exit 7
	done
	rmmod rvtrace'
ok $? "less hardware: refused"
is "less hardware: caps say so" "||0x0" "$(paste -sd'|' "$dir/share/caps")"
done_testing
