#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the manifests of docker/kubernetes, and what they name in this source tree.

    manifests.py objects RENDERED.yaml      the rules of this file, on the output of `kubectl kustomize`
    manifests.py base                       the same, on the base as this program reads it
    manifests.py chart VALUES.json          the same, on the chart rendered with these values
    manifests.py same RENDERED.yaml|base VALUES.json    that both have the same objects
    manifests.py helm RENDERED.yaml VALUES.json     that `helm template` renders what go_templates.py renders
    manifests.py files                      copies, schema of the values, alerts, dashboard
    manifests.py wrong TABLE                that each change of the table is found; overlays need kubectl

Exit status 1, and a line for each problem."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

import go_templates
from go_templates import read

FOLDER = 'docker/kubernetes'
# Operators make these before: README.md has the commands.
EXISTING = {('ConfigMap', 'codebox-images'): ['images.json'], ('Secret', 'codebox-tokens'): ['tokens.jsonl'],
            ('Secret', 'codebox-tls'): ['tls.crt', 'tls.key'], ('Secret', 'codebox-database'): ['url', 'password', 'ca.crt'], ('Secret', 'codebox-takeover'): ['instance-secret'], ('Secret', 'codebox-registry'): ['.dockerconfigjson'], ('Secret', 'codebox-peer'): ['tls.crt', 'tls.key', 'ca.crt'], ('Secret', 'codebox-prometheus'): ['token']}
CLUSTER_WIDE = {'Namespace', 'PriorityClass', 'RuntimeClass'}
IMAGES = 'registry.example.com/codebox/'
LOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
problems = []


def need(condition, text):
    if not condition:
        problems.append(text)
    return condition


def yaml_of(text):
    return yaml.load(text, LOADER)


# --- facts of the source tree -----------------------------------------------------------------------------------------


def options():
    rows = re.findall(r'^CBX_OPTION\(\w+, *"([a-z-]+)", *\'[^\']*\', *\w+, *(?:"[^"]*"|NULL), *(?:"[^"]*"|NULL), *[^,]+, *[^,]+, *("[a-z]*"|NULL)',
                      read('gateway/cli/settings/cli_options.def'), re.M)
    named = {name for name, commands in rows if 'c' in commands}
    return named | set(re.findall(r'^CBX_SETTINGS_SECTION\((\w+)', read('gateway/cli/settings/sections.def'), re.M))


def rights():
    """The table of kube_review.c as {resource: verbs}."""
    table = re.search(r'} rights\[\] = \{(.*?)\n};', read('docker/engine/kubernetes/kube_review.c'), re.S).group(1)
    found = {}
    for verb, resource, part in re.findall(r'\{ "(\w+)", "(\w+)", "(\w*)", \w+ \}', table):
        found.setdefault(resource + ('/' + part if part else ''), set()).add(verb)
    return found


def cluster_keys():
    table = re.search(r'fields\[\] = \{(.*?)\n};', read('docker/engine/kubernetes/cluster.c'), re.S).group(1)
    return set(re.findall(r'"([a-z-]+)"', table))


def metrics():
    """Names, and the labels of those in the table."""
    rows = re.findall(r'^CBX_METRIC\(\w+, *(\w+), *"(\w+)", *"([\w,]*)"', read('gateway/ipc/metrics.def'), re.M)
    found = {}
    for kind, name, labels in rows:
        for end in ['_bucket', '_sum', '_count'] if kind == 'HISTOGRAM' else ['']:
            found[name + end] = set(labels.split(',')) - {''} | ({'le'} if end == '_bucket' else set())
    for name in re.findall(r'"(codebox_\w+)"', read('gateway/front/rest/rest_metrics.c')):
        found.setdefault(name, None)
    return found


# --- objects ----------------------------------------------------------------------------------------------------------


def title(one):
    return '%s %s' % (one['kind'], one['metadata']['name'])


