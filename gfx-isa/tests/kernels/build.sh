#!/bin/sh
# Makes the code objects of kernels.cl with clang and lld (22.1 of Debian was used). CLANG names another clang.
set -e
cd "$(dirname "$0")"
hidden=$(mktemp)
trap 'rm -f "$hidden"' EXIT
# Clang keeps a second copy of each kernel, for calls; nothing here calls kernels.
echo '{ local: __clang_ocl_kern_imp_*; };' >"$hidden"
build() { # name, processor, flags
    name=$1 target=$2
    shift 2
    "${CLANG:-clang-22}" -x cl -cl-std=CL2.0 -Xclang -finclude-default-header -target amdgcn-amd-amdhsa -mcpu="$target" \
        -cl-fp32-correctly-rounded-divide-sqrt -nogpulib -O2 -w -fno-ident -ffunction-sections -fuse-ld=lld -Wl,--strip-all,--gc-sections \
        -Wl,--version-script="$hidden" "$@" kernels.cl -o "$name.co"
}
for target in gfx908 gfx90a gfx942 gfx950 gfx1250 gfx1010 gfx1030 gfx1100 gfx1150 gfx1201; do
    build $target $target
done
build gfx1030-wave64 gfx1030 -mwavefrontsize64
build gfx1201-wave64 gfx1201 -mwavefrontsize64
# An older version, and generic code of several processors.
build gfx1030-v4 gfx1030 -mcode-object-version=4
build gfx11-generic gfx11-generic -mcode-object-version=6
