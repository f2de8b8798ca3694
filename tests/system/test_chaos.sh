#!/bin/bash
# SPDX-License-Identifier: MIT
# Kills processes of the gateway at random moments under load: nothing is lost. Then kills
# sandboxes: only their runs are lost. CHAOS_SEED repeats the choices of a run, CHAOS_SECONDS (20)
# sets its length, CHAOS_VICTIMS is a regular expression of the processes to kill.
source "$(dirname "$0")/lib.sh"
seed=${CHAOS_SEED:-$RANDOM}
echo "  -     CHAOS_SEED=$seed"
whom=('cbx|master' .)
[ -z "${CHAOS_VICTIMS:-}" ] || whom=("$CHAOS_VICTIMS")
for victims in "${whom[@]}"; do
  node tests/abuse/chaos.mjs "$state" "${CHAOS_SECONDS:-20}" "$seed" "$victims" "$codebox" --policy tests/abuse/policy.yaml --pool-min 4 --max-sessions 64 || failed=1
done
start_server --pool-min 1 # this gateway writes the outcomes that the previous one left open
ok 'every permitted action has one outcome' wait_until one_each 50
stop_server
ok 'the audit log is whole' audit_is_whole
[ "$failed" = 0 ] || tail -n ${CHAOS_LOG:-20} "$state.log"
finish
