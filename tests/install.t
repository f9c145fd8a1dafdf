#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What `make install` leaves behind can be used: library, headers, man pages, completion, driver
# sources.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
root=$dir/root
prefix=/opt/rvtrace
plugin=$root$prefix/bin/perf-rvtrace
export LD_LIBRARY_PATH=$root$prefix/lib PKG_CONFIG_PATH=$root$prefix/lib/pkgconfig
export PKG_CONFIG_SYSROOT_DIR=$root

make_install()
{
	MAKEFLAGS='' make --no-print-directory install DESTDIR="$root" prefix="$prefix" CFLAGS=
}

exports_are_declarations()
{
	packaging/symbol-map --names >"$dir/declared" || return
	nm -D --defined-only "$LD_LIBRARY_PATH/librvtrace.so.0" | awk '$2 != "A" { sub("@.*", "", $3); print $3 }' |
		LC_ALL=C sort -u >"$dir/exported"
	[ -s "$dir/declared" ] || return
	[ "$(wc -l <"$dir/exported")" -le 110 ] || { wc -l "$dir/exported"; return 1; }
	diff "$dir/declared" "$dir/exported" || {
		echo "the headers (<) and the library (>) differ: make symbol-map, or define the function"
		return 1
	}
}

headers_stand_alone()
{
	local header status=0

	for header in "$root$prefix"/include/rvtrace/*.h; do
		printf '#include <rvtrace/%s>\nint nothing;\n' "${header##*/}" >"$dir/one.c"
		cc -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$root$prefix/include" -fsyntax-only "$dir/one.c" ||
			status=1
		# Only where there is a C++ compiler: the tests do not install one.
		! command -v c++ >/dev/null ||
			c++ -Wall -Wextra -Werror -I"$root$prefix/include" -fsyntax-only -x c++ "$dir/one.c" ||
			status=1
	done
	return $status
}

