#!/bin/bash
# SPDX-License-Identifier: MIT
# Every process of the gateway and every sandbox is killed at random moments under load, and nothing is lost. CHAOS_SEED repeats the
# choices of a run, CHAOS_SECONDS (40) makes it longer.
source "$(dirname "$0")/lib.sh"
seed=${CHAOS_SEED:-$RANDOM}
echo "  -     CHAOS_SEED=$seed"
node tests/abuse/chaos.mjs "$state" "${CHAOS_SECONDS:-40}" "$seed" "$codebox" --policy tests/abuse/policy.yaml --pool-min 4 --max-sessions 64 || failed=1
ok 'the audit log is whole' "$codebox" audit verify --state "$state"
[ "$failed" = 0 ] || tail -n ${CHAOS_LOG:-20} "$state.log"
finish
