package schemas

// Options say how a Set is loaded.
type Options struct {
	// AsPublished switches the errata off: the official schemas to the letter.
	AsPublished bool
	// Dir, when set, is a checkout of the official schema folder
	// (DIR/<revision>/schema.json), used instead of the built-in files.
	Dir string
}

// Violation is one way in which an instance does not fit its schema.
type Violation struct {
	Pointer    string // JSON Pointer into the instance
	Definition string // the definition that was applied, such as "CallToolResult"
	Keyword    string // the JSON Schema keyword or format that failed, such as "required"
	Want       string // such as "string"
	Got        string // such as "absent" or "number 3"
	Erratum    string // id of the erratum that made it a violation, "" otherwise
}
