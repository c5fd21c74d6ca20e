package main

import (
	"github.com/neurolens/neurolens/cmd/neurolens/internal/screens/measuring"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/schema"
)

// plan says what run would launch, and launches nothing.
func (b *bench) plan() error {
	result, err := runner.Run(b.cmd.Context(), b.sweep, b.options(nil), func(schema.Run) error { return nil })
	if err != nil {
		return explained(err)
	}
	t := measuring.PlanTable(&result.Plan, b.sweep, b.flags.against != "")
	return b.print(b.format, t, func() term.View { return measuring.PlanView(t, &result.Plan, b.sweep, b.page()) })
}
