# SPDX-License-Identifier: MIT
# Checks the output of `codebox audit export`: check_export.py ecs|ocsf|cef FILE RECORDS. RECORDS is
# the log itself, one record for each line of FILE. ECS 8.11: the type of each field, and the
# allowed values of the categorisation fields. OCSF 1.4.0: required attributes, types and
# enumerations of the classes 2004 and 6003, with the profile security_control. CEF 0: header, keys
# and escapes, and the values against the record.
import json
import re
import sys

TEXT, LONG, LIST = str, int, list

ECS = {
    "@timestamp": TEXT, "message": TEXT, "ecs.version": TEXT,
    "event.kind": {"alert", "event"},
    "event.action": TEXT, "event.module": TEXT, "event.dataset": TEXT, "event.provider": TEXT, "event.sequence": LONG, "event.hash": TEXT,
    "event.id": TEXT, "event.reason": TEXT, "event.duration": LONG, "event.outcome": {"success", "failure", "unknown"},
    "event.category": LIST, "event.type": LIST,
    "user.name": TEXT, "related.user": LIST, "related.hash": LIST, "file.name": TEXT, "file.path": TEXT, "file.hash.sha256": TEXT,
    "rule.name": TEXT, "rule.ruleset": TEXT, "process.exit_code": LONG, "destination.domain": TEXT, "destination.port": LONG,
    "http.request.method": TEXT, "http.request.id": TEXT, "source.ip": TEXT,
}
# The types that ECS 8.11 expects of each category.
ECS_TYPES = {
    "api": {"access", "admin", "allowed", "change", "creation", "deletion", "denied", "end", "info", "start", "user"},
    "authentication": {"end", "info", "start"},
    "configuration": {"access", "change", "creation", "deletion", "info"},
    "file": {"access", "change", "creation", "deletion", "info"},
    "intrusion_detection": {"allowed", "denied", "info"},
    "iam": {"admin", "change", "creation", "deletion", "group", "info", "user"},
    "network": {"access", "allowed", "connection", "denied", "end", "info", "protocol", "start"},
    "process": {"access", "change", "end", "info", "start"},
}
OCSF_COMMON = {
    "activity_id": int, "category_uid": int, "class_uid": int, "type_uid": int, "severity_id": {0, 1, 2, 3, 4, 5, 6, 99}, "time": int,
    "metadata.version": str, "metadata.product.vendor_name": str,
}
OCSF_OPTIONAL = {
    "activity_name": str, "message": str, "duration": int, "status_detail": str, "policy.name": str, "policy.uid": str,
    "action_id": {0, 1, 2}, "disposition_id": set(range(28)) | {99}, "metadata.product.name": str, "metadata.profiles": list,
    "metadata.sequence": int, "metadata.uid": str, "metadata.event_code": str, "metadata.correlation_uid": str,
}
OCSF = {
    2004: (2, {1, 2, 3}, {"finding_info.uid": str, "finding_info.title": str},
           {"is_alert": bool, "status_id": {1, 2, 3, 4}, "finding_info.created_time": int, "finding_info.analytic.type_id": {0, 1, 2, 3, 4, 99},
            "finding_info.analytic.name": str}),
    6003: (6, {0, 1, 2, 3, 4, 99}, {"actor.user.name": str, "api.operation": str, "src_endpoint.svc_name": str},
           {"api.service.name": str, "api.request.uid": str, "src_endpoint.ip": str, "actor.user.credential_uid": str, "dst_endpoint.hostname": str, "dst_endpoint.port": int}),
}


OCSF_ACTIVITIES = {0: "Unknown", 1: "Create", 2: "Read", 3: "Update", 4: "Delete", 99: "Other"}


def fail(*words):
    sys.exit(" ".join(map(str, words)))


