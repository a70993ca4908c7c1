package conformance

// Ledger folds evidence into verdicts: one for each requirement and revision.
type Ledger struct{}