class Objects:
    def __init__(self, objects):
        self.all = objects
        self.names = {(one['kind'], one['metadata'].get('namespace'), one['metadata']['name']): one for one in objects}
        need(len(self.names) == len(objects), 'two objects have one name')

    def of(self, kind):
        return [one for one in self.all if one['kind'] == kind]

    def find(self, kind, namespace, name):
        return self.names.get((kind, namespace, name))

    def keys(self, kind, namespace, name):
        """The keys of a ConfigMap or Secret; None if there is none."""
        one = self.find(kind, namespace, name)
        return list(one.get('data', {})) if one else EXISTING.get((kind, name))


def check_namespaces(objects):
    spaces = {one['metadata']['name']: one for one in objects.of('Namespace')}
    for one in objects.all:
        space = one['metadata'].get('namespace')
        if one['kind'] in CLUSTER_WIDE:
            need(space is None, '%s is in a namespace' % title(one))
        else:
            need(space is not None, '%s is in no namespace' % title(one))
    for name, one in spaces.items():
        level = one['metadata'].get('labels', {}).get('pod-security.kubernetes.io/enforce')
        need(level == 'restricted' or (level == 'privileged' and name.endswith('-node')), 'Namespace %s: Pod Security is %s' % (name, level))
    used = {one['metadata']['namespace'] for one in objects.all if one['kind'] not in CLUSTER_WIDE}
    for space in used:
        closed = [one for one in objects.of('NetworkPolicy') if one['metadata']['namespace'] == space and one['spec'].get('podSelector') == {} and
                  set(one['spec']['policyTypes']) == {'Ingress', 'Egress'} and not one['spec'].get('ingress') and not one['spec'].get('egress')]
        need(closed, 'namespace %s: no NetworkPolicy denies by default' % space)


def check_security(objects, owner, pod):
    where = title(owner)
    on_node = owner['kind'] == 'DaemonSet'
    for name in ('hostNetwork', 'hostPID', 'hostIPC'):
        need(not pod.get(name), '%s: %s' % (where, name))
    need(pod.get('enableServiceLinks') is False, '%s: variables of Services would be settings of the gateway' % where)
    need(pod.get('securityContext', {}).get('seccompProfile') == {'type': 'RuntimeDefault'}, '%s: no seccomp profile' % where)
    need(on_node or pod['securityContext'].get('runAsNonRoot') is True, '%s: may run as root' % where)
    need(on_node or pod['securityContext'].get('runAsUser', 0) > 0, '%s: no user' % where)
    if 'serviceAccountName' not in pod:
        need(pod.get('automountServiceAccountToken') is False, '%s: has a token of the API that it does not use' % where)
    for container in pod.get('initContainers', []) + pod['containers']:
        here = '%s, container %s' % (where, container['name'])
        context = container.get('securityContext', {})
        need(context.get('allowPrivilegeEscalation') is False, '%s: may gain privileges' % here)
        need(context.get('readOnlyRootFilesystem') is True, '%s: its root file system can be written' % here)
        need(context.get('capabilities') == {'drop': ['ALL']}, '%s: has capabilities' % here)
        need(not context.get('privileged'), '%s: is privileged' % here)
        need(on_node or context.get('runAsUser', 1) != 0, '%s: runs as root' % here)
        need(container['image'].startswith(IMAGES), '%s: image %s' % (here, container['image']))
        resources = container.get('resources', {})
        need({'cpu', 'memory'} <= set(resources.get('requests', {})) and 'memory' in resources.get('limits', {}), '%s: no resources' % here)
    for volume in pod.get('volumes', []):
        allowed = {'projected', 'emptyDir', 'configMap'} | ({'hostPath'} if on_node else set())
        need(set(volume) - {'name'} <= allowed, '%s: volume %s' % (where, volume['name']))


def sources_of(objects, namespace, volume):
    """The files of a volume; a problem for each object that does not exist."""
    files = []
    sources = volume.get('projected', {}).get('sources', []) + ([{'configMap': volume['configMap']}] if 'configMap' in volume else [])
    for source in sources:
        for kind, key in (('ConfigMap', 'configMap'), ('Secret', 'secret')):
            if key not in source:
                continue
            keys = objects.keys(kind, namespace, source[key]['name'])
            need(keys is not None, '%s %s does not exist, and no command of the README makes it' % (kind, source[key]['name']))
            files += keys or []
    return files


