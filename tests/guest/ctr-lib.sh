# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash
#
# For the guest tests of Control Transfer Records, after lib.sh: boot a kernel with riscv_ctr.ko and
# the model, record, compare with what was executed.

ctr_sysfs=/sys/bus/event_source/devices/riscv_ctr

# layout 1.0|draft: what guests boot with from now on. QEMU has 1.0; the model has the draft's
# registers.
layout()
{
	local hook=$TOP/build/guest/$test_name-draft-hook

	layout=$1
	layout_options=
	layout_model=
	layout_check=
	[ "$layout" = draft ] || return 0
	cat >"$hook" <<-'END'
		#!/bin/sh
		# Puts the version into every cpu node.
		exec sed -i 's/^\([[:space:]]*\)device_type = "cpu";/&\n\1rvtrace,ctr-version = "0.1.4";/' "$1"
	END
	chmod +x "$hook"
	layout_options="--cpu rv64,smcsrind=on,sscsrind=on,sscofpmf=on --dtb-hook $hook"
	layout_model=draft=on
	layout_check=--draft
}

# ctr_boot KERNEL MODEL-ARGS: boot the guest of this layout, which runs $dir/share/run.
ctr_boot()
{
	local kernel=$1 model=$2 status

	# shellcheck disable=SC2086
	"$LAB" run --kernel "$kernel" --smp 2 $layout_options --share "$dir/share" \
		--timeout "${GUEST_TIMEOUT:-400}" \
		--plugin "$TOP/build/model/rvtrace-ctr.so,log=$dir/log${model:+,$model}" -- \
		sh /mnt/share/run >"$dir/output" 2>&1
	status=$?
	[ $status -eq 0 ] || guest_failed $status
	return $status
}

# ctr_guest NAME KERNEL MODEL-ARGS SCRIPT: run SCRIPT in the guest of this layout. What it leaves is
# in $dir/share.
ctr_guest()
{
	local name=$1 kernel=$2 model=$3 script=$4

	dir=$TOP/build/guest/$test_name-$layout-$name
	rm -rf "$dir"
	mkdir -p "$dir/share" "$dir/log"
	cp "$TOP/build/riscv64/perf-rvtrace" "$TOP/build/driver/$kernel/riscv_ctr.ko" \
		"$guest_bin"/* "$dir/share/"
	cat >"$dir/share/run" <<-END
		cd /mnt/share || exit 1
		export PATH=/mnt/share:\$PATH
		# rec NAME EVENT [options of record]: a recording of transfers
		rec()
		{
			local name=\$1 event=\$2
			shift 2
			perf-rvtrace record -q -o \$name.data -e \$event "\$@" -- transfers \${rounds:-2000} > \$name.out 2>&1 || {
				echo "recording \$name failed"; cat \$name.out; exit 2; }
		}
		# refused EVENT: it is, and the message is in refused
		refused()
		{
			! perf-rvtrace record -q -o bad.data -e \$1 -- true >> refused 2>&1 || {
				echo "\$1 is not refused"; exit 3; }
		}
		# Line n: the hart of cpu n, for the model counts harts.
		sed -n 's/^hart[[:space:]]*: *//p' /proc/cpuinfo > harts
		export PERF_RVTRACE_EMBED=yes
		insmod riscv_ctr.ko || exit 1
		cat $ctr_sysfs/caps/* > caps
		$script
		rmmod riscv_ctr || exit 4
		! dmesg | grep -E 'WARNING:|BUG:|Oops|rcu.*stall' || exit 5
	END
	ctr_boot "$kernel" "$layout_model${layout_model:+${model:+,}}$model"
}

# equals NAME MIN [rvt-ctr-check options]: the samples of the recording are right; their types are
# in $dir/NAME.types
equals()
{
	local name=$1 min=$2
	shift 2
	# shellcheck disable=SC2086
	"$HOST/rvt-ctr-check" $layout_check "$@" --harts "$dir/share/harts" --min "$min" \
		"$dir/log" \
		"$dir/share/$name.data" | tee "$dir/$name.types"
	return "${PIPESTATUS[0]}"
}

# has NAME TYPE...: such entries there are; has_not: there are none.
has()
{
	local name=$1 type
	shift
	for type; do grep -q "^type $type " "$dir/$name.types" || { echo "no $type"; return 1; }; done
}

has_not()
{
	local name=$1 type
	shift
	for type; do ! grep "^type $type " "$dir/$name.types" || return 1; done
}

# ctr_raw NAME: samples and their entries in numbers
ctr_raw()
{
	"$HOST/perf-rvtrace" script -i "$dir/share/$1.data" --raw-pc
}

# each NAME PROGRAM: an awk program over samples and entries; it sets n for what it has seen, and
# bad
each()
{
	ctr_raw "$1" |
		awk "$2"' END { if (bad || !n) { print "seen", n + 0, "bad", bad + 0; exit 1 } }'
}

# apart NAME ROLES MIN: nobody's sample of the recording has an entry in the other's code, and each
# task of ROLES (what pair printed) that the recording has is seen in its own code at least MIN
# times
apart()
{
	ctr_raw "$1" | perl -e '
		my ($roles, $min) = @ARGV;
		open my $in, "<", $roles or die "$roles: $!";
		while (<$in>) {
			next unless /^([ab]) (\d+) ([0-9a-f]+) ([0-9a-f]+)$/;
			$role{$2} = $1; $code{$1} = [ hex $3, hex $4 ];
		}
		die "no roles" unless keys %role;
		while (<STDIN>) {
			if (/^sample \S+ \S+ (\d+)/) { $tid = $1; next; }
			my ($from, $to) = /^entry \d+ ([0-9a-f]+) ([0-9a-f]+)/ or next;
			next unless $role{$tid};
			for my $at (hex $from, hex $to) {
				for my $name (keys %code) {
					next unless $at >= $code{$name}[0] && $at < $code{$name}[1];
					$role{$tid} eq $name ? $own{$tid}++ : (print("$tid: $_"), $leaks++);
				}
			}
		}
		print "$_: $own{$_}\n" for keys %own;
		exit($leaks || !keys(%own) || grep { $_ < $min } values %own);
	' "$2" "$3"
}

# whole_stacks NAME: of the samples of workload deep that are in its leaf, how many there are and
# how many have every call of deep() that has not returned
whole_stacks()
{
	local deep
	deep=$(riscv64-linux-gnu-nm "$dir/share/deep" | awk '$3 == "deep" { print $1 }')
	ctr_raw "$1" | perl -e '
		my ($roles, $deep) = ($ARGV[0], hex $ARGV[1]);
		open my $in, "<", $roles or die "$roles: $!";
		while (<$in>) {
			$role{$1} = [ hex $2, hex $3, $4 ] if /^deep (\d+) ([0-9a-f]+) ([0-9a-f]+) (\d+)$/;
		}
		sub look {
			my $r = $role{$tid} or return;
			return unless $ip >= $r->[0] && $ip < $r->[1];
			$all++;
			$whole++ if $calls == $r->[2] + 1;
		}
		while (<STDIN>) {
			if (/^sample \S+ \S+ (\d+) \d+ (\S+)/) { look(); ($tid, $ip, $calls) = ($1, hex $2, 0); }
			elsif (/^entry \d+ [0-9a-f]+ ([0-9a-f]+)/) { $calls++ if hex $1 == $deep; }
		}
		look();
		printf "%d %d\n", $all, $whole;
	' "$dir/share/$1.out" "$deep"
}
