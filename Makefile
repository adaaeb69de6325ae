# Short names for what people do most. CMakePresets.json holds the build itself.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo demo-gpt test bench docs format clean nightly clang tidy asan tsan setup setup_nightly

JOBS := $(shell nproc 2>/dev/null || echo 2)

# $(call build,PRESET[,TARGET]): prints progress to a person, only problems to a log file.
define build
@mkdir -p build/$(1)
@cmake --preset $(1) >build/$(1)/configure.log || { cat build/$(1)/configure.log; exit 1; }
@echo "building $(or $(2),all) in build/$(1)"
@quiet=--quiet; [ -t 1 ] && quiet=; cmake --build --preset $(1) $(if $(2),--target $(2)) -- $$quiet
endef

help:  ## show this list
	@sed -n 's/^\([a-z -]*\):[^#]*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

demo: setup  ## build cotan-dlm and fit the built-in series; reports and plots go to out/
	$(call build,release,cotan-dlm)
	@build/release/apps/cotan-dlm demo $(ARGS)

demo-gpt: setup  ## build cotan-gpt, train a small model on sentences about numbers, and let it talk
	$(call build,release,cotan-gpt)
	@build/release/apps/cotan-gpt demo $(ARGS)

test: setup  ## build everything and run the tests
	$(call build,release)
	@ctest --preset release -j $(JOBS)

bench: setup  ## cotan beside JAX, PyTorch, jax-js, OpenBLAS; ARGS="--only softmax --quick" selects, --help
	$(call build,release,cotan_bench)
	@tools/bench_setup.sh python
	@python3 bench/run.py $(ARGS)

docs: setup  ## the generated pages in docs/, and the site with the reference in build/docs/html
	$(call build,release,test_cases tutorial_readme)
	@build/release/tests/test_cases --features >build/features.md
	@build/release/tests/test_cases --webgpu-dtypes >build/webgpu_dtypes.md
	@build/release/tests/test_cases --environment >build/environment.md
	@mv build/features.md build/webgpu_dtypes.md build/environment.md docs/
	@build/release/docs/tutorials/tutorial_readme docs/images/readme.svg
	@python3 -B tools/names/make_page.py
	@python3 -B tools/docs/fill_numbers.py
	@python3 -B tools/docs/make_site.py build/docs/html

clang: setup_nightly  ## build with clang 19 and run the tests
	$(call build,$@)
	@ctest --preset $@ -j $(JOBS)

tidy: setup_nightly  ## clang-tidy over src; ARGS="src/core" selects
	@mkdir -p build/clang && cmake --preset clang >build/clang/configure.log || { cat build/clang/configure.log; exit 1; }
	@tools/check/tidy.sh $(ARGS)

# asan: addresses and undefined behaviour, all tests. tsan: those that run on several threads; the case table computes on one
# array at a time, and its kernels are what test_native runs.
asan tsan: setup  ## build with sanitizers and run the tests
	$(call build,$@)
	@ctest --preset $@ -j $(JOBS)

nightly: export COTAN_NIGHTLY := 1
nightly: setup_nightly  ## the long run: nightly-size tests, clang, clang-tidy, all sanitizers
	$(call build,release)
	@ctest --preset release -C nightly -j $(JOBS) --timeout 14400
	@env -u COTAN_NIGHTLY $(MAKE) clang tidy asan tsan

format: setup  ## clang-format all sources
	@tools/check/format.sh --write

clean:  ## remove build/
	@rm -rf build

setup:
	@tools/setup.sh

setup_nightly:
	@tools/setup.sh nightly
