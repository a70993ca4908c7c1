package peer

import (
	"strings"
)

func statelessFaults() []Fault {
	all := []Fault{
		{Name: "no-server-info", Breaks: "Results do not say which server made them.", Requirements: []string{"META-SERVER-INFO"},
			edit: when(isProbe, member("_meta", nil))},
		{Name: "missing-meta-accepted", Breaks: "A request without the required metadata is served.", Requirements: []string{"META-MISSING-REJECTED", "META-MISSING-400", "STATELESS-NO-MEMORY"}},
		{Name: "missing-meta-code", Breaks: "A request without the required metadata is refused with another code than -32602.", Requirements: []string{"META-MISSING-REJECTED"},
			edit: when(refusing(codeInvalidParams, "params._meta needs"), recodes(codeInvalidRequest))},
		{Name: "unsupported-version-accepted", Breaks: "A request in a version that the server does not implement is served.", Requirements: []string{"VERSION-UNSUPPORTED", "VERSION-UNSUPPORTED-400"}},
		{Name: "versions-not-listed", Breaks: "The error for an unsupported version does not list the supported ones.", Requirements: []string{"VERSION-UNSUPPORTED"},
			edit: when(refusing(codeVersion, ""), func(m *sent) { delete(m.msg["error"].(obj), "data") })},
		{Name: "missing-capability-unnamed", Breaks: "The error for an undeclared capability names it in the wrong form.", Requirements: []string{"CAPABILITY-MISSING", "SCHEMA-ERROR"},
			edit: when(refusing(codeMissingCapability, "needs a capability"), func(m *sent) {
				e, _ := m.msg["error"].(obj)
				put(e, "data", obj{"requiredCapabilities": "sampling"})
			})},
		{Name: "missing-capability-ignored", Breaks: "A request that needs an undeclared capability is served.", Requirements: []string{"CAPABILITY-MISSING"}},
		{Name: "capabilities-remembered", Breaks: "The server remembers the capabilities of earlier requests.", Requirements: []string{"STATELESS-NO-MEMORY", "CAPABILITY-MISSING", "INPUT-REQUIRED-DECLARED"}},
		{Name: "extension-without-prefix", Breaks: "The server names an extension without a prefix.", Requirements: []string{"EXTENSION-ID", "SCHEMA-RESULT"},
			edit: when(resultOf("server/discover"), extension("odd"))},
		{Name: "extension-forced", Breaks: "A request that does not declare an extension is answered by it.", Requirements: []string{"EXTENSION-FALLBACK", "RESULT-TYPE-KNOWN", "SCHEMA-RESULT", "TOOLS-CALL-RESULT"},
			edit: func(m *sent) {
				when(resultOf("server/discover"), extension("io.modelcontextprotocol/tasks"))(m)
				when(isProbe, member("resultType", "task"))(m)
			}},
		{Name: "fewer-for-some", Breaks: "The server offers less to a client by its name.", Requirements: []string{"META-IDENTITY-NOT-USED", "TOOLS-DECLARED"},
			edit: when(resultOf("server/discover"), func(m *sent) {
				if isTwin(m) {
					m.result()["capabilities"] = obj{}
				}
			})},
		{Name: "one-conversation", Breaks: "The server serves one client only.", Requirements: []string{"STATELESS-INTERLEAVED", "META-IDENTITY-NOT-USED", "DISCOVER-IMPLEMENTED"},
			edit: when(resultOf("server/discover"), func(m *sent) {
				if isTwin(m) {
					fails(codeInternal, "the server is taken")(m)
				}
			})},
		{Name: "discover-first", Breaks: "The server lists no tools on a connection that has not seen server/discover.", Requirements: []string{"STATELESS-ANY-CONNECTION", "TOOLS-LIST-ANSWERED"}, Transports: overStdio()},
		{Name: "no-result-type", Breaks: "A result does not say its resultType.", Requirements: []string{"RESULT-TYPE"},
			edit: when(isProbe, member("resultType", nil))},
		{Name: "unknown-result-type", Breaks: "A result has a resultType that nobody knows.", Requirements: []string{"RESULT-TYPE-KNOWN"},
			edit: when(isProbe, member("resultType", "bogus"))},
		{Name: "no-discover", Breaks: "The server does not answer server/discover.", Requirements: []string{"DISCOVER-IMPLEMENTED"},
			edit: when(resultOf("server/discover"), fails(codeMethodNotFound, "that is not offered"))},
		{Name: "discover-other-versions", Breaks: "server/discover does not list the version in which it was asked.", Requirements: []string{"DISCOVER-VERSIONS"},
			edit: when(resultOf("server/discover"), member("supportedVersions", []string{"2099-01-01"}))},
		{Name: "server-request", Breaks: "The server sends a request.", Requirements: []string{"SERVER-NO-REQUESTS"},
			edit: when(isProbe, before(request("server", "roots/list", nil)))},
		{Name: "versions-not-named", Breaks: "A server without the handshake refuses initialize without naming its versions.", Requirements: []string{"INITIALIZE-REFUSED-NAMES-VERSIONS"}},
		{Name: "no-cache-hints", Breaks: "A list carries no caching hints.", Requirements: []string{"CACHE-HINTS"},
			edit: when(resultOf("prompts/list"), func(m *sent) { delete(m.result(), "ttlMs"); delete(m.result(), "cacheScope") })},
		{Name: "negative-ttl", Breaks: "The ttlMs of a list is negative.", Requirements: []string{"CACHE-TTL"},
			edit: when(resultOf("prompts/list"), member("ttlMs", -1))},
		{Name: "log-unrequested", Breaks: "A log message is sent for a request that asked for none.", Requirements: []string{"LOG-LEVEL-REQUESTED"},
			edit: when(isProbe, before(notification("notifications/message", obj{"level": "emergency", "data": "unrequested"})))},
	}
	for i := range all {
		all[i].Since = modern
	}
	return all
}

