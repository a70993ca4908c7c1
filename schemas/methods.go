package schemas

import (
	"slices"
	"strings"
	"sync"
)

// Method is one method of a revision: who sends it, what its parts look like,
// and which capability makes it legal.
type Method struct {
	Name       string
	Kind       Kind // Request or Notification
	FromClient bool
	FromServer bool
	// Embedded marks the requests that travel inside a result since 2026-07-28
	// (basic/patterns/mrtr): bare method and params, from the server.
	Embedded bool
	// Definition is the definition of the whole message, such as
	// "CallToolRequest". Up to 2025-06-18 those leave out jsonrpc and id, which
	// JSONRPCRequest and JSONRPCNotification demand.
	Definition string
	// Params is the definition of the params alone; "" where the revision has none.
	Params string
	// Result is the definition of the result; "" for notifications.
	Result string
	// Needs is the capability that must have been declared, such as
	// "resources.subscribe"; "" if none. NeedsOf says by whom.
	Needs   string
	NeedsOf Party
	// Extension is the identifier of the extension that defines the method, ""
	// for the core; Schema then names the schemas that hold its definitions.
	Extension string
	Schema    Revision
}

// Party names one party of a message.
type Party string

// The parties. Receiver and Sender are for methods that both sides may send.
const (
	Client   Party = "client"
	Server   Party = "server"
	Receiver Party = "receiver"
	Sender   Party = "sender"
)

// row is one method of the table with the revisions that have it.
type row struct {
	since, until Revision // until is exclusive; "" means still alive
	from         string   // "C", "S", "CS", "E" (embedded)
	Method
}

func request(since, until Revision, from, name, definition, result string, needs ...string) row {
	return newRow(Request, since, until, from, name, definition+"Request", result+"Result", needs)
}

func notification(since, until Revision, from, name, definition string, needs ...string) row {
	return newRow(Notification, since, until, from, name, definition+"Notification", "", needs)
}

func newRow(k Kind, since, until Revision, from, name, definition, result string, needs []string) row {
	m := Method{Name: name, Kind: k, Definition: definition, Result: result}
	if len(needs) == 2 {
		m.NeedsOf, m.Needs = Party(needs[0]), needs[1]
	}
	m.FromClient = from == "C" || from == "CS"
	m.FromServer = from == "S" || from == "CS"
	m.Embedded = from == "E"
	return row{since, until, from, m}
}

// methodTable is transcribed from the pages of the revisions; the schema files
// name the same methods (a test compares).
func methodTable() []row {
	const server, client, receiver = string(Server), string(Client), string(Receiver)
	const a, b, c, d, e = R20241105, R20250326, R20250618, R20251125, R20260728
	return []row{
		request(a, e, "C", "initialize", "Initialize", "Initialize"),
		request(a, e, "CS", "ping", "Ping", "Empty"),
		request(e, "", "C", "server/discover", "Discover", "Discover"),
		request(a, "", "C", "tools/list", "ListTools", "ListTools", server, "tools"),
		request(a, "", "C", "tools/call", "CallTool", "CallTool", server, "tools"),
		request(a, "", "C", "resources/list", "ListResources", "ListResources", server, "resources"),
		request(a, "", "C", "resources/templates/list", "ListResourceTemplates", "ListResourceTemplates", server, "resources"),
		request(a, "", "C", "resources/read", "ReadResource", "ReadResource", server, "resources"),
		request(a, e, "C", "resources/subscribe", "Subscribe", "Empty", server, "resources.subscribe"),
		request(a, e, "C", "resources/unsubscribe", "Unsubscribe", "Empty", server, "resources.subscribe"),
		request(a, "", "C", "prompts/list", "ListPrompts", "ListPrompts", server, "prompts"),
		request(a, "", "C", "prompts/get", "GetPrompt", "GetPrompt", server, "prompts"),
		// 2024-11-05 has no capability for completion.
		request(a, b, "C", "completion/complete", "Complete", "Complete"),
		request(b, "", "C", "completion/complete", "Complete", "Complete", server, "completions"),
		request(a, e, "C", "logging/setLevel", "SetLevel", "Empty", server, "logging"),
		request(e, "", "C", "subscriptions/listen", "SubscriptionsListen", "SubscriptionsListen"),
		request(a, e, "S", "roots/list", "ListRoots", "ListRoots", client, "roots"),
		request(e, "", "E", "roots/list", "ListRoots", "ListRoots", client, "roots"),
		request(a, e, "S", "sampling/createMessage", "CreateMessage", "CreateMessage", client, "sampling"),
		request(e, "", "E", "sampling/createMessage", "CreateMessage", "CreateMessage", client, "sampling"),
		request(c, e, "S", "elicitation/create", "Elicit", "Elicit", client, "elicitation"),
		request(e, "", "E", "elicitation/create", "Elicit", "Elicit", client, "elicitation"),
		request(d, e, "CS", "tasks/get", "GetTask", "GetTask", receiver, "tasks"),
		request(d, e, "CS", "tasks/result", "GetTaskPayload", "GetTaskPayload", receiver, "tasks"),
		request(d, e, "CS", "tasks/cancel", "CancelTask", "CancelTask", receiver, "tasks.cancel"),
		request(d, e, "CS", "tasks/list", "ListTasks", "ListTasks", receiver, "tasks.list"),

		notification(a, e, "C", "notifications/initialized", "Initialized"),
		notification(a, "", "CS", "notifications/cancelled", "Cancelled"),
		notification(a, e, "CS", "notifications/progress", "Progress"),
		notification(e, "", "S", "notifications/progress", "Progress"),
		notification(a, "", "S", "notifications/message", "LoggingMessage", server, "logging"),
		notification(a, "", "S", "notifications/tools/list_changed", "ToolListChanged", server, "tools.listChanged"),
		notification(a, "", "S", "notifications/prompts/list_changed", "PromptListChanged", server, "prompts.listChanged"),
		notification(a, "", "S", "notifications/resources/list_changed", "ResourceListChanged", server, "resources.listChanged"),
		notification(a, "", "S", "notifications/resources/updated", "ResourceUpdated", server, "resources.subscribe"),
		notification(e, "", "S", "notifications/subscriptions/acknowledged", "SubscriptionsAcknowledged"),
		notification(a, e, "C", "notifications/roots/list_changed", "RootsListChanged", client, "roots.listChanged"),
		notification(d, e, "S", "notifications/elicitation/complete", "ElicitationComplete", client, "elicitation.url"),
		notification(d, e, "CS", "notifications/tasks/status", "TaskStatus", string(Sender), "tasks"),
	}
}