def check_volumes(objects, owner, pod):
    """The files that the containers find, by their paths."""
    namespace, files = owner['metadata']['namespace'], set()
    volumes = {volume['name']: sources_of(objects, namespace, volume) for volume in pod.get('volumes', [])}
    volumes.update({claim['metadata']['name']: [] for claim in owner['spec'].get('volumeClaimTemplates', [])})
    for container in pod.get('initContainers', []) + pod['containers']:
        for mount in container.get('volumeMounts', []):
            need(mount['name'] in volumes, '%s: there is no volume %s' % (title(owner), mount['name']))
            files |= {'%s/%s' % (mount['mountPath'], name) for name in volumes.get(mount['name'], [])}
    mounted = {mount['name'] for container in pod.get('initContainers', []) + pod['containers'] for mount in container.get('volumeMounts', [])}
    need(set(volumes) == mounted, '%s: volumes without a mount' % title(owner))
    for secret in pod.get('imagePullSecrets', []):
        need(secret.get('name'), '%s: a pull secret without a name' % title(owner))
    account = pod.get('serviceAccountName')
    need(account is None or objects.find('ServiceAccount', namespace, account), '%s: there is no ServiceAccount %s' % (title(owner), account))
    return files


def selects(selector, labels):
    return all(labels.get(key) == value for key, value in selector.items())


def check_selectors(objects, gateway, pod_labels, ports):
    space = gateway['metadata']['namespace']
    need(selects(gateway['spec']['selector']['matchLabels'], pod_labels), 'the StatefulSet does not select its Pods')
    for one in objects.of('PodDisruptionBudget'):
        need(selects(one['spec']['selector']['matchLabels'], pod_labels), '%s selects nothing' % title(one))
        need(one['spec'].get('maxUnavailable') == 1, '%s: maxUnavailable' % title(one))
    for spread in gateway['spec']['template']['spec']['topologySpreadConstraints']:
        need(selects(spread['labelSelector']['matchLabels'], pod_labels), 'the spread selects nothing')
    for one in objects.of('Service'):
        need(selects(one['spec']['selector'], pod_labels), '%s selects nothing' % title(one))
        for port in one['spec']['ports']:
            need(port['targetPort'] in ports and port['port'] == ports.get(port['targetPort']), '%s: port %s' % (title(one), port['name']))
    service = objects.find('Service', space, gateway['spec']['serviceName'])
    need(service and service['spec'].get('clusterIP') == 'None' and service['spec'].get('publishNotReadyAddresses'),
         'the StatefulSet has no headless Service that names all replicas')
    for one in objects.of('NetworkPolicy'):
        if one['metadata']['namespace'] != space or one['spec']['podSelector'] == {}:
            continue
        need(selects(one['spec']['podSelector']['matchLabels'], pod_labels), '%s selects nothing' % title(one))
        inward = {port['port'] for rule in one['spec']['ingress'] for port in rule['ports']}
        need(inward == set(ports.values()), '%s: ingress to %s, the gateway has %s' % (title(one), sorted(inward), sorted(ports.values())))
        outward = {port['port'] for rule in one['spec']['egress'] for port in rule['ports']}
        need({53, 443, 6443, ports['peers']} <= outward, '%s: egress to %s' % (title(one), sorted(outward)))
        opened = [rule for rule in one['spec']['ingress'] if 'from' not in rule]
        need([port['port'] for rule in opened for port in rule['ports']] == [ports['clients']], '%s: the port of peers is open to all' % title(one))
    for one in objects.of('ServiceMonitor'):
        found = [s for s in objects.of('Service') if selects(one['spec']['selector']['matchLabels'], s['metadata']['labels'])]
        need(len(found) == 1, '%s selects %d Services' % (title(one), len(found)))
        for end in one['spec']['endpoints']:
            need(end['port'] in ports, '%s: port' % title(one))
            credentials = end['authorization']['credentials']
            need(credentials['key'] in EXISTING.get(('Secret', credentials['name']), []), '%s: no token' % title(one))


