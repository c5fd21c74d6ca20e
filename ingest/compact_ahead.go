package ingest

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema/table"
)

// aheadRows is the number of runs up to which a sealed file is read ahead, as a whole.
const aheadRows = 256

// aheadValues is the maximum number of values, mostly samples, of a file that is read ahead. A file of few runs with very many samples
// would exceed the memory several times.
const aheadValues = 1 << 20

// errManyValues ends reading ahead.
var errManyValues = errors.New("too many values to read ahead")

// aheadFiles is how many files each processor may have read ahead.
const aheadFiles = 4

// merged merges the intact rows of files. Other processors read the next files, which are in order, meanwhile.
func (c *compacter) merged(inputs []runfile.Input) runfile.Reader {
	workers := runtime.GOMAXPROCS(0)
	m := &mergedAhead{stop: make(chan struct{})}
	room := make(chan struct{}, workers*aheadFiles)
	readers := make([]runfile.Reader, len(inputs))
	files := make([]*sealedLeft, len(inputs))
	for i, in := range inputs {
		files[i] = &sealedLeft{compacter: c, input: in, ahead: aheadFile{read: make(chan struct{}), room: room}}
		readers[i] = files[i]
	}
	m.MergedRuns = runfile.Merge(readers)
	var next atomic.Int64
	for range workers {
		m.workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(files); i = int(next.Add(1)) - 1 {
				if files[i].input.Sealed.Rows > aheadRows {
					continue
				}
				select {
				case <-m.stop:
					return
				case room <- struct{}{}:
					files[i].readAhead()
				}
			}
		})
	}
	return m
}

// mergedAhead ends reading ahead with the merge.
type mergedAhead struct {
	*runfile.MergedRuns
	stop    chan struct{}
	workers sync.WaitGroup
}

func (m *mergedAhead) Close() {
	close(m.stop)
	m.workers.Wait()
	m.MergedRuns.Close()
}

// aheadFile is a file that may be read ahead.
type aheadFile struct {
	begun atomic.Bool   // by the consumer, or by a read-ahead worker
	read  chan struct{} // closed when it was read
	room  chan struct{} // has an element for each file that was read ahead and is not in use yet
	runs  []*table.Live // all its runs; nil if something is wrong with the file
}

// readAhead reads all runs of a file, unless reading has begun. It keeps them only if they are not too large and the file is intact:
// damage of a file also depends on the files before it, and is handled when its turn comes.
func (s *sealedLeft) readAhead() {
	if !s.ahead.begun.CompareAndSwap(false, true) {
		<-s.ahead.room
		return
	}
	defer close(s.ahead.read)
	var runs []*table.Live
	intact, values := true, 0
	salvager, err := runfile.Salvage(s.input, nil, func(r runfile.Salvaged) error {
		intact = intact && len(r.Lost) == 0
		runs = append(runs, r.Live)
		if values += valuesOf(r.Samples) + valuesOf(r.Ops); values > aheadValues {
			return errManyValues
		}
		return nil
	})
	if err == nil && intact && salvager.Loss == (runfile.Loss{}) && len(salvager.Damages()) == 0 {
		s.ahead.runs = runs
	}
}

// valuesOf counts the values in rows, including each value in lists.
func valuesOf(rows [][]any) (n int) {
	for _, row := range rows {
		n += len(row)
		for _, value := range row {
			switch value := value.(type) {
			case []int64:
				n += len(value)
			case []float64:
				n += len(value)
			}
		}
	}
	return n
}

// take returns all runs of the file if it was read ahead and is intact, and none otherwise.
func (a *aheadFile) take() []*table.Live {
	if a.begun.CompareAndSwap(false, true) {
		return nil // the caller reads it
	}
	<-a.read
	<-a.room
	runs := a.runs
	a.runs = nil // the file stays in a list until all are merged
	return runs
}
