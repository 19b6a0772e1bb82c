# tensord: `make run` serves, `make test` tests everything, `make help` lists the rest.
#
# Nothing here needs a package before a recipe runs: `run`, `test` and `bench` install what is
# missing first and then call make again.

PACKAGES := gcc g++ pkg-config curl libmicrohttpd-dev libgnutls28-dev libcjson-dev libinih-dev \
            libcurl4-openssl-dev libcmocka-dev zlib1g-dev python3-venv
# For tensord-follow; without them all else builds, and its tests are skipped.
FOLLOW_PACKAGES := libhiredis-dev
TEST_PACKAGES = $(PACKAGES) clang libomp-dev libclang-rt-14-dev nodejs chromium $(if $(PTXEMU),libzstd-dev)

CC  := gcc
CXX := g++
SANITIZE ?=
BUILD ?= build$(if $(SANITIZE),/$(subst $(comma),+,$(SANITIZE)))
comma := ,
empty :=
space := $(empty) $(empty)

# One set of warnings and of floating-point rules for every object: the same bits everywhere need no
# contraction into fma and no fast-math.
WARN   := -Wall -Wextra -Wshadow -Werror
CWARN  := $(WARN) -Wstrict-prototypes -Wmissing-prototypes
COMMON := -O3 -g -ffp-contract=off -fno-math-errno -fvisibility=hidden -I. -MMD -MP -D_GNU_SOURCE \
          -fstack-protector-strong
OPENMP := -fopenmp
ifneq ($(SANITIZE),)
COMMON += -O1 -fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all
endif
ifneq ($(findstring thread,$(SANITIZE))$(findstring fuzzer,$(SANITIZE)),)
CC     := clang
CXX    := clang++
OPENMP := -fopenmp=libomp
endif
CFLAGS   ?=
CXXFLAGS ?=
ALL_CFLAGS   = -std=c11 $(CWARN) $(COMMON) $(OPENMP) $(CFLAGS)
ALL_CXXFLAGS = -std=c++17 $(WARN) $(COMMON) $(OPENMP) -fno-exceptions -fno-rtti $(CXXFLAGS)
LINK = $(CXX) $(COMMON) $(OPENMP) $(if $(SANITIZE),,-static-libstdc++ -static-libgcc) $(LDFLAGS)

KERNELS_LIBS := -lm
PROTO_LIBS   := -lcjson -lz
SERVER_LIBS  := -lmicrohttpd -lgnutls -linih -lpthread

# ------------------------------------------------------------------------------------------ floors

objects = $(patsubst %,$(BUILD)/obj/%.o,$(basename $(1)))
KERNELS := $(wildcard kernels/*.c kernels/cpu/*.c)
PROTO   := $(wildcard proto/*.c proto/*/*.c proto/*/*.cc)
SERVER  := $(filter-out server/life/main.c server/follow/%,$(wildcard server/*.c server/*/*.c))

FLOORS  := $(BUILD)/libserver.a $(BUILD)/libproto.a $(BUILD)/libkernels.a

# kernels/cuda is objects more to link, nothing else: CUDA=auto links them where nvcc is, 1 insists,
# 0 leaves them out. The goals that are about the program are auto; all others, the tests' above all,
# leave the program as it was linked last.
NVCC       := $(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc))
CUDA_HOME  := $(patsubst %/bin/nvcc,%,$(NVCC))
CUDA_GOALS := all run install install-program deb
IS_LINKED  := $(wildcard $(BUILD)/linked-with-cuda)
CUDA       ?= $(if $(filter $(CUDA_GOALS),$(or $(MAKECMDGOALS),all)),auto,$(if $(IS_LINKED),auto,0))
WITH_CUDA  := $(if $(SANITIZE),,$(if $(filter-out 0,$(CUDA)),$(if $(NVCC),yes)))
ifeq ($(CUDA)$(WITH_CUDA),1)
$(error CUDA=1, but there is no nvcc or this is a sanitizer build)
endif

.PHONY: all
all: $(BUILD)/tensord
	@:

