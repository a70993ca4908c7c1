package conformance

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func listRules() []ruleEntry {
	return []ruleEntry{
		stateful(func() Rule { return &changes{lists: map[string]*listState{}} },
			"TOOLS-CHANGE-NOTIFIED", "PROMPTS-CHANGE-NOTIFIED", "RESOURCES-CHANGE-NOTIFIED", "ROOTS-CHANGE-NOTIFIED", "TOOLS-ORDER"),
		stateful(func() Rule { return &pages{scopes: map[string]string{}, refused: map[string]int64{}} }, "CACHE-SCOPE-PAGES", "CACHE-CURSOR-RESTART"),
	}
}

// kindOfList says of a list what it is called in messages and who has to tell
// that it has changed.
type kindOfList struct {
	member, key, capability, requirement, notification string
	side                                               trace.Side
}

func listedBy(method string) (l kindOfList, ok bool) {
	switch method {
	case "tools/list":
		return kindOfList{"tools", "name", "tools.listChanged", "TOOLS-CHANGE-NOTIFIED", "notifications/tools/list_changed", trace.Server}, true
	case "prompts/list":
		return kindOfList{"prompts", "name", "prompts.listChanged", "PROMPTS-CHANGE-NOTIFIED", "notifications/prompts/list_changed", trace.Server}, true
	case "resources/list":
		return kindOfList{"resources", "uri", "resources.listChanged", "RESOURCES-CHANGE-NOTIFIED", "notifications/resources/list_changed", trace.Server}, true
	case "roots/list":
		return kindOfList{"roots", "uri", "roots.listChanged", "ROOTS-CHANGE-NOTIFIED", "notifications/roots/list_changed", trace.Client}, true
	}
	return kindOfList{}, false
}

// listState is the state of one list.
type listState struct {
	walk   []string // names, as far as the walk has come
	since  int64    // Seq of the request that began the walk; 0 if none goes on
	before []string // names of the latest complete walk, in their order
	known  bool     // there was one
	// told is the Seq of the latest notification, and asked that of the request
	// that began the latest complete walk.
	told, asked int64
	changed     bool // the list has changed and nobody has told
	later       bool // since then the side has said something else
}

// changes compares what is listed with what was listed before, by name.
type changes struct{ lists map[string]*listState }

var changeable = []string{"tools/list", "prompts/list", "resources/list", "roots/list"}

func (c *changes) Observe(o *Observation) {
	if o.End {
		c.end(o)
		return
	}
	if o.Message == nil || o.Lacks(trace.LackOrder) {
		return
	}
	for method, at := range c.lists {
		if l, _ := listedBy(method); at.changed && l.side == o.From() {
			at.later = true
		}
	}
	if o.is(schemas.Notification) && strings.HasSuffix(o.Message.Method, "/list_changed") {
		for _, method := range changeable {
			if l, _ := listedBy(method); l.notification == o.Message.Method && l.side == o.From() {
				c.told(o, l, c.of(method))
			}
		}
		return
	}
	if !o.is(schemas.Result) || o.Request == nil || o.Earlier != nil {
		return
	}
	if l, ok := listedBy(o.Request.Method); ok && l.side == o.From() {
		c.page(o, l, c.of(o.Request.Method))
	}
}

func (c *changes) of(method string) *listState {
	if c.lists[method] == nil {
		c.lists[method] = &listState{}
	}
	return c.lists[method]
}

// told takes a notification, which may come after the list that shows the change.
func (c *changes) told(o *Observation, l kindOfList, at *listState) {
	at.told = o.Event.Seq
	if at.changed {
		at.changed = false
		o.Pass(l.requirement, l.side)
	}
}

func (c *changes) page(o *Observation, l kindOfList, at *listState) {
	if _, continued := schemas.Member(o.Request.Params, "cursor"); !continued {
		at.walk, at.since = nil, o.Request.Seq
	}
	if at.since == 0 {
		return // the walk began before the capture, or has been given up
	}
	for _, one := range members(o.Message.Result, l.member) {
		if at.walk = append(at.walk, textParam(one, l.key)); len(at.walk) > mostTools {
			at.walk, at.since = nil, 0
			return
		}
	}
	if _, more := schemas.Member(o.Message.Result, "nextCursor"); more {
		return
	}
	if at.known && !o.Session.Partial {
		c.compare(o, l, at)
	}
	at.before, at.known, at.asked = at.walk, true, at.since
	at.walk, at.since = nil, 0
}

