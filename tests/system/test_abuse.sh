#!/bin/bash
# SPDX-License-Identifier: MIT
# Hostile programs (tests/abuse) in real sandboxes, through the REST API: they affect no other
# session. ABUSE_TIMES=1 prints the time of each; an argument selects programs whose sentence
# contains it.
source "$(dirname "$0")/lib.sh"
no_session_left() { curl -sS "$base/v1/sessions" | expect ".sessions == []"; curl -sS "$base/healthz" | expect ".pool.in_use == 0"; }
start_server --policy tests/abuse/policy.yaml --pool-min 4 --max-sessions 64
node tests/abuse/run.mjs "$base" "$server" "${1:-}" || failed=1
ok 'every sandbox that is left is one of the pool' no_session_left
ok 'the audit log has no gap and no unsigned record' "$codebox" audit verify --state "$state"
finish
