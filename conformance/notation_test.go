package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// The rules are tested on traces written in a notation of one line an event:
//
//	stdio | http | sse | unknown [lacks=X,Y] [revision=R] [subject=client]   the header, first
//	open REVISION [server=CAPS] [client=CAPS]               a handshake (on http with session session-1)
//	-> JSON     <- JSON        a message, with "jsonrpc":"2.0" added
//	=> TEXT     <= TEXT        a message, verbatim
//	->! TEXT    <-! TEXT       bytes that are no message
//	err TEXT                   a line on standard error
//	stdin-closed, exit, killed the end of a process
//
// and on http, where a message of the client follows the line that begins its
// exchange:
//
//	POST[@NAME] [HEADER=VALUE] [-HEADER] [/PATH]   headers beside or instead of the right ones
//	GET, DELETE                            the same, without a message
//	@NAME                                  goes back to an exchange
//	STATUS [json|sse|TYPE] [HEADER=VALUE] [-HEADER]  the head of the answer
//	event ID [JSON]                        an event with an id, empty or a message
//	retry MILLISECONDS                     an event that is nothing but that field
//	wait MILLISECONDS                      lets time pass
//	endpoint URI                           the endpoint event of HTTP+SSE, where messages go from then on
//	end [client]                           the end of the exchange
//	answer JSON                            200, the message, the end
//	accepted                               202, the end
//
// $meta stands for the metadata of a request of 2026-07-28, $ok for what every
// complete result has there, $hints for the caching members.
type script struct {
	t      *testing.T
	header trace.Header
	events []trace.Event

	http     bool
	session  string
	version  string
	current  string
	address  string
	now      time.Time
	posting  []string // the POST line whose message is still to come
	methods  map[string]string
	sequence int
}

const (
	metaText = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	okText    = `"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}`
	hintsText = `"ttlMs":0,"cacheScope":"private"`
)

func parseScript(t *testing.T, text string) (trace.Header, []trace.Event) {
	t.Helper()
	s := &script{t: t, methods: map[string]string{}, address: "/mcp", now: time.Unix(0, 0)}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		s.line(line)
	}
	return s.header, s.events
}

func (s *script) add(e trace.Event) {
	e.Seq = int64(len(s.events) + 1)
	e.Conn, e.Time = "c1", s.now
	if s.http {
		e.Exchange = s.current
	}
	s.events = append(s.events, e)
}

func (s *script) line(line string) {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.NewReplacer("$meta", metaText, "$ok", okText, "$hints", hintsText).Replace(rest)
	switch word {
	case "stdio", "http", "sse", "unknown":
		s.begin(word, strings.Fields(rest))
	case "open":
		s.open(strings.Fields(rest))
	case "->", "=>", "->!", "<-", "<=", "<-!":
		s.text(word, rest)
	case "err":
		s.add(trace.Event{Kind: trace.KindStderr, From: trace.Server, Data: []byte(rest)})
	case "stdin-closed":
		s.add(trace.Event{Kind: trace.KindClosed, From: trace.Client, End: &trace.End{How: "closed-by-us"}})
	case "exit":
		s.add(trace.Event{Kind: trace.KindClosed, From: trace.Server, End: &trace.End{How: "exit"}})
	case "killed":
		s.add(trace.Event{Kind: trace.KindClosed, From: trace.Server, End: &trace.End{How: "signal", Signal: "SIGTERM"}})
	default:
		s.httpLine(word, rest)
	}
}

func (s *script) begin(word string, fields []string) {
	s.header.Transport = map[string]trace.Transport{"stdio": trace.Stdio, "http": trace.StreamableHTTP, "sse": trace.HTTPSSE}[word]
	s.http = word == "http" || word == "sse"
	s.header.Subject = trace.Server
	for _, f := range fields {
		key, value, _ := strings.Cut(f, "=")
		switch key {
		case "lacks":
			for l := range strings.SplitSeq(value, ",") {
				s.header.Lacks = append(s.header.Lacks, trace.Lack(l))
			}
		case "revision":
			s.header.Revision = value
		case "subject":
			s.header.Subject = trace.Side(value)
		default:
			s.t.Fatalf("unknown word %q in the header", f)
		}
	}
}

