#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Discovery attributes of E-Trace encoders, all that tables 7.2 to 7.4 have, as the driver finds
# them: each field of the registers by its own value and by its complement, each property by a value
# that no other has.
. "$(dirname "$0")/../lib.sh"

# NAME:BITS of the registers' fields from bit 0 on, as the example of section 7.2 has them.
info_0_of_draft='version:4 minor_revision:4 arch:4 bpred_size:4 cache_size:4 call_counter_size:3
	comparators:3 ctype_width:5 context_width:5 ecause_choice:3 ecause_width:4 filters:4
	filter_context:1 filter_ecause:4 filter_interrupt:1 filter_privilege:1 filter_tval:1
	filter_impdef:1 f0s_width:2 iaddress_lsb:2'
info_1_of_draft='iaddress_width:7 ilastsize_width:7 itype_width:7 iretire_width:7 nocontext:1
	ntkn_width:2 privilege_width:2 retires:3 return_stack_size:4 sijump:1 taken_branches:4
	impdef_width:5'
info_0_of_2_0='version:4 minor_revision:4 arch:4 bpred_size:4 cache_size:4 call_counter_size:3
	comparators:3 ctype_width:5 context_width:5 ecause_choice:3 ecause_width:4 filters:4
	filter_context:1 filter_excint:4 filter_privilege:1 filter_tval:1 filter_impdef:1 f0s_width:2
	iaddress_lsb:2'
info_1_of_2_0='iaddress_width:7 ilastsize_width:7 itype_width:7 iretire_width:7 nocontext:1
	privilege_width:2 retires:3 return_stack_size:4 sijump:1 taken_branches:4 impdef_width:5'
# Attributes of tables 7.2 to 7.4 of 2.0 that its registers do not have.
only_properties='time_width notime filter_time'

# expect_registers FIELDS-0 FIELDS-1 INVERT: sets info_0, info_1 and what is expected of them
expect_registers()
{
	local field name bits value shift n=0 info

	info_0=0 info_1=0
	: >"$work/expected"
	for info in 0 1; do
		shift=0
		for field in $([ $info = 0 ] && echo "$1" || echo "$2"); do
			name=${field%:*} bits=${field#*:} n=$((n + 1))
			value=$(((n * 11 + 5 ^ $3) & (1 << bits) - 1))
			if [ $info = 0 ]; then
				info_0=$((info_0 | value << shift))
			else
				info_1=$((info_1 | value << shift))
			fi
			shift=$((shift + bits))
			echo "$name = $value" >>"$work/expected"
		done
	done
}

# found NAME: the attributes of the guest are those expected, and no others
found()
{
	sort "$work/expected" | diff - <(grep -vE "$1" "$dir/share/attributes" | sort)
}

script='insmod rvtrace.ko || exit 1
	cd /sys/bus/rvtrace/devices/encoder-1/discovery || exit 2
	for a in *; do echo "$a = $(cat $a)"; done > /mnt/share/attributes; cd /
	rmmod rvtrace'
work=$TOP/build/guest/$test_name
mkdir -p "$work"

for setting in 0.029:draft:stable 2.0:2_0:testing; do
	IFS=: read -r dialect which kernel <<<"$setting"
	params=$TOP/tools/model/params/etrace-$dialect
	hook_options="--params $params --discovery registers"
	fields_0=info_0_of_$which fields_1=info_1_of_$which
	for invert in 0 -1; do
		expect_registers "${!fields_0}" "${!fields_1}" $invert
		guest "registers-$dialect$invert" "$kernel" \
			"etrace=$params,formats=etrace,discovery0=$(printf 0x%x $info_0),discovery1=$(printf 0x%x $info_1)" "$script"
		ok $? "$dialect: the module is loaded"
		check "$dialect: registers: each field, ${invert/-1/complement}" found '^(time_width|notime|filter_time) '
	done
	# As properties, and no registers.
	n=100
	: >"$work/expected" >"$work/properties"
	for field in ${!fields_0} ${!fields_1} $([ "$dialect" = 0.029 ] || echo "$only_properties"); do
		name=${field%:*} n=$((n + 1))
		echo "$name = $n" >>"$work/expected"
		echo "rvtrace,te-${name//_/-} = <$n>;" >>"$work/properties"
	done
	cat >"$work/hook" <<-END
		#!/bin/sh
		# Into each encoder's node, which names its hart.
		"$TOP/tools/model/dtb-hook" --params "$TOP/tools/model/params/etrace-$dialect" --discovery text "\$1"
		exec perl -0pi -e 'BEGIN { local \$/; open my \$in, "<", "$work/properties"; \$p = <\$in> }
			s/(\n\t\tcpus = <[^>]*>;)/\$1\n\t\trvtrace,etrace-dialect = "$dialect";\n\$p/g' "\$1"
	END
	chmod +x "$work/hook"
	lab_options="--dtb-hook $work/hook"
	guest "properties-$dialect" "$kernel" "etrace=$params,formats=etrace" "$script"
	ok $? "$dialect: the module is loaded with properties"
	check "$dialect: properties: each attribute" found '^$'
	lab_options=
done
done_testing
