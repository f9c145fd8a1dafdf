# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash
#
# lab source: the kernel's sources, out of a package of the distribution that has them.
# lab package-source: a program's sources, out of its source package.

SOURCE_SUITES=(forky testing sid trixie-backports trixie)

# source_unpack DEB TREE TAR-ARGUMENT...: the sources in DEB, or what the arguments leave of them,
# unless they are in TREE already.
source_unpack()
{
	local deb=${1##*/} tree=$2

	[ "$(cat "$tree/.unpacked" 2>/dev/null)" != "$deb" ] || return 0
	rm -rf "$tree"
	mkdir -p "$tree"
	dpkg-deb --fsys-tarfile "$1" | tar -x -O "./usr/src/${deb%%_*}.tar.xz" |
		xz -dcT2 | tar -x -C "$tree" --strip-components=1 --no-same-owner "${@:3}" || return 1
	echo "$deb" > "$tree/.unpacked"
}

# source_deb VERSION: the file of the package, fetched from the first suite that has it.
source_deb()
{
	local name=linux-source-$1 suite found

	found=$(find "$LAB_CACHE/debs" -name "${name}_*_all.deb" 2>/dev/null | sort -V | tail -n 1)
	if [ -n "$found" ]; then
		echo "$found"
		return 0
	fi
	lab_lock source
	LAB_APT=$LAB_CACHE/apt-source
	setup_sources
	for suite in "${SOURCE_SUITES[@]}"; do
		apt_update "$suite" || continue
		apt_use "$suite" "$(lab_host_arch)"
		apt-cache pkgnames "$name" | grep -qx "$name" || continue
		lab_say "fetching $name from suite $suite"
		if found=$(apt_fetch "!$name"); then
			rm -rf "$LAB_APT"
			echo "$found"
			return 0
		fi
	done
	rm -rf "$LAB_APT"
	lab_die "no suite has $name: ${SOURCE_SUITES[*]}"
}

# lab source VERSION DIR [PATH... | --exclude=PATTERN...]: of Linux VERSION (such as 7.2) these paths,
# which may be patterns, or all but what is excluded.
cmd_source()
{
	local version=${1:?lab source takes a version, such as 7.2} dir=${2:?lab source takes a directory} deb
	local path arguments=()

	for path in "${@:3}"; do
		[[ $path = --* ]] || path=linux-source-$version/$path
		arguments+=("$path")
	done
	deb=$(source_deb "$version") || exit
	source_unpack "$deb" "$dir" --wildcards "${arguments[@]}" || lab_die "cannot unpack $deb in $dir"
}

# upstream_archive NAME: the archive of the authors in source package NAME, fetched from the first suite
# that has it.
upstream_archive()
{
	local dir=$LAB_CACHE/debs/source suite
	local -a found

	mkdir -p "$dir"
	lab_lock source
	found=("$dir/$1"_*.orig.tar.[gxb]z*)
	if [ ! -e "${found[0]}" ]; then
		LAB_APT=$LAB_CACHE/apt-package-source
		setup_sources
		for suite in "${SOURCE_SUITES[@]}"; do
			apt_update "$suite" deb-src || continue
			apt_use "$suite" "$(lab_host_arch)"
			lab_say "fetching the sources of $1 from suite $suite"
			(cd "$dir" && apt_run "$LAB_APT/log" source --download-only "$1") && break
		done
		rm -rf "$LAB_APT"
		found=("$dir/$1"_*.orig.tar.[gxb]z*)
	fi
	[ -e "${found[-1]}" ] || lab_die "no suite has the sources of $1: ${SOURCE_SUITES[*]}"
	echo "${found[-1]}"
}

# lab package-source NAME DIR: the sources of a program as its authors gave them to the distribution.
cmd_package_source()
{
	local name=${1:?lab package-source takes a source package} dir=${2:?lab package-source takes a directory}
	local archive

	archive=$(upstream_archive "$name") || exit
	rm -rf "$dir"
	mkdir -p "$dir"
	tar -x -f "$archive" -C "$dir" --strip-components=1 --no-same-owner || lab_die "cannot unpack $archive in $dir"
}
