# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2034 # used by the other files
#
# Paths, messages, locks and privileges: what every other file of the lab uses.

# Raise this when the way roots are unpacked changes: every root is then made anew.
LAB_FORMAT=1

LAB_PROJECT=$(cd "$LAB_DIR/../.." && pwd)
LAB_CACHE=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/rvtrace
# Package lists while something is being fetched
LAB_APT=$LAB_CACHE/apt
LAB_BUILD=$LAB_PROJECT/build/lab

# Exit statuses of the lab itself; 124 is what timeout(1) uses, too.
LAB_EXIT_PANIC=123
LAB_EXIT_TIMEOUT=124
LAB_EXIT_FAILURE=125

lab_say()
{
	[ -n "${LAB_QUIET:-}" ] || printf 'lab: %s\n' "$*" >&2
}

lab_warn()
{
	printf 'lab: warning: %s\n' "$*" >&2
}

lab_die()
{
	printf 'lab: error: %s\n' "$*" >&2
	exit "$LAB_EXIT_FAILURE"
}

# Architecture of this machine as Debian names it, and its multiarch triplet.
lab_host_arch()
{
	dpkg --print-architecture
}

lab_host_triplet()
{
	case $(lab_host_arch) in
	amd64) echo x86_64-linux-gnu ;;
	arm64) echo aarch64-linux-gnu ;;
	riscv64) echo riscv64-linux-gnu ;;
	*) lab_die "the lab knows hosts of type amd64, arm64 and riscv64, not $(lab_host_arch)" ;;
	esac
}

# lab_as_root CMD...: run CMD with the rights to install packages.
lab_as_root()
{
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		lab_die "root rights are needed for: $* - run it as root, or install sudo"
	fi
}

# lab_lock NAME: hold the cache's lock NAME until this process ends.
lab_lock()
{
	local fd

	mkdir -p "$LAB_CACHE" || lab_die "cannot create $LAB_CACHE: set XDG_CACHE_HOME"
	exec {fd}>"$LAB_CACHE/$1.lock" || lab_die "cannot write to $LAB_CACHE"
	if ! flock -n "$fd"; then
		lab_say "waiting for another lab command that holds $LAB_CACHE/$1.lock"
		flock "$fd"
	fi
}
