package builtin

import "math"

type number interface{ float32 | float64 }

// epsilon keeps layerNorm from dividing by zero; the value of torch.nn.LayerNorm.
const epsilon = 1e-5

// linear sets y = x W + b for every token; w is row-major, one row an input dimension.
func linear[T number](y, x, w, b []T) {
	dim := len(b)
	for start := 0; start < len(x); start += dim {
		in, out := x[start:start+dim], y[start:start+dim]
		copy(out, b)
		// Row by row of w, so that memory is read in order.
		for i, v := range in {
			row := w[i*dim : (i+1)*dim]
			sums := out[:len(row)] // one length for both: no bounds check in the loop
			for j, weight := range row {
				sums[j] += v * weight
			}
		}
	}
}

// layerNorm sets y = (x - mean) / sqrt(var + epsilon) * gamma + beta for every token, var being the biased
// variance (Ba, Kiros, Hinton 2016, as in torch.nn.LayerNorm).
func layerNorm[T number](y, x, gamma, beta []T) {
	dim := len(gamma)
	for start := 0; start < len(x); start += dim {
		in, out := x[start:start+dim], y[start:start+dim]
		var sum, squares float64
		for _, v := range in {
			sum += float64(v)
		}
		mean := sum / float64(dim)
		for _, v := range in {
			d := float64(v) - mean
			squares += d * d
		}
		scale := 1 / math.Sqrt(squares/float64(dim)+epsilon)
		for i, v := range in {
			out[i] = T((float64(v)-mean)*scale*float64(gamma[i]) + float64(beta[i]))
		}
	}
}

// gelu sets y = x/2 (1 + erf(x/sqrt 2)), the exact form (Hendrycks, Gimpel 2016).
func gelu[T number](y, x []T) {
	for i, v := range x {
		f := float64(v)
		y[i] = T(0.5 * f * (1 + math.Erf(f*(1/math.Sqrt2))))
	}
}

// swish sets y = x / (1 + exp(-x)) (Ramachandran, Zoph, Le 2017; SiLU).
func swish[T number](y, x []T) {
	for i, v := range x {
		f := float64(v)
		y[i] = T(f / (1 + math.Exp(-f)))
	}
}

// mse is the mean of (x - target)^2.
func mse[T number](x, target []T) float64 {
	var sum float64
	for i, v := range x {
		d := float64(v) - float64(target[i])
		sum += d * d
	}
	return sum / float64(len(x))
}

// crossEntropy is the mean over tokens of log(sum exp x) - x[label], with the largest x taken out first, as in
// torch.nn.CrossEntropyLoss.
func crossEntropy[T number](x []T, labels []int32, dim int) float64 {
	var total float64
	for token, label := range labels {
		in := x[token*dim : (token+1)*dim]
		largest := in[0]
		for _, v := range in {
			largest = max(largest, v)
		}
		var sum float64
		for _, v := range in {
			sum += math.Exp(float64(v) - float64(largest))
		}
		total += math.Log(sum) + float64(largest) - float64(in[label])
	}
	return total / float64(len(labels))
}
