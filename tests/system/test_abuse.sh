#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that mean harm (tests/abuse), through the REST API in real sandboxes: what they do stays theirs. ABUSE_TIMES=1 shows how long
# each takes; an argument picks those whose sentence has it.
source "$(dirname "$0")/lib.sh"
no_session_left() { curl -sS "$base/v1/sessions" | expect ".sessions == []"; curl -sS "$base/healthz" | expect ".pool.in_use == 0"; }
start_server --policy tests/abuse/policy.yaml --pool-min 4 --max-sessions 64
node tests/abuse/run.mjs "$base" "$server" "${1:-}" || failed=1
ok 'every sandbox that is left is one of the pool' no_session_left
ok 'the audit log is whole' audit_is_whole
finish
