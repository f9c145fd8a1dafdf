# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash
#
# lab setup: makes the roots, each a tree of unpacked packages in the cache.
#
# A root's name carries a hash of all that decides what is in it, so a checkout with other package
# lists uses other roots. A root is unpacked under a temporary name and renamed when complete: it
# exists whole, or not at all.

LAB_ROOTS=(kernel-testing kernel-stable toolchain host guest)
# Made by `lab debug-kernel` only
LAB_DEBUG_ROOTS=(builder kernel-debug kernel-kcsan kernel-series)

# The suites a root may come from, best first.
root_suites()
{
	case $1 in
	# The plugin API that the model uses begins with QEMU 11.1.
	host) echo forky testing sid trixie-backports ;;
	toolchain | guest | builder) echo forky testing sid trixie ;;
	kernel-testing) echo forky testing sid trixie-backports ;;
	kernel-debug | kernel-kcsan | kernel-series) echo forky testing sid ;;
	kernel-stable) echo trixie stable trixie-proposed-updates ;;
	esac
}

# root_path ROOT: where the root is, or will be.
root_path()
{
	local key

	key=$({
		echo "$LAB_FORMAT $(lab_host_arch) $(root_suites "$1")"
		cat "$LAB_DIR/packages/${1%%-*}"
		[ "$1" != guest ] || cat "$LAB_DIR/packages/sysroot"
		[ "$1" != builder ] || cat "$LAB_DIR/packages/toolchain"
		case $1 in
		kernel-debug | kernel-kcsan | kernel-series)
			debug_configs "${1#kernel-}" | xargs cat
			root_get kernel-testing version
			[ "$1" != kernel-series ] || series_key
			;;
		esac
	} | sha256sum | cut -c 1-10)
	echo "$LAB_CACHE/roots/$1-$key"
}

# root_get ROOT FIELD: a fact noted when the root was made (suite, version ...).
root_get()
{
	sed -n "s/^$2=//p" "$(root_path "$1")/.lab/info" 2>/dev/null
}

root_ready()
{
	[ -e "$(root_path "$1")/.lab/info" ]
}

# Fails with advice unless the roots named are there.
root_require()
{
	local root command=setup

	for root; do
		case $root in
		kernel-debug | kernel-kcsan | kernel-series) command="debug-kernel ${root#kernel-}" ;;
		esac
		root_ready "$root" || lab_die "the lab's $root root is missing: run tools/lab/lab $command"
	done
}

# root_make ROOT: make the root from the first suite that can give it.
root_make()
{
	local root=$1 suite

	for suite in $(root_suites "$root"); do
		lab_say "$root: fetching and unpacking from suite $suite"
		if root_try "$root" "$suite"; then
			lab_say "$root: $(root_get "$root" version) from $suite"
			return 0
		fi
		lab_warn "$root cannot be had from suite $suite, trying the next"
	done
	lab_die "$root cannot be had from any of: $(root_suites "$root"). The mirror may be in the middle of an" \
		"update: try again later, or name another one with LAB_MIRROR=URI (tried: ${LAB_SOURCES[*]})"
}

# root_try ROOT SUITE: make the root from SUITE; once more with new package lists when what old ones
# named is gone.
root_try()
{
	local path tmp fresh=$LAB_APT/$2/fresh was_fresh fill=("fill_${1%%-*}")

	case $1 in
	kernel-debug | kernel-kcsan | kernel-series) fill=(fill_debug "${1#kernel-}") ;;
	esac
	path=$(root_path "$1")
	tmp=$path.tmp
	for _ in 1 2; do
		was_fresh=''
		[ ! -e "$fresh" ] || was_fresh=1
		apt_update "$2" || return 1
		rm -rf "$tmp"
		mkdir -p "$tmp/.lab"
		if "${fill[@]}" "$2" "$tmp" "$tmp/.lab/debs"; then
			echo "suite=$2" >> "$tmp/.lab/info"
			root_replace "$path"
			return 0
		fi
		rm -rf "$tmp"
		[ -n "$was_fresh" ] || return 1
		rm -f "$fresh"
	done
	return 1
}

# root_replace PATH: put PATH.tmp, now complete, in the place of PATH.
root_replace()
{
	rm -rf "$1.old"
	[ ! -e "$1" ] || mv "$1" "$1.old"
	mv "$1.tmp" "$1"
	rm -rf "$1.old"
}