CUDA_OBJECTS := $(call objects,$(wildcard kernels/cuda/*.c kernels/cuda/*.cu))
CUDA_LIBS    := $(CUDA_HOME)/lib64/libcudart_static.a -ldl -lrt -lpthread

# Relinks when the answer changes.
LINKED_AS := $(BUILD)/linked-with$(if $(WITH_CUDA),,out)-cuda
$(LINKED_AS):
	@mkdir -p $(@D) && rm -f $(BUILD)/linked-with* && touch $@

$(BUILD)/tensord: $(call objects,server/life/main.c) $(if $(WITH_CUDA),$(CUDA_OBJECTS)) $(FLOORS) \
    $(LINKED_AS)
	@echo "LD $@"
	@$(LINK) -o $@ $(filter %.o %.a,$^) $(SERVER_LIBS) $(PROTO_LIBS) $(KERNELS_LIBS) \
	    $(if $(WITH_CUDA),$(CUDA_LIBS))

# tensord-follow, where hiredis is: the server needs neither.
FOLLOW      := $(if $(wildcard /usr/include/hiredis/hiredis.h),$(wildcard server/follow/*.c))
FOLLOW_LIBS := -Wl,--as-needed -lcurl -lhiredis -lcjson -lmicrohttpd -linih
FOLLOWER    := $(if $(FOLLOW),$(BUILD)/tensord-follow)
all: $(FOLLOWER)
$(BUILD)/tensord-follow: $(call objects,$(FOLLOW)) $(FLOORS)
	@echo "LD $@"
	@$(LINK) -o $@ $^ $(FOLLOW_LIBS) -lpthread

$(BUILD)/libkernels.a: $(call objects,$(KERNELS))
$(BUILD)/libproto.a: $(call objects,$(PROTO))
$(BUILD)/libserver.a: $(call objects,$(SERVER)) $(BUILD)/obj/console_page.o
$(BUILD)/libsupport.a: $(call objects,$(wildcard tests/support/*/*.c))
$(BUILD)/%.a:
	@echo "AR $@"
	@rm -f $@ && ar rcs $@ $^

$(BUILD)/obj/%.o: %.c
	@echo "CC $<"
	@mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -c -o $@ $<

$(BUILD)/obj/%.o: %.cc
	@echo "CXX $<"
	@mkdir -p $(@D) && $(CXX) $(ALL_CXXFLAGS) -c -o $@ $<

# The page at / is part of the program.
$(BUILD)/console_page.c: server/console/console.html server/console/embed.sh
	@echo "EMBED $<"
	@mkdir -p $(@D) && sh server/console/embed.sh $< >$@.new && mv $@.new $@

$(BUILD)/obj/console_page.o: $(BUILD)/console_page.c
	@mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -c -o $@ $<

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

# ------------------------------------------------------------------------------------------- tests
# A program is one file. tests/unit/<floor>_<module>.c and tests/golden/<floor>_<name>.c link their
# floor and those below it, nothing above; all others link everything. tests/run.sh runs them.

