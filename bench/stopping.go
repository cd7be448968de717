// SPDX-License-Identifier: MIT

// Cases 2 and 3 of stopping.cc in Go, with contexts. It prints the line that bench/harness.cc prints.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

func cancelAll(number int) map[string]float64 {
	all, cancel := context.WithCancel(context.Background())
	never := make(chan int)
	var begun int64
	var left sync.WaitGroup
	left.Add(number)
	for i := 0; i < number; i++ {
		go func() {
			defer left.Done()
			atomic.AddInt64(&begun, 1)
			select {
			case <-all.Done():
			case <-never:
			}
		}()
	}
	for atomic.LoadInt64(&begun) != int64(number) {
		runtime.Gosched()
	}
	for i := 0; i < 100; i++ { // so that the last one waits
		runtime.Gosched()
	}
	begin := time.Now()
	cancel()
	left.Wait()
	return map[string]float64{"seconds": time.Since(begin).Seconds()}
}

func timeouts(number int) map[string]float64 {
	const after = 2 * time.Second
	never := make(chan int)
	waited := make([]float64, number)
	var left sync.WaitGroup
	left.Add(number)
	for i := 0; i < number; i++ {
		go func(took *float64) {
			defer left.Done()
			begin := time.Now()
			until, cancel := context.WithTimeout(context.Background(), after)
			defer cancel()
			select {
			case <-until.Done():
			case <-never:
			}
			*took = time.Since(begin).Seconds()
		}(&waited[i])
	}
	left.Wait()
	sort.Float64s(waited)
	return map[string]float64{"late": waited[number-1] / 2, "late_p50": waited[number/2] / 2}
}

func main() {
	size := flag.String("size", "test", "test, quick or paper")
	workers := flag.Int("workers", 1, "threads that run goroutines")
	n := flag.Int("n", 2, "2: cancel, 3: timeouts")
	flag.Parse()
	number, known := map[string]int{"test": 500, "quick": 100000, "paper": 1000000}[*size]
	if !known || (*n != 2 && *n != 3) || *workers < 1 {
		fmt.Fprintln(os.Stderr,
			"accepted are --size test, quick or paper, --n 2 or 3 and --workers from 1")
		os.Exit(2)
	}
	runtime.GOMAXPROCS(*workers)
	begin := time.Now()
	var metrics map[string]float64
	if *n == 2 {
		metrics = cancelAll(number)
	} else {
		metrics = timeouts(number)
	}
	line := map[string]any{
		"problem": "stopping", "runtime": "go", "workers": *workers, "size": *size, "n": *n,
		"time_s": time.Since(begin).Seconds(), "verified": true, "forks": 0,
		"max_rss_kib": 0, "minor_faults": 0, "rss_before_kib": 0, "told": metrics,
	}
	for _, unknown := range []string{"steals", "suspensions", "unmaps", "stacks", "stack_pages",
		"page_counts", "live_pages", "dead_pages", "depth", "serial_pages"} {
		line[unknown] = nil
	}
	json.NewEncoder(os.Stdout).Encode(line)
}
