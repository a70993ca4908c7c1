package conformance

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func samplingRules() []ruleEntry {
	return []ruleEntry{
		stateful(func() Rule { return &talk{asked: samplingAsked, answer: samplingAnswered} },
			"SAMPLING-CONTEXT-DECLARED", "SAMPLING-MESSAGES", "SAMPLING-TOOL-RESULTS-ALONE", "SAMPLING-TOOL-RESULTS-BALANCED",
			"SAMPLING-TOOL-RESULTS-REFUSED", "SAMPLING-TOOLS-SUPPORTED", "SAMPLING-TOOL-CHOICE-REQUIRED", "SAMPLING-TOOL-CHOICE-NONE"),
	}
}

// block is what matters of one piece of content.
type block struct {
	Type      string `json:"type"`
	ID        string `json:"id"`        // of a tool_use
	ToolUseID string `json:"toolUseId"` // of a tool_result
}

// sampled is one message of a sampling request, or its result.
type sampled struct {
	role    string
	content json.RawMessage
	blocks  []block
}

// messageOf reads a message: content is one block or, since 2025-11-25, several.
func messageOf(raw json.RawMessage) sampled {
	m := sampled{role: textParam(raw, "role")}
	m.content, _ = schemas.Member(raw, "content")
	if json.Unmarshal(m.content, &m.blocks) != nil {
		var one block
		if json.Unmarshal(m.content, &one) == nil {
			m.blocks = []block{one}
		}
	}
	return m
}

// ids returns the ids of the tool uses or tool results of a message, sorted,
// and how many blocks are something else.
func (m sampled) ids(kind string) (ids []string, others int) {
	for _, b := range m.blocks {
		switch {
		case b.Type != kind:
			others++
		case kind == "tool_use":
			ids = append(ids, b.ID)
		default:
			ids = append(ids, b.ToolUseID)
		}
	}
	slices.Sort(ids)
	return ids, others
}

func messagesOf(q question) []sampled {
	raw, _ := schemas.Member(q.params, "messages")
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list) // what is no list has no messages
	messages := make([]sampled, len(list))
	for i, one := range list {
		messages[i] = messageOf(one)
	}
	return messages
}

func samplingAsked(o *Observation, q question) {
	if q.method != "sampling/createMessage" || o.Revision < schemas.R20251125 {
		return
	}
	if context := textParam(q.params, "includeContext"); q.capabilities != nil && (context == "thisServer" || context == "allServers") {
		o.Check(q.declares("sampling.context"), "SAMPLING-CONTEXT-DECLARED", trace.Server, Fault{
			Detail: "context is asked for though the client does not declare that it gives any", Want: "capabilities.sampling.context, or no includeContext", Got: context,
		})
	}
	messages := messagesOf(q)
	if o.Session.Modern {
		samplingMessages(o, q, messages)
	}
	if alone, found := resultsAlone(messages); found {
		o.Check(alone < 0, "SAMPLING-TOOL-RESULTS-ALONE", trace.Server, Fault{
			Detail: "a message mixes tool results with other content", Want: q.at + "/messages/" + strconv.Itoa(alone) + "/content: tool results alone", Got: "other content as well",
		})
	}
	if unbalanced, found := resultsBalanced(messages); found {
		o.Check(unbalanced < 0, "SAMPLING-TOOL-RESULTS-BALANCED", trace.Server, Fault{
			Detail: "the uses of tools are not followed by their results", Want: q.at + "/messages/" + strconv.Itoa(unbalanced+1) + ": a user message with one tool_result for each tool_use, and no other", Got: "another message, or none",
		})
	}
}

// samplingMessages: role and content (2026-07-28 client/sampling, messages).
func samplingMessages(o *Observation, q question, messages []sampled) {
	for i, m := range messages {
		o.Check((m.role == "user" || m.role == "assistant") && len(m.content) > 0 && m.content[0] != 'n', "SAMPLING-MESSAGES", trace.Server, Fault{
			Detail: "a sampling message has no role or no content", Want: q.at + "/messages/" + strconv.Itoa(i) + ": role, user or assistant, and content", Got: "role " + strconv.Quote(clip(m.role)),
		})
	}
}

// resultsAlone finds the first user message that mixes tool results with other
// content, -1 if there is none; found says whether any has tool results
// (client/sampling, tool result messages).
func resultsAlone(messages []sampled) (mixed int, found bool) {
	mixed = -1
	for i, m := range messages {
		results, others := m.ids("tool_result")
		found = found || len(results) > 0
		if len(results) > 0 && others > 0 && mixed < 0 {
			mixed = i
		}
	}
	return mixed, found
}

// resultsBalanced finds the first message with tool uses whose next message does
// not answer each of them, and them only, -1 if there is none; found says
// whether any uses tools (client/sampling, tool use and result balance).
func resultsBalanced(messages []sampled) (unbalanced int, found bool) {
	for i, m := range messages {
		uses, _ := m.ids("tool_use")
		if len(uses) == 0 {
			continue
		}
		found = true
		if i+1 == len(messages) {
			return i, true
		}
		results, _ := messages[i+1].ids("tool_result")
		if messages[i+1].role != "user" || !slices.Equal(uses, results) {
			return i, true
		}
	}
	return -1, found
}

func samplingAnswered(o *Observation, a answer) {
	if a.method != "sampling/createMessage" || o.Revision < schemas.R20251125 {
		return
	}
	messages := messagesOf(a.question)
	mixed, _ := resultsAlone(messages)
	unbalanced, _ := resultsBalanced(messages)
	if (mixed >= 0 || unbalanced >= 0) && o.Revision == schemas.R20251125 && (a.result != nil || a.code == "-32602") {
		o.Check(a.code == "-32602", "SAMPLING-TOOL-RESULTS-REFUSED", trace.Client, Fault{
			Detail: "a sampling request with unbalanced tool results is carried out", Want: "error -32602", Got: "a result",
		})
	}
	if a.result == nil {
		return
	}
	uses, _ := messageOf(a.result).ids("tool_use")
	if len(uses) > 0 && a.capabilities != nil {
		o.Check(a.declares("sampling.tools"), "SAMPLING-TOOLS-SUPPORTED", trace.Client, Fault{
			Detail: "a sample uses tools though the client does not declare that it can", Want: "capabilities.sampling.tools", Got: "absent",
		})
	}
	toolChoice(o, a, len(uses), usedBefore(messages))
}

// usedBefore reports whether tools were used in the conversation so far.
func usedBefore(messages []sampled) bool {
	_, found := resultsBalanced(messages)
	return found
}

// toolChoice: a sample uses tools as it was told (client/sampling, tool choice
// modes). One that was cut short, or that goes on after tools were used, may end
// without another use.
func toolChoice(o *Observation, a answer, uses int, before bool) {
	reason := textParam(a.result, "stopReason")
	switch textParam(a.params, "toolChoice", "mode") {
	case "none":
		o.Check(uses == 0, "SAMPLING-TOOL-CHOICE-NONE", trace.Client, Fault{
			Detail: "a sample uses a tool though it may not", Want: a.place + "/content: no tool_use", Got: strconv.Itoa(uses) + " of them",
		})
	case "required":
		if uses > 0 || !before && strings.EqualFold(reason, "endTurn") {
			o.Check(uses > 0, "SAMPLING-TOOL-CHOICE-REQUIRED", trace.Client, Fault{
				Detail: "a sample uses no tool though it has to", Want: a.place + "/content: a tool_use", Got: "none",
			})
		}
	}
}