// tasksExtension is the identifier of the tasks extension.
const tasksExtension = "io.modelcontextprotocol/tasks"

// extensionTable holds the methods of the extensions that we know.
func extensionTable() []row {
	rows := []row{
		request(R20260728, "", "C", "tasks/get", "GetTask", "GetTask"),
		request(R20260728, "", "C", "tasks/update", "UpdateTask", "UpdateTask"),
		request(R20260728, "", "C", "tasks/cancel", "CancelTask", "CancelTask"),
		notification(R20260728, "", "S", "notifications/tasks", "TaskStatus"),
	}
	for i := range rows {
		rows[i].Extension, rows[i].Schema = tasksExtension, Tasks
		rows[i].Needs, rows[i].NeedsOf = "extensions."+tasksExtension, Receiver
	}
	return rows
}

// Methods lists the methods of a revision's core, sorted by name.
func Methods(rev Revision) []Method { return methodsOf(methodTable(), rev) }

// ExtensionMethods lists the methods that known extensions add to a revision.
func ExtensionMethods(rev Revision) []Method { return methodsOf(extensionTable(), rev) }

func methodsOf(rows []row, rev Revision) []Method {
	var out []Method
	for _, r := range rows {
		if rev.In(r.since, r.until) {
			out = append(out, r.of(rev))
		}
	}
	slices.SortFunc(out, func(a, b Method) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// of returns the method as it is in a revision that has it.
func (r row) of(rev Revision) Method {
	m := r.Method
	if m.Schema == "" {
		m.Schema = rev
	}
	m.Params = m.paramsOf(rev)
	return m
}

// paramsOf names the definition of the params: they have definitions of their
// own since 2025-11-25, save a few.
func (m Method) paramsOf(rev Revision) string {
	if rev < R20251125 || m.Extension != "" && m.Kind == Request {
		return ""
	}
	switch m.Definition {
	case "GetTaskRequest", "GetTaskPayloadRequest", "CancelTaskRequest", "ElicitationCompleteNotification":
		return ""
	case "PingRequest", "DiscoverRequest":
		return "RequestParams"
	case "ListRootsRequest":
		if rev.Stateless() {
			return ""
		}
		return "RequestParams"
	case "ListToolsRequest", "ListResourcesRequest", "ListResourceTemplatesRequest", "ListPromptsRequest", "ListTasksRequest":
		return "PaginatedRequestParams"
	case "InitializedNotification", "RootsListChangedNotification", "ToolListChangedNotification",
		"PromptListChangedNotification", "ResourceListChangedNotification":
		return "NotificationParams"
	}
	return m.Definition + "Params"
}

// LookupMethod finds a method by name, in the core of a revision or in an
// extension that we know.
func LookupMethod(rev Revision, name string) (Method, bool) {
	for _, r := range rowsByName()[name] {
		if rev.In(r.since, r.until) {
			return r.of(rev), true
		}
	}
	return Method{}, false
}

// rowsByName indexes both tables, core first.
var rowsByName = sync.OnceValue(func() map[string][]row {
	index := map[string][]row{}
	for _, r := range append(methodTable(), extensionTable()...) {
		index[r.Name] = append(index[r.Name], r)
	}
	return index
})