# What a thread may call is part of the contract.
headers_name_threads()
{
	! grep -LiE '\<threads?\>' "$root$prefix"/include/rvtrace/*.h | grep .
}

# c.jr ra and beq a0, a1, 8, from the ISA manual's encodings.
write_program()
{
	cat >"$dir/program.c" <<-'EOF'
	#include <stdio.h>
	#include <rvtrace/params.h>
	#include <rvtrace/insn.h>
	int main(void)
	{
		static const unsigned char ret[] = { 0x82, 0x80 }, beq[] = { 0x63, 0x04, 0xb5, 0x00 };
		struct rvt_params params;
		struct rvt_insn insn;
		rvt_params_init(&params, RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_1_0);
		printf("%d ", params.protocol == RVT_PROTOCOL_NTRACE);
		rvt_insn_decode(ret, sizeof(ret), 0, &insn);
		printf("%u ", insn.len_bytes);
		rvt_insn_decode(beq, sizeof(beq), 0, &insn);
		printf("%u %lld\n", insn.len_bytes, (long long)insn.offset);
		return 0;
	}
	EOF
}

# program_runs shared|static
program_runs()
{
	local flags expected="1 2 4 8" archive='' private=''

	[ "$1" = shared ] || archive="-Wl,--as-needed $root$prefix/lib/librvtrace.a" private=--static
	write_program
	flags=$(pkg-config --cflags --libs $private librvtrace) || return
	# shellcheck disable=SC2086 # these are words
	cc -Wall -Wextra -Werror -o "$dir/program" "$dir/program.c" $archive $flags || return
	[ "$(readelf -d "$dir/program" | grep -c 'NEEDED.*librvtrace\.so\.0')" = "$([ "$1" = shared ] && echo 1 || echo 0)" ] ||
		return
	"$dir/program" >"$dir/printed" || return
	[ "$(cat "$dir/printed")" = "$expected" ] || {
		echo "printed '$(cat "$dir/printed")' instead of '$expected'"
		return 1
	}
}

# The example of the documentation: compiles as its comment says; refuses what is no recording with
# a sentence; where code is missing, says so.
example_runs()
{
	local flags

	flags=$(pkg-config --cflags --libs librvtrace) || return
	# shellcheck disable=SC2086
	cc -std=c11 -Wall -Wextra -Werror -o "$dir/count" Documentation/examples/count.c $flags || return
	! "$dir/count" Makefile >"$dir/printed" 2>&1 || return
	cat "$dir/printed"
	grep -q Makefile "$dir/printed" && [ "$(wc -l <"$dir/printed")" = 1 ] || return
	build/host/rvt-recording "$dir/recording" "$dir/recording.program" 0 prog 3000 || return
	! "$dir/count" "$dir/recording" "$dir/none" >"$dir/printed" 2>&1 || return
	grep -q "recording.program: No such file" "$dir/printed" && grep -q " gaps: " "$dir/printed" || return
	"$dir/count" "$dir/recording" >"$dir/printed" 2>"$dir/message" && [ ! -s "$dir/message" ] &&
		[ "$(cat "$dir/printed")" = "$(build/host/perf-rvtrace script --raw-pc -i "$dir/recording" | grep -vc "^#") instructions" ]
}

# bytes OCTAL ...: each a word or several in one.
bytes()
{
	local word

	for word in "$@"; do
		# shellcheck disable=SC2059 # it is the format that counts
		printf "$word"
	done
}

# An ELF file with three instructions at 0x100: c.nop, c.nop, c.ebreak.
write_elf()
{
	local none='\0\0\0\0\0\0\0'

	bytes '\177ELF\2\1\1\0' "\\0$none"
	bytes '\2\0\363\0\1\0\0\0' "\\0$none" "\\100$none" "\\0$none"
	bytes '\0\0\0\0\100\0\70\0' '\1\0\0\0\0\0\0\0'
	bytes '\1\0\0\0\5\0\0\0' "\\170$none" '\0\1\0\0\0\0\0\0' '\0\1\0\0\0\0\0\0'
	bytes "\\6$none" "\\6$none" "\\2$none" '\1\0' '\1\0' '\2\220'
}

# The other example: what a dump executed, with an ELF file.
dump_example_runs()
{
	local flags example=Documentation/examples/pcs.c

	flags=$(pkg-config --cflags --libs librvtrace) || return
	# shellcheck disable=SC2086
	cc -std=c11 -Wall -Wextra -Werror -o "$dir/pcs" $example $flags || return
	[ "$(sed '1,/^#include <rvtrace/d; /^$/d' $example | grep -cv '^[{}]$')" -le 20 ] ||
		{ echo "it has more than 20 lines"; return 1; }
	printf 'protocol = ntrace\n' >"$dir/params"
	write_elf >"$dir/elf"
	# From N-Trace 1.0: the second half-word is where the correlation message ends.
	printf 'ProgTraceSync SYNC=3 F-ADDR=0x80\nProgTraceCorrelation EVCODE=0 I-CNT=2\n' |
		build/host/rvt-asm "$dir/params" >"$dir/dump" || return
	"$dir/pcs" "$dir/params" "$dir/elf" "$dir/dump" >"$dir/printed" || return
	printf '100\n102\n' | diff - "$dir/printed" || return
	! "$dir/pcs" "$dir/params" "$dir/nothing" "$dir/dump" 2>"$dir/printed" || return
	grep -q "nothing: No such file" "$dir/printed"
}

# The program of howto-library.rst: its blocks of C, one after the other.
howto_runs()
{
	local flags

	flags=$(pkg-config --cflags --libs librvtrace) || return
	awk '/^\.\. code-block:: c$/ { code = 1; next } /^[^ ]/ { code = 0 } code { sub("^    ", ""); print }' \
		Documentation/howto-library.rst >"$dir/howto.c"
	# shellcheck disable=SC2086
	cc -std=c11 -Wall -Wextra -Werror -o "$dir/howto" "$dir/howto.c" $flags || return
	"$dir/howto" "$dir/params" "$dir/elf" "$dir/dump" >"$dir/printed" || return
	# A message's offset and bytes, before its name, are the dump's own tests' business.
	sed -E 's/^[0-9a-f]{8}: [0-9a-f ]* P/P/' "$dir/printed" | diff - <(cat <<-'END'
		call to pc + 8, 4 bytes
		ProgTraceSync SYNC=3(exit from debug mode) I-CNT=0 F-ADDR=0x80 address=0x100
		ProgTraceCorrelation EVCODE=0(debug entry) CDF=0 I-CNT=2
		2 instructions by stream and flow
		100: no name
		2 frames, then 2 ended
		2 instructions by a session
		100 to 102
	END
	)
}

# The installed module finds the installed library.
python_module_runs()
{
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$root$prefix/lib/python3/dist-packages python3 - "$dir" <<-'EOF'
	import sys
	import rvtrace

	where = sys.argv[1]
	with rvtrace.Dump(where + "/dump", params=where + "/params", elf=where + "/elf") as dump:
	    assert [address for run, address in dump.addresses()] == [0x100, 0x102]
	EOF
}

version_is_said()
{
	local version

	version=$(sed -n 's/^#define RVT_VERSION_M[AI][A-Z]* //p' include/rvtrace/version.h |
		paste -sd.)
	[ "$version" = "$(pkg-config --modversion librvtrace)" ]
}

# What `make deps` installs for building is what the packages say that building them takes.
packages_say_what_they_take()
{
	local name

	for name in $(sed -n '/^packages=(/,/)/p' tools/setup-host | grep -oE 'lib[a-z0-9-]*-dev|[a-z-]*-compiler' |
			grep -v device-tree); do
		grep -qE "[ ,]$name(,|\$)" packaging/debian/control || { echo "$name"; return 1; }
	done
}

# A program that links the archive shares one name space with it. No name in C has a dot.
archive_has_prefix()
{
	nm -g --defined-only "$root$prefix/lib/librvtrace.a" |
		awk 'NF == 3 && $3 !~ /^rvt_|\./ { print $3 }' >"$dir/names"
	cat "$dir/names"
	[ ! -s "$dir/names" ]
}

# Encoders, tandem verification and the ground truth are for this project only.
archive_only_decodes()
{
	! nm -g --defined-only "$root$prefix/lib/librvtrace.a" | grep -E ' rvt_.*(encoder_retire|tandem|truth)' &&
		[ ! -e "$root$prefix/lib/librvtrace-model.a" ]
}

# The long options in the commands of the howtos, by the commands' man pages.
howto_options_exist()
{
	local command line option n=0 status=0

	while read -r _ _ command line; do
		for option in $(grep -oE -- '--[a-z]+(-[a-z]+)*' <<<"${line%% -- *}"); do
			n=$((n + 1))
			grep -q -- "Fl Fl ${option#--}\>" "Documentation/man/perf-rvtrace-$command.1" ||
				{ echo "$command has no $option"; status=1; }
		done
	done < <(sed -n 's/.*\(perf[ -]rvtrace\) \([a-z]*\) \([^|#]*\).*/perf rvtrace \2 \3/p' \
		Documentation/howto-*.rst)
	[ $n -gt 8 ] && return $status
}

