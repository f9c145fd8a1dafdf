#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What the kernel's own tools say of the driver: W=1 and sparse on both kernels, checkpatch --strict
# (it comes with the source of the debug kernel) and the devicetree's schema.
. "$(dirname "$0")/../lib.sh"

dir=$TOP/build/guest/driver-style
rm -rf "$dir"
mkdir -p "$dir"

# quiet_build KERNEL: each file is compiled and checked, and nothing is said. What sparse says of a
# -march that it does not know is not about us. riscv_ctr_brstack.c is built in the kernel's tree only
# (tests/long/kernel-series.t).
quiet_build()
{
	"$LAB" kmake --kernel "$1" "$dir/$1" W=1 C=2 modules >"$dir/$1.log" 2>&1 || { cat "$dir/$1.log"; return 1; }
	[ "$(grep -c ' CHECK ' "$dir/$1.log")" -ge "$(find "$dir/$1/drivers" -name '*.c' ! -name '*-kunit*.c' ! -name '*.mod.c' ! -name riscv_ctr_brstack.c | wc -l)" ] ||
		{ echo "sparse did not see each file"; return 1; }
	grep -v "invalid argument to '-march'" "$dir/$1.log" | grep -E -i 'warning|error' && return 1
	return 0
}

make -C "$TOP" --no-print-directory install-dkms DESTDIR="$dir/dest" prefix=/usr >"$dir/install.log" 2>&1 || cat "$dir/install.log"
for kernel in stable testing; do
	cp -r "$dir"/dest/usr/src/rvtrace-* "$dir/$kernel"
	check "$kernel: W=1 and sparse" quiet_build $kernel
done

# strict NAME IGNORED FILE...: checkpatch counts nothing in the files, but for the types IGNORED. In a
# checkout it leaves a file behind.
cd "$dir" || exit 1
strict()
{
	check "checkpatch --strict: $1" perl "$checkpatch" --strict --no-tree --no-signoff --terse --show-types \
		--ignore "$2" --file "${@:3}"
}

if "$LAB" debug-kernel >"$dir/debug-kernel.log" 2>&1; then
	checkpatch=$("$LAB" path kernel-debug)/usr/src/linux/scripts/checkpatch.pl
	mapfile -t files < <(find "$TOP/drivers" "$TOP/include/uapi" "$TOP/Documentation/ABI" "$TOP/Documentation/devicetree/bindings" \
		-type f ! -name module.mk)
	# Kernels before 7.0 have no kzalloc_obj().
	strict "the driver" COMMIT_MESSAGE,ALLOC_WITH_SIZEOF "${files[@]}"
	# Programs of user space have other types, attributes and macros than the kernel.
	strict "the selftests" PREFER_KERNEL_TYPES,PREFER_DEFINED_ATTRIBUTE_MACRO,BIT_MACRO,VOLATILE,CAMELCASE,EMBEDDED_FUNCTION_NAME \
		"$TOP"/selftests/*.[ch]
	# Who only sees it pass does not know that it looks.
	printf '// SPDX-License-Identifier: GPL-2.0-only\nint f(int a)\n{\n\tif (a == 0) {\n\t\treturn 1;\n\t}\n\treturn 0;\n}\n' >"$dir/bad.c"
	! perl "$checkpatch" --strict --no-tree --no-signoff --terse --file "$dir/bad.c" >/dev/null 2>&1
	ok $? "checkpatch finds what is wrong"
else
	skip "checkpatch --strict" "no kernel source: $(tail -n 1 "$dir/debug-kernel.log")"
fi

# documented KERNEL-DOC FILE...: a comment describes each parameter and member where there is one.
documented()
{
	perl "$1" -none -Wall -Werror "${@:2}"
}

# undocumented FILE...: prints the structs, unions and enums that no kernel-doc comment precedes.
undocumented()
{
	awk '/^\/\*/ { doc = /^\/\*\*$/ }
	/^(struct|union|enum) [a-z0-9_]+ \{/ && !(doc && last ~ /\*\/$/) { print FILENAME ":" FNR ": " $0 }
	{ last = $0 }' "$@"
}

mapfile -t files < <(find "$TOP/drivers" "$TOP/include/uapi" -name '*.[ch]')
undocumented "${files[@]}" >"$dir/undocumented"
[ ! -s "$dir/undocumented" ]
ok_or_show $? "each struct and enum of the drivers has kernel-doc" "$dir/undocumented"
printf '/**\n * f - b\n */\nvoid f(void);\n\n/* c */\nstruct a {\n\tint c;\n};\n' >"$dir/bare.h"
is "one without is found" "$dir/bare.h:7: struct a {" "$(undocumented "$dir/bare.h")"
kernel_doc=$(compgen -G "$("$LAB" path kernel-stable)/usr/lib/linux-kbuild-*/scripts/kernel-doc" | tail -n 1)
if [ -n "$kernel_doc" ]; then
	check "kernel-doc of the drivers is complete" documented "$kernel_doc" "${files[@]}"
	printf '/**\n * struct a - b\n * @c: d\n */\nstruct a {\n\tint c;\n\tint e;\n};\n' >"$dir/bad.h"
	! perl "$kernel_doc" -none -Wall -Werror "$dir/bad.h" >/dev/null 2>&1
	ok $? "kernel-doc finds what is missing"
else
	skip "kernel-doc of the drivers is complete" "no kernel-doc"
fi

# tree OPTIONS: what the model's dtb-hook makes with them of a machine with two harts is valid.
tree()
{
	cat >"$dir/tree.dts" <<-'END'
	/dts-v1/;
	/ {
		#address-cells = <2>;
		#size-cells = <2>;
		model = "lab";
		compatible = "rvtrace,lab";
		cpus {
			#address-cells = <1>;
			#size-cells = <0>;
			cpu@0 {
				phandle = <1>;
				device_type = "cpu";
				reg = <0>;
			};
			cpu@1 {
				phandle = <2>;
				device_type = "cpu";
				reg = <1>;
			};
		};
	};
	END
	# shellcheck disable=SC2086 # these are words
	LAB_SMP=2 LAB_TRACE_BASE=$((0xc0000000)) "$TOP/tools/model/dtb-hook" $1 "$dir/tree.dts" &&
		dtc -q -I dts -O dtb -o "$dir/tree.dtb" "$dir/tree.dts" &&
		"$TOP/Documentation/devicetree/check" "$dir/tree.dtb"
}

if command -v dt-doc-validate >/dev/null && command -v dtc >/dev/null; then
	check "the devicetree binding and its examples" "$TOP/Documentation/devicetree/check"
	for options in "direct --clock --power" "funnel --clock --power --carveout 0x10000" tree pib k3 "k3-etr --clock --power" \
		"direct --registers v0 --clock --power" "funnel --registers v0"; do
		check "the model's devicetree: --topology $options" tree "--topology $options"
	done
	sed -i '/in-ports/ i bogus = <1>;' "$dir/tree.dts"
	dtc -q -I dts -O dtb -o "$dir/tree.dtb" "$dir/tree.dts"
	"$TOP/Documentation/devicetree/check" "$dir/tree.dtb" >"$dir/bogus"
	is "a property that is not in the binding is found" 1 $?
	check "and named" grep -q "'bogus' was unexpected" "$dir/bogus"
else
	skip "the devicetree binding and its examples" "no dt-schema"
fi
done_testing
