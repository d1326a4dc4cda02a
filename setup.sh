#!/usr/bin/env bash
# One door to everything: ./setup.sh help
set -euo pipefail
cd "$(dirname "$0")"
export LC_ALL=C
# Lets ccache, where there is one, find again in one clone what it compiled in another.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

build_packages=(
  g++ cmake ninja-build pkg-config
  libzmq3-dev cppzmq-dev libflatbuffers-dev flatbuffers-compiler libsodium-dev libopenblas-dev
  libboost-dev libhwy-dev libtomlplusplus-dev libcli11-dev nlohmann-json3-dev
  zlib1g-dev catch2 dataset-fashion-mnist
)
corpus_packages=(perl-doc)
bench_packages=(python3-torch)
parity_packages=(python3-torch python3-venv)
check_packages=(clang-14 libclang-rt-14-dev clang-format-14 clang-tidy-14 git)
arm64_packages=(
  crossbuild-essential-arm64 qemu-user-static
  libsodium-dev:arm64 libopenblas-dev:arm64 libhwy-dev:arm64
)

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }
if [[ ! -t 2 || -n ${NO_COLOR:-} ]]; then say() { printf '==> %s\n' "$*" >&2; }; fi
fail() { printf 'setup.sh: %s\n' "$*" >&2; exit 1; }

help() {
  cat <<'TEXT'
./setup.sh COMMAND

  demo    everything a fresh Debian 12 needs, then four peers train Fashion-MNIST here
  test    everything a fresh Debian 12 needs, then all tests (arguments go to ctest)
  build   packages, configure, build; leaves the program at build/shoal
  deps    packages only
  data    texts that some of configs/ train on
  bench   speed, beside its baseline (installs PyTorch), in the same run
  parity  the same numbers as PyTorch and onnxruntime (installs both, the latter from PyPI)
  arm64   cross-build for 64-bit ARM; golden vectors and optimizer hashes under qemu
  asan    all tests under AddressSanitizer and UndefinedBehaviorSanitizer
  tsan    tests of the memory network under ThreadSanitizer
  fuzz    libFuzzer on every target; FUZZ_RUNS inputs each (default 100000)
  format  clang-format check; `format --fix` rewrites
  lint    clang-tidy on the sources (arguments: files)

SHOAL_LONG=1 ./setup.sh test runs the tests marked [long] in full instead of in slices.
TEXT
}

# missing PACKAGE...: prints those that are not installed.
missing() {
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      printf '%s ' "$package"
  done
}

