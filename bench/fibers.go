// SPDX-License-Identifier: MIT

// Case 2 of fibers.cc in Go: two goroutines on one thread send each other a value over unbuffered
// channels. It prints the line that bench/harness.cc prints.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"
)

func pingPong(pairs int) (int, time.Duration) {
	there := make(chan int)
	back := make(chan int)
	go func() {
		for i := 0; i < pairs; i++ {
			back <- <-there + 1
		}
	}()
	sum := 0
	begin := time.Now()
	for i := 0; i < pairs; i++ {
		there <- i
		sum += <-back
	}
	return sum, time.Since(begin)
}

func main() {
	size := flag.String("size", "test", "test, quick or paper")
	workers := flag.Int("workers", 1, "threads that run goroutines")
	n := flag.Int("n", 2, "2: messages")
	flag.Parse()
	messages, known := map[string]int{"test": 1000, "quick": 1000000, "paper": 5000000}[*size]
	if !known || *n != 2 || *workers < 1 {
		fmt.Fprintln(os.Stderr, "accepted are --size test, quick or paper, --n 2 and --workers from 1")
		os.Exit(2)
	}
	runtime.GOMAXPROCS(*workers)
	pingPong(100)
	pairs := messages / 2
	sum, took := pingPong(pairs)
	line := map[string]any{
		"problem": "fibers", "runtime": "go", "workers": *workers, "size": *size, "n": *n,
		"time_s": took.Seconds(), "verified": sum == pairs*(pairs+1)/2, "forks": 0,
		"max_rss_kib": 0, "minor_faults": 0, "rss_before_kib": 0,
		"told": map[string]float64{"ns": float64(took.Nanoseconds()) / float64(2*pairs)},
	}
	for _, unknown := range []string{"steals", "suspensions", "unmaps", "stacks", "stack_pages",
		"page_counts", "live_pages", "dead_pages", "depth", "serial_pages"} {
		line[unknown] = nil
	}
	json.NewEncoder(os.Stdout).Encode(line)
}
