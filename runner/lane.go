package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/neurolens/neurolens/runner/device"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// lane runs launches one after the other. A session has one, or one for each device that it measures at once; then all of its state belongs to
// the lane that holds the mutex, and a lane holds it except while its processes run.
type lane struct {
	devices []string // that it measures, see device.Of
	environ []string // KEY=VALUE, which limits the processes to its device; nil: nothing limits them
	watch   *probe.Watcher
	refused string // why it runs nothing more; empty: it does
	mu      *sync.Mutex
}

// apart calls f while other lanes may go on.
func (l *lane) apart(f func()) {
	if l.mu != nil {
		l.mu.Unlock()
		defer l.mu.Lock()
	}
	f()
}

// together calls f, which is called by processes that run, while no other lane goes on.
func (l *lane) together(f func()) {
	if l.mu != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
	}
	f()
}

// kindQuarantine is the kind of error of launches on a device that a process which cannot be killed may still use.
const kindQuarantine = "quarantine"

// quarantine refuses further launches on a device after a run whose processes could not be killed. The processor stays usable.
func (l *lane) quarantine(run *schema.Run) {
	if run.Status == schema.StatusUnkillable && len(l.devices) == 1 && l.devices[0] != device.CPU {
		l.refused = fmt.Sprintf("%s may still be used by a process of run %s that could not be killed", l.devices[0], run.RunID)
	}
}

// devicesOf returns the devices of the lane that a point measures.
func (l *lane) devicesOf(p *sweep.Point) []string {
	if usesProcessorOnly(p) {
		return nil
	}
	return l.devices
}

// describe adds to the facts of a run what limited it to the device of the lane.
func (l *lane) describe(facts map[string]string) {
	if l.environ == nil {
		return
	}
	facts[schema.FactMeasuredDevice] = l.devices[0]
	for _, entry := range l.environ {
		name, value, _ := strings.Cut(entry, "=")
		facts["env."+name] = value
	}
}

// openLanes makes a lane for each device of Options.Devices that it can lock, or else the only one. A dry run locks nothing.
func (s *session) openLanes(ctx context.Context) (*device.Held, error) {
	if s.options.Devices == "" && s.options.DryRun {
		return &device.Held{}, nil
	}
	if s.options.Devices == "" {
		held, err := s.lock(ctx)
		s.lanes = []*lane{{devices: s.assembler.devices}}
		return held, err
	}
	chosen, err := device.Each(s.assembler.env, os.Environ(), s.options.Devices)
	if err != nil {
		return nil, &InputError{fmt.Errorf("devices: %w", err)}
	}
	held := &device.Held{}
	var busy error
	for _, one := range chosen {
		locked, err := &device.Held{}, error(nil)
		if !s.options.DryRun {
			locked, err = s.lockDevices(ctx, []string{one.Name})
		}
		if owned, ok := errors.AsType[*device.BusyError](err); ok {
			s.busy = append(s.busy, owned.Device+" is being measured by "+owned.Owner)
			busy = err
			continue
		}
		if err != nil {
			held.Release()
			return nil, err
		}
		held.Add(locked)
		s.lanes = append(s.lanes, &lane{devices: []string{one.Name}, environ: one.Environ, mu: &s.mu})
		s.assembler.devices = append(s.assembler.devices, one.Name)
	}
	if len(s.lanes) == 0 {
		return nil, busy
	}
	return held, nil
}

// launchLanes runs launches side by side, each on the lane of its point. A block of points that are compared stays on one device. The points of
// calibrate, which are about the processor, are on the first one.
func (s *session) launchLanes(ctx context.Context, launches []sweep.Launch) error {
	dealt := s.dealt()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var all sync.WaitGroup
	var first error
	for i, on := range s.lanes {
		mine := slices.DeleteFunc(slices.Clone(launches), func(l sweep.Launch) bool { return max(1, dealt[l.Point.PointID]) != i+1 })
		all.Go(func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if err := s.launchOn(ctx, on, mine); err != nil {
				stop(err) // the current runs of others are cancelled
				if first == nil {
					first = err
				}
			}
		})
	}
	all.Wait()
	return first
}