as_root() {
  if [[ $(id -u) == 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "installing packages needs root, and there is no sudo. As root, run: $*"
  fi
}

apt_get() {
  local log
  log=$(mktemp)
  if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
    -o Dpkg::Use-Pty=0 "$@" >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    fail "apt-get $1 failed (see above). Check the network and /etc/apt/sources.list; Debian 12" \
      "main has every package that shoal needs. Then run this again."
  fi
  rm -f "$log"
}

install_packages() {
  command -v dpkg-query >/dev/null ||
    fail "this is not a Debian system, so packages can't be installed from here. Use Debian 12 (a" \
      "container will do), or install what the README lists and run cmake --preset release."
  local packages
  read -ra packages <<<"$(missing "$@")" || true
  [[ ${#packages[@]} == 0 ]] && return
  say "installing ${packages[*]}"
  apt_get update
  apt_get install "${packages[@]}"
}

jobs_count() {
  # A heavy source needs about 1 GB of compiler.
  local cores memory
  cores=$(nproc)
  memory=$(($(sed -n 's/^MemAvailable: *\([0-9]*\).*/\1/p' /proc/meminfo) / 1000000))
  echo $((memory < 1 ? 1 : memory < cores ? memory : cores))
}

# build_dir PRESET
build_dir() { if [[ $1 == release ]]; then echo build; else echo "build-$1"; fi; }

# compile PRESET [TARGET...]
compile() {
  local preset=$1 dir log
  shift
  dir=$(build_dir "$preset")
  if [[ ! -f $dir/build.ninja ]]; then
    say "configuring $dir (preset $preset)"
    log=$(mktemp)
    if ! cmake --preset "$preset" >"$log" 2>&1; then
      cat "$log" >&2
      rm -rf "$log" "$dir/CMakeCache.txt"
      fail "cmake could not configure. ./setup.sh deps installs what it looks for."
    fi
    rm -f "$log"
  fi
  say "building $dir"
  cmake --build "$dir" -j "$(jobs_count)" ${1:+--target "$@"} >&2 ||
    fail "the build failed (see above). After a change of compiler or packages, remove $dir" \
      "and try again."
}

run_tests() {
  local preset=$1
  shift
  say "testing $(build_dir "$preset")"
  ctest --preset "$preset" -j "$(jobs_count)" "$@"
}

sources() { git ls-files -z --cached --others --exclude-standard -- '*.h' '*.cpp' '*.cu'; }

command_deps() { install_packages "${build_packages[@]}"; }

command_data() { install_packages "${corpus_packages[@]}"; }

command_build() {
  command_deps
  compile release shoal
}

command_demo() {
  command_build
  say "build/shoal up configs/quickstart.toml"
  exec build/shoal up configs/quickstart.toml "$@"
}

command_test() {
  command_deps
  compile release
  run_tests release "$@"
}

command_bench() {
  install_packages "${build_packages[@]}" "${bench_packages[@]}"
  local source benches=()
  for source in tests/bench/*.cpp; do
    benches+=("bench_$(basename "$source" .cpp)")
  done
  compile release shoal "${benches[@]}"
  export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
  local bench missed=0
  for bench in "${benches[@]}"; do
    say "build/tests/$bench"
    "build/tests/$bench" "$@" || missed=$?
    [[ $missed -lt 2 ]] || fail "$bench could not measure (see above)."
  done
  say "build/shoal bench codec"
  build/shoal bench codec "$@"
  [[ $missed == 0 ]] || fail "not every ratio is met (see above)."
}

command_parity() {
  install_packages "${build_packages[@]}" "${parity_packages[@]}"
  compile release parity_steps parity_exports
  if ! build/python/bin/python3 -c 'import numpy, onnxruntime, safetensors, torch' 2>/dev/null; then
    say "installing onnxruntime and safetensors into build/python"
    # Debian's python3-torch is built for numpy 1.
    /usr/bin/python3 -m venv --clear --system-site-packages build/python &&
      build/python/bin/pip install --quiet 'numpy<2' 'onnxruntime>=1.20' 'safetensors>=0.4' ||
      fail "pip could not install them. Check that this machine reaches PyPI; then run this again."
  fi
  export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
  say "tests/parity/exports.py"
  build/python/bin/python3 tests/parity/exports.py build/tests/parity_exports
  say "tests/parity/steps.py"
  build/python/bin/python3 tests/parity/steps.py build/tests/parity_steps "$@"
}

command_asan() {
  command_deps
  compile asan
  run_tests asan "$@"
}

command_tsan() {
  command_deps
  compile tsan tests_comm
  run_tests tsan -R '^tests_comm:' "$@"
}

command_fuzz() {
  install_packages "${build_packages[@]}" "${check_packages[@]}"
  compile fuzz fuzzers
  local target name
  for target in build-fuzz/tests/*_fuzz; do
    name=$(basename "$target" _fuzz)
    say "fuzzing $name, ${FUZZ_RUNS:-100000} inputs"
    mkdir -p "build-fuzz/corpus/$name" "tests/fuzz/corpus/$name"
    "$target" -runs="${FUZZ_RUNS:-100000}" -rss_limit_mb=2048 -timeout=10 -print_final_stats=1 \
      -artifact_prefix="build-fuzz/$name-" "build-fuzz/corpus/$name" "tests/fuzz/corpus/$name" \
      >"build-fuzz/$name.log" 2>&1 || {
      tail -n 40 "build-fuzz/$name.log" >&2
      fail "$name fell over; the input lies beside build-fuzz/$name.log"
    }
    grep -E 'number_of_executed_units|peak_rss_mb' "build-fuzz/$name.log"
  done
}

command_format() {
  install_packages "${check_packages[@]}"
  if [[ ${1:-} == --fix ]]; then
    sources | xargs -0 clang-format-14 -i
  else
    say "clang-format 14"
    sources | xargs -0 clang-format-14 --dry-run -Werror ||
      fail "formatting differs; ./setup.sh format --fix rewrites it."
  fi
}

command_lint() {
  install_packages "${build_packages[@]}" "${check_packages[@]}"
  compile release
  say "clang-tidy 14"
  if [[ $# == 0 ]]; then
    mapfile -t files < <(git ls-files -- 'ops/*.cpp' 'compress/*.cpp' 'comm/*.cpp' 'node/*.cpp')
    set -- "${files[@]}"
  fi
  printf '%s\0' "$@" | xargs -0 -n 4 -P "$(nproc)" clang-tidy-14 -p build --quiet 2>/dev/null ||
    fail "clang-tidy has findings (see above)."
}

command_arm64() {
  command_deps
  if [[ -n $(missing "${arm64_packages[@]}") ]]; then
    if ! dpkg --print-foreign-architectures | grep -qx arm64; then
      say "adding the architecture arm64 to dpkg"
      as_root dpkg --add-architecture arm64
    fi
    install_packages "${arm64_packages[@]}"
  fi
  compile arm64 tests_ops tests_compress
  compile release tests_ops tests_compress
  export OPENBLAS_NUM_THREADS=1
  local test
  for test in tests_ops tests_compress; do
    say "$test [golden] here"
    build/tests/$test '[golden]'
    say "$test [golden] under qemu-aarch64"
    qemu-aarch64-static -L /usr/aarch64-linux-gnu build-arm64/tests/$test '[golden]'
  done
}

command=${1:-help}
[[ $# == 0 ]] || shift
case $command in
  demo | test | build | deps | data | bench | parity | arm64 | asan | tsan | fuzz | format | lint)
    "command_$command" "$@" ;;
  help | -h | --help) help ;;
  *)
    help >&2
    fail "there is no command '$command'." ;;
esac
