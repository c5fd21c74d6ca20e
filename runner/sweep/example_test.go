package sweep_test

import (
	"fmt"
	"strings"

	"github.com/neurolens/neurolens/runner/sweep"
)

const attention = `
suite: attention
variant: [tiled, naive]
command: ["./{variant}", --heads, "{heads}"]
grid:
  heads: [8, 16]
repeats: 2
`

// A sweep is points, and launches of them in an order: what will be compared runs side by side, in a block, whose order is
// drawn for each repeat. Once every point has run, the next repeat begins.
func ExampleRead() {
	s, err := sweep.Read("attention.yaml", strings.NewReader(attention), sweep.Overrides{})
	if err != nil {
		panic(err)
	}
	for _, l := range s.Launches(sweep.LaunchOptions{Sides: 1}) {
		fmt.Println("repeat", l.Repeat, "block", l.Block, l.Point.Variant, l.Point.Command)
	}
	// Output:
	// repeat 0 block 0 tiled [./tiled --heads 8]
	// repeat 0 block 0 naive [./naive --heads 8]
	// repeat 0 block 1 naive [./naive --heads 16]
	// repeat 0 block 1 tiled [./tiled --heads 16]
	// repeat 1 block 2 tiled [./tiled --heads 8]
	// repeat 1 block 2 naive [./naive --heads 8]
	// repeat 1 block 3 tiled [./tiled --heads 16]
	// repeat 1 block 3 naive [./naive --heads 16]
}

// What is wrong is named with its line, before anything runs.
func ExampleRead_mistake() {
	_, err := sweep.Read("attention.yaml", strings.NewReader(attention+"repeat: 3\n"), sweep.Overrides{})
	fmt.Println(err)
	// Output:
	// attention.yaml:8: unknown key repeat: did you mean repeats?
}
