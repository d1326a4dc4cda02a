#!/usr/bin/env bash
# Holds a CUDA device to the CPU, on the machine that has it: tests/device/check.sh help
set -euo pipefail
cd "$(dirname "$0")/../.."
jobs=$(nproc) # before the next line, which it heeds
export LC_ALL=C OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

out=${SHOAL_DEVICE_DIR:-build-device}
taken=$out/packages
no_gpu=77
no_nvcc=78
no_packages=79
no_build=80

help() {
  cat <<'TEXT'
tests/device/check.sh [COMMAND]

  (none)  build here what is missing, then compare every operation of CUDA and CPU and time
          training steps on both; below 6 minutes
  build   only build; needs no GPU
  pack    copy the packages that the build needs from this Debian machine into
          build-device/packages, for a machine that has none and no internet: take the folder
          along with the sources (x86-64, glibc of Debian 12 or newer)

Needs g++ 12 or clang 14, the CUDA Toolkit (nvcc, cuBLAS), and either the packages that it names
when they are missing or build-device/packages. Neither CMake nor make.
SHOAL_DEVICE_DIR names another folder than build-device; NVCC and CXX other compilers.

Exit: 0 all conforms, 1 something does not, 2 the device failed, 77 no GPU, 78 no nvcc, 79 no
packages, 80 the build failed.
TEXT
}

say() { printf '==> %s\n' "$*" >&2; }
fail() {
  local code=$1
  shift
  printf 'check.sh: %s\n' "$*" >&2
  exit "$code"
}

# Packages of Debian by a header of theirs.
packages=(sodium.h=libsodium-dev cblas.h=libopenblas-dev hwy/highway.h=libhwy-dev
  nlohmann/json.hpp=nlohmann-json3-dev)
# What `pack` copies: those, what they link to at run time, and the files behind alternatives.
packed=(libsodium-dev libsodium23 libopenblas-pthread-dev libopenblas0-pthread libhwy-dev libhwy1
  nlohmann-json3-dev:all libgfortran5 libquadmath0)

find_gpu() {
  if ! command -v nvidia-smi >/dev/null || ! gpu=$(nvidia-smi \
    --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null) ||
    [[ -z $gpu ]]; then
    return 1
  fi
}

find_nvcc() {
  local folder
  nvcc=${NVCC:-}
  for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
    [[ -n $nvcc || -z $folder || ! -x $folder/bin/nvcc ]] || nvcc=$folder/bin/nvcc
  done
  [[ -n $nvcc ]] || nvcc=$(command -v nvcc) || fail "$no_nvcc" \
    "there is no nvcc in PATH, CUDA_HOME or /usr/local/cuda. Install the CUDA Toolkit (apt-get" \
    "install nvidia-cuda-toolkit, or developer.nvidia.com/cuda-downloads), or name one in NVCC."
  local bin
  bin=$(dirname "$(readlink -f "$nvcc")")
  for folder in "$bin/../lib64" "$bin/../lib" "$bin/../targets/x86_64-linux/lib" \
    /usr/lib/x86_64-linux-gnu; do
    if [[ -e $folder/libcublas.so ]]; then
      cublas=$(cd "$folder" && pwd)
      return
    fi
  done
  fail "$no_nvcc" "$nvcc is here, but not its cuBLAS (libcublas.so). Install libcublas-dev of the" \
    "same CUDA Toolkit."
}

