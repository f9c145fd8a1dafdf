# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash
#
# A private APT: resolves, fetches and unpacks packages of any suite and architecture without
# touching the machine's own package state, and without root rights. Signatures are checked by APT
# as always.

LAB_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# apt_mirrors: the Debian mirrors that this machine's APT is configured with, one URI a line.
# LAB_MIRROR comes first when it is set.
apt_mirrors()
{
	local uri

	[ -z "${LAB_MIRROR:-}" ] || printf '%s\n' "${LAB_MIRROR%/}/"
	# shellcheck disable=SC2016
	{
		apt-get indextargets --format '$(REPO_URI) $(COMPONENT) $(ORIGIN)' 'Created-By: Packages'
		# A machine that has no package lists yet knows nobody's origin: go by the name.
		apt-get indextargets --no-release-info --format '$(REPO_URI) $(COMPONENT) unknown' 'Created-By: Packages'
	} | awk '$2 == "main" && ($3 == "Debian" || ($3 == "unknown" && /\/debian\/? |mirror\+file/)) &&
		$1 !~ /security|cdrom:/ { print $1 }' |
		while read -r uri; do
			case $uri in
			mirror+file:*) apt_mirror_list "${uri#mirror+file:}" ;;
			*) printf '%s\n' "${uri%/}/" ;;
			esac
		done | awk '!seen[$0]++'
}