commands()
{
	"$plugin" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'
}

# The long options in a command's --help; names that it does not take belong to other tools.
options()
{
	local option

	"$plugin" "$@" --help | grep -oE -- '--[a-z][a-z-]*[a-z]' | sort -u | while read -r option; do
		# With an empty value nothing runs: an option either has a value or refuses it.
		"$plugin" "$@" "$option=" --no-such-option 2>&1 </dev/null |
			grep -q "unrecognized option '$option=" || echo "$option"
	done
}

subcommands()
{
	local command

	for command in $(commands); do
		if [ "$command" = tandem ]; then
			"$plugin" tandem --help | sed -n 's/^  \([a-z-]*\) .*/tandem \1/p'
		else
			echo "$command"
		fi
	done
}

# 24 lines of at most 100 columns
help_fits()
{
	local command status=0

	while read -r command; do
		# shellcheck disable=SC2086
		"$plugin" $command --help >"$dir/help" || { echo "$command: exit status $?"; status=1; }
		awk -v name="$command" 'length > 100 { long = 1 } END {
			if (NR < 2 || NR > 24 || long) { print name ": " NR " lines"; exit 1 } }' "$dir/help" || status=1
	done < <(subcommands; echo tandem)
	return $status
}

chips_are_found()
{
	"$plugin" decode --chip help | cut -d' ' -f 1 | diff - <(ls share/rvtrace/chips)
}

