// A CoreDNS with the plugins of the cluster's Corefile and of agnhost's. A full CoreDNS has the client libraries of
// three cloud providers, and takes much longer to build.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"

	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/forward"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/hosts"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/log"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/reload"
	_ "github.com/coredns/coredns/plugin/template"
)

func main() {
	// The order in which a query passes the plugins.
	dnsserver.Directives = []string{
		"reload", "ready", "health", "errors", "log", "cache", "template", "hosts", "kubernetes", "forward",
	}
	coremain.Run()
}
