# codebox. `make` builds, `make test` tests, `make help` lists the rest.

PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
DATADIR ?= $(PREFIX)/share/codebox
MANDIR  ?= $(PREFIX)/share/man
# Folders in which the shells look for completions.
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR  ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
# Folders in which systemd looks for units: of the administrator, and of packages (PREFIX=/usr).
UNITDIR ?= $(PREFIX)/lib/systemd/system

# Each variant keeps its own objects: build/release, build/debug, build/asan, build/tsan,
# build/fuzz.
VARIANT ?= release
B := build/$(VARIANT)

SAN := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FLAGS.debug   := -O0
FLAGS.release := -O2 -DNDEBUG -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE
FLAGS.asan    := -O1 $(SAN)
FLAGS.tsan    := -O1 -fsanitize=thread -fno-omit-frame-pointer
FLAGS.fuzz    := -O1 $(SAN) -fsanitize=fuzzer-no-link
LDFLAGS.release := -pie -Wl,-z,relro,-z,now,-z,pack-relative-relocs
$(if $(FLAGS.$(VARIANT)),,$(error VARIANT must be debug, release, asan, tsan or fuzz))

CFLAGS ?= -g
WARN   := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 \
          -Wwrite-strings -Wpointer-arith -Werror=implicit-function-declaration \
          -Werror=misleading-indentation -Werror=return-type $(if $(WERROR),-Werror)

PKG_CONFIG ?= pkg-config

# A module is a folder and an archive. Its files include, and its unit tests link, only the module
# itself and the modules named here, with these libraries.
MODULES       := policies analyzer docker gateway
USES.policies :=
USES.analyzer := policies
USES.docker   := policies
USES.gateway  := analyzer docker policies
PKGS.policies := yaml-0.1 jansson libcrypto libutf8proc
PKGS.analyzer :=
PKGS.docker   := libcurl zlib
PKGS.gateway  := libmicrohttpd gnutls libseccomp sqlite3 libpq libssl libcurl

G            := build/grammars
# Each grammar is a package tree-sitter-NAME, also one of a scope: @SCOPE/tree-sitter-NAME.
GRAMMAR_PACKAGES := $(shell sed -nE 's/^ *"((@[a-z-]+\/)?tree-sitter-[a-z]+)":.*/\1/p' analyzer/grammars/package.json)
GRAMMARS     := $(patsubst tree-sitter-%,%,$(notdir $(GRAMMAR_PACKAGES)))
TREE_SITTER  := $G/node_modules/tree-sitter/vendor/tree-sitter/lib
GRAMMAR_LIB  := $G/libgrammars.a

ifeq ($(filter help clean setup demo test test-all,$(MAKECMDGOALS)),)
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(foreach m,$(MODULES),$(PKGS.$m)) 2>/dev/null)
endif

# Flags that the code needs are here and not in CFLAGS, so that `make CFLAGS=-O3` keeps them.
ALL_CFLAGS  = -std=c11 -D_GNU_SOURCE -I. -isystem $(TREE_SITTER)/include -isystem $(TREE_SITTER) -include policies/base/banned.h \
              -MMD -MP $(WARN) $(PKG_CFLAGS) $(FLAGS.$(VARIANT)) $(CPPFLAGS) $(CFLAGS)
ALL_LDFLAGS = $(FLAGS.$(VARIANT)) $(LDFLAGS.$(VARIANT)) $(LDFLAGS)

PROGRAMS           := codebox codebox-lint
MAIN.codebox       := gateway/cli/main.c
LIBS.codebox       := gateway $(USES.gateway)
MAIN.codebox-lint  := analyzer/lint/lint_main.c
LIBS.codebox-lint  := analyzer $(USES.analyzer)

MAINS   := $(foreach p,$(PROGRAMS),$(MAIN.$p)) policies/load/compile_presets.c docker/engine/compile_profile.c
TESTS   := $(patsubst %.c,$B/%,$(shell find tests/unit -name 'test_*.c' | sort))
FUZZERS := $(patsubst fuzz/fuzz_%.c,%,$(wildcard fuzz/fuzz_*.c))
# docker/inside and docker/egress/relay run inside containers; they are in no archive.
sources  = $(filter-out $(MAINS),$(shell find $1 -name '*.c' -not -path 'docker/inside/*' -not -path 'docker/egress/relay/*' | sort))
objects  = $(1:%.c=$B/%.o)
lib_pkgs = $(sort $(foreach m,$1,$(PKGS.$m)))
pkg_libs = $(shell $(PKG_CONFIG) --libs $(call lib_pkgs,$1)) -lpthread