programs = $(patsubst %.c,$(BUILD)/%,$(wildcard tests/$(1)/*.c))
UNIT    := $(filter-out $(if $(FOLLOW),,$(BUILD)/tests/unit/follow_%),$(call programs,unit)) \
    $(call programs,golden)
SERVED  := $(foreach folder,protocol hostile production security,$(call programs,$(folder)))
REPLAY  := $(call programs,fuzz)
SCRIPTS := tests/layers.sh tests/format.sh tests/harness.sh
CLIENTS := $(wildcard tests/clients/*.py tests/clients/*.sh tests/clients/*.mjs)
FOLLOWED := $(wildcard tests/follow/*.py)
CONSOLE := $(wildcard tests/console/*.py)
HEAVY_CLIENTS := $(wildcard tests/clients/heavy/*.py tests/clients/heavy/*.sh)
# Those that need more than a few seconds are left out of `make check`.
SLOW    := %_load %_flood
# $(call each,NAME...): the programs that these variables list. A list that is empty tests nothing, and
# would pass.
each = $(foreach name,$(1),$(or $($(name)),$(error $(name) names no program, so nothing would be tested)))

.PHONY: programs
programs: $(BUILD)/tensord $(FOLLOWER) $(UNIT) $(SERVED) $(REPLAY)

define link_test
@echo "LD $@"
@mkdir -p $(@D) && $(LINK) -o $@ $^ -lcmocka $(1)
endef

$(BUILD)/tests/unit/kernels_%: $(BUILD)/obj/tests/unit/kernels_%.o $(BUILD)/libsupport.a \
    $(BUILD)/libkernels.a
	$(call link_test,$(KERNELS_LIBS))

$(BUILD)/tests/golden/kernels_%: $(BUILD)/obj/tests/golden/kernels_%.o $(BUILD)/libsupport.a \
    $(BUILD)/libkernels.a
	$(call link_test,$(KERNELS_LIBS))

$(BUILD)/tests/unit/proto_%: $(BUILD)/obj/tests/unit/proto_%.o $(BUILD)/libsupport.a \
    $(BUILD)/libproto.a $(BUILD)/libkernels.a
	$(call link_test,$(PROTO_LIBS) $(KERNELS_LIBS))

$(BUILD)/tests/unit/follow_%: $(BUILD)/obj/tests/unit/follow_%.o $(BUILD)/libsupport.a \
    $(call objects,$(filter-out server/follow/main.c,$(FOLLOW))) $(FLOORS)
	$(call link_test,$(FOLLOW_LIBS) $(PROTO_LIBS) $(KERNELS_LIBS))

$(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(BUILD)/libsupport.a $(FLOORS)
	$(call link_test,-lcurl $(SERVER_LIBS) $(PROTO_LIBS) $(KERNELS_LIBS))

# Preloaded into the server.
$(BUILD)/tests/production/%.so: tests/production/preload/%.c
	@echo "LD $@"
	@mkdir -p $(@D) && $(CC) -std=c11 $(CWARN) -O2 -fPIC -shared -D_GNU_SOURCE -o $@ $<
$(BUILD)/tests/production/out_of_memory $(BUILD)/tests/security/out_of_memory: \
    | $(BUILD)/tests/production/starve.so
$(BUILD)/tests/production/drain: | $(BUILD)/tests/production/stall.so
$(BUILD)/tests/production/files_load: | $(BUILD)/tests/production/slow_disk.so
$(BUILD)/tests/production/files_snapshot: | $(BUILD)/tests/production/full_disk.so
$(BUILD)/tests/production/files_killed_load: | $(BUILD)/tests/production/kill_at.so

.PRECIOUS: $(BUILD)/obj/%.o

# -------------------------------------------------------------------------------------------- CUDA
# The same bits as on the CPU: no contraction, no flush to zero, correctly rounded division and root.

CUDA_ARCHS ?= 75 80 86 89 90
CUDA_NEWER := $(lastword $(CUDA_ARCHS))
NVCCFLAGS  := -std=c++17 -O3 -fmad=false -ftz=false -prec-div=true -prec-sqrt=true -I. \
              -Xcompiler -ffp-contract=off,-fvisibility=hidden,-Wall --Werror all-warnings
CUDA_CODE  := $(foreach a,$(CUDA_ARCHS),-gencode arch=compute_$(a),code=sm_$(a)) \
              -gencode arch=compute_$(CUDA_NEWER),code=compute_$(CUDA_NEWER)

define compile_cuda
@echo "NVCC $<"
@mkdir -p $(@D) && $(NVCC) $(NVCCFLAGS) $(1) -MMD -MP -MF $(basename $@).d -c -o $@ $<
endef

$(BUILD)/obj/kernels/cuda/%.o: kernels/cuda/%.cu
	$(call compile_cuda,$(CUDA_CODE))

$(patsubst %,$(BUILD)/obj/%.o,$(basename $(wildcard kernels/cuda/*.c tests/gpu/support/*.c tests/gpu/*.c))): \
    COMMON += -isystem $(CUDA_HOME)/include

# For tests: PTX only, which an interpreter on the CPU runs as well as any device, and the shared
# runtime library, which that interpreter stands in for.
CUDA_TEST         := $(BUILD)/cuda-test
CUDA_TEST_CODE    := -gencode arch=compute_75,code=compute_75 --no-compress
CUDA_TEST_LIBS    := -L$(CUDA_HOME)/lib64 -lcudart -ldl
CUDA_TEST_OBJECTS := $(call objects,$(wildcard kernels/cuda/*.c)) \
    $(patsubst kernels/cuda/%.cu,$(BUILD)/obj/cuda-test/%.o,$(wildcard kernels/cuda/*.cu))
CUDA_TEST_SUPPORT := $(call objects,$(wildcard tests/gpu/support/*.c)) $(BUILD)/libsupport.a
CUDA_TESTS := $(patsubst tests/gpu/%.c,$(CUDA_TEST)/%,$(wildcard tests/gpu/*.c)) \
    $(CUDA_TEST)/kernels_golden $(CUDA_TEST)/http_golden $(CUDA_TEST)/tensord
PTXEMU     := $(if $(NVCC),$(wildcard ../shared/tools/ptxemu/build.sh))

$(BUILD)/obj/cuda-test/%.o: kernels/cuda/%.cu
	$(call compile_cuda,$(CUDA_TEST_CODE))

$(CUDA_TEST)/kernels_golden: $(BUILD)/obj/tests/golden/kernels_golden.o $(CUDA_TEST_OBJECTS) \
    $(BUILD)/libsupport.a $(BUILD)/libkernels.a
	$(call link_test,$(CUDA_TEST_LIBS) $(KERNELS_LIBS))

$(CUDA_TEST)/kernels_%: $(BUILD)/obj/tests/gpu/kernels_%.o $(CUDA_TEST_OBJECTS) \
    $(CUDA_TEST_SUPPORT) $(BUILD)/libkernels.a
	$(call link_test,$(CUDA_TEST_LIBS) $(KERNELS_LIBS))

$(CUDA_TEST)/tensord: $(call objects,server/life/main.c) $(CUDA_TEST_OBJECTS) $(FLOORS)
	@echo "LD $@"
	@mkdir -p $(@D) && $(LINK) -o $@ $^ $(SERVER_LIBS) $(PROTO_LIBS) $(KERNELS_LIBS) $(CUDA_TEST_LIBS)

$(CUDA_TEST)/http_golden: $(BUILD)/obj/tests/golden/http_golden.o $(BUILD)/libsupport.a $(FLOORS)
	$(call link_test,-lcurl $(SERVER_LIBS) $(PROTO_LIBS) $(KERNELS_LIBS))

$(CUDA_TEST)/%: $(BUILD)/obj/tests/gpu/%.o $(BUILD)/libsupport.a $(FLOORS)
	$(call link_test,-lcurl $(SERVER_LIBS) $(PROTO_LIBS) $(KERNELS_LIBS))

$(BUILD)/ptxemu/libcudart.so.13: $(PTXEMU)
	@echo "CXX ptxemu"
	@sh $< $(@D)

.PHONY: programs-cuda check-cuda
programs-cuda: $(if $(NVCC),$(CUDA_TESTS)) $(if $(PTXEMU),$(BUILD)/ptxemu/libcudart.so.13)

check-cuda: programs-cuda
	@$(RUN) tests/gpu/check.sh

# The real clients, in a virtual environment of their own.
VENV := $(BUILD)/venv
# Clients that are too heavy for every run of the tests, and the peers of bench-peers, have others.
HEAVY_VENV := $(BUILD)/venv-heavy
PEERS_VENV := $(BUILD)/venv-peers
LIBRARIES_VENV := $(BUILD)/venv-libraries
$(VENV)/installed: tests/clients/requirements.txt
$(HEAVY_VENV)/installed: tests/clients/heavy/requirements.txt
$(PEERS_VENV)/installed: tests/bench/peers/requirements.txt
$(LIBRARIES_VENV)/installed: tests/bench/peers/kernels-requirements.txt
$(VENV)/installed $(HEAVY_VENV)/installed $(PEERS_VENV)/installed $(LIBRARIES_VENV)/installed:
	@echo "VENV $(@D)"
	@rm -rf $(@D) && python3 -m venv $(@D)
	@$(@D)/bin/pip install -q --disable-pip-version-check --no-deps -r $<
	@touch $@

# The page as people see it. Two of them stand in the README.
SHOTS := $(BUILD)/screenshots
.PHONY: screenshots
screenshots: deps-test
	@$(AGAIN) $(BUILD)/tensord $(VENV)/installed
	@TENSORD=$(BUILD)/tensord $(VENV)/bin/python tests/console/screenshots/take.py $(SHOTS)
	@for scheme in light dark; do cp $(SHOTS)/wide-$$scheme.png server/console/screenshot-$$scheme.png; done

.PHONY: test-clients
test-clients: deps-test
	@$(call install,libb64-0d)
	@$(AGAIN) $(BUILD)/tensord $(HEAVY_VENV)/installed
	@$(RUN) $(call each,HEAVY_CLIENTS)

test-clients: VENV := $(HEAVY_VENV)

# A make of its own, in parallel unless the caller said how.
AGAIN = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))
# These tests are of the CPU, whatever the program was linked with; tests/gpu has those of the GPU.
RUN   = PYTHON=$(VENV)/bin/python TENSORD=$(BUILD)/tensord $(if $(WITH_CUDA),TENSORD_DEVICE=cpu) \
        tests/run.sh

ASAN := address,undefined
ASAN_BUILD := $(BUILD)/address+undefined
TSAN_BUILD := $(BUILD)/thread
as_built_in = $(patsubst $(BUILD)/%,$(1)/%,$(2))

.PHONY: check check-kernels test
check: programs
	@$(RUN) $(SCRIPTS) $(filter-out $(SLOW),$(call each,UNIT SERVED)) $(call each,REPLAY)

KERNELS_UNIT := $(filter $(BUILD)/tests/unit/kernels_% $(BUILD)/tests/golden/kernels_%,$(UNIT))
check-kernels: $(KERNELS_UNIT)
	@$(RUN) $(call each,KERNELS_UNIT)

test: deps-test
	@$(AGAIN) programs programs-cuda $(VENV)/installed
	@$(AGAIN) programs BUILD=$(ASAN_BUILD) SANITIZE=$(ASAN)
	@$(AGAIN) programs BUILD=$(TSAN_BUILD) SANITIZE=thread
	@$(AGAIN) fuzzers BUILD=$(FUZZ_BUILD) SANITIZE=$(FUZZ_SANITIZE)
	@FUZZ=$(FUZZ_BUILD) FOLLOWERS='$(BUILD)/tensord-follow $(ASAN_BUILD)/tensord-follow' \
	    $(RUN) $(SCRIPTS) $(call each,UNIT SERVED REPLAY CLIENTS CONSOLE FOLLOWED) \
	    tests/gpu/check.sh tests/fuzz/run.sh \
	    $(call as_built_in,$(ASAN_BUILD),$(call each,UNIT SERVED REPLAY)) \
	    $(call as_built_in,$(TSAN_BUILD),$(call each,UNIT SERVED))

# ----------------------------------------------------------------------------------------- fuzzing
# tests/fuzz/TARGET.c is a libFuzzer program where SANITIZE says so; else it replays the seeds and
# what once crashed, with any compiler.

FUZZ_BUILD    := $(BUILD)/fuzz
FUZZ_SANITIZE := fuzzer-no-link,address,undefined
FUZZ_SECONDS  ?= 3600
FUZZING       := $(findstring fuzzer,$(SANITIZE))

$(BUILD)/tests/fuzz/%: $(BUILD)/obj/tests/fuzz/%.o \
    $(call objects,tests/fuzz/support/fuzz.c $(if $(FUZZING),,tests/fuzz/support/replay.c)) \
    $(BUILD)/libsupport.a $(FLOORS) | $(BUILD)/seeds
	$(call link_test,$(if $(FUZZING),-fsanitize=fuzzer) $(SERVER_LIBS) $(PROTO_LIBS) $(KERNELS_LIBS))

$(BUILD)/fuzz-seeds: $(call objects,tests/fuzz/support/seeds.c) $(BUILD)/libsupport.a $(FLOORS)
	$(call link_test,$(SERVER_LIBS) $(PROTO_LIBS) $(KERNELS_LIBS))

$(BUILD)/seeds: $(BUILD)/fuzz-seeds
	@echo "SEEDS $@"
	@rm -rf $@ && $< $@

.PHONY: fuzz fuzzers
fuzzers: $(REPLAY)

fuzz: deps-test
	@$(AGAIN) fuzzers BUILD=$(FUZZ_BUILD) SANITIZE=$(FUZZ_SANITIZE)
	@FUZZ=$(FUZZ_BUILD) FUZZ_CORPUS=$(FUZZ_BUILD)/corpus FUZZ_SECONDS=$(FUZZ_SECONDS) \
	    tests/fuzz/run.sh $(TARGETS)

# -------------------------------------------------------------------------------------- benchmarks
# A program tests/bench/NAME.c may have parts: tests/bench/NAME_*.c and NAME_*.cc.

bench_sources = $(wildcard tests/bench/$(1).c tests/bench/$(1)_*.c tests/bench/$(1)_*.cc)
.PHONY: bench bench-follow bench-kept-peers bench-kernels bench-kernels-peers bench-json
.SECONDEXPANSION:
$(BUILD)/bench/%: $$(call objects,$$(call bench_sources,$$*)) $(BUILD)/libsupport.a $(FLOORS)
	$(call link_test,-lcurl $(SERVER_LIBS) $(PROTO_LIBS) $(KERNELS_LIBS))

# Every FP32 that shortest.h prints, against std::to_chars. Then ten minutes of mixed load, errors and
# reconnections (SOAK_SECONDS=600): memory must stay flat. Then a million reads and writes of kept
# tensors against their model, and 10,000 clients that vanish.
.PHONY: soak
soak: deps-test
	@$(AGAIN) $(BUILD)/tensord $(FOLLOWER) $(BUILD)/tests/soak/soak $(BUILD)/tests/production/vanish \
	    $(BUILD)/tests/production/tensors_history $(BUILD)/tests/production/files_killed_load \
	    $(BUILD)/tests/soak/shortest
	@$(BUILD)/tests/soak/shortest
	@TENSORD=$(BUILD)/tensord $(BUILD)/tests/soak/soak
	@TENSORD=$(BUILD)/tensord $(BUILD)/tests/production/tensors_history 1000000
	@TENSORD=$(BUILD)/tensord $(BUILD)/tests/production/files_killed_load 1000
	@TENSORD=$(BUILD)/tensord VANISH_ROUNDS=2000 $(BUILD)/tests/production/vanish
	@TENSORD=$(BUILD)/tensord CHAOS_UPDATES=100000 CHAOS_KILLS=60 python3 tests/follow/chaos.py || [ $$? = 77 ]

bench: deps
	@$(AGAIN) $(BUILD)/tensord $(BUILD)/bench/server
	@TENSORD=$(BUILD)/tensord $(BUILD)/bench/server $(ROWS)

# The same load and requests for every server.
$(BUILD)/bench/peers: $(call objects,tests/bench/peers.c $(wildcard tests/bench/server_*.c \
    tests/bench/server_*.cc)) $(BUILD)/libsupport.a $(FLOORS)
	$(call link_test,-lcurl $(SERVER_LIBS) $(PROTO_LIBS) $(KERNELS_LIBS))

.PHONY: bench-peers
bench-peers: deps
	@$(AGAIN) $(BUILD)/tensord $(BUILD)/bench/peers $(PEERS_VENV)/installed
	@BUILD=$(BUILD) PEERS=$(PEERS_VENV) tests/bench/peers/run.sh

# How far tensord-follow is behind a Redis stream of updates.
bench-follow: deps-test
	@$(AGAIN) $(BUILD)/tensord $(FOLLOWER)
	@TENSORD=$(BUILD)/tensord python3 tests/bench/follow.py

# Rows of a kept table, beside redis-server and FastAPI with a dictionary of NumPy arrays.
bench-kept-peers: deps
	@$(call install,redis-server)
	@$(AGAIN) $(BUILD)/tensord $(PEERS_VENV)/installed
	@python3 tests/bench/peers/kept.py $(BUILD)/tensord $(PEERS_VENV)

bench-kernels: deps
	@$(AGAIN) $(BUILD)/bench/kernels
	@$(BUILD)/bench/kernels

# PyTorch's wheels take 6 GB. Teams that sleep, as the server's do, leave the cores to the libraries.
bench-kernels-peers: deps
	@$(AGAIN) $(BUILD)/bench/kernels $(LIBRARIES_VENV)/installed
	@OMP_WAIT_POLICY=passive PEERS=$(LIBRARIES_VENV)/bin/python $(BUILD)/bench/kernels

# Needs 6 GB of memory and as much on the disk of /tmp.
.PHONY: bench-files
bench-files: deps
	@$(AGAIN) $(BUILD)/tensord $(BUILD)/bench/files
	@TENSORD=$(BUILD)/tensord $(BUILD)/bench/files

bench-json: deps
	@$(AGAIN) $(BUILD)/bench/json
	@$(BUILD)/bench/json

# ------------------------------------------------------------------------------------------- arm64
# Everything built by Debian's cross compiler and run by qemu: the same bits on another processor. The
# libraries are those of Debian's arm64, unpacked into a folder; this machine's packages stay as they are.
# Takes about four minutes on two cores, most of it kernels_random.

ARM          := $(BUILD)/arm64
ARM_ROOT     := $(abspath $(ARM))/root
ARM_PREFIX   ?= aarch64-linux-gnu-
ARM_PACKAGES := gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user mmdebstrap
ARM_LIBS     := libc6-dev libgomp1 $(filter lib%-dev zlib1g-dev,$(PACKAGES))
ARM_MAKE      = $(AGAIN) BUILD=$(ARM) CUDA=0 CC='$(ARM_PREFIX)gcc' CXX='$(ARM_PREFIX)g++' \
                CFLAGS=--sysroot=$(ARM_ROOT) CXXFLAGS=--sysroot=$(ARM_ROOT) LDFLAGS=--sysroot=$(ARM_ROOT)
ARM_RUN      := qemu-aarch64 -L $(ARM_ROOT)
ARM_EXAMPLES := tests/deploy/examples.py

$(ARM)/root.made:
	@echo "ROOT $(ARM_ROOT)"
	@mkdir -p $(@D) && rm -rf $(ARM_ROOT)
	@mmdebstrap --quiet --variant=extract --arch=arm64 \
	    --include=$(subst $(space),$(comma),$(strip $(ARM_LIBS))) $(shell . /etc/os-release && echo $$VERSION_CODENAME) \
	    $(ARM_ROOT)
	@touch $@

# The server as a program of this machine, for what starts it by its path.
$(ARM)/emulated/tensord: Makefile
	@mkdir -p $(@D) && printf '#!/bin/sh\nexec $(ARM_RUN) $(abspath $(ARM))/tensord "$$@"\n' > $@ && chmod +x $@

.PHONY: test-arm64
test-arm64: deps-test
	@$(call install,$(ARM_PACKAGES))
	@$(AGAIN) $(ARM)/root.made $(ARM)/emulated/tensord $(VENV)/installed
	@$(ARM_MAKE) $(ARM)/tensord $(call as_built_in,$(ARM),$(UNIT))
	@EMULATOR='$(ARM_RUN)' PYTHON=$(VENV)/bin/python TENSORD=$(ARM)/emulated/tensord tests/run.sh \
	    $(call as_built_in,$(ARM),$(call each,UNIT)) $(call each,ARM_EXAMPLES)

# ----------------------------------------------------------------------------------------- serving

LISTEN ?= 127.0.0.1:8080
.PHONY: run
run: deps
	@$(AGAIN) all
	@exec $(BUILD)/tensord --listen=$(LISTEN)

# -------------------------------------------------------------------------------------- installing

# $(1): packages. Installs those that are missing when it may, else says how.
define install
missing=$$(for p in $(1); do dpkg-query -W -f='$${db:Status-Status}' $$p 2>/dev/null \
    | grep -q '^installed$$' || printf ' %s' $$p; done); \
if [ -z "$$missing" ]; then exit 0; fi; \
if [ "$$(id -u)" = 0 ]; then sudo=; elif sudo -n true 2>/dev/null || [ -t 0 ]; then sudo=sudo; \
else echo "missing packages; run: sudo apt-get install -y$$missing"; exit 1; fi; \
echo "installing$$missing"; \
$$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq \
    --no-install-recommends $$missing >/dev/null
endef

.PHONY: deps deps-test clean help
deps:
	@$(call install,$(PACKAGES))
	@($(call install,$(FOLLOW_PACKAGES))) || echo 'tensord-follow is left out'

deps-test:
	@$(call install,$(TEST_PACKAGES))
	@($(call install,$(FOLLOW_PACKAGES) redis-server)) || echo 'tests of tensord-follow are skipped'

clean:
	rm -rf build

help:
	@echo "make                 build/tensord (CUDA=auto|0|1: with the GPU backend, CUDA_ARCHS='80 90')"
	@echo "make run             install what is missing, build, serve $(LISTEN) (LISTEN=9090)"
	@echo "make check           the everyday tests, under two minutes"
	@echo "make test            every test: units, golden cases, the server, real clients, sanitizers"
	@echo "make check-kernels   the tests of kernels/ alone"
	@echo "make check-cuda      the tests of kernels/cuda, on a GPU or interpreted"
	@echo "make test-arm64      units, golden cases and examples on arm64, cross-built, emulated; four minutes"
	@echo "make test-clients    KServe's client and Triton's perf_analyzer"
	@echo "make fuzz            every fuzzer for an hour (FUZZ_SECONDS=60, TARGETS='frame head')"
	@echo "make soak            ten minutes of mixed load; memory, files and threads stay flat"
	@echo "make bench           the server beside its limits (ROWS='small large' picks rows)"
	@echo "make screenshots     the console page, light and dark; two of them are the README's"
	@echo "make bench-peers     the server beside FastAPI with numpy and MLServer"
	@echo "make bench-follow    how far tensord-follow is behind a Redis stream of updates"
	@echo "make bench-kept-peers  kept tables beside redis-server and FastAPI"
	@echo "make bench-kernels   the kernels beside a baseline and the speed of a copy"
	@echo "make bench-kernels-peers  the same beside PyTorch and JAX (6 GB of wheels)"
	@echo "make bench-files     a kept tensor of 1 GiB: snapshot and load beside cp, what waits meanwhile"
	@echo "make bench-json      JSON numbers beside bare from_chars and to_chars, and cJSON"
	@echo "make install         the program, unit, settings and manual (PREFIX, DESTDIR); make deb: a package"
	@echo "make image           a container image (IMAGE=name)"
	@echo "make test-deploy     examples, HAProxy, manifests, package, image, compose, in full; needs root"
	@echo "make test-bare       make run and make test on a bare Debian 12; needs root, half an hour"
	@echo "make deps            the packages to build; make deps-test: and to test"
	@echo "make clean           remove build/"
	@echo "SANITIZE=address,undefined or SANITIZE=thread builds any of these so, in build/<that>"

# ------------------------------------------------------------- packages, images, and tests of them

PREFIX     ?= /usr/local
SYSCONFDIR ?= /etc
UNITDIR    ?= /lib/systemd/system
IMAGE      ?= tensord

.PHONY: install install-program install-follower install-follower-files deb image
install-program: $(BUILD)/tensord
	@install -D -m 755 $< $(DESTDIR)$(PREFIX)/bin/tensord

ifneq ($(FOLLOWER),)
install-follower: $(FOLLOWER)
	@install -D -m 755 $< $(DESTDIR)$(PREFIX)/bin/tensord-follow

install: install-follower install-follower-files
endif

# A configuration that is there is kept.
installed_at = sed 's|/usr/bin|$(PREFIX)/bin|; s|/etc/tensord|$(SYSCONFDIR)/tensord|'
install: install-program
	@install -d $(DESTDIR)$(UNITDIR) $(DESTDIR)$(SYSCONFDIR)/tensord
	@install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man1 config/tensord.1
	@$(installed_at) config/tensord.service > $(DESTDIR)$(UNITDIR)/tensord.service
	@install -m 644 -t $(DESTDIR)$(UNITDIR) config/tensord.socket
	@[ -e $(DESTDIR)$(SYSCONFDIR)/tensord/tensord.conf ] || \
	    install -m 644 -t $(DESTDIR)$(SYSCONFDIR)/tensord config/tensord.conf

install-follower-files:
	@install -d $(DESTDIR)$(UNITDIR) $(DESTDIR)$(SYSCONFDIR)/tensord
	@install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man1 config/tensord-follow.1
	@$(installed_at) config/tensord-follow.service > $(DESTDIR)$(UNITDIR)/tensord-follow.service
	@[ -e $(DESTDIR)$(SYSCONFDIR)/tensord/tensord-follow.conf ] || \
	    install -m 644 -t $(DESTDIR)$(SYSCONFDIR)/tensord config/tensord-follow.conf

# The packaging is config/debian; dpkg wants it at the top, so it gets a tree of its own.
DEB := $(BUILD)/deb
deb: deps
	@$(call install,debhelper dpkg-dev $(FOLLOW_PACKAGES))
	@rm -rf $(DEB) && mkdir -p $(DEB)/tensord/tests
	@cp -a Makefile LICENSE kernels proto server config docker $(DEB)/tensord
	@cp -a tests/examples $(DEB)/tensord/tests && mv $(DEB)/tensord/config/debian $(DEB)/tensord
	@cd $(DEB)/tensord && env -u MAKEFLAGS CUDA=$(CUDA) dpkg-buildpackage -us -uc -b \
	    -j$(shell nproc) >../build.log 2>&1 || { tail -30 ../build.log; exit 1; }
	@ls $(DEB)/*.deb

CONTAINER_TOOL ?= $(firstword $(foreach t,docker podman buildah,$(if $(shell command -v $t),$t)))
image:
	$(CONTAINER_TOOL) build -f docker/Dockerfile -t $(IMAGE) .

# The short ones are part of `make test`. `make test-deploy` runs all, the one of HAProxy in full.
DEPLOY_SHORT    := $(addprefix tests/deploy/,examples.py names.py first_steps.py haproxy_paths.py haproxy_names.py \
                   haproxy_repeats.py haproxy.py nodes_killed.py shards.py)
DEPLOY_TESTS    := $(DEPLOY_SHORT) $(addprefix tests/deploy/,manifests.py package.py service.py \
                   image.py image_arm64.py image_cuda.py compose.py bare_run.py)
DEPLOY_PACKAGES := haproxy buildah debootstrap debhelper dpkg-dev lintian systemd systemd-container \
                   chromium golang-go default-jdk-headless nodejs docker.io docker-compose \
                   iptables slirp4netns qemu-user-static
CLIENTS       += $(DEPLOY_SHORT)
TEST_PACKAGES += haproxy openssl

$(VENV)/deploy: tests/deploy/requirements.txt $(VENV)/installed
	@$(VENV)/bin/pip install -q --disable-pip-version-check --no-deps -r $<
	@touch $@

.PHONY: test-deploy
test-deploy: deps-test
	@$(call install,$(DEPLOY_PACKAGES))
	@$(AGAIN) all $(VENV)/deploy
	@$(AGAIN) deb CUDA=0
	@SMALL=200000 LARGE=200 TEST_TIMEOUT=1200 $(RUN) $(call each,DEPLOY_TESTS)

# What each prints is the record: minutes, and what was installed.
.PHONY: test-bare
test-bare:
	@$(call install,debootstrap python3)
	@TENSORD=$(BUILD)/tensord python3 tests/deploy/bare_run.py
	@TENSORD=$(BUILD)/tensord python3 tests/deploy/bare_test.py
