#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# Debian packages, in bare roots of each release that the README names and of the next: `make` says
# what is missing; `make deb` builds; lintian has no errors; the packages can be installed, used and
# purged in another bare root. Two builds, in other places and circumstances, give the same bytes.
# PACKAGES_RELEASES: which releases.
. "$(dirname "$0")/../tap.sh"

[ "$(id -u)" -eq 0 ] || skip_all "bare roots are made by root only"
releases=${PACKAGES_RELEASES:-bookworm trixie testing}
dir=$TOP/build/packages
rm -rf "$dir"
mkdir -p "$dir"
check "what makes recordings is built" make -s -C "$TOP" build/host/rvt-asm build/host/rvt-recording
"$TOP/tools/setup-host" mmdebstrap >"$dir/setup" 2>&1 || { diag <"$dir/setup"; skip_all "no mmdebstrap"; }
# shellcheck source=../../tools/lab/lib/apt.sh
mirror=$(. "$TOP/tools/lab/lib/apt.sh" && apt_mirrors | head -n 1)
trap 'rm -rf "$dir"/*.root' EXIT
lab_recording=$TOP/build/guest/archive-board/share/perf.archive.tar
[ -e "$lab_recording" ] ||
	"$TOP/tests/run" tests/guest/archive.t >"$dir/lab" 2>&1

# bare NAME RELEASE: $dir/NAME.root is what a minimal installation has. A mirror that lags behind has
# a Release file that is signed, but expired.
bare()
{
	rm -rf "$dir/$1.root"
	mmdebstrap --variant=minbase "$2" "$dir/$1.root" "$mirror" >"$dir/bare" 2>&1 && return
	rm -rf "$dir/$1.root"
	grep -q 'is expired' "$dir/bare" && mmdebstrap --variant=minbase \
		--aptopt='Acquire::Check-Valid-Until "false"' "$2" "$dir/$1.root" "$mirror" >"$dir/bare" 2>&1 && return
	cat "$dir/bare"
	return 1
}

# in_root NAME COMMAND: run a shell command there, with /proc, and /debs for $dir/debs-of-RELEASE.
# Its mounts are seen by nobody else.
in_root()
{
	local root=$dir/$1.root

	# shellcheck disable=SC2016
	unshare --mount --pid --fork --propagation private sh -c '
		mount --bind "$0" "$0" && mount -t proc proc "$0/proc" &&
		exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive \
			LC_ALL=C.UTF-8 chroot "$0" sh -ec "$1"' "$root" "$2"
}

apt_get='apt-get -qq -y -o Dpkg::Use-Pty=0'

# A tree as it is checked in, in the root.
put_sources()
{
	mkdir -p "$dir/$1.root/$2" && cd "$TOP" &&
		git -c safe.directory='*' ls-files -z | tar --null -c -T - | tar -x -C "$dir/$1.root/$2"
}

build()
{
	bare build "$1" && put_sources build /source || return
	in_root build "$apt_get update; $apt_get install --no-install-recommends make" || return
	# Nothing but make: it is said what else it takes.
	! in_root build 'make -C /source' >"$dir/make" 2>&1 || return
	grep -q "compiler 'cc' (package gcc)" "$dir/make" && grep -q 'make deps' "$dir/make" ||
		{ cat "$dir/make"; return 1; }
	in_root build 'cd /source && make deb'
}

# The first build of a release once more: another directory, umask, time zone, language, number of
# jobs.
build_again()
{
	local name status=0

	put_sources build /var/tmp/another/place || return
	in_root build 'umask 027; cd /var/tmp/another/place
		env TZ=Asia/Kathmandu LC_ALL=C DEB_BUILD_OPTIONS=parallel=1 USER=somebody make deb' || return
	for name in "$dir"/build.root/source/build/deb/*.deb; do
		cmp "$name" "$dir/build.root/var/tmp/another/place/build/deb/${name##*/}" || status=1
	done
	return $status
}

lintian_is_content()
{
	in_root build "$apt_get install --no-install-recommends lintian" || return
	in_root build 'cd /source/build/deb && lintian --allow-root --fail-on error --info *.changes'
}