func (s *script) open(fields []string) {
	server, client := "{}", "{}"
	for _, f := range fields[1:] {
		if v, ok := strings.CutPrefix(f, "server="); ok {
			server = v
		}
		if v, ok := strings.CutPrefix(f, "client="); ok {
			client = v
		}
	}
	version := fields[0]
	lines := []string{
		fmt.Sprintf(`-> {"id":"open","method":"initialize","params":{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"c","version":"1"}}}`, version, client),
		fmt.Sprintf(`<- {"id":"open","result":{"protocolVersion":%q,"capabilities":%s,"serverInfo":{"name":"s","version":"1"}}}`, version, server),
		`-> {"method":"notifications/initialized"}`,
	}
	if s.http {
		lines = []string{"POST", lines[0], "200 json Mcp-Session-Id=session-1", lines[1], "end", "POST", lines[2], "accepted"}
	}
	for i, l := range lines {
		s.line(l)
		if s.http && i == 3 {
			s.session, s.version = "session-1", version
		}
	}
}

func (s *script) text(arrow, text string) {
	from := trace.Client
	if arrow[0] == '<' {
		from = trace.Server
	}
	if arrow == "->" || arrow == "<-" {
		text = strings.Replace(text, "{", `{"jsonrpc":"2.0",`, 1)
		text = strings.Replace(text, `"2.0",}`, `"2.0"}`, 1)
	}
	kind := trace.KindMessage
	if strings.HasSuffix(arrow, "!") {
		kind = trace.KindNoise
	}
	if s.posting != nil && from == trace.Client {
		s.request("POST", s.posting, text)
		s.posting = nil
	}
	s.add(trace.Event{Kind: kind, From: from, Data: []byte(text)})
}

// request adds the head of a request, dressed as its revision demands.
func (s *script) request(method string, fields []string, body string) {
	var m struct {
		Method string `json:"method"`
		Params struct {
			Name, URI string
			Meta      map[string]any `json:"_meta"`
		} `json:"params"`
	}
	json.Unmarshal([]byte(body), &m)
	h := [][2]string{{"Accept", "application/json, text/event-stream"}, {"Content-Type", "application/json"}}
	set := func(k, v string) {
		h = slices.DeleteFunc(h, func(p [2]string) bool { return strings.EqualFold(p[0], k) })
		h = append(h, [2]string{k, v})
	}
	if v, ok := m.Params.Meta[metaProtocolVersion].(string); ok {
		set("MCP-Protocol-Version", v)
		set("Mcp-Method", m.Method)
		if name := m.Params.Name + m.Params.URI; name != "" && (m.Method == "tools/call" || m.Method == "prompts/get" || m.Method == "resources/read") {
			set("Mcp-Name", name)
		}
	} else if s.session != "" && m.Method != "initialize" {
		set("Mcp-Session-Id", s.session)
		if s.version >= "2025-06-18" {
			set("MCP-Protocol-Version", s.version)
		}
	}
	address := s.address
	if method != "POST" {
		address = "/mcp"
	}
	for _, f := range fields {
		if name, ok := strings.CutPrefix(f, "-"); ok {
			h = slices.DeleteFunc(h, func(p [2]string) bool { return strings.EqualFold(p[0], name) })
			continue
		}
		if strings.HasPrefix(f, "/") {
			address = f
			continue
		}
		k, v, _ := strings.Cut(f, "=")
		set(k, strings.ReplaceAll(v, "+", " "))
	}
	s.add(trace.Event{Kind: trace.KindHTTP, From: trace.Client, HTTP: &trace.Head{Method: method, URL: "http://127.0.0.1:1" + address, Headers: h}})
}

func (s *script) httpLine(word, rest string) {
	fields := strings.Fields(rest)
	name, label, _ := strings.Cut(word, "@")
	switch {
	case name == "POST" || name == "GET" || name == "DELETE":
		s.sequence++
		if s.current = label; label == "" {
			s.current = "x" + strconv.Itoa(s.sequence)
		}
		if name == "POST" {
			s.posting = append([]string{}, fields...)
		} else {
			s.request(name, fields, "")
		}
	case name == "" && label != "":
		s.current = label
	case word == "end":
		from, how := trace.Server, "eof"
		if rest == "client" {
			from, how = trace.Client, "closed-by-us"
		}
		s.add(trace.Event{Kind: trace.KindClosed, From: from, End: &trace.End{How: how}})
	case word == "answer":
		s.line("200 json")
		s.line("<- " + rest)
		s.line("end")
	case word == "accepted":
		s.line("202")
		s.line("end")
	case word == "event":
		id, text, _ := strings.Cut(rest, " ")
		sse := &trace.SSE{ID: &id}
		if text == "" {
			s.add(trace.Event{Kind: trace.KindSSE, From: trace.Server, SSE: sse})
			return
		}
		s.text("<-", text)
		s.events[len(s.events)-1].SSE = sse
	case word == "retry" || word == "wait":
		n, err := strconv.Atoi(rest)
		if err != nil {
			s.t.Fatalf("%s %q: want a number", word, rest)
		}
		if word == "wait" {
			s.now = s.now.Add(time.Duration(n) * time.Millisecond)
			return
		}
		s.add(trace.Event{Kind: trace.KindSSE, From: trace.Server, SSE: &trace.SSE{Retry: &n}})
	case word == "endpoint":
		s.address = rest
		s.add(trace.Event{Kind: trace.KindSSE, From: trace.Server, SSE: &trace.SSE{Event: "endpoint"}, Data: []byte(rest)})
	default:
		s.status(word, fields)
	}
}

