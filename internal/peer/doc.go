// Package peer is the reference server and the reference client: what an
// implementation looks like that does all that the specification demands, in
// every revision, over stdio and Streamable HTTP.
//
// It is written from the text of the specification, without an MCP SDK, and
// shares no code with the harness, so that the two check each other. A run
// against it must end without a finding:
//
//	s, err := peer.NewServer(peer.Options{})
//	err = s.ServeStdio(ctx, os.Stdin, os.Stdout, os.Stderr)
//
// What the server exposes (tools, resources, prompts, their values) is data:
// fixture.json. The code only knows the few behaviours that data cannot express.
//
// # Faults
//
// A peer can be told to break exactly one rule, by name:
//
//	s, err := peer.NewServer(peer.Options{Faults: []string{"wrong-id"}})
//
// [Faults] lists them, each with the requirement that it breaks. They prove the
// checks: each must be caught by the requirement that it names and by nothing
// unexpected. They work at three seams only: a message about to leave (edit), an
// HTTP head about to leave (head), and a check that is skipped or a duty that is
// neglected ([Server.broken]). The correct code stays readable between them.
//
// # Eras
//
// Up to 2025-11-25 a session is opened by a handshake; from 2026-07-28 on each
// request stands alone. The server serves both on one endpoint or one pair of
// pipes, as 2026-07-28 basic/versioning lays down for dual-era servers.
//
// The package is not a library for building servers: it is a fixture.
package peer