def check_probes(container, ports):
    for name, path in (('readinessProbe', '/readyz'), ('livenessProbe', '/livez')):
        get = container.get(name, {}).get('httpGet', {})
        need(get.get('path') == path and get.get('port') == 'clients', 'the %s does not ask %s' % (name, path))
        hosts = [header['value'] for header in get.get('httpHeaders', []) if header['name'] == 'Host']
        need(hosts == ['localhost:%d' % ports['clients']], 'the %s has a Host that the gateway does not know' % name)
    schemes = {container[name]['httpGet'].get('scheme', 'HTTP') for name in ('readinessProbe', 'livenessProbe')}
    https = any(one['name'] == 'CODEBOX_TLS_CERTIFICATE' for one in container['env'])
    need(schemes == {'HTTPS' if https else 'HTTP'}, 'the probes ask by %s' % ', '.join(sorted(schemes)))
    for path in ('/readyz', '/livez'):
        need('"%s"' % path in read('gateway/front/rest/routes.def'), 'there is no route %s' % path)


def check_options(container, config):
    known = options()
    words = [word[2:] for word in container['args'] if word.startswith('--')] + list(config)
    words += [one['name'][len('CODEBOX_'):].lower().replace('_', '-') for one in container['env'] if one['name'].startswith('CODEBOX_')]
    for word in words:
        need(word in known or word == 'config', 'there is no option %s' % word)
    repeated = set(config) & {one['name'][len('CODEBOX_'):].lower().replace('_', '-') for one in container['env']}
    need(not repeated, 'in the file and in the environment: %s' % ', '.join(repeated))


def check_config(gateway, container, config, files, ports):
    space, service = gateway['metadata']['namespace'], gateway['spec']['serviceName']
    need(config['listen'] == '0.0.0.0:%d' % ports['clients'], 'listen is not the port of clients')
    for key in ('tokens', 'cluster', 'peer-certificate', 'peer-key', 'peer-ca'):
        need(key not in config or config[key] in files, '%s: %s is in no volume' % (key, config.get(key)))
    for one in container['env']:
        need(not one.get('value', '').startswith('/') or one['value'] in files, '%s: %s is in no volume' % (one['name'], one.get('value')))
    mounts = {mount['mountPath'] for mount in container['volumeMounts'] if not mount.get('readOnly')}
    need({config['state']} == mounts, 'the state is not the only folder that can be written')
    grace = gateway['spec']['template']['spec']['terminationGracePeriodSeconds']
    need(grace >= config['stop-timeout'] + 10, 'the Pod ends before stop-timeout')
    need('principals' in config, 'the configuration lists no principals')
    replicas = gateway['spec']['replicas']
    names = ['%s-%d' % (gateway['metadata']['name'], n) for n in range(replicas)]
    wanted = ['%s=%s.%s.%s.svc:%d' % (name, name, service, space, ports['peers']) for name in names]
    if replicas == 1:
        need(not any(key.startswith('peer') for key in config), 'one replica with peers')
    else:
        need(config.get('peer') == wanted, 'peer: %s, the replicas are %s' % (config.get('peer'), wanted))
        need(config.get('peer-listen') == '0.0.0.0:%d' % ports['peers'], 'peer-listen is not the port of peers')
    replica = [one for one in container['env'] if one['name'] == 'CODEBOX_REPLICA']
    need(replica and replica[0]['valueFrom']['fieldRef']['fieldPath'] == 'metadata.name', "the replica's name is not that of its Pod")
    environment = {one['name']: one.get('value', '') for one in container['env']}
    hosts = environment['CODEBOX_HOST'].split()
    need(len(hosts) <= 16 and {'codebox.%s.svc' % space, '$(POD_IP)', '$(CODEBOX_REPLICA).%s.%s.svc' % (service, space)} <= set(hosts), 'CODEBOX_HOST: %s' % hosts)