Q   := $(if $(V),,@)
say  = $(if $(V),,@printf '  %-5s %s\n' $1 $@)

.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
.PHONY: all test-kubernetes check check-markers check-top check-unit check-fuzz check-cases check-policies check-command check-lint check-docs docs check-headers check-layers check-symbols check-names check-style check-format \
        setup engine demo test test-all live bench bench-scale install uninstall clean help FORCE

all: $(PROGRAMS:%=$B/%) $B/codebox-supervisor $B/codebox-probe $B/codebox-command-kernel $B/codebox-relay $B/codebox-bridge $B/codebox-pod $B/natives/shell-loader.so $B/natives/python_guard.so $B/natives/fault.o $(if $(filter release,$(VARIANT)),links) ## build the programs (VARIANT=release|debug|asan)

.PHONY: links
links: $(PROGRAMS:%=$B/%)
	@for p in $(PROGRAMS); do ln -sfn release/$$p build/$$p; done

$B/flags: FORCE
	@mkdir -p $(@D); echo '$(CC) $(ALL_CFLAGS)' | cmp -s - $@ || echo '$(CC) $(ALL_CFLAGS)' >$@

# --- the parser core and the grammars: fetched by their lock file, compiled, never committed ----------------

$G/.fetched: analyzer/grammars/package.json analyzer/grammars/package-lock.json
	@printf '  %-5s %s\n' NPM 'tree-sitter and grammars (pinned by analyzer/grammars/package-lock.json)'
	@mkdir -p $G && cp $^ $G/
	$Qcd $G && npm ci --ignore-scripts --legacy-peer-deps --no-audit --no-fund --loglevel=error >npm.log 2>&1 || { cat npm.log; exit 1; }
	@touch $@

# The package of TypeScript has a second grammar.
GRAMMARS     += tsx
PACKAGE.tsx  := typescript

# 15 MB of generated tables, compiled without sanitizers and warnings. All variants share the
# objects.
GRAMMAR_OBJECTS := $G/core.o $(GRAMMARS:%=$G/%.o)
GRAMMAR_CFLAGS  := -std=c11 -D_GNU_SOURCE -O2 -fPIE -w
$G/core.o: $G/.fetched
	$(call say,CC)
	$Q$(CC) $(GRAMMAR_CFLAGS) -I$(TREE_SITTER)/include -I$(TREE_SITTER)/src -c -o $@ $(TREE_SITTER)/src/lib.c
# A grammar is parser.c, and scanner.c if it has one, in src/ or, in a package of several grammars,
# in NAME/src/.
$(GRAMMARS:%=$G/%.o): $G/%.o: $G/.fetched
	$(call say,CC)
	$Qrm -f $G/$*-*.o; cd $G/node_modules/$(filter %tree-sitter-$(or $(PACKAGE.$*),$*),$(GRAMMAR_PACKAGES)); [ -d src ] || cd $*; cd src; \
	    for part in parser scanner; do [ ! -f $$part.c ] || \
	        $(CC) $(GRAMMAR_CFLAGS) $(if $(filter bash,$*),-O1) -I. -c -o $(abspath $G)/$*-$$part.o $$part.c || exit 1; done
	$Q$(CC) -r -nostdlib -o $@ $G/$*-parser.o $$(ls $G/$*-scanner.o 2>/dev/null)
# Objects are secondary: a missing one is made only when another prerequisite is newer than the
# archive.
$G/list: FORCE
	@mkdir -p $(@D); echo '$(GRAMMARS)' | cmp -s - $@ || echo '$(GRAMMARS)' >$@
$(GRAMMAR_LIB): $(GRAMMAR_OBJECTS) $G/list
	$(call say,AR)
	$Qrm -f $@ && $(AR) rcs $@ $(GRAMMAR_OBJECTS)

# --- modules, programs, tests -------------------------------------------------------------------------------

$B/%.o: %.c $B/flags | $G/.fetched
	$(call say,CC)
	@mkdir -p $(@D)
	$Q$(CC) $(ALL_CFLAGS) -c -o $@ $<
	@printf '{"directory":"%s","file":"%s","command":"%s"}\n' \
	    '$(CURDIR)' '$<' '$(subst ",\",$(CC) $(ALL_CFLAGS) -c $<)' >$(@:.o=.cdb)

