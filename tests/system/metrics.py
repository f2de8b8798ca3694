#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A strict parser of the text exposition format of Prometheus, version 0.0.4. Exit status 1 and the first problem."""
import math
import re
import sys

NAME = r'[a-zA-Z_:][a-zA-Z0-9_:]*'
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)')
SAMPLE = re.compile(r'^(%s)(?:\{(.*)\})? (\S+)$' % NAME)
SUFFIXES = {'histogram': ('_bucket', '_sum', '_count'), 'summary': ('', '_sum', '_count')}


def fail(number, text):
    sys.exit('line %d: %s' % (number, text))


def labels_of(number, text):
    labels, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        if not match or (match.group(3) == '' and match.end() != len(text)):
            fail(number, 'labels')
        if match.group(1) in labels or match.group(1).startswith('__'):
            fail(number, 'label ' + match.group(1))
        labels[match.group(1)] = match.group(2)
        at = match.end()
    return labels


def check_histogram(family, samples):
    series = {}
    for name, labels, value, number in samples:
        rest = tuple(sorted((k, v) for k, v in labels.items() if k != 'le'))
        series.setdefault(rest, {'buckets': []})
        if name.endswith('_bucket'):
            series[rest]['buckets'].append((float(labels['le'].replace('+Inf', 'inf')), value))
        else:
            series[rest][name[len(family):]] = value
    for one in series.values():
        bounds = [bound for bound, _ in one['buckets']]
        counts = [count for _, count in one['buckets']]
        if bounds != sorted(set(bounds)) or counts != sorted(counts) or not bounds or bounds[-1] != math.inf:
            sys.exit('%s: buckets %s' % (family, one['buckets']))
        if one.get('_count') != counts[-1] or '_sum' not in one or one['_sum'] < 0:
            sys.exit('%s: count and sum' % family)


def main(path):
    text = open(path, encoding='utf-8', newline='').read()
    if not text.endswith('\n') or '\r' in text:
        sys.exit('line ends')
    families, current, seen, helped = {}, None, set(), set()
    for number, line in enumerate(text.split('\n')[:-1], 1):
        if match := re.match(r'^# HELP (%s) (\S.*)$' % NAME, line):
            if match.group(1) in helped:
                fail(number, 'second HELP of ' + match.group(1))
            helped.add(match.group(1))
        elif match := re.match(r'^# TYPE (%s) (counter|gauge|histogram|summary|untyped)$' % NAME, line):
            current = match.group(1)
            if current in families or current not in helped:
                fail(number, 'TYPE of ' + current)
            families[current] = (match.group(2), [])
        elif match := SAMPLE.match(line):
            kind, samples = families.get(current, (None, None))
            names = [current + suffix for suffix in SUFFIXES.get(kind, ('',))] if current else []
            if match.group(1) not in names:
                fail(number, 'a sample outside of its family: ' + line)
            labels = labels_of(number, match.group(2) or '')
            key = (match.group(1), tuple(sorted(labels.items())))
            if key in seen:
                fail(number, 'a sample twice: ' + line)
            seen.add(key)
            value = float(match.group(3))
            if kind == 'counter' and (not current.endswith('_total') or value < 0):
                fail(number, 'counter ' + line)
            samples.append((match.group(1), labels, value, number))
        else:
            fail(number, 'neither comment nor sample: ' + line)
    for family, (kind, samples) in families.items():
        if not samples:
            sys.exit('%s has no samples' % family)
        if kind == 'histogram':
            check_histogram(family, samples)
    print('%d families, %d samples' % (len(families), len(seen)))


main(sys.argv[1])
