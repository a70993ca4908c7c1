package conformance

import (
	"encoding/json"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func elicitationRules() []ruleEntry {
	return []ruleEntry{
		stateful(func() Rule { return &talk{asked: elicitationAsked, answer: elicitationAnswered} },
			"ELICITATION-PARAMS", "ELICITATION-NO-SECRETS", "ELICITATION-FORM-NO-URLS", "ELICITATION-URL-VALID", "ELICITATION-URL-HTTPS",
			"ELICITATION-URL-NO-CREDENTIALS", "ELICITATION-CONTENT-VALID", "ELICITATION-NO-MODE-FORM", "ELICITATION-MODE-REFUSED"),
		plain(elicitationModes, "ELICITATION-MODES"),
		stateful(func() Rule { return &completions{} }, "ELICITATION-COMPLETE-KNOWN", "ELICITATION-REQUIRED-ERROR"),
	}
}

func elicitationAsked(o *Observation, q question) {
	if q.method != "elicitation/create" {
		return
	}
	if o.Revision >= schemas.R20251125 {
		elicitationParams(o, q)
	}
	switch q.mode() {
	case "form":
		elicitedForm(o, q)
	case "url":
		elicitedURL(o, q)
	}
}

// elicitationParams: what a question has to have in its mode
// (client/elicitation, elicitation requests).
func elicitationParams(o *Observation, q question) {
	want := map[string]byte{"message": '"'}
	switch q.mode() {
	case "form":
		want["requestedSchema"] = '{'
	case "url":
		want["url"] = '"'
		if !o.Session.Modern {
			want["elicitationId"] = '"'
		}
	default:
		o.Fail("ELICITATION-PARAMS", trace.Server, Fault{
			Detail: "input is asked for in a mode that there is not", Want: q.at + "/mode: form or url", Got: clip(q.mode()),
		})
		return
	}
	for _, name := range []string{"message", "requestedSchema", "url", "elicitationId"} {
		raw, has := schemas.Member(q.params, name)
		if kind := want[name]; kind != 0 && (!has || raw[0] != kind) {
			o.Fail("ELICITATION-PARAMS", trace.Server, Fault{
				Detail: "a question for input lacks what its mode needs", Want: q.at + "/" + name, Got: got(raw, has),
			})
			return
		}
	}
	o.Pass("ELICITATION-PARAMS", trace.Server)
}

// formField is one property of a requested schema.
type formField struct {
	Type        string            `json:"type"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Format      string            `json:"format"`
	Enum        []json.RawMessage `json:"enum"`
	OneOf       []json.RawMessage `json:"oneOf"`
}

func elicitedForm(o *Observation, q question) {
	raw, _ := schemas.Member(q.params, "requestedSchema", "properties")
	names, ok := objectKeys(raw)
	if !ok {
		return
	}
	secret, link := "", clickable(textParam(q.params, "message"))
	for _, name := range names {
		var f formField
		one, _ := schemas.Member(raw, name)
		if json.Unmarshal(one, &f) != nil {
			continue
		}
		if f.Type == "string" && len(f.Enum)+len(f.OneOf) == 0 && namesSecret(name) {
			secret = name
		}
		if f.Format != "uri" && link == "" {
			link = clickable(f.Title + " " + f.Description)
		}
	}
	o.Check(secret == "", "ELICITATION-NO-SECRETS", trace.Server, Fault{
		Detail: "a form asks for what looks like a secret", Want: "URL mode, or no such field", Got: clip(secret),
	})
	if o.Revision >= schemas.R20251125 {
		o.Check(link == "", "ELICITATION-FORM-NO-URLS", trace.Server, Fault{
			Detail: "a form holds a URL to be clicked", Want: "URL mode, or no URL", Got: clip(link),
		})
	}
}

// secretNames are the names of fields, without case and punctuation, that hold
// secrets and nothing else. A name that only might, such as token or pin, is not
// among them: a false alarm is worse than a secret that goes unnoticed.
var secretNames = []string{
	"password", "passwd", "passphrase", "userpassword", "currentpassword", "newpassword", "apikey", "apisecret", "secretkey", "apitoken",
	"accesstoken", "refreshtoken", "bearertoken", "authtoken", "clientsecret", "privatekey", "creditcard", "creditcardnumber", "cardnumber", "cvv", "cvc",
}

var notLetters = regexp.MustCompile(`[^a-z0-9]+`)

func namesSecret(name string) bool {
	return slices.Contains(secretNames, notLetters.ReplaceAllString(strings.ToLower(name), ""))
}

var webAddress = regexp.MustCompile(`https?://[^\s/?#"'<>()]+[^\s"'<>()]*`)

// clickable returns the first web address in a text. Addresses that are an
// example of their form are not meant to be clicked.
func clickable(text string) string {
	for _, link := range webAddress.FindAllString(text, -1) {
		if u, err := url.Parse(link); err == nil && u.Hostname() != "" && !exampleHost(u.Hostname()) {
			return link
		}
	}
	return ""
}

// exampleHost reports whether a name is reserved for documentation (RFC 2606).
func exampleHost(host string) bool {
	host = strings.ToLower(host)
	for _, name := range []string{"example.com", "example.org", "example.net", "example"} {
		if host == name || strings.HasSuffix(host, "."+name) {
			return true
		}
	}
	return false
}

// elicitedURL judges the address that a user is sent to (client/elicitation,
// URL mode and safe URL handling).
func elicitedURL(o *Observation, q question) {
	raw, has := schemas.Member(q.params, "url")
	if !has || raw[0] != '"' {
		return // ELICITATION-PARAMS says so
	}
	text := textParam(q.params, "url")
	err := schemas.CheckURI(text)
	u, parsed := url.Parse(text)
	o.Check(err == nil && parsed == nil, "ELICITATION-URL-VALID", trace.Server, Fault{
		Detail: "the URL of an elicitation is not valid", Want: q.at + "/url: a valid URL", Got: clip(text),
	})
	if err != nil || parsed != nil {
		return
	}
	secret := secretIn(u)
	o.Check(secret == "", "ELICITATION-URL-NO-CREDENTIALS", trace.Server, Fault{
		Detail: "the URL of an elicitation holds a secret", Want: q.at + "/url: no password, key or token", Got: secret,
	})
	if secure := strings.EqualFold(u.Scheme, "https"); secure || strings.EqualFold(u.Scheme, "http") && !developing(u.Hostname()) {
		o.Check(secure, "ELICITATION-URL-HTTPS", trace.Server, Fault{
			Detail: "the URL of an elicitation is not secure", Want: q.at + "/url: https", Got: clip(text),
		})
	}
}

// secretIn says what in a URL looks like a secret, "" if nothing does.
func secretIn(u *url.URL) string {
	if password, ok := u.User.Password(); ok && password != "" {
		return "a user and password"
	}
	for name, values := range u.Query() {
		if namesSecret(name) && slices.ContainsFunc(values, func(v string) bool { return v != "" }) {
			return "the parameter " + clip(name)
		}
	}
	return ""
}

// developing reports whether a host is one of those that developers use: this
// machine, a private network, a name that is not public.
func developing(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	host = strings.ToLower(host)
	_, after, dotted := cutLast(host, ".")
	return !dotted || slices.Contains([]string{"localhost", "local", "test", "internal", "example"}, after) || exampleHost(host)
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

func elicitationAnswered(o *Observation, a answer) {
	if a.method != "elicitation/create" {
		return
	}
	if modeKnown, declared := a.modeDeclared(); modeKnown && o.Revision >= schemas.R20251125 {
		elicitationMode(o, a, declared)
	}
	if a.mode() == "form" && a.result != nil && textParam(a.result, "action") == "accept" {
		elicitedContent(o, a)
	}
}

// modeDeclared reports whether the client declares the mode of the question;
// known is false when it declares no elicitation at all.
func (q question) modeDeclared() (known, declared bool) {
	elicitation, _ := schemas.Member(q.capabilities, "elicitation")
	keys, ok := objectKeys(elicitation)
	return ok, slices.Contains(keys, q.mode()) || q.mode() == "form" && len(keys) == 0
}

// elicitationMode: a mode that is not declared is refused with -32602, and one
// that is not named is form (client/elicitation, error handling and elicitation
// requests).
func elicitationMode(o *Observation, a answer, declared bool) {
	if !declared && !o.Session.Modern {
		o.Check(a.code == "-32602", "ELICITATION-MODE-REFUSED", trace.Client, Fault{
			Detail: "a mode that the client does not declare is not refused", Want: "error -32602", Got: quoteOr(a.code, "a result"),
		})
	}
	if textParam(a.params, "mode") != "" || !declared {
		return
	}
	if _, content := schemas.Member(a.result, "content"); content {
		o.Pass("ELICITATION-NO-MODE-FORM", trace.Client)
	} else if a.code == "-32602" {
		if schema, ok := schemas.Member(a.params, "requestedSchema"); ok && schema[0] == '{' {
			o.Fail("ELICITATION-NO-MODE-FORM", trace.Client, Fault{
				Detail: "a question without a mode is refused", Want: "what is answered to a form", Got: "error -32602",
			})
		}
	}
}

// elicitedContent holds the content of an accepted form against its schema.
func elicitedContent(o *Observation, a answer) {
	schema, ok := schemas.Member(a.params, "requestedSchema")
	if !ok || o.judge.options.Schemas == nil {
		return
	}
	compiled, wrong := o.judge.options.Schemas.ToolSchema(o.Revision, schemas.Output, schema)
	if len(wrong) > 0 || compiled.Unusable != "" {
		return // the schema is the server's fault
	}
	content, has := schemas.Member(a.result, "content")
	if !has {
		content = json.RawMessage("{}") // all fields may be optional
	}
	found := compiled.Validate(content)
	if len(found) > 0 && found[0].Advice {
		return
	}
	f := Fault{Detail: "the content of an accepted form does not fit the schema that was requested"}
	if len(found) > 0 {
		f.Want, f.Got = a.place+"/content"+found[0].Pointer+": "+found[0].Want, clip(found[0].Got)
	}
	o.Check(len(found) == 0, "ELICITATION-CONTENT-VALID", trace.Client, f)
}

// elicitationModes: who declares elicitation declares a mode, and an empty
// object means form mode (client/elicitation, capabilities).
func elicitationModes(o *Observation) {
	if o.Revision < schemas.R20251125 || !o.is(schemas.Request, schemas.Result) {
		return
	}
	var capabilities json.RawMessage
	switch {
	case o.Session.Modern && o.is(schemas.Request) && o.From() == trace.Client:
		capabilities, _ = o.param("_meta", metaClientCapabilities)
	case o.isResult("initialize"):
		capabilities = o.Session.clientCapabilities()
	}
	elicitation, _ := schemas.Member(capabilities, "elicitation")
	if keys, ok := objectKeys(elicitation); ok {
		o.Check(len(keys) == 0 || slices.Contains(keys, "form") || slices.Contains(keys, "url"), "ELICITATION-MODES", trace.Client, Fault{
			Detail: "elicitation is declared without a mode", Want: "capabilities.elicitation: form, url or nothing", Got: clip(string(elicitation)),
		})
	}
}

// completions: elicitations in URL mode that the server has named, and is to
// name when they are complete (2025-11-25 client/elicitation).
type completions struct{ named idSet }

func (c *completions) Observe(o *Observation) {
	if o.Session.Modern || o.Message == nil || o.From() != trace.Server {
		return
	}
	switch {
	case o.isCall(trace.Server, "elicitation/create"):
		c.name(o.Message.Params)
	case o.is(schemas.Error) && o.errorCode() == "-32042" && o.Revision == schemas.R20251125:
		c.required(o)
	case o.isCall(trace.Server, "notifications/elicitation/complete"):
		id, has := o.param("elicitationId")
		known := has && c.named.has(schemas.IDKey(id))
		if has && !known && (o.Session.Partial || o.Lacks(trace.LackOrder)) {
			o.Untested("ELICITATION-COMPLETE-KNOWN", trace.Server, "the capture may lack the question")
			return
		}
		o.Check(known, "ELICITATION-COMPLETE-KNOWN", trace.Server, Fault{
			Detail: "an elicitation is told to be complete that was not asked for", Want: "/params/elicitationId: one that was given", Got: got(id, has),
		})
	}
}

func (c *completions) name(params json.RawMessage) {
	if id, ok := schemas.Member(params, "elicitationId"); ok {
		c.named.add(schemas.IDKey(id))
	}
}

// required judges the data of error -32042.
func (c *completions) required(o *Observation) {
	raw, _ := schemas.Member(o.Message.Error, "data", "elicitations")
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list) // what is no list has no members
	wrong := ""
	if len(list) == 0 {
		wrong = "no elicitations"
	}
	for _, one := range list {
		if len(one) == 0 || one[0] != '{' {
			wrong = "an elicitation that is no object"
			continue
		}
		c.name(one)
		if textParam(one, "mode") != "url" {
			wrong = "an elicitation that is not in URL mode"
		} else if textParam(one, "elicitationId") == "" {
			wrong = "an elicitation without elicitationId"
		}
	}
	o.Check(wrong == "", "ELICITATION-REQUIRED-ERROR", trace.Server, Fault{
		Detail: "error -32042 does not say which elicitations are required", Want: "/error/data/elicitations: in URL mode, with elicitationId", Got: wrong,
	})
}
