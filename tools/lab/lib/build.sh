# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash
#
# Running the toolchain root's programs: in a mount namespace of their own where the root's /usr
# covers the machine's. Every other path is the machine's, so sources, results and messages keep
# their names.

# build_in [-k KERNEL] CMD...: run CMD with the toolchain root's /usr, or that of the root
# $BUILD_ROOT; with -k KERNEL (stable, testing or debug) that kernel's headers are at /usr/src and
# its kbuild at /usr/lib. Does not return.
build_in()
{
	local kernel='' enter=(unshare -m --propagation private) mounts=() kbuild root tools=${BUILD_ROOT:-toolchain}

	if [ "$1" = -k ]; then
		kernel=$2
		shift 2
		root_require "$tools" "kernel-$kernel"
	else
		root_require "$tools"
	fi
	root=$(root_path "$tools")
	if [ -n "$kernel" ]; then
		kernel=$(root_path "kernel-$kernel")
		mkdir -p "$root/usr/src"
		mounts+=("$kernel/usr/src" "$root/usr/src")
		for kbuild in "$kernel"/usr/lib/linux-kbuild-*; do
			[ -d "$kbuild" ] || continue
			mkdir -p "$root/usr/src" "$root/usr/lib/${kbuild##*/}" 2>/dev/null
			mounts+=("$kbuild" "$root/usr/lib/${kbuild##*/}")
		done
	fi
	mounts+=("$root/usr" /usr)
	build_root_is_mount
	case $PWD/ in
	/usr/*) lab_die "builds cannot run under /usr, which the toolchain covers: move out of $PWD" ;;
	esac
	if [ "$(id -u)" -ne 0 ]; then
		if unshare -rm true 2>/dev/null; then
			enter+=(-r)
		else
			# No user namespaces on this machine: become root for the mounts, then this
			# user again.
			enter=(sudo -E "${enter[@]}")
			set -- chroot --userspec="+$(id -u):+$(id -g)" --groups="$(id -G | tr ' ' ,)" --skip-chdir / "$@"
		fi
	fi
	# shellcheck disable=SC2016
	exec "${enter[@]}" /bin/bash -c '
		n=$1
		shift
		while [ "$n" -gt 0 ]; do
			mount --rbind "$1" "$2" || exit 125
			shift 2
			n=$((n - 1))
		done
		unset LD_LIBRARY_PATH LD_PRELOAD
		export PATH=/usr/bin:/usr/sbin LC_ALL=C
		hash -r
		cd "$PWD" && exec "$@"' lab "$((${#mounts[@]} / 2))" "${mounts[@]}" "$@"
}

# build_root_is_mount: mounts can only be kept from the rest of the machine where / is a mount point,
# which the root of a plain chroot is not. (Read without another program: this is before each
# compilation.)
build_root_is_mount()
{
	local mount

	while read -r _ _ _ _ mount _; do
		[ "$mount" != / ] || return 0
	done 2>/dev/null < /proc/self/mountinfo
	lab_die "/ is no mount point (a chroot, or /proc is not mounted): the toolchain cannot be mounted over /usr here" \
		"without the machine outside seeing it. Outside: mount --bind DIR DIR before chroot DIR." \
		"Or enter it with systemd-nspawn -D DIR"
}

# lab in CMD...: any command in the toolchain root.
cmd_in()
{
	[ $# -gt 0 ] || lab_die "in takes a command"
	build_in "$@"
}

# lab kmake --kernel stable|testing|debug|kcsan|series DIR [make arguments]
cmd_kmake()
{
	local kernel=testing dir headers compiler

	if [ "${1:-}" = --kernel ]; then
		kernel=$2
		shift 2
	fi
	case $kernel in
	stable | testing) ;;
	debug | kcsan | series) export BUILD_ROOT=builder ;;
	*) lab_die "no kernel $kernel: there are stable, testing, debug, kcsan and series" ;;
	esac
	[ -d "${1:-}" ] || lab_die "kmake takes a directory with a Kbuild file or a Makefile, and arguments for make"
	dir=$(cd "$1" && pwd)
	shift
	root_require "kernel-$kernel"
	headers=/usr/src/linux-headers-$(root_get "kernel-$kernel" release)
	[ -z "${BUILD_ROOT:-}" ] || headers=/usr/src/linux
	compiler=$(sed -n 's/^CC = .*CROSS_COMPILE)/riscv64-linux-gnu-/p' \
		"$(root_path "kernel-$kernel")$headers/.kernelvariables" 2>/dev/null)
	# The kernel's own compiler where the suite still has it, else the default one.
	[ -x "$(root_path toolchain)/usr/bin/${compiler:-none}" ] || set -- CC=riscv64-linux-gnu-gcc "$@"
	# W=1 would run a script that is not in Debian's packages.
	build_in -k "$kernel" make -C "$headers" cmd_checkdoc= M="$dir" ARCH=riscv CROSS_COMPILE=riscv64-linux-gnu- "$@"
}

# lab cross TOOL ARGUMENT...: a tool of the cross toolchain; compilers and linkers see the guest's
# libraries.
cmd_cross()
{
	local tool=${1:?lab cross takes a tool, such as gcc} sysroot

	shift
	root_require guest
	sysroot=$(root_path guest)
	case $tool in
	gcc | g++ | cpp | ld) build_in "riscv64-linux-gnu-$tool" "--sysroot=$sysroot" "$@" ;;
	pkg-config | pkgconf)
		PKG_CONFIG_SYSROOT_DIR=$sysroot \
			PKG_CONFIG_LIBDIR=$sysroot/usr/lib/riscv64-linux-gnu/pkgconfig:$sysroot/usr/share/pkgconfig \
			exec pkg-config "$@"
		;;
	*) build_in "riscv64-linux-gnu-$tool" "$@" ;;
	esac
}

cmd_cross_cc()
{
	if [ $# -eq 0 ]; then
		echo "$LAB_DIR/cross/riscv64-linux-gnu-gcc"
	else
		cmd_cross gcc "$@"
	fi
}
