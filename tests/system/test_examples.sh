#!/bin/bash
# SPDX-License-Identifier: MIT
# The examples of gateway/examples: a model's API is a stand-in (tests/system/model_standin.mjs), codebox and its sandboxes are real.
source "$(dirname "$0")/lib.sh"
token=$("$codebox" token create --state "$state" --principal example 2>/dev/null)
start_server
node tests/system/model_standin.mjs >"$work/port" &
model=$!
wait_until [ -s "$work/port" ]
converse() { # EXAMPLE
    CODEBOX_URL=$base CODEBOX_TOKEN=$token MODEL_URL=http://127.0.0.1:$(cat "$work/port") MODEL_KEY=key MODEL=stand-in \
        timeout 120 python3 -B "gateway/examples/$1" 'How many primes are below 1000, and which is the last one?' | tee "$work/answer"
    grep -q '^nothing ran: .*py.process.*| 168 | 997$' "$work/answer"
}
ok 'a model that speaks like OpenAI reads the denial, writes another program, and goes on in its session' converse openai_tools.py
ok 'so does one that speaks like Gemini' converse gemini_tools.py
closed() { [ "$(curl -sS -H "Authorization: Bearer $token" "$base/v1/sessions" | jq '.sessions | length')" = 0 ]; }
ok 'and both close their sessions' closed
kill "$model"
finish
