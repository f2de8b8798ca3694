{{- /* Names that several templates use. All of them begin with the release's name. */ -}}
{{- define "codebox.labels" -}}
app.kubernetes.io/name: {{ .Release.Name }}
app.kubernetes.io/component: gateway
{{- end -}}

{{- define "codebox.image" -}}
{{- if hasPrefix "sha256:" .Values.image.tag -}}
{{ .Values.image.repository }}@{{ .Values.image.tag }}
{{- else if .Values.image.tag -}}
{{ .Values.image.repository }}:{{ .Values.image.tag }}
{{- else -}}
{{ .Values.image.repository }}
{{- end -}}
{{- end -}}

{{- define "codebox.sandboxes" -}}
{{ .Values.sandboxes.namespace | default (printf "%s-sandboxes" .Release.Name) }}
{{- end -}}

{{- define "codebox.node" -}}
{{ .Values.seccomp.namespace | default (printf "%s-node" .Release.Name) }}
{{- end -}}

{{- define "codebox.runtime" -}}
{{ .Values.runtimeClass.name | default .Release.Name }}
{{- end -}}

{{- define "codebox.profile" -}}
{{- if .Values.seccomp.profile -}}
{{ .Values.seccomp.profile }}
{{- else if .Values.seccomp.install -}}
{{ printf "%s/sandbox.json" .Release.Name }}
{{- end -}}
{{- end -}}