# apt_mirror_list FILE: the mirrors in a file that a mirror+file: source names.
apt_mirror_list()
{
	local file=/${1#/}

	sed -n 's,^\([a-z+]*:[^[:space:]]*[^/[:space:]]\).*,\1/,p' "${file%/}"
}

# apt_use SUITE ARCH: make APT_CONFIG select the private state of SUITE, with ARCH as the native
# architecture.
apt_use()
{
	local dir=$LAB_APT/$1 arch=$2

	export APT_CONFIG=$dir/apt-$arch.conf
	mkdir -p "$dir/lists/partial" "$dir/etc/preferences.d" "$dir/state-$arch" \
		"$LAB_CACHE/debs/partial"
	: > "$dir/state-$arch/status"
	cat > "$APT_CONFIG" <<-EOF
	Dir::Etc "$dir/etc";
	Dir::Etc::main "/dev/null";
	Dir::Etc::parts "/dev/null";
	Dir::Etc::sourceparts "/dev/null";
	Dir::State "$dir/state-$arch";
	Dir::State::lists "$dir/lists";
	Dir::State::status "$dir/state-$arch/status";
	Dir::Cache "$dir/state-$arch";
	Dir::Cache::archives "$LAB_CACHE/debs";
	Dir::Cache::srcpkgcache "";
	APT::Architecture "$arch";
	APT::Architectures { "$arch"; };
	APT::Install-Recommends "false";
	APT::Install-Suggests "false";
	APT::Get::Assume-Yes "true";
	APT::Sandbox::User "$(id -un)";
	Acquire::Languages "none";
	Acquire::Retries "3";
	Acquire::http::Timeout "30";
	Acquire::https::Timeout "30";
	Acquire::Check-Valid-Until "true";
	EOF
	# The machine's proxy settings are wanted, and nothing else of its configuration.
	APT_CONFIG='' apt-config dump | grep -i '^Acquire::https\?::.*proxy' >> "$APT_CONFIG" || true
}

# apt_update SUITE [deb-src]: fetch the package lists of SUITE for the host and for riscv64, or of its
# source packages, from the first mirror that has it. Lists younger than six hours are used as they
# are.
apt_update()
{
	local suite=$1 type=${2:-deb} dir=$LAB_APT/$1 arches mirror log

	[ -z "$(find "$dir/fresh" -mmin -360 2>/dev/null)" ] || return 0
	log=$dir/update.log
	arches=$(lab_host_arch)
	[ "$arches" = riscv64 ] || arches=$arches,riscv64
	apt_use "$suite" "$(lab_host_arch)"
	for mirror in "${LAB_SOURCES[@]}"; do
		echo "$type [arch=$arches signed-by=$LAB_KEYRING] $mirror $suite main" > "$dir/etc/sources.list"
		if apt_update_once "$log" || { grep -q 'is expired' "$log" && apt_update_expired "$suite" "$log"; }
		then
			touch "$dir/fresh"
			return 0
		fi
		lab_warn "suite $suite cannot be used from $mirror: $(grep -m1 '^[EW]:' "$log")"
		! grep -q NO_PUBKEY "$log" ||
			lab_warn "this machine's $LAB_KEYRING is too old for $suite: upgrade debian-archive-keyring"
	done
	return 1
}

apt_update_once()
{
	apt-get -o APT::Architectures::="riscv64" -o APT::Update::Error-Mode=any "${@:2}" update > "$1" 2>&1
}

apt_update_expired()
{
	lab_warn "the Release file of $1 is signed but expired (a mirror that lags behind): using it all the same"
	apt_update_once "$2" -o Acquire::Check-Valid-Until=false
}

# apt_pick FILE...: package names of the list files, with each a|b replaced by the first that the
# suite in use has.
apt_pick()
{
	local wanted there

	wanted=$(sed 's/#.*//; s/[[:space:]]//g; /^$/d' "$@")
	# shellcheck disable=SC2046
	there=$(apt-cache show --no-all-versions $(tr '|' '\n' <<< "${wanted//!/}") 2>/dev/null | sed -n 's/^Package: //p')
	awk -F '|' 'NR == FNR { there[$0] = 1; next }
		{ for (i = 1; i <= NF; i++) { name = $i; sub(/^!/, "", name); if (name in there) { print $i; next } }
		  print "lab: warning: this suite has no package " $0 > "/dev/stderr"; exit 1 }' \
		<(echo "$there") <(echo "$wanted")
}

# apt_fetch NAME...: fetch the packages and all they depend on (only themselves for !NAME) into the
# cache of debs. Prints the file of each. APT checks the hashes, and fetches only what is not there.
apt_fetch()
{
	local alone=() whole=() name out empty=$LAB_APT/nothing-fetched

	for name; do
		case $name in
		!*) alone+=("${name#!}") ;;
		*) whole+=("$name") ;;
		esac
	done
	out=$LAB_APT/fetch
	: > "$out"
	mkdir -p "$empty/partial"
	if [ ${#whole[@]} -gt 0 ]; then
		# What is fetched already would not be listed, so look at an empty cache.
		apt_run "$out.log" -o Dir::Cache::archives="$empty" install --print-uris "${whole[@]}" || return 1
		grep "^'" "$out.log" >> "$out"
		apt_run "$out.log" install --download-only "${whole[@]}" || return 1
	fi
	if [ ${#alone[@]} -gt 0 ]; then
		apt_run "$out.log" download --print-uris "${alone[@]}" || return 1
		grep "^'" "$out.log" >> "$out"
		(cd "$LAB_CACHE/debs" && apt_run "$out.log" download "${alone[@]}") || return 1
	fi
	awk -v dir="$LAB_CACHE/debs/" '{ print dir $2 }' "$out"
}

# apt_run LOG ARGUMENT...: apt-get with its output in LOG; on failure the reason is shown.
apt_run()
{
	local log=$1

	shift
	apt-get "$@" > "$log" 2>&1 && return 0
	lab_warn "apt-get $* failed: $(grep -A4 '^E:\|unmet dep' "$log" | head -n 8 | tr '\n' ' ')"
	return 1
}

# apt_unpack DIR [TAR-OPTION...] < files: unpack debs into DIR, a tree with merged /usr, several at
# a time.
apt_unpack()
{
	local dir=$1 d

	shift
	for d in bin sbin lib lib64; do
		mkdir -p "$dir/usr/$d"
		[ -e "$dir/$d" ] || ln -s "usr/$d" "$dir/$d"
	done
	# shellcheck disable=SC2016
	xargs -n 1 -P "$(nproc)" bash -c 'set -o pipefail; dpkg-deb --fsys-tarfile "${@: -1}" |
		tar -x -C "$0" --keep-directory-symlink --no-same-owner --warning=no-timestamp "${@:1:$#-1}"' \
		"$dir" "$@"
}
