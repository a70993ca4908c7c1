package peer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"
)

// requestState is what the server remembers between the rounds of a request, in
// the client's hands: sealed, bound to the request and short-lived (2026-07-28
// basic/patterns/mrtr Server Requirements).
type requestState struct {
	Step    int   `json:"step"`
	Answers obj   `json:"answers"`
	Expires int64 `json:"expires"`
}

// stateLife is long enough for a person to answer and short enough against replay.
const stateLife = 10 * time.Minute

// statePurpose binds a state to method and parameters of its request.
func (c *call) statePurpose() string {
	h := sha256.New()
	h.Write([]byte(c.method + "\n" + c.name() + "\n"))
	h.Write(encode(c.params.value("arguments")))
	return "state " + hex.EncodeToString(h.Sum(nil))
}

// checkMRTR refuses a retry whose answers are no object. A method or a tool
// that asks nothing ignores them otherwise.
func (c *call) checkMRTR() *rpcError {
	if raw, has := c.params["inputResponses"]; has && c.rev.Stateless() {
		if _, ok := parseFields(raw); !ok {
			return invalidParams("inputResponses must be an object")
		}
	}
	if raw, has := c.params["requestState"]; has && c.rev.Stateless() {
		if _, ok := c.params.text("requestState"); !ok {
			return invalidParams("requestState must be a string, not %s", raw)
		}
	}
	return nil
}

// inquire goes through the rounds: it returns all answers, or the result that
// asks for the next ones.
func (c *call) inquire(rounds []round) (answers, asking obj, e *rpcError) {
	if e := c.checkMRTR(); e != nil {
		return nil, nil, e
	}
	state := requestState{Answers: obj{}}
	if token, ok := c.params.text("requestState"); ok {
		now := time.Now().Unix()
		if !c.srv.open(c.statePurpose(), token, &state) || state.Expires < now || state.Step >= len(rounds) {
			return nil, nil, invalidParams("requestState was not issued for this request, was changed or has expired")
		}
	}
	r := rounds[state.Step]
	if r.State && c.params["requestState"] == nil {
		return c.question(r, state) // answers without the state that belongs to them
	}
	ask, e := c.askable(r)
	if e != nil {
		return nil, nil, e
	}
	given, _ := c.params.object("inputResponses")
	for k, req := range ask {
		a, has := given[k]
		if !has {
			return c.question(r, state)
		}
		v, ok := readInput(req, a)
		if !ok {
			return nil, nil, invalidParams("inputResponses.%s is no answer to %s", k, req["method"])
		}
		state.Answers[k] = v
	}
	state.Step++
	if state.Step < len(rounds) {
		return c.question(rounds[state.Step], state)
	}
	return state.Answers, nil, nil
}

// question is the result that asks for more input.
func (c *call) question(r round, state requestState) (answers, asking obj, e *rpcError) {
	ask, e := c.askable(r)
	if e != nil {
		return nil, nil, e
	}
	requests := obj{}
	for k, req := range ask {
		requests[k] = copyOf(req)
	}
	asking = obj{"resultType": "input_required", "inputRequests": requests}
	if r.State {
		state.Expires = time.Now().Add(stateLife).Unix()
		asking["requestState"] = c.srv.seal(c.statePurpose(), state)
	}
	return nil, asking, nil
}

// askable returns the requests of a round that the client can answer. One that
// it has not declared must not be sent; if it cannot be spared, the request fails.
func (c *call) askable(r round) (map[string]obj, *rpcError) {
	if c.srv.broken("undeclared-input-asked") {
		return r.Ask, nil
	}
	ask, lack := map[string]obj{}, obj{}
	for k, req := range r.Ask {
		switch req["method"] {
		case "elicitation/create":
			if !c.elicitsForms() {
				lack["elicitation"] = obj{"form": obj{}}
				continue
			}
		case "sampling/createMessage":
			if !c.declares("sampling") {
				lack["sampling"] = obj{}
				continue
			}
		case "roots/list":
			if !c.declares("roots") {
				lack["roots"] = obj{}
				continue
			}
		}
		ask[k] = req
	}
	if len(ask) == 0 || (len(lack) > 0 && !r.AnyOf) {
		return nil, missingCapability(lack)
	}
	return ask, nil
}

// readInput reads one answer and says whether it fits its request.
func readInput(req obj, raw json.RawMessage) (obj, bool) {
	f, ok := parseFields(raw)
	if !ok {
		return nil, false
	}
	switch req["method"] {
	case "elicitation/create":
		ok = elicited(req, f)
	case "sampling/createMessage":
		_, role := f.text("role")
		_, model := f.text("model")
		ok = role && model && f["content"] != nil
	case "roots/list":
		_, ok = f.value("roots").([]any)
	}
	return plain(f), ok
}

// elicited checks an elicitation's answer: an action, and with accept the
// content that the form requires.
func elicited(req obj, f fields) bool {
	action, _ := f.text("action")
	if action != "accept" {
		return action == "decline" || action == "cancel"
	}
	content, ok := f.object("content")
	params, _ := req["params"].(obj)
	form, _ := params["requestedSchema"].(obj)
	required, _ := form["required"].([]any)
	return ok && !slices.ContainsFunc(required, func(k any) bool { _, has := content[k.(string)]; return !has })
}
