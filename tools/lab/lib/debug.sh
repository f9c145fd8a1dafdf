# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash
#
# lab debug-kernel: kernels with every check that finds mistakes of a driver, built from the source
# package that belongs to the testing kernel: "debug" with the configuration in debug.config, "kcsan"
# with that and kcsan.config, which finds races of data and cannot be had together with KASAN. And
# "series", without checks, with the patches of upstream/kernel/make-series in its tree. Each
# takes about 14 minutes of a processor's time, once: the result is a root like the other kernels.
# What was interrupted goes on where it was: until it is complete, the tree lies in the cache beside
# the roots.

# debug_configs KERNEL: the files of its configuration, of which the later ones decide.
debug_configs()
{
	echo "$LAB_DIR/debug.config"
	[ "$1" = debug ] || echo "$LAB_DIR/$1.config"
}

# What is not compiled with this configuration is not unpacked either; makefiles and Kconfig files
# must be there.
DEBUG_LEFT_OUT=(--exclude='*.rst' --exclude='*/arch/[a-qs-z]*/*.[chS]' --exclude='*/arch/*.dts*' --exclude='*/sound/*.[chS]'
	--exclude='*/drivers/gpu/*.[chS]' --exclude='*/drivers/media/*.[chS]' --exclude='*/drivers/staging/*.[chS]'
	--exclude='*/drivers/net/ethernet/*.[chS]' --exclude='*/drivers/net/wireless/*.[chS]'
	--exclude='*/drivers/infiniband/*.[chS]' --exclude='*/drivers/scsi/*.[chS]' --exclude='*/tools/testing/*')

# The series changes some of what the others leave out.
DEBUG_SERIES_LEFT_OUT=()
for DEBUG_PATTERN in "${DEBUG_LEFT_OUT[@]}"; do
	[[ $DEBUG_PATTERN = *.rst || $DEBUG_PATTERN = */tools/testing/* ]] || DEBUG_SERIES_LEFT_OUT+=("$DEBUG_PATTERN")
done

# What a module's build needs of the kernel's tree
DEBUG_KEPT=(Makefile Kbuild Kconfig .config .kernelrelease Module.symvers include scripts arch)

# debug_source: the source package of the version that the testing kernel has, else the newest.
debug_source()
{
	local version names name

	version=$(root_get kernel-testing version)
	names=$(apt-cache pkgnames linux-source- | grep -x 'linux-source-[0-9.]*' | sort -V)
	for name in $names; do
		if apt-cache policy "$name" | grep -qF "Candidate: ${version##* }"; then
			echo "$name"
			return 0
		fi
	done
	tail -n 1 <<< "$names" | grep .
}

# debug_make TREE ARGUMENT...: make in the kernel's tree, with the tools for it.
debug_make()
{
	(BUILD_ROOT=builder build_in make -C "$1" ARCH=riscv CROSS_COMPILE=riscv64-linux-gnu- HOSTCC=gcc "${@:2}")
}

# debug_allow_kcsan TREE: RISC-V does not say that it has KCSAN. All it lacks is that what runs before
# there is a kernel's address space, or amid a change of it, is left alone; here that is all of
# arch/riscv.
debug_allow_kcsan()
{
	local file

	grep -q 'select HAVE_ARCH_KCSAN' "$1/arch/riscv/Kconfig" ||
		sed -i 's/^\tselect HAVE_ARCH_KGDB\b/\tselect HAVE_ARCH_KCSAN\n&/' "$1/arch/riscv/Kconfig"
	find "$1/arch/riscv" -name Makefile | while read -r file; do
		grep -q '^KCSAN_SANITIZE' "$file" || echo 'KCSAN_SANITIZE := n' >> "$file"
	done
}

# series_key: what of the series is built
series_key()
{
	(cd "$LAB_DIR/../.." && find upstream/kernel drivers include/uapi -type f | LC_ALL=C sort | xargs sha256sum)
}

# series_apply TREE: the series, unless it has been applied before
series_apply()
{
	local tree=$1 patch

	[ ! -e "$tree/.series" ] || return 0
	"$LAB_DIR/../../upstream/kernel/make-series" "$tree" "$tree/series" > /dev/null || return 1
	for patch in "$tree"/series/*.patch; do
		patch -d "$tree" -p1 -s --no-backup-if-mismatch < "$patch" || return 1
	done
	: > "$tree/.series"
}

# debug_build KERNEL TREE
debug_build()
{
	local kernel=$1 tree=$2 config=$2/debug.config version=LOCALVERSION=-rvtrace-$1

	debug_configs "$kernel" | xargs cat | grep -v '^#' > "$config"
	[ "$kernel" != kcsan ] || debug_allow_kcsan "$tree"
	[ "$kernel" != series ] || series_apply "$tree" || return 1
	debug_make "$tree" KCONFIG_ALLCONFIG="$config" "$version" allnoconfig || return 1
	# An option that this kernel's version has not, or that lacks what it depends on, shows here
	# and is no error.
	grep '=y$' "$config" | grep -vxFf "$tree/.config" | sed 's/^/not set: /'
	if [ "$kernel" = kcsan ] && ! grep -qx CONFIG_KCSAN=y "$tree/.config"; then
		echo "this version cannot have KCSAN"
		return 1
	fi
	if [ "$kernel" = series ] && ! grep -qx CONFIG_RVTRACE=m "$tree/.config"; then
		echo "this configuration cannot have the driver"
		return 1
	fi
	debug_make "$tree" "$version" -j "${LAB_JOBS:-$(nproc)}" Image modules_prepare || return 1
	[ "$kernel" != series ] ||
		debug_make "$tree" "$version" -j "${LAB_JOBS:-$(nproc)}" drivers/hwtracing/rvtrace/rvtrace.ko || return 1
	debug_make "$tree" -s "$version" kernelrelease > "$tree/.kernelrelease"
}

# debug_finish TREE DIR: out of the built tree the root of a kernel. Headers and makefiles stay for
# modules; the rest is nearly a gigabyte.
debug_finish()
{
	local tree=$2/usr/src/linux release file

	release=$(cat "$1/.kernelrelease")
	mkdir -p "$2/boot" "$2/usr/src" "$2/usr/lib/modules/$release/kernel"
	cp "$1/arch/riscv/boot/Image" "$2/boot/vmlinuz-$release" || return 1
	file=$1/drivers/hwtracing/rvtrace/rvtrace.ko
	[ ! -e "$file" ] || cp "$file" "$2/usr/lib/modules/$release/kernel/" || return 1
	# There are no modules whose symbols could come in addition.
	mv "$1/vmlinux.symvers" "$1/Module.symvers" || return 1
	mv "$1" "$tree" || return 1
	for file in "$tree"/* "$tree"/.[!.]*; do
		[[ " ${DEBUG_KEPT[*]} " == *" ${file##*/} "* ]] || rm -rf "$file"
	done
	find "$tree/arch" \( -name '*.[coS]' -o -name '*.cmd' -o -path '*/boot/*' \) -type f -delete
	echo "release=$release" >> "$2/.lab/info"
}

