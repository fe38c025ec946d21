# fuzz.mk -- builds the fuzzers of this folder with clang: the library's sources once, then a program for each target.
#
#   make -f tests/fuzz/fuzz.mk -j        called by tests/fuzz.sh, from the top folder
#   OUT=FOLDER                           where it all goes; build/fuzz without it

OUT ?= build/fuzz
CC := clang

targets := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
shared := $(filter-out tests/fuzz/fuzz_%.c,$(wildcard tests/fuzz/*.c))
library := $(shell find sdk/src -name '*.c') $(wildcard sdk/generated/scripts/*.c platform/embedded/store_*.c)

sanitizers := -fsanitize=address,undefined -fno-sanitize-recover=undefined
flags := -std=c11 -D_GNU_SOURCE -O1 -g -fno-omit-frame-pointer $(sanitizers) -DGH_WITH_ZLIB \
	-DGH_NO_DEFAULT_PLATFORM -Isdk/include -Isdk/src -Isdk/generated -Itests/fuzz -Iplatform/embedded \
	-isystem /usr/include/lua5.1
warnings := -Wall -Wextra -Wconversion -Wshadow -Wswitch-enum -Werror

# Where bytes from outside are compared with something, each comparison is told to libFuzzer. Elsewhere that would only
# cost time. What unpacks the scripts, which sees nothing but constants, and the store are not looked at at all.
compared := $(addprefix sdk/src/,base/% wire/% geo/% aggregate/% talk/% sentinel/% client/address.c tasks/task_text.c) \
	tests/fuzz/fuzz_%.c
blocks := sdk/src/wire/inbox.c sdk/src/wire/slots_map.c
unseen := sdk/src/client/script_text.c tests/fuzz/scripts_known.c platform/embedded/store_%.c
seen_as = $(if $(filter $(unseen),$(1)),-fno-sanitize=all,-fsanitize=fuzzer-no-link $(if \
	$(filter $(filter-out $(blocks),$(filter $(compared),$(1))),$(1)),,-fno-sanitize-coverage=trace-cmp))

objects_of = $(patsubst %.c,$(OUT)/obj/%.o,$(1))

programs := $(addprefix $(OUT)/bin/,$(targets))

all: $(programs)

$(OUT)/obj/%.o: %.c tests/fuzz/fuzz.mk
	@mkdir -p $(@D)
	$(CC) $(flags) $(warnings) $(call seen_as,$<) -MMD -MP -c $< -o $@

$(OUT)/libguildhall.a: $(call objects_of,$(library))
	@rm -f $@
	@ar rcs $@ $^

$(OUT)/libshared.a: $(call objects_of,$(shared))
	@rm -f $@
	@ar rcs $@ $^

$(OUT)/bin/%: $(OUT)/obj/tests/fuzz/fuzz_%.o $(OUT)/libshared.a $(OUT)/libguildhall.a
	@mkdir -p $(@D)
	$(CC) -fsanitize=fuzzer $(sanitizers) $^ -l:libhiredis.a -l:libxxhash.a -l:liblua5.1.a -lz -lm -o $@

.PRECIOUS: $(OUT)/obj/%.o
.PHONY: all

-include $(patsubst %.o,%.d,$(call objects_of,$(library) $(shared) $(patsubst %,tests/fuzz/fuzz_%.c,$(targets))))