def flatten(value, path=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flatten(inner, path + "." + key if path else key)
    else:
        yield path, value


def check_type(path, value, wanted):
    if isinstance(wanted, set):
        if value not in wanted or isinstance(value, bool):
            fail(path, "is", value, "allowed:", sorted(wanted, key=str))
    elif not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        fail(path, "is", repr(value), "allowed is", wanted)


def check_ecs(line, record):
    event = json.loads(line)
    for path, value in flatten(event):
        if not path.startswith("codebox."):  # fields of codebox have a namespace of their own
            if path not in ECS:
                fail("ECS has no field", path)
            check_type(path, value, ECS[path])
    category, kind = event["event"]["category"], event["event"]["type"]
    if any(t not in ECS_TYPES[c] for c in category for t in kind):
        fail("ECS expects other types of", category, "than", kind)
    if event["event"]["sequence"] != record["seq"] or event["ecs"]["version"] != "8.11.0":
        fail("another record")
    if event.get("file", {}).get("name", "") != record["body"].get("file_name", ""):
        fail("another file name")


def check_ocsf(line, record):
    event = json.loads(line)
    flat = dict(flatten(event))
    if event["class_uid"] not in OCSF:
        fail("class", event["class_uid"])
    category, activities, required, optional = OCSF[event["class_uid"]]
    needed = {**OCSF_COMMON, **required}
    for path in needed:
        if path not in flat:
            fail("OCSF requires", path, "of class", event["class_uid"])
    known = {**needed, **OCSF_OPTIONAL, **optional}
    for path, value in flat.items():
        if not path.startswith("unmapped."):
            if path not in known:
                fail("OCSF has no", path, "in class", event["class_uid"])
            check_type(path, value, known[path])
    if event["category_uid"] != category or event["activity_id"] not in activities:
        fail("category or activity", event["category_uid"], event["activity_id"])
    if event["type_uid"] != event["class_uid"] * 100 + event["activity_id"]:
        fail("type_uid", event["type_uid"])
    if event["activity_name"] != OCSF_ACTIVITIES[event["activity_id"]]:
        fail("activity", event["activity_id"], "is called", event["activity_name"])
    if event["metadata"]["sequence"] != record["seq"]:
        fail("another record")


def check_cef(line, record):
    header = re.match(r"CEF:0" + r"\|((?:[^|\\]|\\[|\\])*)" * 6 + r"\|", line)
    if not header:
        fail("not a CEF header:", line[:100])
    vendor, product, version, event_class, name, severity = header.groups()
    if (vendor, product, event_class) != ("codebox", "codebox", record["type"]) or not 0 <= int(severity) <= 10:
        fail("header", header.groups())
    extension = line[header.end():]
    values = {}
    # A key begins after a space and ends at '='; in a value '=' and '\' are escaped.
    for found in re.finditer(r"(?:^| )([A-Za-z0-9]+)=((?:[^=\\]|\\[=\\nr])*?)(?= [A-Za-z0-9]+=|$)", extension):
        key, value = found.groups()
        if key in values:
            fail("key twice:", key)
        values[key] = re.sub(r"\\(.)", lambda m: {"n": "\n", "r": "\r"}.get(m.group(1), m.group(1)), value)
    rebuilt = sum(len(f.group(0)) for f in re.finditer(r"(?:^| )([A-Za-z0-9]+)=((?:[^=\\]|\\[=\\nr])*?)(?= [A-Za-z0-9]+=|$)", extension))
    if rebuilt != len(extension):
        fail("the extension has more than keys and values:", extension)
    if any(ord(c) < 32 or ord(c) == 127 for c in line):
        fail("a control character")
    if int(values["externalId"]) != record["seq"] or values["cs5"] != record["hash"]:
        fail("another record")
    name = record["body"].get("file_name", "")
    if name.isprintable() and values.get("fname", "") != name:
        fail("file name", values.get("fname"), "not", name)


checks = {"ecs": check_ecs, "ocsf": check_ocsf, "cef": check_cef}
lines = open(sys.argv[2], encoding="utf-8").read().split("\n")[:-1]
records = [json.loads(line) for line in open(sys.argv[3], encoding="utf-8")]
if len(lines) != len(records) or not lines:
    fail(len(lines), "lines for", len(records), "records")
for line, record in zip(lines, records):
    checks[sys.argv[1]](line, record)
