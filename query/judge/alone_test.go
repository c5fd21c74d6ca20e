package judge

// Alone judges one family.
func Alone(pairs []Pair, rules Rules) Judgement {
	return Judge([][]Pair{pairs}, rules)[0]
}
