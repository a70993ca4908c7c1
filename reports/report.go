// Package reports shows what a run or a check found.
//
// [Report] is a versioned JSON document; every other format is a pure function
// of it, so that a saved result can be rendered, compared and merged later.
package reports