def check_cluster(objects, container, cluster, files):
    for key in cluster:
        need(key in cluster_keys(), 'the settings of the cluster have no key %s' % key)
    space = cluster['namespace']
    need(objects.find('Namespace', None, space), 'there is no namespace %s' % space)
    need('/etc/codebox/' + cluster['images'] in files, 'images: %s is in no volume' % cluster['images'])
    need(objects.find('PriorityClass', None, cluster['priority-class']), 'there is no PriorityClass %s' % cluster['priority-class'])
    need(objects.find('ResourceQuota', space, 'codebox') and objects.find('LimitRange', space, 'codebox'), 'no quota for sandboxes')
    for one in objects.all:
        if one['metadata'].get('namespace') == space:
            need(one['kind'] in ('Role', 'RoleBinding', 'NetworkPolicy', 'ResourceQuota', 'LimitRange'), '%s is in the namespace of sandboxes' % title(one))
    runtime = [one['value'] for one in container['env'] if one['name'] == 'CODEBOX_RUNTIME']
    for name in runtime:
        need(objects.find('RuntimeClass', None, name), 'there is no RuntimeClass %s' % name)
    need(cluster.get('storage') != 'runtime-class' or runtime, 'storage: runtime-class without a RuntimeClass')
    for one in objects.of('DaemonSet'):
        target = one['spec']['template']['spec']['containers'][0]['command'][-1]
        need(target == '/seccomp/%s' % cluster.get('seccomp-profile'), 'the DaemonSet installs %s, sandboxes have %s' % (target, cluster.get('seccomp-profile')))
    need(not objects.of('DaemonSet') or 'seccomp-profile' in cluster, 'sandboxes do not name the profile')


def check_rights(objects, gateway, cluster):
    roles = objects.of('Role')
    need(not objects.of('ClusterRole') and not objects.of('ClusterRoleBinding'), 'rights in the whole cluster')
    if not need(len(roles) == 1 and roles[0]['metadata']['namespace'] == cluster['namespace'], 'the rights are not in the namespace of sandboxes alone'):
        return
    found = {}
    for rule in roles[0]['rules']:
        need(rule['apiGroups'] == [''], 'rights of another API')
        for resource in rule['resources']:
            found.setdefault(resource, set()).update(rule['verbs'])
    need(found == rights(), 'the Role has %s, the engine asks for %s' % (found, rights()))
    for one in objects.of('RoleBinding'):
        account = gateway['spec']['template']['spec']['serviceAccountName']
        subject = {'kind': 'ServiceAccount', 'name': account, 'namespace': gateway['metadata']['namespace']}
        need(one['subjects'] == [subject] and one['roleRef']['name'] == roles[0]['metadata']['name'], '%s binds something else' % title(one))
        need(one['metadata']['namespace'] == cluster['namespace'], '%s is in another namespace' % title(one))


def check_objects(all_objects):
    objects = Objects(all_objects)
    check_namespaces(objects)
    files = set()
    for owner in objects.of('StatefulSet') + objects.of('DaemonSet'):
        pod = owner['spec']['template']['spec']
        check_security(objects, owner, pod)
        files |= check_volumes(objects, owner, pod)
    gateway = objects.of('StatefulSet')[0]
    template = gateway['spec']['template']
    container = template['spec']['containers'][0]
    ports = {port['name']: port['containerPort'] for port in container['ports']}
    maps = [one for one in objects.of('ConfigMap') if 'codebox.yaml' in one['data']]
    config, cluster = (yaml_of(maps[0]['data'][name]) for name in ('codebox.yaml', 'cluster.yaml'))
    need(template['spec']['securityContext'].get('fsGroupChangePolicy') == 'OnRootMismatch', 'the kubelet would open the state for the group')
    need(all(volume.get('projected') for volume in template['spec']['volumes']), 'settings in a volume to whose folder all users can write')
    check_selectors(objects, gateway, template['metadata']['labels'], ports)
    check_probes(container, ports)
    check_options(container, config)
    check_config(gateway, container, config, files, ports)
    check_cluster(objects, container, cluster, files)
    check_rights(objects, gateway, cluster)
    return objects


# --- the chart against the manifests ----------------------------------------------------------------------------------