func (c *changes) compare(o *Observation, l kindOfList, at *listState) {
	now, before := slices.Sorted(slices.Values(at.walk)), slices.Sorted(slices.Values(at.before))
	if slices.Equal(now, before) {
		if l.member == "tools" && o.Session.Modern && at.told < at.asked {
			o.Check(slices.Equal(at.walk, at.before), "TOOLS-ORDER", trace.Server, Fault{
				Detail: "the same tools are listed in another order", Want: "/result/tools: in the order of the list before", Got: "another order",
			})
		}
		return
	}
	if yes, known := o.Session.declared(l.side, l.capability); !known || !yes {
		return
	}
	if at.told >= at.asked {
		o.Pass(l.requirement, l.side)
	} else {
		at.changed, at.later = true, false
	}
}

// end judges changes that were never told, although the side has spoken since:
// a notification may have been about to leave when the session ended. A server over HTTP may have had no
// stream to tell it on, and since 2026-07-28 tells only who has subscribed.
func (c *changes) end(o *Observation) {
	for _, method := range changeable {
		at, l := c.of(method), kindOfList{}
		if l, _ = listedBy(method); !at.changed || !at.later || o.Session.Modern || l.side == trace.Server && o.Session.Transport != trace.Stdio {
			continue
		}
		o.Fail(l.requirement, l.side, Fault{
			Detail: "a list has changed and nothing was said of it", Want: l.notification, Got: "none",
		})
	}
}

// pages: caching of lists that have several pages (2026-07-28
// server/utilities/caching, interaction with pagination).
type pages struct {
	scopes  map[string]string // of the page that gave a cursor, by method and cursor
	refused map[string]int64  // Seq at which a cursor was refused, by method
}

func (p *pages) Observe(o *Observation) {
	switch {
	case !o.Session.Modern || o.Message == nil || o.Earlier != nil || o.Request == nil || !strings.HasSuffix(o.Request.Method, "/list"):
	case o.is(schemas.Request) && o.From() == trace.Client:
		p.restarted(o)
	case o.is(schemas.Result) && o.From() == trace.Server:
		p.scope(o)
	case o.is(schemas.Error) && o.From() == trace.Server:
		if cursor, ok := schemas.Member(o.Request.Params, "cursor"); ok && o.errorCode() == "-32602" && p.scopes[o.Request.Method+" "+schemas.IDKey(cursor)] != "" {
			p.refused[o.Request.Method] = o.Event.Seq
		}
	}
}

func (p *pages) scope(o *Observation) {
	method, scope := o.Request.Method, textParam(o.Message.Result, "cacheScope")
	if cursor, ok := schemas.Member(o.Request.Params, "cursor"); ok && scope != "" {
		if before := p.scopes[method+" "+schemas.IDKey(cursor)]; before == "public" || before == "private" {
			o.Check(scope == before, "CACHE-SCOPE-PAGES", trace.Server, Fault{
				Detail: "two pages of one list have different scopes", Want: "/result/cacheScope: " + before, Got: clip(scope),
			})
		}
	}
	next, more := schemas.Member(o.Message.Result, "nextCursor")
	if !more {
		return
	}
	if len(p.scopes) > remembered {
		clear(p.scopes)
	}
	key := method + " " + schemas.IDKey(next)
	if before, ok := p.scopes[key]; ok && before != scope {
		scope = "either" // two lists give the same cursor
	}
	p.scopes[key] = scope
}

// restarted: after a cursor was refused a list is read from its beginning.
// What was under way at that time is not judged.
func (p *pages) restarted(o *Observation) {
	if p.refused[o.Message.Method] == 0 {
		return
	}
	delete(p.refused, o.Message.Method)
	cursor, has := o.param("cursor")
	o.Check(!has, "CACHE-CURSOR-RESTART", trace.Client, Fault{
		Detail: "a list is continued although its cursor was refused", Want: "no /params/cursor", Got: got(cursor, has),
	})
}