# The presets are compiled in, so that codebox-lint needs no other file: as YAML, and as data that
# loads without parsing. compile_presets writes this data; it has the same loader, with the YAML
# presets only.
PRESETS  := $(wildcard policies/presets/*.yaml)
COMPILER := $(filter-out $B/policies/load/preset.o,$(call objects,$(call sources,policies))) $B/policies/load/preset_source.o $B/policies/load/compile_presets.o
$B/policies/load/preset.o $B/policies/load/preset_source.o: $(PRESETS)
$B/policies/load/preset.o: $B/presets/done
$B/policies/load/preset.o: private ALL_CFLAGS += -DCBX_PRESET_IMAGES='"$B/presets"'
$B/policies/load/preset_source.o: policies/load/preset.c $B/flags
	$(call say,CC)
	@mkdir -p $(@D)
	$Q$(CC) $(ALL_CFLAGS) -c -o $@ $<
$B/compile_presets: $(COMPILER)
	$(call say,LD)
	$Q$(CC) $(ALL_LDFLAGS) -o $@ $^ $(call pkg_libs,policies)
$B/presets/done: $B/compile_presets
	@mkdir -p $(@D)
	$Q$< $(@D) && touch $@

define module_rules
$B/lib$1.a: $(call objects,$(call sources,$1))
	$$(call say,AR)
	$$Qrm -f $$@ && $$(AR) rcs $$@ $$^
$B/tests/unit/$1/%: $B/tests/unit/$1/%.o $B/lib$1.a $(USES.$1:%=$B/lib%.a) $(if $(filter analyzer gateway,$1),$(GRAMMAR_LIB))
	$$(call say,LD)
	$$Q$$(CC) $$(ALL_LDFLAGS) -o $$@ $$^ $$(call pkg_libs,$1 $(USES.$1)) $$(TEST_LIBS) -lcmocka
endef
$(foreach m,$(MODULES),$(eval $(call module_rules,$m)))

# The seccomp profile is compiled in.
$B/docker/engine/container_spec.o: docker/engine/seccomp.json

# Live tests need an engine and the sandbox images: tests/live/docker/check.
$B/tests/live/docker/%: $B/tests/live/docker/%.o $B/libdocker.a $B/libpolicies.a
	$(call say,LD)
	$Q$(CC) $(ALL_LDFLAGS) -o $@ $^ $(call pkg_libs,docker policies) -lcmocka

$B/tests/cases/%: $B/tests/cases/%.o $B/libanalyzer.a $B/libpolicies.a $(GRAMMAR_LIB)
	$(call say,LD)
	$Q$(CC) $(ALL_LDFLAGS) -o $@ $^ $(call pkg_libs,analyzer policies)

$B/tests/bench/%: $B/tests/bench/%.o $B/libgateway.a $B/libanalyzer.a $B/libdocker.a $B/libpolicies.a $(GRAMMAR_LIB)
	$(call say,LD)
	$Q$(CC) $(ALL_LDFLAGS) -o $@ $^ $(call pkg_libs,$(MODULES)) $(BENCH_LIBS)
# It uses the engines of the unit tests.
$B/tests/bench/bench_kubernetes: BENCH_LIBS := -lcmocka

# codebox with the fixtures of MCP's conformance suite in place of its tools: the linker takes the
# fixtures before the tools of the gateway's archive.
$B/tests/clients/codebox-fixtures: $B/gateway/cli/main.o $B/tests/clients/fixtures/fixtures.o $(LIBS.codebox:%=$B/lib%.a) $(GRAMMAR_LIB)
	$(call say,LD)
	$Q$(CC) $(ALL_LDFLAGS) -o $@ $^ $(call pkg_libs,$(MODULES))

# Editors and hooks start codebox-lint once per file. Loading libcrypto takes more time than judging
# a small file, and codebox-lint uses only its SHA-256. So libcrypto is linked statically if its
# archive is installed; STATIC= turns this off.
STATIC              ?= crypto
archive              = $(filter /%,$(shell $(CC) -print-file-name=lib$1.a))
STATIC.codebox-lint := $(foreach l,$(STATIC),$(if $(call archive,$l),-l$l))
as_archive           = $(patsubst -l%,-l:lib%.a,$1)

define program_rules
$B/$1: $(call objects,$(MAIN.$1)) $(LIBS.$1:%=$B/lib%.a) $(GRAMMAR_LIB)
	$$(call say,LD)
	$$Q$$(CC) $$(ALL_LDFLAGS) -o $$@ $$^ $(call as_archive,$(STATIC.$1)) $$(filter-out $(STATIC.$1),$$(call pkg_libs,$(LIBS.$1)))
endef
$(foreach p,$(PROGRAMS),$(eval $(call program_rules,$p)))

# The seccomp profile as the steps of a BPF filter, for processes in the container.
$B/compile_profile: $B/docker/engine/compile_profile.o $B/libpolicies.a
	$(call say,LD)
	$Q$(CC) $(ALL_LDFLAGS) -o $@ $^ $(call pkg_libs,policies) $(shell $(PKG_CONFIG) --libs libseccomp)
$B/profile/seccomp_steps.h: $B/compile_profile docker/engine/seccomp.json
	$(call say,GEN)
	@mkdir -p $(@D)
	$Q$B/compile_profile docker/engine/seccomp.json $@

# Static programs without sanitizers: PID 1 of every sandbox, the kernel that runs other programs,
# the probe, which attempts escapes and reports the results, and PID 1 of proxy containers.
SOURCES.probe          := $(wildcard docker/inside/probe/*.c) docker/inside/confine/harden.c
SOURCES.supervisor     := $(wildcard docker/inside/supervisor/*.c docker/inside/confine/*.c docker/inside/wire/*.c)
SOURCES.command-kernel := $(wildcard docker/inside/command/*.c) $(filter-out %/harden.c,$(wildcard docker/inside/confine/*.c))
LIBS.command-kernel    := -l:libcrypto.a # SHA-256
SOURCES.relay          := $(wildcard docker/egress/relay/*.c docker/inside/wire/*.c)
SOURCES.bridge         := $(wildcard docker/inside/bridge/*.c)
SOURCES.pod            := $(wildcard docker/inside/pod/*.c) # for the gateway's image
define sandbox_program_rules
$B/codebox-$1: $(SOURCES.$1) $(wildcard docker/inside/*/*.h docker/inside/*/*.def docker/egress/relay/*.h docker/*.def policies/limits.def policies/guard/guard.def policies/base/text/utf8.h) $B/flags $(if $(filter supervisor probe,$1),$B/profile/seccomp_steps.h)
	$$(call say,CC)
	$$Q$$(CC) -std=c11 -D_GNU_SOURCE -I. -I$B/profile -include policies/base/banned.h $$(WARN) -O2 -g -D_FORTIFY_SOURCE=2 \
	    -fstack-protector-strong -ffile-prefix-map=$$(CURDIR)=. -static -s -Wl,--build-id=none -o $$@ $(SOURCES.$1) $(LIBS.$1)
endef
$B/tests/unit/docker/inside/confine/test_harden.o: private ALL_CFLAGS += -I$B/profile
$B/tests/unit/docker/inside/confine/test_harden.o: $B/profile/seccomp_steps.h
# Its TLS server.
$B/tests/unit/docker/engine/test_upgrade: private TEST_LIBS := -lssl
$(foreach p,supervisor probe command-kernel relay bridge pod,$(eval $(call sandbox_program_rules,$p)))

# The libraries for the bash of a session and for Python. docker/images/build compiles them in a
# container of the images' release, against the images' C library and Python. This build checks them
# with all warnings; no program uses its results.
$B/natives/shell-loader.so: $(wildcard docker/inside/shell_loader/* docker/inside/confine/*.h docker/inside/wire/frame.*) policies/limits.def $B/flags
	$(call say,CC)
	@mkdir -p $(@D)
	$Q$(CC) -std=c11 -D_GNU_SOURCE -I. -include policies/base/banned.h $(WARN) -O2 -g -D_FORTIFY_SOURCE=2 -fstack-protector-strong \
	    -ffile-prefix-map=$(CURDIR)=. -fPIC -shared -s -Wl,--build-id=none -Wl,--exclude-libs,ALL -o $@ docker/inside/shell_loader/shell_loader.c -l:libcrypto.a

$B/natives/python_guard.so: $(wildcard docker/inside/python_guard/* docker/inside/confine/*.h docker/inside/confine/*.def docker/inside/wire/frame.*) docker/inside/confine/open_places.c policies/limits.def policies/guard/guard.def $B/flags
	$(call say,CC)
	@mkdir -p $(@D)
	$Q$(CC) -std=c11 -D_GNU_SOURCE -I. -include policies/base/banned.h $(WARN) $(shell $(PKG_CONFIG) --cflags python3) -O2 -g -D_FORTIFY_SOURCE=2 \
	    -fstack-protector-strong -ffile-prefix-map=$(CURDIR)=. -fPIC -fvisibility=hidden -shared -s -Wl,--build-id=none -Wl,--exclude-libs,ALL -o $@ $(wildcard docker/inside/python_guard/*.c) docker/inside/confine/open_places.c -l:libcrypto.a # SHA-256

$B/natives/fault.o: docker/inside/fault/fault.c $B/flags
	$(call say,CC)
	@mkdir -p $(@D)
	$Q$(CC) -std=c11 -D_GNU_SOURCE -I. -include policies/base/banned.h $(WARN) -O2 -fPIE -ffile-prefix-map=$(CURDIR)=. -c -o $@ $<

$B/fuzz/%: $B/fuzz/fuzz_%.o $(if $(filter fuzz,$(VARIANT)),,$B/fuzz/replay.o) \
           $(LIBS.codebox:%=$B/lib%.a) $(GRAMMAR_LIB)
	$(call say,LD)
	$Q$(CC) $(ALL_LDFLAGS) $(if $(filter fuzz,$(VARIANT)),-fsanitize=fuzzer) -o $@ $^ $(call pkg_libs,$(MODULES))

# --- from nothing to running -----------------------------------------------------------------------------------

# These targets use sub-makes, because `setup` may install libraries after make has read this file.
demo: setup engine ## install, build, build images, then run an allowed and a denied program
	@.ci/demo

test: setup engine ## install, build, build images, then `make check` and the main tests on a real engine
	@.ci/packages test
	@.ci/stages test

test-all: test ## `make test`, then clang, sanitizers, threads, fuzz corpora, every MCP client, chaos
	@.ci/stages rest

setup: ## install the missing Debian packages, fetch the grammars, build
	@.ci/packages
	@$(MAKE) --no-print-directory -j"$$(nproc)" all

engine: setup ## find or start a container engine, build the sandbox images
	@docker/engine-up
	@build/codebox image build

# QUICK=1: without gVisor, and without the tests that `make check` runs too.
# GROUP=promises: the tests of `make test`; GROUP=rest: the others.
live: all ## the tests that need an engine: sandboxes, processes, REST, MCP clients
	@QUICK=$(QUICK) tests/live/run $(GROUP)

test-kubernetes: all ## sandboxes as Pods of a cluster of one node, built from Debian's source package (20 minutes, once); as root
	@tests/live/kubernetes/run

bench: all $B/tests/bench/bench_analyze $B/tests/bench/bench_session $B/tests/bench/bench_opening $B/tests/bench/bench_audit ## ratios to a baseline of the same run, and their difference to tests/bench/ratios; SAVE=1 stores the ratios there
	@SAVE=$(SAVE) tests/bench/run $B

bench-scale: all $B/tests/bench/bench_opening $B/tests/bench/bench_kubernetes ## the same for many sessions and several replicas: pool, memory, Kubernetes, forwarding; SAVE=1 stores the ratios
	@SAVE=$(SAVE) tests/bench/scale $B

# --- checks -------------------------------------------------------------------------------------------------

check: check-markers check-top check-unit check-cases check-policies check-command check-lint check-docs check-fuzz check-headers check-layers check-symbols check-names check-style ## all checks that need no engine

# The programs of the checks of `make test`, built in parallel; the checks print one after another.
.PHONY: test-programs
test-programs: $(TESTS) $(if $(filter debug,$(VARIANT)),,$(FUZZERS:%=$B/fuzz/%))

# Builds three variants at the same time, so that no processor idles during the last file of one
# variant.
.PHONY: test-variants test-clang test-asan test-tsan
test-variants: test-clang test-asan test-tsan
test-clang:
	@$(MAKE) --no-print-directory CC=clang VARIANT=debug WERROR=1 test-programs
test-asan:
	@$(MAKE) --no-print-directory VARIANT=asan WERROR=1 test-programs
test-tsan:
	@$(MAKE) --no-print-directory VARIANT=tsan $(THREADED)

# T=TEXT: only the tests whose path contains TEXT. All of them run, even if one fails.
SELECTED = $(if $(T),$(foreach t,$(TESTS),$(if $(findstring $(T),$t),$t)),$(TESTS))
check-unit: $(SELECTED) ## tests/unit/<module>/test_<file>.c, in parallel; T=TEXT: only tests whose path contains TEXT
	$Qprintf '%s\n' $(SELECTED) | xargs -P "$$(nproc)" -n 1 .ci/unit $B

# Tests with threads. Without tests that fork while they have threads (test_judge, test_callers),
# and without test_jail, whose filter refuses the sanitizer's calls.
THREADED = $(patsubst %.c,build/tsan/%,$(shell grep -lE 'pthread_create|/(pool_rig|fake_engine|fake_cluster|fake_registry|rig)\.h"' $(TESTS:$B/%=%.c) | grep -vE 'test_jail|test_judge|test_callers'))
.PHONY: check-threads
check-threads: ## the unit tests with threads, under ThreadSanitizer
	$Q$(MAKE) --no-print-directory -j"$$(nproc)" VARIANT=tsan $(THREADED)
	$Qprintf '%s\n' $(THREADED) | TSAN_OPTIONS=suppressions=$(CURDIR)/tests/tsan.supp xargs -P "$$(nproc)" -n 1 .ci/unit build/tsan

# The first inputs of a fuzz target: its corpus, and the programs of tests/cases if the target reads
# a language.
seeds = $(wildcard fuzz/corpus/$1 tests/cases/$1)

check-fuzz: $(FUZZERS:%=$B/fuzz/%) ## replay the corpora, without a fuzzing engine
	$Qset -e; $(foreach f,$(FUZZERS),$B/fuzz/$f $$(find $(call seeds,$f) -type f); \
	    printf '  ok    %-58s %s\n' fuzz/$f "$$(find $(call seeds,$f) -type f | wc -l) inputs";)

check-cases: $B/tests/cases/run ## the verdict of each preset, compiled and as YAML, on each program of tests/cases and tests/bypass
	$Q$B/tests/cases/run tests/cases tests/bypass tests/decisions.tsv
	$Q$B/tests/cases/run --source tests/cases tests/bypass tests/decisions.tsv

decisions: $B/tests/cases/run ## write tests/decisions.tsv; review its diff
	$Q$B/tests/cases/run --write tests/cases tests/bypass tests/decisions.tsv

check-policies: $B/codebox ## the tests inside the presets
	$Q$B/codebox policy test

check-command: all ## codebox policy, config, image, install and the wire of codebox mcp as programs; the manifests of a cluster
	$Qtests/system/test_policy.sh
	$Qtests/system/test_config.sh
	$Qtests/system/test_tokens.sh
	$Qtests/system/test_image.sh
	$Qtests/system/test_wire.sh
	$Qtests/system/test_install.sh
	$Qtests/system/test_manifests.sh

check-lint: $B/codebox-lint ## codebox-lint as a program: formats, folders, suppressions, baselines, hostile input
	$QLINT=$(abspath $B/codebox-lint) tests/system/test_lint.sh

check-docs: $B/codebox $B/codebox-lint ## policy reference, man pages and commit hook equal the tables; links, paths and policies in READMEs are valid; the changelog has the version
	$Q.ci/check-docs $B/codebox $B/codebox-lint

docs: $B/codebox $B/codebox-lint ## write the reference in policies/README.md, the options in the man pages, the commit hook's file endings
	$Q.ci/hooks >.pre-commit-hooks.yaml
	$Qsed -i '/^<!-- reference -->/q' policies/README.md && $B/codebox policy reference >>policies/README.md
	$Qfor page in gateway/cli/codebox.1 analyzer/lint/codebox-lint.1; do \
	    $B/$$(basename $$page .1) --completion man >$B/options && \
	    awk -v file=$B/options '/^\.\\" options/ { print; while ((getline line < file) > 0) print line; skip = 1 } /^\.\\" end/ { skip = 0 } !skip' \
	        $$page >$B/page && cat $B/page >$$page; done

check-headers: | $G/.fetched ## every header compiles alone
	$Qset -e; for h in $$(find $(MODULES) -name '*.h'); do printf '#include "%s"\n' $$h | \
	    $(CC) -std=c11 -D_GNU_SOURCE -I. -isystem $(TREE_SITTER)/include $(PKG_CFLAGS) $$($(PKG_CONFIG) --cflags python3) $(WARN) -fsyntax-only -xc -; done
	$Qset -e; $(call compiles,s = CBX_JOIN(a, s, CBX_STR("x"))); for use in $(MISUSES.messages); do \
	    if $(call compiles,$$use) 2>/dev/null; then echo "text that may be cut could be judged: $$use"; exit 1; fi; done

# Compiles one statement that has an arena `a`, facts `x`, a slice `s` and an array `t`.
compiles = printf '\#include "analyzer/facts/facts.h"\nvoid f(struct cbx_arena *, struct cbx_facts *, struct cbx_str, char *);\nvoid f(struct cbx_arena *a, struct cbx_facts *x, struct cbx_str s, char *t) { (void)a; (void)x; (void)s; (void)t; %s; }\n' \
	    "$(subst ",\",$1)" | $(CC) -std=c11 -D_GNU_SOURCE -I. $(PKG_CFLAGS) -fsyntax-only -xc -
# Only text for display may be cut, never text to judge.
MISUSES.messages := 's = cbx_arena_note(a, "x")' 'cbx_facts_add(x, CBX_IS_CALL, cbx_arena_note(a, "x"), 0, 0)' \
                    's = CBX_JOIN(a, cbx_arena_note(a, "x"))' 'snprintf(t, 9, "%.*s", CBX_STR_SHOWN(s))' \
                    'cbx_arena_join(a, &s, CBX_STR_SHOWN(s))'

# The headers that each folder of gateway/ may include: the code of a process includes only headers
# of its row. Only cli/ may include all of them.
MAY.ipc      := gateway/ipc/ policies/ analyzer/decide.h analyzer/analyze.h docker/result.h
MAY.identity := gateway/identity/ gateway/ipc/ policies/
MAY.front    := gateway/front/ gateway/database/ gateway/identity/ gateway/ipc/ policies/ analyzer/ docker/result.h docker/kernel_names.h docker/contents.h
MAY.worker   := gateway/worker/ gateway/ipc/ policies/ analyzer/
MAY.executor := gateway/executor/ gateway/identity/ gateway/ipc/ policies/ docker/ analyzer/imports.h analyzer/packages/known.h analyzer/decide.h
MAY.replicas := gateway/replicas/ gateway/ipc/ policies/
MAY.database := gateway/database/ gateway/ipc/ policies/
MAY.keys     := gateway/keys/ gateway/ipc/ policies/
MAY.forwarder := gateway/forwarder/ gateway/ipc/ policies/ gateway/executor/audit/audit_files.h gateway/executor/audit/audit_reader.h

# The project's headers that the code of a folder includes, directly or not: the compiler's list
# (-MMD).
reached = find $B/$1 -name '*.d' -exec cat {} + | tr -d '\\\\:' | tr ' ' '\n' | grep -E '^(policies|analyzer|docker|gateway)/.*\.(h|def)$$' | sort -u
not_within = grep -vE $(foreach m,$1,-e '^$m')

check-layers: $(MODULES:%=$B/lib%.a) ## no module includes a header that it may not use, no process of the gateway code of another; only the audit makes permits
	$Q$(foreach m,$(MODULES),! $(call reached,$m) | $(call not_within,$(foreach u,$m $(USES.$m),$u/)) || { echo '$m may use $m $(USES.$m)'; exit 1; };)
	$Q$(foreach p,ipc identity front worker executor forwarder keys replicas database,\
	    ! $(call reached,gateway/$p) | $(call not_within,$(MAY.$p)) || { echo 'gateway/$p may reach $(MAY.$p)'; exit 1; };)
	$Q! grep -rn --include='*.c' '^#include "policies/[^b]' policies/base || { echo 'base may not use the product'; exit 1; }
	$Q! grep -rnE --include='*.c' 'cbx_permit_new\(' gateway analyzer docker | grep -v '^gateway/executor/audit' || { echo 'only gateway/executor/audit*.c makes permits'; exit 1; }

check-markers: ## no file has a conflict marker
	$Q! grep -rnE '^(<<<<<<< |>>>>>>> |\|\|\|\|\|\|\| )' --exclude-dir=build --exclude-dir=.git --exclude-dir=node_modules . || { echo 'conflict markers'; exit 1; }

# The top level is fixed: each name beyond the folders is one that a tool looks for in a root.
TOP := .ci .clang-format .editorconfig .github .gitignore .pre-commit-hooks.yaml CHANGELOG.md LICENSE Makefile README.md \
       action.yml analyzer docker fuzz gateway gemini-extension.json policies server.json tests

check-top: ## the top level of the repository has no other files and folders
	$Q! git ls-files 2>/dev/null | sed 's|/.*||' | sort -u | grep -vxF $(TOP:%=-e %) || { echo 'the top level may have $(TOP)'; exit 1; }

check-symbols: $(MODULES:%=$B/lib%.a) ## every global symbol starts with cbx_
	$Q! nm -g --defined-only $^ | awk 'NF == 3 { print $$3 }' | grep -vE '^(cbx_|__|_)'

check-names: ## comments and READMEs name only existing files and functions
	$Q.ci/check-names

check-style: ## a failed step returns at once; ?: only selects one of two values
	$Q.ci/check-style

check-format: ## clang-format of Debian 12 changes nothing
	$Qclang-format --dry-run -Werror $$(find $(MODULES) tests fuzz -name '*.[ch]' -not -path 'tests/cases/c/*' -not -path 'tests/bypass/*' -not -path 'fuzz/corpus/*') && echo '  ok    format'

fuzz-%: ## fuzz one target for SECONDS (60): make fuzz-policy SECONDS=600
	$Q$(MAKE) CC=clang VARIANT=fuzz build/fuzz/fuzz/$*
	@mkdir -p build/fuzz/found/$*
	$Qbuild/fuzz/fuzz/$* -artifact_prefix=build/fuzz/found/ -max_total_time=$(or $(SECONDS),60) $(if $(wildcard fuzz/dict/$*.dict),-dict=fuzz/dict/$*.dict) \
	    build/fuzz/found/$* $(call seeds,$*)

compile_commands.json: all
	$Q{ echo '['; find $B -name '*.cdb' -exec cat {} + | sed '$$!s/$$/,/'; echo ']'; } >$@

install: all ## programs, man pages, completions, systemd unit, example configuration; PREFIX=/usr/local, DESTDIR
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(DATADIR)
	install $(PROGRAMS:%=$B/%) $(DESTDIR)$(BINDIR)
	install -d $(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(BASHDIR) $(DESTDIR)$(ZSHDIR) $(DESTDIR)$(FISHDIR)
	install -m 644 analyzer/lint/codebox-lint.1 gateway/cli/codebox.1 $(DESTDIR)$(MANDIR)/man1
	for p in $(PROGRAMS); do \
	    $B/$$p --completion bash >$(DESTDIR)$(BASHDIR)/$$p; \
	    $B/$$p --completion zsh >$(DESTDIR)$(ZSHDIR)/_$$p; \
	    $B/$$p --completion fish >$(DESTDIR)$(FISHDIR)/$$p.fish; done
	install $B/codebox-supervisor $B/codebox-probe $B/codebox-command-kernel $B/codebox-relay $B/codebox-bridge $B/codebox-pod $(DESTDIR)$(DATADIR)
	. docker/images/toolchain/recipe && tar -c docker/images docker/inside/installer docker/inside/kernels docker/apparmor docker/kubernetes docker/kernels.def $$sources | tar -x --no-same-owner -C $(DESTDIR)$(DATADIR)
	install -d $(DESTDIR)$(UNITDIR)
	sed 's|@BINDIR@|$(BINDIR)|g' gateway/cli/serve/codebox.service.in >$(DESTDIR)$(UNITDIR)/codebox.service
	$B/codebox config example >$(DESTDIR)$(DATADIR)/codebox.yaml
	chmod 644 $(DESTDIR)$(UNITDIR)/codebox.service $(DESTDIR)$(DATADIR)/codebox.yaml $(PROGRAMS:%=$(DESTDIR)$(BASHDIR)/%) \
	    $(PROGRAMS:%=$(DESTDIR)$(ZSHDIR)/_%) $(PROGRAMS:%=$(DESTDIR)$(FISHDIR)/%.fish)

uninstall: ## remove the files of `make install`, with the same PREFIX and DESTDIR; configuration and state stay
	rm -f $(PROGRAMS:%=$(DESTDIR)$(BINDIR)/%) $(PROGRAMS:%=$(DESTDIR)$(MANDIR)/man1/%.1) $(PROGRAMS:%=$(DESTDIR)$(BASHDIR)/%) \
	    $(PROGRAMS:%=$(DESTDIR)$(ZSHDIR)/_%) $(PROGRAMS:%=$(DESTDIR)$(FISHDIR)/%.fish) $(DESTDIR)$(UNITDIR)/codebox.service
	rm -rf $(DESTDIR)$(DATADIR)

clean: ## remove build/
	rm -rf build compile_commands.json

help: ## print this list
	@sed -n 's/^\([a-z%-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 18

# Only the dependencies of existing sources: an older build also has dependencies of moved sources.
-include $(foreach d,$(shell find $B -name '*.d' 2>/dev/null),$(if $(wildcard $(d:$B/%.d=%.c)),$d)) $(wildcard $B/policies/load/preset_source.d)