find_packages() {
  local entry missing=()
  cxx=${CXX:-}
  for entry in g++ g++-14 g++-13 g++-12 clang++ clang++-14; do
    [[ -n $cxx ]] || ! command -v "$entry" >/dev/null || cxx=$entry
  done
  [[ -n $cxx ]] || fail "$no_packages" "there is no C++ compiler: apt-get install g++"
  include=(-I.)
  link=()
  local gnu=usr/lib/x86_64-linux-gnu
  if [[ -d $taken ]]; then
    say "using $taken"
    include+=(-isystem "$taken/usr/include" -isystem "$taken/usr/include/x86_64-linux-gnu"
      -isystem "$taken/usr/include/x86_64-linux-gnu/openblas-pthread")
    for entry in "$gnu" "$gnu/openblas-pthread"; do
      link+=(-L"$taken/$entry" -Wl,-rpath,"\$ORIGIN/packages/$entry"
        -Wl,-rpath-link,"$taken/$entry")
    done
  else
    include+=(-isystem /usr/include/x86_64-linux-gnu/openblas-pthread)
  fi
  for entry in "${packages[@]}"; do
    "$cxx" -std=c++20 "${include[@]}" -fsyntax-only -include "${entry%=*}" -x c++ /dev/null \
      2>/dev/null || missing+=("${entry#*=}")
  done
  [[ ${#missing[@]} == 0 ]] || fail "$no_packages" "these packages are missing: ${missing[*]}." \
    "With internet: apt-get install ${missing[*]}. Without: on a Debian 12 machine that has" \
    "them, tests/device/check.sh pack, then bring build-device/packages here."
}

pack() {
  local package file
  rm -rf "$taken"
  for package in "${packed[@]}"; do
    # Another architecture's may be installed beside it.
    [[ $package == *:* ]] || package+=:$(dpkg --print-architecture)
    dpkg-query -L "$package" >/dev/null 2>&1 ||
      fail "$no_packages" "$package is not installed here: apt-get install $package"
    while read -r file; do
      file=${file/#\/lib\//\/usr\/lib\/}
      if [[ -f $file && $file == /usr/@(include|lib)/* && $file != *.a &&
        $file != */@(liblapack|libblas).so* ]]; then
        mkdir -p "$taken$(dirname "$file")"
        cp -P "$file" "$taken$file"
      fi
    done < <(dpkg-query -L "$package")
  done
  du -sh "$taken" >&2
}

# compile OUTPUT COMMAND...: unless the output is newer than all sources.
compile() {
  local output=$1
  shift
  if [[ ! -e $output || -n $(find ops tests/device tests/bench .cmake -newer "$output" \
    -regex '.*\.\(h\|inc\|cpp\|cu\|txt\)' -print -quit) ]]; then
    printf '%s\0' "$*" >>"$out/commands"
  fi
}

objects_of() { # objects_of SOURCE...: where each is compiled to
  local source
  for source in "$@"; do printf '%s\n' "$out/$source.o"; done
}

build() {
  local sources cuda source flags device
  find_nvcc
  find_packages
  mapfile -t sources < <(find ops tests/device tests/bench/steps/training.cpp -name '*.cpp' | sort)
  mapfile -t cuda < <(find ops -name '*.cu' | sort)
  mapfile -t flags <.cmake/nvcc_flags.txt
  mkdir -p "$out"
  : >"$out/commands"
  for source in "${cuda[@]}"; do # the longest first
    compile "$out/$source.o" "$nvcc" "${flags[@]}" -I. -ccbin "$cxx" -c "$source" \
      -o "$out/$source.o"
  done
  for source in "${sources[@]}"; do
    compile "$out/$source.o" "$cxx" -std=c++20 -O2 -fPIC -ffp-contract=off -DHWY_SHARED_DEFINE \
      "${include[@]}" -c "$source" -o "$out/$source.o"
  done
  say "building with $nvcc and $cxx, $jobs at a time"
  objects_of "${sources[@]}" "${cuda[@]}" | xargs -n 1 dirname | sort -u | xargs mkdir -p
  xargs -0 -r -n 1 -P "$jobs" bash -c <"$out/commands" ||
    fail "$no_build" "the build failed (see above)"
  mapfile -t device < <(objects_of "${cuda[@]}")
  "$nvcc" -shared -cudart static -ccbin "$cxx" "${device[@]}" "$cublas/libcublas.so" \
    -Xlinker=--no-undefined,--exclude-libs=ALL,-rpath="$cublas" -o "$out/libshoal_cuda.so" ||
    fail "$no_build" "libshoal_cuda.so does not link"
  mapfile -t device < <(objects_of "${sources[@]}")
  "$cxx" "${device[@]}" "${link[@]}" -Wl,-rpath,"\$ORIGIN" -lsodium -lopenblas -lhwy -lpthread \
    -ldl -o "$out/device_check" || fail "$no_build" "device_check does not link"
}

check() {
  local gpu started=$SECONDS status=0
  find_gpu || fail "$no_gpu" "there is no NVIDIA GPU here, or no driver for it: nvidia-smi names" \
    "none. To build only: tests/device/check.sh build; the host's side is part of ctest."
  printf 'card, driver, memory: %s\n' "$gpu"
  build
  say "built in $((SECONDS - started)) s"
  "$out/device_check" || status=$?
  say "$((SECONDS - started)) s in all"
  return "$status"
}

case ${1:-check} in
  check | build | pack) "${1:-check}" ;;
  help | -h | --help) help ;;
  *)
    help >&2
    exit 2 ;;
esac