# fill_KIND SUITE DIR FILES: fetch and unpack a root into DIR, with the list of its debs in FILES;
# the version of what the root is made for goes to DIR/.lab/info.

# fill_lists DIR FILES LIST...: what the package lists name, unpacked without documentation.
fill_lists()
{
	local dir=$1 files=$2 names

	shift 2
	names=$(apt_pick "${@/#/$LAB_DIR/packages/}") || return 1
	# shellcheck disable=SC2086
	apt_fetch $names > "$files" || return 1
	apt_unpack "$dir" --exclude=./usr/share/doc --exclude=./usr/share/man --exclude=./usr/share/locale \
		--exclude=./usr/share/info --exclude=./usr/share/bash-completion < "$files"
}

# fill_version DIR FILES PACKAGE: note the version of PACKAGE, out of the name of its file.
fill_version()
{
	sed -n "s,.*/$3_\([^_]*\)_.*,version=$3 \1,p" "$2" | sed 's/%3a/:/' | head -n 1 > "$1/.lab/info"
	grep -q . "$1/.lab/info"
}

fill_host()
{
	apt_use "$1" "$(lab_host_arch)"
	fill_lists "$2" "$3" host || return 1
	fill_version "$2" "$3" qemu-system-riscv || return 1
	dpkg --compare-versions "$(sed 's/.* //' "$2/.lab/info")" ge 1:11.1 ||
		{ lab_warn "QEMU of suite $1 is older than 11.1"; return 1; }
}

fill_toolchain()
{
	apt_use "$1" "$(lab_host_arch)"
	fill_lists "$2" "$3" toolchain || return 1
	fill_version "$2" "$3" gcc-riscv64-linux-gnu || return 1
	# What the alternatives would have done.
	[ -e "$2/usr/bin/awk" ] || ln -s mawk "$2/usr/bin/awk"
}

fill_guest()
{
	apt_use "$1" riscv64
	fill_lists "$2" "$3" guest sysroot || return 1
	fill_version "$2" "$3" linux-perf || return 1
	ln -sf mawk "$2/usr/bin/awk"
	ln -sf python3 "$2/usr/bin/python"
	image_accounts "$2"
	image_root "$2" "$2/.lab/image.squashfs"
}

fill_kernel()
{
	local names name arch kbuild release=none

	arch=$(lab_host_arch)
	apt_use "$1" riscv64
	names=$(kernel_packages) || return 1
	# Programs that a module build runs are wanted for this machine, all else for the guest.
	kbuild=$(grep '^linux-kbuild-' <<< "$names")
	names=$(grep -v '^linux-kbuild-' <<< "$names" | sed 's/^/!/')
	# shellcheck disable=SC2086
	apt_fetch $names > "$3" || return 1
	apt_use "$1" "$arch"
	apt_fetch "!$kbuild" >> "$3" || return 1
	apt_unpack "$2" --exclude=./usr/share < "$3" || return 1
	for name in "$2"/usr/lib/modules/*/kernel; do
		release=${name%/kernel}
		release=${release##*/}
	done
	[ -d "$2/usr/lib/modules/$release/kernel" ] || { lab_warn "no modules in the kernel's packages"; return 1; }
	# Debian leaves out the script with which newer kernels ask whether sparse is there.
	for kbuild in "$2"/usr/lib/linux-kbuild-*/scripts; do
		[ -e "$kbuild/checker-valid.sh" ] || install -m 755 "$LAB_DIR/lib/checker-valid.sh" "$kbuild/"
	done
	fill_version "$2" "$3" "linux-image-$release" || return 1
	echo "release=$release" >> "$2/.lab/info"
}

# kernel_packages: the packages behind the suite's kernel metapackages that carry image, modules,
# headers and kbuild.
kernel_packages()
{
	apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
		--no-enhances linux-image-riscv64 linux-headers-riscv64 |
		grep -o 'linux-\(image\|binary\|modules\|headers\|kbuild\)-[0-9][0-9a-z.+~-]*' | sort -u |
		grep -v -e '-\(unsigned\|dbg\)$'
}