# decodes: the third run of 8.4.2 of the N-Trace specification, as in tests/ntrace/f-htm-example.nta.
decodes()
{
	local at=$dir/user.root/fixture

	mkdir "$at" || return
	# 100: c.nop; beq zero, zero, 200; nop; beq zero, zero, 300; c.nop; nop; c.ebreak
	printf '\1\0\143\17\0\16\23\0\0\0\143\13\0\36\1\0\23\0\0\0\2\220' >"$at/code"
	printf 'protocol = ntrace\ndialect = 1.0\nmode = htm\n' >"$at/params"
	printf '%s\n' 'ProgTraceSync SYNC=3 F-ADDR=0x80' 'ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=10 HIST=0b1_00' |
		"$TOP/build/host/rvt-asm" "$at/params" >"$at/dump" || return
	in_root user 'cd /fixture && perf rvtrace decode --params params --raw code@0x100 dump' >"$dir/flow" || return
	diff - "$dir/flow" <<<"$(printf '%s\n' 100 102 106 10a 10e 110)"
}

# What the packages say of each other is enough to install and to use them.
used()
{
	bare user "$1" && mkdir "$dir/user.root/debs" &&
		cp "$dir"/build.root/source/build/deb/*.deb "$dir/user.root/debs/" &&
		rm -f "$dir"/user.root/debs/*-dbgsym_* || return
	in_root user "find / -xdev -name '*rvtrace*' >/before; $apt_get update
		$apt_get install --no-install-recommends /debs/*.deb linux-perf pkgconf gcc libc6-dev" || return
	in_root user 'perf-rvtrace --help && perf rvtrace --version && perf-rvtrace record --help' || return
	in_root user 'dkms status' | grep rvtrace || return
	in_root user 'test -s /usr/share/rvtrace/systemd/rvtrace-profile.service
		test -x /usr/share/rvtrace/slurm/fleet.sbatch
		test -s /usr/share/doc/perf-rvtrace/examples/rvtrace-sysusers.conf
		ls /usr/share/man/man1/perf-rvtrace-archive.1.gz /usr/share/doc/perf-rvtrace/howto-record.rst*
		# nobody may trace, and nothing runs, because of the packages
		! getent group rvtrace || exit 1
		! find /etc /usr/lib/systemd /usr/lib/sysusers.d /usr/lib/udev -name "*rvtrace*" | grep . || exit 1
		! ldd /usr/bin/perf-rvtrace-mpi | grep "not found" || exit 1' || return
	decodes || return
	in_root user "cd /fixture && python3 -c 'import rvtrace
dump = rvtrace.Dump(\"dump\", params=\"params\", raw={0x100: \"code\"})
assert [address for run, address in dump.addresses()] == [0x100, 0x102, 0x106, 0x10a, 0x10e, 0x110]'" || return
	# shellcheck disable=SC2016
	in_root user 'cc -Wall -Werror -o /count /usr/share/doc/librvtrace-dev/examples/count.c \
		$(pkg-config --cflags --libs librvtrace) && ldd /count | grep librvtrace.so.0'
}

# This release's stock perf reads recordings, and what inject makes of them. (A line for each command:
# sh -e goes on after what fails before &&.)
perf_reads()
{
	local at=$dir/user.root/recording

	mkdir -p "$at" && "$TOP/build/host/rvt-recording" "$at/raw.data" /recording/raw.data.program 0 prog 30000 || return
	in_root user 'cd /recording
		perf --version >&2
		no_ctf="not built\|not compiled in\|no conversion support"
		perf rvtrace inject --itrace=b -i raw.data -o branches.data
		perf rvtrace inject --itrace=i1000g16l8 -i raw.data -o samples.data
		perf evlist -i raw.data
		perf report --no-itrace --stdio -i raw.data
		perf inject -i raw.data -o copy.data
		for file in branches samples; do
			perf script -f -i $file.data >$file.script
			test -s $file.script
			perf report -f --stdio -i $file.data >$file.report
			grep -q prog $file.report
			perf inject -f -i $file.data -o copy.data
			perf data convert -f -i $file.data --to-json $file.json
			test -s $file.json
			perf data convert -f -i $file.data --to-ctf $file.ctf >out 2>&1 || grep -qi "$no_ctf" out
		done
		perf script -f -i samples.data -F ip,brstack | grep -q /
		perf rvtrace script -i raw.data -F ip >out
		# what is built only where its library is
		perf rvtrace export --sqlite raw.db -i raw.data
		perf rvtrace profile --format perfetto -o raw.perfetto -i raw.data
		perf rvtrace profile --format pprof -o raw.pprof -i raw.data
		perf rvtrace stat --json -i raw.data >out'
}

# The same of a recording of the lab, which tests/guest/archive.t leaves with the files that ran there:
# real programs, whose code annotate shows.
perf_reads_lab()
{
	local at=$dir/user.root/lab

	mkdir -p "$at" && tar -C "$at" --no-same-owner -xf "$lab_recording" || return
	in_root user "$apt_get install --no-install-recommends binutils-riscv64-linux-gnu" || return
	in_root user 'cd /lab
		no_ctf="not built\|not compiled in\|no conversion support"
		# plugin_function has 2200 instructions, in rounds whose length must not divide the period
		perf rvtrace inject --itrace=i97g16l8 --symfs files -i perf.data -o samples.data 2>samples.told
		perf rvtrace inject --itrace=bi10us --symfs files -i perf.data -o branches.data 2>branches.told
		perf report --no-itrace --stdio -i perf.data >out
		perf script --no-itrace --show-mmap-events -i perf.data >out
		grep -q "PERF_RECORD_MMAP2.*/stripped.so" out
		perf buildid-list -i perf.data >out
		grep -q /stripped.so out
		for file in perf samples branches; do
			perf evlist -i $file.data >out
			perf inject -i $file.data -o copy.data
			perf data convert -i $file.data --to-json $file.json
			perf data convert -i $file.data --to-ctf $file.ctf >out 2>&1 || grep -qi "$no_ctf" out
		done
		for file in samples branches; do
			perf report --stdio --symfs files -i $file.data >out
			grep -q "plugin_function" out
			perf script --symfs files -i $file.data >out
			grep -q "plugin_function" out
			perf annotate --stdio --symfs files --objdump=riscv64-linux-gnu-objdump -i $file.data \
				plugin_function >out
			grep -qw ret out
			told=$(sed -n "s/.*inject: \([0-9]*\) samples.*/\1/p" $file.told)
			test "$told" -gt 1000
			test "$(python3 -c "import json; print(len(json.load(open(\"$file.json\"))[\"samples\"]))")" = "$told"
		done
		perf script --symfs files -i samples.data -F comm,tid,time,ip,sym,dso,brstack >out
		grep -q "0x[0-9a-f].*/0x" out'
}

# What perf itself keeps of recordings is not the packages'.
purged()
{
	in_root user "$apt_get purge perf-rvtrace perf-rvtrace-mpi librvtrace0 librvtrace-dev python3-rvtrace rvtrace-dkms
		find / -xdev -name '*rvtrace*' ! -path '/var/log/*' ! -path '/root/.debug/*' | diff /before -"
}

# What `make install` of a version before there were packages left is told of when they are installed,
# and `make uninstall` of this version removes it.
unpackaged=85daea1
upgraded()
{
	mkdir -p "$dir/build.root/old" "$dir/build.root/debs" || return
	git -C "$TOP" -c safe.directory='*' archive $unpackaged | tar -x -C "$dir/build.root/old" || return
	cp "$dir"/build.root/source/build/deb/*.deb "$dir/build.root/debs/" &&
		rm -f "$dir"/build.root/debs/*-dbgsym_* || return
	in_root build 'make -C /old -j4 install >/dev/null 2>&1; ldconfig; test -x /usr/local/bin/perf-rvtrace' || return
	in_root build "$apt_get install --no-install-recommends /debs/*.deb" >"$dir/upgrade" 2>&1 || { tail "$dir/upgrade"; return 1; }
	grep -q "run 'make uninstall'" "$dir/upgrade" || { cat "$dir/upgrade"; return 1; }
	in_root build 'make -s -C /source uninstall
		! find /usr/local -name "*rvtrace*" | grep . || exit 1
		perf-rvtrace --version && dkms status | grep rvtrace
		apt-get -qq purge -y perf-rvtrace perf-rvtrace-mpi librvtrace0 librvtrace-dev python3-rvtrace rvtrace-dkms'
}

for release in $releases; do
	check "$release: make deb, from nothing" build "$release" || continue
	[ "$release" != "${releases%% *}" ] || check "$release: another build gives the same bytes" build_again
	check "$release: lintian" lintian_is_content
	check "$release: installed and used" used "$release"
	check "$release: its perf reads what is recorded and injected" perf_reads
	if [ -e "$lab_recording" ]; then
		check "$release: its perf reads a recording of the lab" perf_reads_lab
	else
		skip "$release: its perf reads a recording of the lab" "tests/guest/archive.t left none"
	fi
	check "$release: purged" purged
	if [ "$release" != "${releases%% *}" ]; then
		:
	elif git -C "$TOP" -c safe.directory='*' cat-file -e "$unpackaged^{commit}" 2>/dev/null; then
		check "$release: packages over 'make install' of a version without packages" upgraded
	else
		skip "$release: packages over 'make install'" "the history is not there"
	fi
	rm -rf "$dir"/*.root
done
done_testing
