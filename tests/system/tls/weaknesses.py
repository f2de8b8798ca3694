#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the weaknesses in a report of sslscan (--xml), one line each. Exit status 1 if there is one,
or if the report is incomplete.

weaknesses.py REPORT.xml
"""

import re
import sys
import xml.etree.ElementTree as xml

PROTOCOLS = {"ssl 2": "0", "ssl 3": "0", "tls 1.0": "0", "tls 1.1": "0", "tls 1.2": "1", "tls 1.3": "1"}
BITS = 128
# Forward secrecy and authenticated encryption. In TLS 1.3 every suite has both.
SUITE = re.compile(r"ECDHE-(RSA|ECDSA)-.*(GCM|CHACHA20)|TLS_.*(GCM|CHACHA20)")


def weaknesses(report):
    found = {f"{p.get('type')} {p.get('version')}": p.get("enabled") for p in report.iter("protocol")}
    for name in sorted(found.keys() | PROTOCOLS.keys()):
        if found.get(name) != PROTOCOLS.get(name):
            yield f"protocol {name}: enabled is {found.get(name)}, should be {PROTOCOLS.get(name)}"
    suites = list(report.iter("cipher"))
    if {s.get("sslversion") for s in suites} != {"TLSv1.2", "TLSv1.3"}:
        yield f"suites are accepted by {sorted({s.get('sslversion') for s in suites})}, not by both of TLS 1.2 and 1.3"
    for s in suites:
        if not SUITE.match(s.get("cipher")):
            yield f"suite {s.get('cipher')} has no forward secrecy, or encryption that is not authenticated"
        if int(s.get("bits")) < BITS or s.get("strength") not in ("strong", "acceptable"):
            yield f"suite {s.get('cipher')}: {s.get('bits')} bits, {s.get('strength')}"
    groups = list(report.iter("group"))
    if not groups:
        yield "the report has no groups"
    for g in groups:
        if int(g.get("bits")) < BITS:
            yield f"group {g.get('name')} by {g.get('sslversion')}: {g.get('bits')} bits"
    renegotiation = list(report.iter("renegotiation"))
    if [r.get("supported") for r in renegotiation] != ["0"]:
        yield "sessions can be renegotiated"
    for c in report.iter("compression"):
        if c.get("supported") != "0":
            yield "compression is supported"
    for h in report.iter("heartbleed"):
        if h.get("vulnerable") != "0":
            yield f"heartbleed by {h.get('sslversion')}"


if __name__ == "__main__":
    lines = list(weaknesses(xml.parse(sys.argv[1]).getroot()))
    print("\n".join(lines))
    sys.exit(1 if lines else 0)
