{{- define "pointsman.labels" -}}
app.kubernetes.io/name: pointsman
{{- end -}}

{{- define "pointsman.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{/* A privileged init container sets what an unprivileged proxy cannot set. */}}
{{- define "pointsman.needsInit" -}}
{{- if or (eq .Values.mode "ipvs") (and (eq .Values.mode "iptables") .Values.localhostNodePorts) }}true{{ end -}}
{{- end -}}

{{/* The mode runs the iptables programs, which share a lock. */}}
{{- define "pointsman.runsIptables" -}}
{{- if not (has .Values.mode (list "nftables" "ebpf")) }}true{{ end -}}
{{- end -}}

{{- define "pointsman.capabilities" -}}
{{- $capabilities := list "NET_ADMIN" -}}
{{- if eq .Values.mode "ebpf" -}}
{{- $capabilities = list "BPF" "NET_ADMIN" "PERFMON" -}}
{{- else if or (eq .Values.mode "ipvs") (and .Values.legacyIptables (include "pointsman.runsIptables" .)) -}}
{{- $capabilities = list "NET_ADMIN" "NET_RAW" -}}
{{- end -}}
{{- if .Values.endSockets -}}{{- $capabilities = append $capabilities "SYS_ADMIN" -}}{{- end -}}
[{{ join ", " $capabilities }}]
{{- end -}}

{{- define "pointsman.configuration" -}}
{{- $configuration := dict
  "apiVersion" "kubeproxy.config.k8s.io/v1alpha1"
  "kind" "KubeProxyConfiguration"
  "mode" .Values.mode
  "clientConnection" (dict "kubeconfig" "/var/lib/kube-proxy/kubeconfig.conf")
  "metricsBindAddress" .Values.monitoring.metricsBindAddress -}}
{{- if .Values.clusterCIDR }}{{ $_ := set $configuration "clusterCIDR" .Values.clusterCIDR }}{{ end -}}
{{- if not (include "pointsman.needsInit" .) -}}
{{- /* Without the init container the kernel keeps its values of connection tracking. */ -}}
{{- $_ := set $configuration "conntrack" (dict "maxPerCore" 0 "tcpEstablishedTimeout" "0s" "tcpCloseWaitTimeout" "0s") -}}
{{- end -}}
{{- if and (eq .Values.mode "iptables") (not .Values.localhostNodePorts) -}}
{{- $_ := set $configuration "iptables" (dict "localhostNodePorts" false) -}}
{{- end -}}
{{ mergeOverwrite $configuration (deepCopy .Values.configuration) | toYaml }}
{{- end -}}

{{/* The flags of the operator's page. */}}
{{- define "pointsman.pageFlags" -}}
{{- with .Values.page -}}
{{- if and .bindAddress (not .secret) (not (regexMatch `^(127\.|\[::1\])` .bindAddress)) -}}
{{- fail "page.bindAddress is no loopback address: page.secret must name a Secret with tls.crt, tls.key and token" -}}
{{- end -}}
- --page-bind-address={{ .bindAddress }}
{{- if .secret }}
- --page-tls-cert-file=/etc/pointsman/page/tls.crt
- --page-tls-key-file=/etc/pointsman/page/tls.key
- --page-token-file=/etc/pointsman/page/token
{{- end }}
{{- with .allow }}
- --page-allow={{ join "," . }}
{{- end }}
{{- end -}}
{{- end -}}
