package output

// positions are the positions of the compared values of an output, in ascending order: all or, of more than maxCompared, one in each of
// maxCompared equal sections, so that none is left out as a whole. The seed selects them. The Python worker selects the same ones
// (output.py).
func positions(size int, seed uint64) []int {
	n := min(size, maxCompared)
	places := make([]int, n)
	for i := range places {
		from, to := i*size/n, (i+1)*size/n
		places[i] = from + int(splitmix(seed+uint64(i))%uint64(to-from))
	}
	return places
}

// splitmix is the i-th number of the generator SplitMix64 (Steele, Lea, Flood 2014, doi:10.1145/2660193.2660195).
func splitmix(i uint64) uint64 {
	z := (i + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
