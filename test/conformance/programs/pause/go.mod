// The process that holds the namespaces of a pod. scripts/conformance/programs.mjs builds it.
module conformance-pause

go 1.26.0