# fill_debug KERNEL SUITE DIR FILES
fill_debug()
{
	local kernel=$1 name tree=$LAB_CACHE/$1-build log=$LAB_CACHE/$1-kernel.log
	local left_out=("${DEBUG_LEFT_OUT[@]}")

	[ "$kernel" != series ] || left_out=("${DEBUG_SERIES_LEFT_OUT[@]}")
	shift
	apt_use "$1" "$(lab_host_arch)"
	name=$(debug_source) || { lab_warn "suite $1 has no linux-source package"; return 1; }
	apt_fetch "!$name" > "$3" || return 1
	fill_version "$2" "$3" "$name" || return 1
	lab_say "kernel-$kernel: unpacking $name and building it (log: $log); this takes a while"
	source_unpack "$(cat "$3")" "$tree" "${left_out[@]}" || return 1
	debug_build "$kernel" "$tree" > "$log" 2>&1 || lab_die "the kernel $kernel does not build: see $log"
	debug_finish "$tree" "$2"
}

fill_builder()
{
	apt_use "$1" "$(lab_host_arch)"
	fill_lists "$2" "$3" toolchain builder || return 1
	fill_version "$2" "$3" gcc-riscv64-linux-gnu || return 1
	[ -e "$2/usr/bin/awk" ] || ln -s mawk "$2/usr/bin/awk"
}

# lab debug-kernel [debug|kcsan|series]: makes the root of that kernel when it is missing. Nobody else waits
# for it: it has its own lock and package lists.
cmd_debug_kernel()
{
	local kernel=${1:-debug}

	[[ " ${LAB_DEBUG_ROOTS[*]} " == *" kernel-$kernel "* ]] ||
		lab_die "debug-kernel makes the kernels debug, kcsan and series, not $kernel"
	root_require kernel-testing
	if ! root_ready "kernel-$kernel"; then
		lab_lock debug
		(cmd_setup --only builder > /dev/null) || exit
		umask 022
		LAB_APT=$LAB_CACHE/apt-debug
		setup_sources
		# Whoever held the lock may have made it.
		root_ready "kernel-$kernel" || root_make "kernel-$kernel"
		rm -rf "$LAB_APT"
	fi
	cmd_info | grep "^kernel-$kernel"
}