# What is wrong with the command line is told in a line or two, with what to do next.
wrong_arguments_are_explained()
{
	local command status=0

	while read -r command; do
		for wrong in --no-such-option surplus-word; do
			# The first word of these is a program to trace, a file to read, or a function.
			[ $wrong = --no-such-option ] ||
				[[ ! $command =~ ^(record|crash|d.*|tandem.*|annotate|latency|fleet)$ ]] || continue
			# shellcheck disable=SC2086
			if "$plugin" $command $wrong >"$dir/help" 2>&1 </dev/null; then
				echo "$command $wrong: exit status 0"
				status=1
			fi
			grep -q -- "$wrong" "$dir/help" && grep -q -- "$command --help" "$dir/help" &&
				[ "$(wc -l <"$dir/help")" -le 3 ] ||
				{ echo "$command $wrong:"; cat "$dir/help"; status=1; }
		done
	done < <(subcommands)
	return $status
}

# The two tests of options mean something only if options are found.
found_options()
{
	[ "$(options record | grep -cx -- '--\(all-cpus\|pid\|filter\|mmap-pages\)')" = 4 ] &&
		[ "$(options tandem verify | grep -cx -- '--\(ram\|absent\|xlen\)')" = 3 ] &&
		[ "$(options profile | grep -cx -- '--\(profiler\|unsymbolized-profile\)')" = 0 ]
}

# manual COMMAND: its page as text
manual()
{
	mandoc -T ascii "$root$prefix/share/man/man1/perf-rvtrace-$1.1" | sed 's/.\x08//g'
}

options_are_in_manual()
{
	local command option status=0

	while read -r command; do
		manual "${command%% *}" >"$dir/manual" || return
		# shellcheck disable=SC2086 # "tandem show" are two words
		for option in $(options $command); do
			grep -qE -- "(^|[^a-z-])$option([^a-z-]|\$)" "$dir/manual" ||
				{ echo "perf-rvtrace $command $option is not in its man page"; status=1; }
		done
	done < <(subcommands)
	return $status
}

# complete WORD...: what bash would offer for the last of these words
complete_words()
{
	# shellcheck disable=SC2016
	bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
		if [ "$1" = perf ]; then _perf_rvtrace_of_perf "$1"; else _perf_rvtrace; fi
		printf "%s\n" "${COMPREPLY[@]}"' - "$root$prefix/share/bash-completion/completions/perf-rvtrace" "$@"
}

options_are_completed()
{
	local command option status=0

	while read -r command; do
		# shellcheck disable=SC2086
		complete_words perf-rvtrace $command -- >"$dir/offered"
		# shellcheck disable=SC2086
		for option in $(options $command); do
			grep -qx -- "$option" "$dir/offered" ||
				{ echo "perf-rvtrace $command $option is not completed"; status=1; }
		done
	done < <(subcommands)
	return $status
}

commands_are_completed()
{
	[ "$(complete_words perf-rvtrace '' | grep -v -- -- | sort)" = "$(commands | sort)" ] &&
		[ "$(complete_words perf rvtrace '' | grep -v -- -- | sort)" = "$(commands | sort)" ]
}

values_are_completed()
{
	[ "$(complete_words perf-rvtrace profile --format = b)" = bolt ] &&
		[ "$(complete_words perf rvtrace report -s comm,d)" = comm,dso ] &&
		[ "$(complete_words perf-rvtrace dump dkms.co)" = dkms.conf ]
}

