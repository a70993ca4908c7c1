package conformance

import (
	"net/url"
	"strconv"

	"github.com/mcp-conform/mcp-conform/trace"
)

func sseRules() []ruleEntry {
	return []ruleEntry{
		stateful(func() Rule { return &endpointEvent{} }, "SSE-ENDPOINT-FIRST"),
		stateful(func() Rule { return &announced{open: map[string][]*url.URL{}} }, "SSE-ENDPOINTS", "SSE-POST-TO-ENDPOINT"),
	}
}

// endpointEvent: HTTP+SSE begins with an endpoint event (2024-11-05
// basic/transports). Its data may be relative.
type endpointEvent struct{ done bool }

func (e *endpointEvent) Observe(o *Observation) {
	if e.done || o.Session.Transport != trace.HTTPSSE || o.Event == nil || o.From() != trace.Server ||
		o.Event.SSE == nil || o.Event.SSE.Comment || o.Session.Partial {
		return
	}
	e.done = true
	o.Check(isEndpoint(o), "SSE-ENDPOINT-FIRST", trace.Server, Fault{
		Detail: "the first event is not the endpoint", Want: "event: endpoint, with a URI", Got: "event: " + quoteOr(o.Event.SSE.Event, "message"),
	})
}

func isEndpoint(o *Observation) bool { return o.Event.SSE.Event == "endpoint" && len(o.Event.Data) > 0 }

// announced: the server announces an address on its stream, takes what is posted
// there, and the client posts there (2024-11-05 basic/transports). A capture of
// a proxy holds several streams, each with an address of its own.
type announced struct {
	open map[string][]*url.URL // by the exchange of the stream
	ever []*url.URL            // the latest of all, also of streams that have ended
}

// mostEndpoints bounds the addresses that are remembered.
const mostEndpoints = 256

func (a *announced) Observe(o *Observation) {
	x := o.Exchange
	if o.Session.Transport != trace.HTTPSSE || o.Event == nil || x == nil || x.Request == nil || o.Lacks(trace.LackHeaders) {
		return
	}
	switch {
	case o.Event.Kind == trace.KindClosed:
		delete(a.open, x.ID)
	case o.From() == trace.Server && o.Event.SSE != nil && isEndpoint(o):
		a.announce(o)
	case o.Message != nil && o.From() == trace.Client && !o.InBatch:
		a.posted(o)
	case o.head(trace.Server) && x.method() == "POST":
		a.taken(o)
	}
}

func (a *announced) announce(o *Observation) {
	base, err := url.Parse(o.Exchange.Request.URL)
	if err != nil {
		return
	}
	u, err := base.Parse(string(o.Event.Data))
	if err != nil {
		return // the first event is judged elsewhere
	}
	a.open[o.Exchange.ID] = append(a.open[o.Exchange.ID], u)
	if a.ever = append(a.ever, u); len(a.ever) > mostEndpoints {
		a.ever = a.ever[1:]
	}
}

// posted judges where the client sends a message. Before an address was
// announced it may be trying another transport.
func (a *announced) posted(o *Observation) {
	if len(a.ever) == 0 || o.Session.Partial {
		return
	}
	x := o.Exchange
	o.Check(x.method() == "POST" && among(a.ever, x.Request.URL), "SSE-POST-TO-ENDPOINT", trace.Client, Fault{
		Detail: "a message is not posted to the address that the server has announced",
		Want:   "POST " + trace.MaskURL(a.ever[len(a.ever)-1].String()), Got: x.method() + " " + trace.MaskURL(x.Request.URL),
	})
}

// taken judges whether there is something at the address, as long as the stream
// is open that has announced it.
func (a *announced) taken(o *Observation) {
	x := o.Exchange
	var open []*url.URL
	for _, us := range a.open {
		open = append(open, us...)
	}
	if !among(open, x.Request.URL) {
		return
	}
	switch status := x.status(); {
	case status >= 200 && status < 300:
		o.Pass("SSE-ENDPOINTS", trace.Server)
	case status == 404 || status == 405 || status == 501:
		o.Fail("SSE-ENDPOINTS", trace.Server, Fault{
			Detail: "there is nothing at the address that the server has announced for messages", Want: "POST is supported", Got: "status " + strconv.Itoa(status),
		})
	}
}

// among reports whether an address is one of the announced ones. Host names and
// ports change on the way through a proxy, and clients may add to the query.
func among(announced []*url.URL, address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	for _, a := range announced {
		if a.Path == u.Path && within(a.Query(), u.Query()) {
			return true
		}
	}
	return false
}

func within(part, whole url.Values) bool {
	for k := range part {
		if part.Get(k) != whole.Get(k) {
			return false
		}
	}
	return true
}