def comparable(one):
    """An object without what may differ: the hash in the name of a generated ConfigMap, and the notes that stand for it in the chart."""
    text = json.dumps(one)
    text = re.sub(r'"(codebox-(?:config|seccomp))-[0-9a-z]{10}"', r'"\1"', text)
    one = json.loads(text)
    if one['kind'] == 'ConfigMap':
        one['data'] = {name: yaml_of(value) for name, value in one['data'].items()}
    notes = one.get('spec', {}).get('template', {}).get('metadata', {}) if isinstance(one.get('spec'), dict) else {}
    notes.pop('annotations', None)
    for container in one.get('spec', {}).get('template', {}).get('spec', {}).get('containers', []) if notes else []:
        container['volumeMounts'] = sorted(container.get('volumeMounts', []), key=lambda each: each['mountPath'])
        container['env'] = sorted(({**each, 'value': each['value'].split()} if 'value' in each else each for each in container.get('env', [])), key=lambda each: each['name'])
    pod = one.get('spec', {}).get('template', {}).get('spec', {}) if notes else {}
    if 'volumes' in pod:
        pod['volumes'] = sorted(pod['volumes'], key=lambda each: each['name'])
    return one


def differences(left, right, path):
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted(set(left) | set(right), key=str):
            if key not in left or key not in right:
                yield '%s.%s: only %s' % (path, key, 'in the manifests' if key in left else 'in the chart')
            else:
                yield from differences(left[key], right[key], '%s.%s' % (path, key))
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for n, (one, other) in enumerate(zip(left, right)):
            yield from differences(one, other, '%s[%d]' % (path, n))
    elif left != right:
        yield '%s: %s in the manifests, %s in the chart' % (path, left, right)


def check_same(rendered, chart):
    def by_name(objects):
        return {(one['kind'], one['metadata'].get('namespace'), one['metadata']['name']): one for one in map(comparable, objects)}
    left, right = by_name(rendered), by_name(chart)
    left.pop(('Namespace', None, 'codebox'), None)  # Helm makes the namespace of a release itself
    for name in sorted(set(left) ^ set(right), key=str):
        need(False, '%s: only %s' % (' '.join(filter(None, name)), 'in the manifests' if name in left else 'in the chart'))
    for name in sorted(set(left) & set(right), key=str):
        problems.extend(differences(left[name], right[name], ' '.join(filter(None, name))))


# --- files ------------------------------------------------------------------------------------------------------------


def expressions_of(dashboard):
    for panel in dashboard['panels']:
        for target in panel['targets']:
            yield panel['title'], target['expr']


def check_expression(where, expression, known):
    names = re.findall(r'\bcodebox_\w+', expression)
    need(names, '%s: names no metric' % where)
    for name, matchers in re.findall(r'\b(codebox_\w+)(?:\{([^}]*)\})?', expression):
        if not need(name in known, '%s: there is no metric %s' % (where, name)):
            continue
        labels = known[name]
        given = set(re.findall(r'(\w+) *(?:=~|!~|!=|=)', matchers)) - {'pod'}
        need(labels is None or given <= labels, '%s: %s has no label %s' % (where, name, given - (labels or set())))
        if labels is not None and len(names) == 1:
            for words in re.findall(r'\bby \(([^)]*)\)', expression):
                missing = set(re.split(r'[, ]+', words)) - labels - {'pod'}
                need(not missing, '%s: %s has no label %s' % (where, name, missing))