func (s *script) status(word string, fields []string) {
	code, err := strconv.Atoi(word)
	if err != nil {
		s.t.Fatalf("unknown word %q", word)
	}
	head := &trace.Head{Status: code}
	for _, f := range fields {
		if name, ok := strings.CutPrefix(f, "-"); ok {
			head.Headers = slices.DeleteFunc(head.Headers, func(p [2]string) bool { return strings.EqualFold(p[0], name) })
			continue
		}
		k, v, ok := strings.Cut(f, "=")
		if !ok {
			k, v = "Content-Type", map[string]string{"json": "application/json", "sse": "text/event-stream; charset=utf-8"}[f]
			if v == "" {
				v = f
			}
		} else {
			v = strings.ReplaceAll(v, "+", " ")
		}
		head.Headers = append(head.Headers, [2]string{k, v})
		if f == "sse" {
			head.Headers = append(head.Headers, [2]string{"X-Accel-Buffering", "no"})
		}
	}
	s.add(trace.Event{Kind: trace.KindHTTP, From: trace.Server, HTTP: head})
}

// world is what a test judges by, loaded once a test.
type world struct {
	catalogue *Catalogue
	set       *schemas.Set
}

func newWorld(t *testing.T) world {
	t.Helper()
	c, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	set, err := schemas.Load(schemas.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return world{c, set}
}

// judge runs a script and returns its ledger and all evidence.
func (w world) judge(t *testing.T, text string) (*Judge, *Ledger, []Evidence) {
	t.Helper()
	header, events := parseScript(t, text)
	l := NewLedger(w.catalogue)
	var all []Evidence
	j := NewJudge(JudgeOptions{Catalogue: w.catalogue, Schemas: w.set, Header: header, Emit: func(e Evidence) {
		l.Add(e)
		if q, ok := w.catalogue.Get(e.Requirement); !ok {
			t.Errorf("evidence on the unknown requirement %s", e.Requirement)
		} else if q.BindsIn(e.Revision, e.Side) {
			all = append(all, e)
		}
	}})
	for _, e := range events {
		j.Observe(e)
	}
	j.Finish()
	for _, f := range j.Seen().Facts {
		l.Learn(f)
	}
	return j, l, all
}

// verdictsIn maps "ID@side" to the worst verdict in the evidence.
func verdictsIn(all []Evidence) map[string]Verdict {
	out := map[string]Verdict{}
	for _, e := range all {
		k := e.Requirement + "@" + string(e.Side)
		switch old := out[k]; {
		case e.Verdict == Fail, old == "", old == Untested && e.Verdict == Pass:
			out[k] = e.Verdict
		}
	}
	return out
}

// expect compares evidence with a list such as "+PING-ANSWERED@server
// -IDS-NOT-NULL ?X !Y": passed, failed, untested, nothing said. Without a side
// it is the one that the requirement binds, or any. Failures that are not in
// the list are errors, whatever else the test is about.
func (w world) expect(t *testing.T, all []Evidence, list string) {
	t.Helper()
	got := verdictsIn(all)
	failed := map[string]bool{}
	for want := range strings.FieldsSeq(list) {
		id, side, _ := strings.Cut(want[1:], "@")
		q, ok := w.catalogue.Get(id)
		if !ok {
			t.Fatalf("the test names the unknown requirement %s", id)
		}
		var sides []string
		if side != "" {
			sides = []string{side}
		} else {
			sides = []string{"client", "server"}
		}
		verdict := Verdict("")
		for _, s := range sides {
			if v := got[id+"@"+s]; v == Fail || verdict == "" || verdict == Untested && v == Pass {
				verdict = v
			}
			failed[id+"@"+s] = want[0] == '-'
		}
		wanted := map[byte]Verdict{'+': Pass, '-': Fail, '?': Untested, '!': ""}[want[0]]
		if verdict != wanted {
			t.Errorf("%s (%s): got %q, want %q", id, q.Text, verdict, wanted)
		}
	}
	for _, e := range all {
		if e.Verdict == Fail && !failed[e.Requirement+"@"+string(e.Side)] {
			t.Errorf("unexpected failure of %s by the %s: %s: want %s, got %s, cause %q, in %s", e.Requirement, e.Side, e.Detail, e.Want, e.Got, e.Cause, e.Wire)
		}
	}
}
