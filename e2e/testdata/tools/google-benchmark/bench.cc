// A benchmark of Google Benchmark, for TestReadTools.
#include <benchmark/benchmark.h>

#include <numeric>
#include <vector>

static void Sum(benchmark::State& state) {
	std::vector<int> values(state.range(0), 1);
	for (auto _ : state) benchmark::DoNotOptimize(std::accumulate(values.begin(), values.end(), 0));
	state.SetBytesProcessed(state.iterations() * values.size() * sizeof(int));
	state.counters["filled"] = 0.5;
}
BENCHMARK(Sum)->ArgName("size")->Arg(64)->Arg(256)->Iterations(100)->Repetitions(3);
BENCHMARK_MAIN();