def check_monitoring():
    known = metrics()
    alerts = yaml_of(read(FOLDER + '/monitoring/alerts.yaml'))
    rules = [rule for group in alerts['groups'] for rule in group['rules']]
    names = [rule['alert'] for rule in rules]
    need(len(set(names)) == len(names) and len(names) > 10, 'alerts: names')
    for rule in rules:
        check_expression('alert ' + rule['alert'], rule['expr'], known)
        notes = rule.get('annotations', {})
        need(notes.get('summary', '').endswith('.') and notes.get('action', '').endswith('.'), 'alert %s does not say what is wrong and what to do' % rule['alert'])
        need(rule['labels']['severity'] in ('warning', 'critical'), 'alert %s: severity' % rule['alert'])
    same = yaml_of(read(FOLDER + '/monitoring/prometheusrule.yaml'))['spec']
    need(same == alerts, 'monitoring/prometheusrule.yaml has other alerts')
    need(read(FOLDER + '/chart/files/alerts.yaml') == read(FOLDER + '/monitoring/alerts.yaml'), 'chart/files/alerts.yaml has other alerts')
    dashboard = json.loads(read(FOLDER + '/monitoring/dashboard.json'))
    for name, expression in expressions_of(dashboard):
        check_expression('panel ' + name, expression, known)
    need(len({panel['id'] for panel in dashboard['panels']}) == len(dashboard['panels']), 'panels: ids')
    for panel in dashboard['panels']:
        need(panel['gridPos']['x'] + panel['gridPos']['w'] <= 24, 'panel %s is out of the grid' % panel['title'])


def check_schema(schema, value, path='values'):
    """The part of JSON Schema that values.schema.json uses: each value has a schema and conforms to it."""
    kinds = {'object': dict, 'array': list, 'string': str, 'integer': int, 'boolean': bool}
    if 'type' in schema and not need(isinstance(value, kinds[schema['type']]), '%s is no %s' % (path, schema['type'])):
        return
    need('enum' not in schema or value in schema['enum'], '%s is %s' % (path, value))
    need('pattern' not in schema or re.search(schema['pattern'], value), '%s is %s' % (path, value))
    need('minimum' not in schema or value >= schema['minimum'], '%s is %s' % (path, value))
    need('maximum' not in schema or value <= schema['maximum'], '%s is %s' % (path, value))
    for forbidden in schema.get('not', {}).get('anyOf', []):
        need(not set(forbidden['required']) <= set(value), '%s has %s' % (path, forbidden['required']))
    if isinstance(value, dict):
        for key in schema.get('required', []):
            need(key in value, '%s has no %s' % (path, key))
        for key, each in value.items():
            inner = schema.get('properties', {}).get(key, schema.get('additionalProperties', {}))
            if need(inner is not False, '%s: %s is not known' % (path, key)):
                check_schema(inner if isinstance(inner, dict) else {}, each, '%s.%s' % (path, key))


def check_comments():
    """Each value at the top has a comment above it, or at its first member."""
    lines = read(FOLDER + '/chart/values.yaml').split('\n')
    for number, line in enumerate(lines):
        if re.match(r'[a-zA-Z]+:', line):
            beside = [lines[number - 1] if number else '', lines[number + 1]]
            need(any(each.strip().startswith('#') for each in beside), 'values.yaml:%d has no comment' % (number + 1))


def check_files():
    profile = read('docker/engine/seccomp.json')
    for copy in ('overlays/seccomp/sandbox.json', 'chart/files/sandbox.json'):
        need(read('%s/%s' % (FOLDER, copy)) == profile, '%s is not docker/engine/seccomp.json' % copy)
    chart = yaml_of(read(FOLDER + '/chart/Chart.yaml'))
    version = re.search(r'define CBX_VERSION "([^"]*)"', read('policies/release.h')).group(1)
    need(chart['appVersion'] == version, 'Chart.yaml has the version %s, the gateway %s' % (chart['appVersion'], version))
    check_schema(json.loads(read(FOLDER + '/chart/values.schema.json')), yaml_of(read(FOLDER + '/chart/values.yaml')))
    check_comments()
    readme = read(FOLDER + '/README.md')
    for (kind, name), keys in EXISTING.items():
        command = re.search(r'create %s(?: generic| tls)? %s\b[^\n]*(?:\\\n[^\n]*)*' % (kind.lower(), name), readme)
        need(command and all(key in command.group() for key in keys), 'README.md does not make the %s %s with %s' % (kind, name, ', '.join(keys)))
    for folder, _, names in os.walk(FOLDER):
        for name in names:
            text = read(os.path.join(folder, name))
            need(not re.search(r'docker\.io|ghcr\.io|quay\.io|gcr\.io', text), '%s names a registry' % name)
            if name.endswith('.yaml') and 'templates' not in folder:
                list(yaml.load_all(text, LOADER))
    check_monitoring()


