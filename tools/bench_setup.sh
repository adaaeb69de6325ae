#!/usr/bin/env bash
# Installs one peer of the benchmarks (python, jax, torch, statsmodels, dynamax or jaxjs) under build/, if it is missing.
# Prints nothing when there is nothing to do; where it fails, the last line on stderr says why.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=build/bench-venv
node=build/bench-node
log=build/bench-setup.log
mkdir -p build

fail() {
  echo "$1" >&2
  exit 1
}
# quietly WHAT COMMAND…: the output goes to the log.
quietly() {
  local what=$1
  shift
  "$@" >>"$log" 2>&1 || fail "$what failed, see $log"
}
apt_install() {
  command -v apt-get >/dev/null || fail "$* not installed, and there is no apt-get"
  local as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    command -v sudo >/dev/null || fail "as root: apt-get install $*"
    as_root=(sudo)
  fi
  echo "bench: installing $*"
  quietly "apt-get update" "${as_root[@]}" apt-get -qq update
  quietly "apt-get install $*" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq install -y --no-install-recommends "$@"
}
need() { command -v "$1" >/dev/null || apt_install "${2:-$1}"; }
pip() { quietly "pip $*" "$venv/bin/python" -m pip --disable-pip-version-check -q "$@"; }
imports() { "$venv/bin/python" -c "import $1" >>"$log" 2>&1; }
make_venv() {
  [[ -x $venv/bin/python ]] && "$venv/bin/python" -m pip --version >/dev/null 2>&1 && return
  need python3
  rm -rf "$venv"
  python3 -m venv "$venv" >>"$log" 2>&1 && return
  apt_install python3-venv # Debian's python3 comes without it
  rm -rf "$venv"
  quietly "python3 -m venv" python3 -m venv "$venv"
}

# PyPI's torch for Linux wants some 2.5 GB of CUDA libraries before it loads, even on a CPU. Stand-ins of the
# same names, whose functions all answer "no device", let it load without them.
stand_in_for_cuda() {
  cd "$venv"/lib/python3*/site-packages/torch/lib
  local names='lib\(cu\|nccl\|nv\)[^]]*'
  comm -23 <(nm -D --undefined-only ./*.so | awk 'NF == 2 {sub(/@.*/, "", $2); print $2}' |
               grep -E '^_*(cu|nccl|nv)' | sort -u) \
           <(nm -D --defined-only ./*.so | awk 'NF == 3 {sub(/@.*/, "", $3); print $3}' | sort -u) |
    sed 's/.*/int &(void) { return 100; }/' | cc -w -shared -fPIC -fno-builtin -x c - -o libno_cuda.so
  readelf -d ./*.so | sed -n "s/.*NEEDED.*\[\($names\)\]/\1/p" | sort -u | while read -r name; do
    [[ -e $name ]] || cc -shared -x c /dev/null -o "$name" -Wl,-soname,"$name" -Wl,--no-as-needed \
      -L. -lno_cuda -Wl,-rpath,'$ORIGIN'
  done
}

case ${1:-} in
  python)
    need python3
    ;;
  jax)
    [[ -e $venv/jax.ready ]] && exit 0
    make_venv
    echo "bench: installing jax into $venv (once)"
    pip install jax optax scipy
    imports jax && imports optax || fail "jax is installed but does not import, see $log"
    touch "$venv/jax.ready"
    ;;
  statsmodels | dynamax)
    [[ -e $venv/$1.ready ]] && exit 0
    make_venv
    echo "bench: installing $1 into $venv (once)"
    pip install "$1"
    imports "$1" || fail "$1 is installed but does not import, see $log"
    touch "$venv/$1.ready"
    ;;
  torch)
    [[ -e $venv/torch.ready ]] && exit 0
    make_venv
    echo "bench: installing torch into $venv (once, about 600 MB)"
    pip install numpy filelock typing-extensions sympy networkx jinja2 fsspec
    pip install --no-deps torch
    imports torch || (stand_in_for_cuda) >>"$log" 2>&1 || true
    if ! imports torch; then
      echo "bench: torch needs its CUDA libraries after all (about 2.5 GB)"
      pip install torch
      imports torch || fail "torch is installed but does not import, see $log"
    fi
    touch "$venv/torch.ready"
    ;;
  jaxjs)
    [[ -e $node/node_modules/@jax-js/jax/package.json ]] && exit 0
    need node nodejs
    need npm
    echo "bench: installing @jax-js/jax into $node (once)"
    mkdir -p "$node"
    quietly "npm install @jax-js/jax" npm install --prefix "$node" --no-audit --no-fund --silent @jax-js/jax
    ;;
  *)
    fail "usage: $0 python|jax|torch|statsmodels|dynamax|jaxjs"
    ;;
esac
