# tensord: `make run` serves, `make test` tests everything, `make help` lists the rest.

PACKAGES := gcc g++ pkg-config curl libmicrohttpd-dev libcjson-dev libinih-dev libcurl4-openssl-dev \
            libcmocka-dev zlib1g-dev python3-venv
TEST_PACKAGES := $(PACKAGES) clang libomp-dev libclang-rt-14-dev

CC  := gcc
CXX := g++
SANITIZE ?=
BUILD ?= build$(if $(SANITIZE),/$(subst $(comma),+,$(SANITIZE)))
comma := ,

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
SERVER_LIBS  := -lmicrohttpd -linih -lpthread

# ------------------------------------------------------------------------------------------ floors

objects = $(patsubst %,$(BUILD)/obj/%.o,$(basename $(1)))
KERNELS := $(wildcard kernels/*.c kernels/cpu/*.c)
PROTO   := $(wildcard proto/*.c proto/*.cc)
SERVER  := $(filter-out server/main.c,$(wildcard server/*.c))

FLOORS  := $(BUILD)/libserver.a $(BUILD)/libproto.a $(BUILD)/libkernels.a

.PHONY: all
all: $(BUILD)/tensord

$(BUILD)/tensord: $(call objects,server/main.c) $(FLOORS)
	@echo "LD $@"
	@$(LINK) -o $@ $^ $(SERVER_LIBS) $(PROTO_LIBS) $(KERNELS_LIBS)

$(BUILD)/libkernels.a: $(call objects,$(KERNELS))
$(BUILD)/libproto.a: $(call objects,$(PROTO))
$(BUILD)/libserver.a: $(call objects,$(SERVER))
$(BUILD)/libsupport.a: $(call objects,$(wildcard tests/support/*.c))
$(BUILD)/%.a:
	@echo "AR $@"
	@rm -f $@ && ar rcs $@ $^

$(BUILD)/obj/%.o: %.c
	@echo "CC $<"
	@mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -c -o $@ $<

$(BUILD)/obj/%.o: %.cc
	@echo "CXX $<"
	@mkdir -p $(@D) && $(CXX) $(ALL_CXXFLAGS) -c -o $@ $<

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

# ------------------------------------------------------------------------------------------- tests
# tests/unit/<floor>_<module>.c is a program that links its floor and those below it, nothing above.

UNIT     := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/*.c tests/golden/*.c))
PROTOCOL := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/protocol/*.c))

$(BUILD)/tests/unit/kernels_% $(BUILD)/tests/golden/kernels_%: \
    $(BUILD)/obj/tests/unit/kernels_%.o $(BUILD)/libsupport.a $(BUILD)/libkernels.a
	@echo "LD $@"
	@mkdir -p $(@D) && $(LINK) -o $@ $^ -lcmocka $(KERNELS_LIBS)

$(BUILD)/tests/unit/proto_%: $(BUILD)/obj/tests/unit/proto_%.o $(BUILD)/libsupport.a \
    $(BUILD)/libproto.a $(BUILD)/libkernels.a
	@echo "LD $@"
	@mkdir -p $(@D) && $(LINK) -o $@ $^ -lcmocka $(PROTO_LIBS) $(KERNELS_LIBS)

$(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(BUILD)/libsupport.a $(FLOORS)
	@echo "LD $@"
	@mkdir -p $(@D) && $(LINK) -o $@ $^ -lcmocka -lcurl $(SERVER_LIBS) $(PROTO_LIBS) $(KERNELS_LIBS)

.PRECIOUS: $(BUILD)/obj/%.o

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

deps-test:
	@$(call install,$(TEST_PACKAGES))

clean:
	rm -rf build
