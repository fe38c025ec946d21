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
others := -l:libhiredis.a -l:libxxhash.a -l:liblua5.1.a -lz -lm
warnings := -Wall -Wextra -Wconversion -Wshadow -Wswitch-enum -Werror

# No comparison is told to libFuzzer: it makes nothing of those of digits and letters, which cost half of the time. What
# unpacks the scripts, which sees nothing but constants, and the store are not looked at at all; what it has unpacked,
# scripts_known.c keeps.
unseen := sdk/src/client/script_text.c platform/embedded/store_%.c
seen_as = $(if $(filter $(unseen),$(1)),-O2 -fno-sanitize=all,-fsanitize=fuzzer-no-link \
	-fno-sanitize-coverage=trace-cmp) $(if \
	$(filter sdk/src/client/script_text.c,$(1)),-Dgh_script_unpack=scripts_unpack)

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
	$(CC) -fsanitize=fuzzer $(sanitizers) -Wl,--start-group $^ -Wl,--end-group $(others) -o $@

.PRECIOUS: $(OUT)/obj/%.o
.PHONY: all

-include $(patsubst %.o,%.d,$(call objects_of,$(library) $(shared) $(patsubst %,tests/fuzz/fuzz_%.c,$(targets))))
