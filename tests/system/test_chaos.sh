#!/bin/bash
# SPDX-License-Identifier: MIT
# Processes of the gateway are killed at random moments under load, and nothing is lost; then sandboxes too, which costs what ran in
# them and no more. CHAOS_SEED repeats the choices of a run, CHAOS_SECONDS (30) makes it longer, CHAOS_VICTIMS is an expression for who
# is killed.
source "$(dirname "$0")/lib.sh"
seed=${CHAOS_SEED:-$RANDOM}
echo "  -     CHAOS_SEED=$seed"
whom=('cbx|master' .)
[ -z "${CHAOS_VICTIMS:-}" ] || whom=("$CHAOS_VICTIMS")
for victims in "${whom[@]}"; do
  node tests/abuse/chaos.mjs "$state" "${CHAOS_SECONDS:-30}" "$seed" "$victims" "$codebox" --policy tests/abuse/policy.yaml --pool-min 4 --max-sessions 64 || failed=1
done
ok 'the audit log is whole' audit_is_whole
[ "$failed" = 0 ] || tail -n ${CHAOS_LOG:-20} "$state.log"
finish