# Packages that this machine needs, by the command that shows that one is missing.
setup_machine()
{
	local need=() pair sbin=$PATH:/sbin:/usr/sbin

	for pair in dtc=device-tree-compiler cpio=cpio mksquashfs=squashfs-tools modinfo=kmod xz=xz-utils zstd=zstd \
		flock=util-linux unshare=util-linux mount=mount pkgconf=pkgconf; do
		PATH=$sbin command -v "${pair%%=*}" >/dev/null || need+=("${pair#*=}")
	done
	[ -e "$LAB_KEYRING" ] || need+=(debian-archive-keyring)
	[ ${#need[@]} -gt 0 ] || return 0
	lab_say "installing on this machine: ${need[*]}"
	# Without package lists, as on a fresh machine, the first try fails.
	setup_install "${need[@]}" > /dev/null 2>&1 || {
		lab_as_root apt-get -q update >&2
		setup_install "${need[@]}" >&2
	} || lab_die "cannot install ${need[*]}: see above"
}

setup_install()
{
	lab_as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "$@"
}

# Which mirrors to fetch from: only asked when something is to be fetched.
setup_sources()
{
	[ -z "${LAB_SOURCES:-}" ] || return 0
	mapfile -t LAB_SOURCES < <(apt_mirrors)
	[ ${#LAB_SOURCES[@]} -gt 0 ] ||
		lab_die "APT on this machine knows no Debian mirror: set LAB_MIRROR=URI of one"
}

cmd_setup()
{
	local only=("${LAB_ROOTS[@]}") update='' root todo=()

	while [ $# -gt 0 ]; do
		case $1 in
		--only) IFS=, read -r -a only <<< "${2:?}"; shift ;;
		--update) update=1 ;;
		*) lab_die "setup takes --update and --only ROOT,... (roots: ${LAB_ROOTS[*]})" ;;
		esac
		shift
	done
	for root in "${only[@]}"; do
		case $root in
		kernel) todo+=(kernel-testing kernel-stable) ;;
		*)
			[ -n "$(root_suites "$root")" ] || lab_die "no root $root (roots: ${LAB_ROOTS[*]})"
			todo+=("$root")
			;;
		esac
	done
	umask 022
	trap 'exit 130' INT
	build_root_is_mount
	setup_machine
	lab_lock setup
	[ -z "$update" ] || rm -rf "$LAB_APT"
	for root in "${todo[@]}"; do
		if [ -n "$update" ] || ! root_ready "$root"; then
			setup_sources
			root_make "$root"
		fi
	done
	# The package lists are large, stale in hours, and fetched in seconds when a root must be
	# made again.
	rm -rf "$LAB_APT"
	cmd_info
}

# lab clean [--all]: remove what this checkout does not use from the cache, or the whole cache.
cmd_clean()
{
	local keep=' ' root dir

	case ${1:-} in
	--all)
		lab_lock setup
		rm -rf "$LAB_CACHE"
		return
		;;
	'') ;;
	*) lab_die "clean takes --all or nothing" ;;
	esac
	lab_lock setup
	for root in "${LAB_ROOTS[@]}" "${LAB_DEBUG_ROOTS[@]}"; do
		keep+="$(root_path "$root") "
	done
	for dir in "$LAB_CACHE"/roots/*; do
		case $keep in
		*" $dir "*) ;;
		*) rm -rf "$dir" ;;
		esac
	done
	rm -rf "$LAB_CACHE/debs" "$LAB_CACHE/debug-build" "$LAB_CACHE/kcsan-build" "$LAB_CACHE/series-build" "$LAB_APT"
}

# lab info: the roots, where they are and what is in them.
cmd_info()
{
	local root

	for root in "${LAB_ROOTS[@]}" "${LAB_DEBUG_ROOTS[@]}"; do
		if root_ready "$root"; then
			printf '%-15s %-45s %s\n' "$root" "$(root_get "$root" version) ($(root_get "$root" suite))" \
				"$(root_path "$root")"
		else
			printf '%-15s not set up\n' "$root"
		fi
	done
}

# lab path ROOT: the directory of a root that is set up.
cmd_path()
{
	[ -n "$(root_suites "${1:-}")" ] || lab_die "path takes a root: ${LAB_ROOTS[*]}"
	root_require "$1"
	root_path "$1"
}
