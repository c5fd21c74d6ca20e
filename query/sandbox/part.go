package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/neurolens/neurolens/query/files"
)

// Main runs the child if argv, which begins with the program's name, requests it; then handled is true. do takes the argument of the job
// and returns the answer. A program calls Main before anything else.
func Main(argv []string, do func(ctx context.Context, argument []byte) (answer any)) (code int, handled bool) {
	if len(argv) != 2 || argv[1] != role {
		return 0, false
	}
	if err := serve(do); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	return 0, true
}

// serve does the job that the parent sends.
func serve(do func(ctx context.Context, argument []byte) (answer any)) error {
	// Signals from the terminal are handled by the parent. A closed output is an error, not a signal.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	syscall.Umask(0o077)
	orders, answers := os.NewFile(ordersFile, "orders"), os.NewFile(answerFile, "answer")
	for _, fd := range []int{ordersFile, answerFile} {
		syscall.CloseOnExec(fd)
	}
	from := bufio.NewReader(orders)
	line, err := from.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("reading the job: %w", err)
	}
	var o request
	if err := json.Unmarshal(line, &o); err != nil {
		return fmt.Errorf("reading the job: %w", err)
	}
	if err := restrict(o.Memory); err != nil {
		return err
	}
	go watchSelf(o.Memory)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		if _, err := from.ReadByte(); err != nil { // the parent is gone
			_ = files.RemoveScratch(o.Scratch)
			os.Exit(1)
		}
		cancel()
		_, _ = from.ReadByte()
		_ = files.RemoveScratch(o.Scratch)
		os.Exit(1)
	}()
	answer, err := json.Marshal(do(ctx, o.Argument))
	if err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	_, err = answers.Write(answer)
	return errors.Join(err, answers.Close())
}

// watchSelf ends the process if it uses too much memory. The parent checks too, because on a busy machine one of the two may be late.
func watchSelf(memory int64) {
	for {
		left := memory - resident("self")
		if left < 0 {
			os.Exit(exitMemory)
		}
		time.Sleep(pause(left))
	}
}
