package judge

import "math"

// The two runs of a block ran next to each other. Their difference removes what the block has in common, at the cost of half the
// degrees of freedom. That pays off if the runs of a block are correlated.

// typicalP is about the p that a point needs if a tenth of the family changed: by Benjamini and Hochberg a tenth of Level.
const typicalP = Level / 10

// shareErrors is the number of standard errors by which the shared variance may be below 0 by chance.
const shareErrors = 2

// anticorrelated is the ratio of the variance of a block's difference to that of two independent runs, from which on a point is judged
// by its blocks even if its family is not: the runs of its blocks are negatively correlated.
const anticorrelated = 1.5

// inBlocks reports whether there are enough blocks for an interval of their differences.
func (p *Pair) inBlocks() bool { return len(p.Blocks) >= MinBlocks }

// shared returns the share of the variance that comparing within blocks removes: 2 cov / (var base + var head). If the runs of a block
// are independent, it is below 0 as often as above. ok is false if the runs do not vary.
func (d *draft) shared() (share float64, ok bool) {
	if d.blocks.df == 0 || !d.judgeable || !(d.runs.value > 0) {
		return 0, false
	}
	return 1 - d.blocks.value/(2*d.runs.value), true
}

// prefersUnpaired reports whether the runs of a family should be compared as two independent sides instead of block by block, because
// intervals of blocks are expected to be wider. The decision uses only the variances of all points together, so it is not a choice
// between two results. Positively correlated runs of a block make the variance of the sides too large, never too small. If they are
// negatively correlated, only blocks are right, unless the sign alternates from block to block (for example, if the first run of each
// block is fast): alternating sides removes that from the mean.
func (l *pooled) prefersUnpaired(drafts []draft) bool {
	var share, squares, points, runs, blocks float64
	for i := range drafts {
		if s, ok := drafts[i].shared(); ok {
			share, squares, points = share+s, squares+s*s, points+1
			runs, blocks = runs+drafts[i].runs.df, blocks+drafts[i].blocks.df
		}
	}
	if points < minFamily {
		return false
	}
	share, runs, blocks = share/points, runs/points+l.runs.DF, blocks/points+l.blocks.DF
	stdErr := math.Sqrt(max(squares/points-share*share, 0) / points)
	if rho, of := neighbours(drafts); share < -shareErrors*stdErr && !(rho < share*of) {
		return false
	}
	normal := normalQuantile(typicalP)
	sideBySide, byBlock := studentOf(normal, runs), studentOf(normal, blocks)
	return sideBySide*sideBySide <= (1-share)*byBlock*byBlock
}

// The prior correlation of consecutive blocks is expectedRho, with the weight of expectedCount blocks. A correlation above maxRho is
// drift, which does not make a mean vary.
const (
	expectedRho   = .06
	expectedCount = 30
	maxRho        = .5
)

// varianceInflation returns the factor by which the variance of a mean of blocks grows because consecutive blocks are correlated as in the
// family: (1+ρ)/(1-ρ), as for a long AR(1) series. Alternating sides removes slow variation, but not all of it: if runs are
// correlated by a half, blocks are correlated by an eighth.
func varianceInflation(drafts []draft) float64 {
	sum, of := neighbours(drafts)
	rho := min(max((sum+expectedRho*expectedCount)/(of+expectedCount), 0), maxRho)
	return (1 + rho) / (1 - rho)
}

// neighbours returns the sum of the correlations of consecutive blocks, weighted by the number of blocks, and that number.
func neighbours(drafts []draft) (sum, of float64) {
	for i := range drafts {
		sum, of = sum+drafts[i].rho*drafts[i].rhoOf, of+drafts[i].rhoOf
	}
	return sum, of
}
