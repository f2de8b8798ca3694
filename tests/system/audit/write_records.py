# SPDX-License-Identifier: MIT
# Appends a record of every type, with hostile texts, to the log in a state directory:
# write_records.py STATE. The records are chained and not signed.
import hashlib
import json
import os
import re
import sys

TEXTS = ["<img src=x onerror=alert(1)>", "</svg><script>alert(1)</script>", "a=b|c\\d\\=e\\n", "x\ny\r\nz", "\x1b[31mred\x07", "\"'><b>", "\u202eabc\u2028",
         "key=value other=1", "ünï", "|", "\\", "=", " ", "a" * 5000]
MEMBERS = ["principal", "session", "origin", "rule", "what", "reason", "error", "file_name", "path", "policy", "language", "host", "method",
           "capability", "id", "decision"]
root = os.path.dirname(os.path.abspath(__file__)) + "/../../.."
classes = open(root + "/gateway/cli/audit/audit_classes.def", encoding="utf-8").read()
types = list(dict.fromkeys(re.findall(r'^CBX_AUDIT_CLASS\("([a-z-]+)"', classes, re.M))) + ["another"]


def dump(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


seq, prev = 0, "0" * 64
with open(sys.argv[1] + "/audit.jsonl", "w", encoding="utf-8", newline="") as log:
    for number, kind in enumerate(types):
        for text in TEXTS:
            seq += 1
            body = {member: text for member in MEMBERS}
            body.update(verdict=["allow", "deny", "ask"][seq % 3], sha256="0" * 64, duration_ms=seq, exit_code=seq % 2, port=443,
                        findings=[{"rule": text, "effect": "deny", "symbol": text, "line": 1, "column": 1}])
            record = {"v": 1, "seq": seq, "time": "2026-11-23T10:%02d:00.000Z" % (seq % 60), "type": kind, "prev": prev, "body": body}
            if seq % 5 == 0:
                record["clock_back_ms"] = seq
            prev = hashlib.sha256(dump(record).encode()).hexdigest()
            record["hash"] = prev
            log.write(dump(record) + "\n")
