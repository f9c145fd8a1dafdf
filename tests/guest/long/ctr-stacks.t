#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Branch stacks of stock perf record -b, in a kernel that has the series of upstream/kernel in its tree:
# each is what the specification makes of what was executed. The kernel is built once, which takes
# minutes, and again when the series changes.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../ctr-lib.sh"

"$LAB" debug-kernel series >"$TOP/build/guest/series-kernel.log" 2>&1 ||
	skip_all "no kernel with the series: $(tail -n 1 "$TOP/build/guest/series-kernel.log")"
check "cross-compile the workload" workload transfers -static
check "cross-compile the deep stack" workload deep -static

layout 1.0
# stacks_guest NAME SCRIPT: run SCRIPT in the guest; counters overflow every 20000 instructions.
stacks_guest()
{
	local name=$1 script=$2

	dir=$TOP/build/guest/$test_name-$name
	rm -rf "$dir"
	mkdir -p "$dir/share" "$dir/log"
	cp "$guest_bin"/* "$dir/share/"
	cat >"$dir/share/run" <<-END
		cd /mnt/share || exit 1
		sed -n 's/^hart[[:space:]]*: *//p' /proc/cpuinfo > harts
		workload="./transfers 2000"
		# rec NAME [options of record]
		rec()
		{
			local name=\$1
			shift
			perf record -q --sample-cpu -c 20000 -o /tmp/\$name.data "\$@" -- \$workload > \$name.out 2>&1 &&
				mv /tmp/\$name.data . || { echo "recording \$name failed"; cat \$name.out; exit 2; }
		}
		$script
		! dmesg | grep -E 'WARNING:|BUG:|Oops|rcu.*stall' || exit 5
	END
	ctr_boot series overflow=20000
}

# same NAME MIN: all samples of the recording are right
same()
{
	layout_check=--stacks equals "$1" "$2"
}

# whole: of the samples in the leaf of workload deep, how many there are and how many have each call
# that has not returned
whole()
{
	local deep

	deep=$(riscv64-linux-gnu-nm "$dir/share/deep" | awk '$3 == "deep" { print $1 }')
	perl -e '
		my ($roles, $deep) = ($ARGV[0], hex $ARGV[1]);
		open my $in, "<", $roles or die "$roles: $!";
		while (<$in>) {
			$role{$1} = [ hex $2, hex $3, $4 ] if /^deep (\d+) ([0-9a-f]+) ([0-9a-f]+) (\d+)$/;
		}
		# A line with the thread, a line for each address of the call chain, a line with the branch stack
		while (<STDIN>) {
			($tid, $ip) = ($1, undef) if /^\s*(\d+)\s*$/ && !/^\t/;
			$ip //= hex $1 if /^\t\s*([0-9a-f]+)\s*$/;
			next unless m{^\s*0x[0-9a-f]+/0x};
			my $r = $role{$tid} or next;
			next unless $ip >= $r->[0] && $ip < $r->[1];
			my $calls = grep { hex $_ == $deep } m{0x[0-9a-f]+/(0x[0-9a-f]+)/}g;
			$all++;
			$whole++ if $calls == $r->[2] + 1;
		}
		printf "%d %d\n", $all, $whole;
	' "$dir/share/deep.out" "$deep" <"$dir/share/deep.stacks"
}

# Call stacks of two threads that are switched and moved between harts
stacks_survive()
{
	local all whole

	read -r all whole < <(whole)
	echo "$all samples in the leaf, $whole with the whole stack"
	[ "$all" -gt 100 ] && [ "$whole" -eq "$all" ]
}

stacks_guest stacks '
	rec user -b -e cycles:u
	rec both -b -e cycles
	rec calls -e cycles:u -j any_call,u
	rec returns -e cycles:u -j any_ret,u
	rec branches -e cycles:u -j cond,u
	rec stack -e cycles:u --call-graph lbr
	rec all -b -a -e cycles
	perf script -i user.data -F ip,brstack > brstack || exit 3
	perf report -i user.data -b --stdio > report 2>&1 || exit 4
	workload="./deep 30 3000000"
	rec deep -e cycles:u --call-graph lbr
	perf script -i deep.data -F tid,ip,brstack > deep.stacks || exit 7
	! perf record -q -o /tmp/x -e cycles:u -j in_tx,u -- true 2> refused || exit 6'
ok $? "branch stacks are recorded; what the harts have not is refused"
check "user: equals what was executed" same user 10
check "user: all kinds of transfers" has user COND CALL RET UNCOND IND
check "user and kernel: equals what was executed" same both 10
check "user and kernel: traps and returns from them" has both SYSCALL ERET
check "all harts: equals what was executed" same all 10
check "calls: equals what was executed" same calls 10
check "calls: nothing else" has_not calls COND RET UNCOND IND
check "returns: equals what was executed" same returns 10
check "returns: nothing else" has_not returns COND CALL UNCOND IND IND_CALL
check "branches: equals what was executed" same branches 10
check "branches: nothing else" has_not branches CALL RET UNCOND IND IND_CALL
check "call stacks: equals what was executed" same stack 10
check "call stacks are whole behind a switch" stacks_survive
check "call stacks behind a switch: equal what was executed" same deep 100
check "stock perf script prints the branch stacks" grep -q '0x[0-9a-f]*/0x[0-9a-f]*/.*/CALL' "$dir/share/brstack"
check "stock perf report sorts by them" grep -q transfers "$dir/share/report"
done_testing