dkms_tree_is_whole()
{
	# shellcheck disable=SC2034 # dkms.conf uses them
	local i PACKAGE_VERSION='' BUILT_MODULE_NAME=() BUILT_MODULE_LOCATION=() kernel_source_dir=x dkms_tree=y
	local tree

	# shellcheck disable=SC1091
	. ./dkms.conf
	tree=$root$prefix/src/rvtrace-$PACKAGE_VERSION
	cmp dkms.conf "$tree/dkms.conf" || return
	[ ${#BUILT_MODULE_NAME[@]} = 2 ] || return
	for i in "${!BUILT_MODULE_NAME[@]}"; do
		grep -q "^obj-.*+= ${BUILT_MODULE_LOCATION[i]}/\$" "$tree/Kbuild" &&
			grep -q "^obj-.*+= ${BUILT_MODULE_NAME[i]}.o\$" "$tree/${BUILT_MODULE_LOCATION[i]}/Makefile" ||
			return
	done
	diff -r -x '*.o' -x '*.mod*' drivers/hwtracing "$tree/drivers/hwtracing" &&
		diff -r drivers/perf "$tree/drivers/perf" && diff -r include/uapi "$tree/include/uapi"
}

# The libraries of a cross compiler's target are not those of this machine.
cross_flags()
{
	printf '#!/bin/sh\nexec cc "$@"\n' >"$dir/none-gcc" && chmod +x "$dir/none-gcc" || return
	MAKEFLAGS='' make --no-print-directory -n B="$dir/build" CC="$dir/none-gcc" "$dir/build/host/flags" >"$dir/flags" ||
		return
	grep -q 'none-gcc -std' "$dir/flags" && ! grep HAVE_ "$dir/flags"
}

# build_says TEXT VARIABLE...: a build with these make variables ends with this message.
build_says()
{
	local text=$1

	shift
	! MAKEFLAGS='' make --no-print-directory B="$dir/build" "$@" >"$dir/printed" 2>&1 || return
	grep -q "$text" "$dir/printed" && grep -q 'make deps' "$dir/printed" || { cat "$dir/printed"; return 1; }
}

# Another apt holds the lock of the lists, for the first time that it is asked for.
setup_waits_for_apt()
{
	mkdir "$dir/fakes"
	cat >"$dir/fakes/apt-get" <<-"END"
		#!/bin/sh
		case "$*" in
		*update)
			[ -e "$0.asked" ] && exit 0
			touch "$0.asked"
			echo "E: Could not get lock /var/lib/apt/lists/lock" >&2
			exit 100 ;;
		*) echo "$*" >"$0.did" ;;
		esac
	END
	printf '#!/bin/sh\nexec "$@"\n' >"$dir/fakes/sudo"
	chmod +x "$dir"/fakes/*
	PATH=$dir/fakes:$PATH tools/setup-host no-such-package >"$dir/printed" 2>&1 || return
	[ -e "$dir/fakes/apt-get.asked" ] && grep -q 'install .*no-such-package' "$dir/fakes/apt-get.did"
}

uninstall()
{
	MAKEFLAGS='' make --no-print-directory uninstall DESTDIR="$root" prefix="$prefix" >"$dir/printed" || return
	! find "$root" -not -type d | grep .
}

check "make install" make_install
[ -x "$plugin" ] || { echo "Bail out! nothing was installed"; exit 1; }
check "the command runs" "$plugin" --help
check "it finds the chips" chips_are_found
check "the library exports what its headers declare, and little" exports_are_declarations
check "headers compile alone" headers_stand_alone
check "each header says what threads may call" headers_name_threads
check "a program with pkg-config and the shared library" program_runs shared
check "a program with pkg-config and the static library" program_runs static
check "the documentation's example" example_runs
check "the example of a dump, in at most 20 lines" dump_example_runs
check "the program of howto-library.rst" howto_runs
check "the howtos name options that there are" howto_options_exist
if command -v python3 >/dev/null; then
	check "the Python module is found and decodes" python_module_runs
fi
check "header and pkg-config name one version" version_is_said
check "the packages say what building takes" packages_say_what_they_take
check "names in the archive have the prefix" archive_has_prefix
check "the archive has no encoders, tandem or truth" archive_only_decodes
check "--help fits the screen" help_fits
check "wrong arguments are explained" wrong_arguments_are_explained
check "every command is completed" commands_are_completed
check "options are found in --help" found_options
if command -v mandoc >/dev/null; then
	check "man pages are clean" mandoc -T lint -W warning "$root$prefix"/share/man/man1/*.1
	check "every option is in the man page" options_are_in_manual
else
	skip "man pages are clean" "no mandoc"
	skip "every option is in the man page" "no mandoc"
fi
check "every option is completed" options_are_completed
check "values and files are completed" values_are_completed
check "the DKMS tree is whole" dkms_tree_is_whole
check "a cross compiler has none of this machine's libraries" cross_flags
check "a build without a compiler says what to install" build_says "compiler 'no-cc' (package gcc)" CC=no-cc
mkdir "$dir/headers" && touch "$dir/headers/stdlib.h"
check "a build without libraries says what to install" \
	build_says 'gelf.h (package libelf-dev)' CC="cc -nostdinc -isystem $dir/headers"
check "make deps waits for another apt" setup_waits_for_apt
check "make uninstall leaves no file" uninstall
done_testing