# --- the commands -----------------------------------------------------------------------------------------------------


def load(path):
    """The objects of a file; `base`: of the base, whose kustomization has resources and a generator alone."""
    if path != 'base':
        return [one for one in yaml.load_all(read(path), LOADER) if one]
    folder = FOLDER + '/base/'
    steps = yaml_of(read(folder + 'kustomization.yaml'))
    objects = [one for name in steps['resources'] for one in load(folder + name)]
    for made in steps['configMapGenerator']:
        data = {os.path.basename(name): read(folder + name) for name in made['files']}
        objects.append({'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': made['name'], 'namespace': made['namespace']}, 'data': data})
    return objects


def render(values):
    return go_templates.Chart(FOLDER + '/chart', values=values).objects()


def check_chart(values):
    chart = render(values)
    # NOTES.txt: Helm makes the namespace of a release itself.
    chart.append({'kind': 'Namespace', 'metadata': {'name': 'codebox', 'labels': {'pod-security.kubernetes.io/enforce': 'restricted'}}})
    check_objects(chart)


def kustomize(overlay):
    """The objects of an overlay with the texts of `replaced`; None without kubectl."""
    if not shutil.which('kubectl'):
        return None
    with tempfile.TemporaryDirectory() as work:
        shutil.copytree(FOLDER, work + '/kubernetes')
        for path, text in go_templates.replaced.items():
            with open(work + '/kubernetes' + path[len(FOLDER):], 'w', encoding='utf-8') as file:
                file.write(text)
        done = subprocess.run(['kubectl', 'kustomize', work + '/kubernetes/' + overlay], capture_output=True, text=True, check=False)
        return [one for one in yaml.load_all(done.stdout, LOADER) if one] if done.returncode == 0 else None


def check_mode(mode):
    """False if the check cannot be made here."""
    if mode == 'files':
        check_files()
    elif mode == 'chart':
        check_chart({'seccomp': {'install': True}, 'runtimeClass': {'enabled': True}, 'monitoring': {'serviceMonitor': True},
                     'tls': {'secret': 'codebox-tls'}, 'database': {'secret': 'codebox-database'}, 'takeover': {'secret': 'codebox-takeover'}, 'packages': {'enabled': True, 'secret': 'codebox-registry'}})
    elif mode == 'same':
        check_same(load('base'), render({}))
    else:
        objects = load('base') if mode == 'base' else kustomize(mode)
        if objects is None:
            return False
        check_objects(objects)
    return True


def check_wrong(table):
    tried, missed = 0, []
    for line in read(table).split('\n'):
        if not line or line.startswith('#'):
            continue
        fragment, file, pattern, instead, mode = line.split('\t')
        path = '%s/%s' % (FOLDER, file)
        text = re.sub(pattern, instead, read(path), count=1, flags=re.M)
        if text == read(path):
            missed.append('%s: nothing matches %s' % (file, pattern))
            continue
        go_templates.replaced[path] = text
        problems.clear()
        try:
            made = check_mode(mode)
        except (go_templates.Wrong, yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
            problems.append('%s: %s' % (type(error).__name__, error))
            made = True
        del go_templates.replaced[path]
        tried += made
        if made and not any(fragment in problem for problem in problems):
            missed.append('%s: %s -> %s was not found; found was: %s' % (file, pattern, instead, '; '.join(problems) or 'nothing'))
    problems[:] = missed
    print('tried: %d' % tried)


def main(words):
    if words[0] == 'objects':
        check_objects(load(words[1]))
    elif words[0] == 'base':
        check_objects(load('base'))
    elif words[0] == 'chart':
        check_chart(json.loads(words[1]))
    elif words[0] == 'same':
        check_same(load(words[1]), render(json.loads(words[2])))
    elif words[0] == 'helm':
        need(sorted(load(words[1]), key=title) == sorted(render(json.loads(words[2])), key=title), 'helm renders other objects')
    elif words[0] == 'files':
        check_files()
    elif words[0] == 'wrong':
        check_wrong(words[1])
    print('\n'.join(problems))
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