// extension declares one.
func extension(id string) func(*sent) {
	return func(m *sent) {
		if caps, ok := m.result()["capabilities"].(obj); ok {
			caps["extensions"] = obj{id: obj{}}
		}
	}
}

// isTwin matches what answers a client by the name of somebody's twin.
func isTwin(m *sent) bool {
	meta, _ := m.request.object("_meta")
	info, _ := meta.object(keyClientInfo)
	name, _ := info.text("name")
	return strings.HasSuffix(name, "-twin")
}

func listenFaults() []Fault {
	acknowledged := saying("notifications/subscriptions/acknowledged")
	all := []Fault{
		{Name: "listen-unacknowledged", Breaks: "A subscription is not acknowledged.", Requirements: []string{"LISTEN-ACKNOWLEDGED-FIRST"},
			edit: when(acknowledged, func(m *sent) { m.drop = true })},
		{Name: "listen-acknowledged-late", Breaks: "A notification precedes the acknowledgment of its subscription.", Requirements: []string{"LISTEN-ACKNOWLEDGED-FIRST"},
			edit: when(acknowledged, func(m *sent) { m.before = append(m.before, changeFor(m, true)...) })},
		{Name: "listen-more-than-asked", Breaks: "A subscription gets notifications that were not asked for.", Requirements: []string{"LISTEN-ONLY-REQUESTED"},
			edit: when(acknowledged, func(m *sent) { m.after = append(m.after, changeFor(m, false)...) })},
		{Name: "subscription-id-missing", Breaks: "A notification on a subscription does not carry its id.", Requirements: []string{"LISTEN-SUBSCRIPTION-ID", "SCHEMA-NOTIFICATION"},
			edit: when(acknowledged, func(m *sent) {
				for _, n := range changeFor(m, true) {
					delete(n.(obj), "params")
					m.after = append(m.after, n)
				}
			})},
	}
	for i := range all {
		all[i].Since = modern
	}
	return all
}

// changeFor is a notification of a list that the subscription asked for, or of
// one that it did not.
func changeFor(m *sent, wanted bool) []any {
	accepted, _ := m.params()["notifications"].(obj)
	for _, k := range []string{"tools", "prompts", "resources"} {
		if (accepted[k+"ListChanged"] == true) == wanted {
			return []any{notification("notifications/"+k+"/list_changed", obj{"_meta": obj{keySubscription: m.id}})}
		}
	}
	return nil
}
