# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash
#
# What the guest boots from: a disk image of the guest root, and per kernel a small initramfs.

# Modules of the initramfs, besides those that they need. The file systems of the shared folder are
# loaded on demand.
LAB_MODULES=(virtio_mmio virtio_blk squashfs overlay 9p 9pnet_virtio)

# image_root DIR FILE: make FILE a squashfs image of the guest root DIR, less what only the cross
# compiler wants. It is not compressed: the guest's processors are slow, the host's disk is not.
image_root()
{
	rm -f "$2"
	mksquashfs "$1" "$2" -quiet -no-progress -all-root -noI -noD -noF -noX -no-xattrs -wildcards -e .lab usr/include \
		usr/lib/gcc 'usr/lib/*.a' 'usr/lib/*/*.a' 'usr/lib/*/lib*san.so*' 'usr/lib/*/perl*' usr/share/perl* \
		usr/share/pkgconfig 'usr/lib/*/pkgconfig' > "$2.log" 2>&1 || { cat "$2.log" >&2; return 1; }
}

# image_accounts DIR: directories and users of the guest: root, and lab (1000) to try things without
# rights.
image_accounts()
{
	mkdir -p "$1"/{etc,home/lab,dev,proc,sys,tmp,run,root,mnt,lab,usr/local/bin,var/tmp}
	printf '%s\n' root:x:0:0:root:/root:/bin/bash lab:x:1000:1000:lab:/home/lab:/bin/bash \
		nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin > "$1/etc/passwd"
	printf '%s\n' root:x:0: lab:x:1000: nogroup:x:65534: > "$1/etc/group"
	echo '127.0.0.1 localhost rvtrace-lab' > "$1/etc/hosts"
}

# image_initrd KERNEL: print the name of an initramfs for KERNEL (stable or testing), made when it
# is not up to date.
image_initrd()
{
	local file=$LAB_BUILD/initrd-$1.cpio kernel guest

	kernel=$(root_path "kernel-$1")
	guest=$(root_path guest)
	if [ ! "$file" -nt "$kernel/.lab/info" ] || [ ! "$file" -nt "$guest/.lab/info" ] ||
		[ ! "$file" -nt "$LAB_DIR/guest/init" ] || [ ! "$file" -nt "$LAB_DIR/lib/image.sh" ]; then
		image_make_initrd "$kernel" "$guest" "$file" >&2 ||
			lab_die "cannot make the initramfs in $LAB_BUILD: see above"
	fi
	echo "$file"
}

image_make_initrd()
{
	local PATH=$PATH:/sbin:/usr/sbin kernel=$1 guest=$2 file=$3 stage modules module

	# In the run's own directory: nothing is left of a run that was stopped.
	stage=$RUN_DIR/initrd.d
	mkdir -p "$stage"/{bin,dev,proc,sys,disk,ram,root,modules,lab}
	cp "$guest/usr/bin/busybox" "$stage/bin/" || return 1
	install -m 755 "$LAB_DIR/guest/init" "$stage/init" || return 1
	modules=$(echo "$kernel"/usr/lib/modules/*)
	for module in "${LAB_MODULES[@]}"; do
		module_order "$modules" "$module"
	done | awk '!seen[$0]++' > "$stage/modules/files"
	while read -r module; do
		image_plain "$module" "$stage/modules" || return 1
	done < "$stage/modules/files"
	sed 's/\.ko\..*/.ko/; s,.*/,,' "$stage/modules/files" > "$stage/modules/order"
	(cd "$stage" && find . | cpio --quiet -o -H newc -R 0:0) > "$stage.cpio" || return 1
	mv "$stage.cpio" "$file"
	rm -rf "$stage"
}

# module_order DIR MODULE: print the file of the module under DIR, after those of the modules that
# it needs.
module_order()
{
	local file need

	file=$(find "$1/kernel" -name "$2.ko*" -o -name "${2//_/-}.ko*" | head -n 1)
	# What the kernel has built in has no file.
	[ -n "$file" ] || return 0
	for need in $(modinfo -F depends "$file" | tr ',' ' '); do
		module_order "$1" "$need"
	done
	echo "$file"
}

# image_plain FILE DIR: put the kernel module FILE into DIR, uncompressed.
image_plain()
{
	local name=${1##*/}

	name=${name%.ko*}.ko
	case $1 in
	*.xz) xz -dc "$1" > "$2/$name" ;;
	*.zst) zstd -qdc "$1" > "$2/$name" ;;
	*.gz) gzip -dc "$1" > "$2/$name" ;;
	*) cp "$1" "$2/$name" ;;
	esac
}
