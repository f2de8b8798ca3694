#!/bin/bash
# SPDX-License-Identifier: MIT
# The text of a denial alone leads to a program that runs. tests/system/denials has the programs and
# the repairs.
source "$(dirname "$0")/lib.sh"
driver=$PWD/tests/system/denials/repair.mjs

command -v node >/dev/null || { echo 'skipped: no node'; exit 77; }
docker version >/dev/null 2>&1 || { echo 'skipped: no engine'; exit 77; }
VERBOSE=${VERBOSE:-} node "$driver" "$codebox" "$state" >"$work/denials.txt" || cat "$work/denials.txt"
[ -z "${VERBOSE:-}" ] || cat "$work/denials.txt"
read -r _ programs _ repaired _ faulty _ longest <<<"$(grep '^programs ' "$work/denials.txt")"

ok 'at least fifty programs are denied' [ "$programs" -ge 50 ]
no_faults() { grep -A20 FAULT "$work/denials.txt" || true; [ "$faulty" = 0 ]; }
ok '  each by a text that names the rule, shows the line with a caret, repeats nothing, and ends with the audit id' no_faults
ok "  in at most 2048 bytes: $longest" [ "$longest" -le 2048 ]
enough() { grep '^not repaired' "$work/denials.txt"; [ "$repaired" -ge 60 ]; }
ok "at least sixty of them run after the one repair that the text names: $repaired of $programs" enough
finish
