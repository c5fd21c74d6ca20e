package judge

import "math"

// Runs of a block ran next to one another. Their difference leaves out what a block is slow or fast by as a whole, and pays
// for it with half of the degrees of freedom: it is worth it where blocks have something in common.

// usualP is about what p a point needs, of a family of which a tenth is called: by Benjamini and Hochberg a tenth of Level.
const usualP = Level / 10

// sureOfShare is how many standard errors what blocks have in common may be below nothing by chance.
const sureOfShare = 2

// opposed is by how much more the difference of a block varies than that of two runs, where a point is judged by what its
// blocks vary by though its family is not: its runs are less alike than by chance.
const opposed = 1.5

// inBlocks tells whether there are enough blocks for an interval of their differences.
func (p *Pair) inBlocks() bool { return len(p.Blocks) >= leastBlocks }

// shared is the share of the variance of two runs, one of each side, that is gone from their difference where they are of
// one block: 2 cov / (var base + var head). Where runs of a block know nothing of one another it is as often below 0 as
// above. ok is false where runs do not differ.
func (d *draft) shared() (share float64, ok bool) {
	if d.blocks.df == 0 || !d.judgeable || !(d.runs.value > 0) {
		return 0, false
	}
	return 1 - d.blocks.value/(2*d.runs.value), true
}

// betterApart tells whether the runs of a family are better compared side by side than block by block: where the intervals of
// the latter are expected to be wider. That is asked of all points together, and of variances alone, so that it is no
// choice between two results. Runs of a block that are alike make the variance of the sides too large, never too small;
// where they are less alike than by chance, blocks are what holds, unless blocks alternate: the first run of each is a fast
// one, say, and turns take that out of the mean.
func (l *lent) betterApart(drafts []draft) bool {
	var share, squares, points, runs, blocks float64
	for i := range drafts {
		if s, ok := drafts[i].shared(); ok {
			share, squares, points = share+s, squares+s*s, points+1
			runs, blocks = runs+drafts[i].runs.df, blocks+drafts[i].blocks.df
		}
	}
	if points < leastFamily {
		return false
	}
	share, runs, blocks = share/points, runs/points+l.runs.DF, blocks/points+l.blocks.DF
	stdErr := math.Sqrt(max(squares/points-share*share, 0) / points)
	if rho, of := neighbours(drafts); share < -sureOfShare*stdErr && !(rho < share*of) {
		return false
	}
	far := normalQuantile(usualP)
	sideBySide, byBlock := studentOf(far, runs), studentOf(far, blocks)
	return sideBySide*sideBySide <= (1-share)*byBlock*byBlock
}

// Before anything is known of a family, blocks that follow one another are taken to be a little correlated, as if so many
// blocks had said so. Blocks that are by more than mostRho drift, which is nothing that a mean varies by.
const (
	expectedRho   = .06
	expectedCount = 30
	mostRho       = .5
)

// wandering is what a mean of blocks varies by more where they are correlated as in the family: (1+ρ)/(1-ρ) of the
// variance, as of a long series whose correlation falls geometrically. Turns take out what is slow, but not all of it: of
// runs correlated by a half, blocks are by an eighth.
func wandering(drafts []draft) float64 {
	sum, of := neighbours(drafts)
	rho := min(max((sum+expectedRho*expectedCount)/(of+expectedCount), 0), mostRho)
	return (1 + rho) / (1 - rho)
}

// neighbours are the correlations of blocks that follow one another, summed over all blocks, and how many these are.
func neighbours(drafts []draft) (sum, of float64) {
	for i := range drafts {
		sum, of = sum+drafts[i].rho*drafts[i].rhoOf, of+drafts[i].rhoOf
	}
	return sum, of
}
