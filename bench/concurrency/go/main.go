// SPDX-License-Identifier: MIT

// The programs of the suite in Go: main BENCH_CASE BENCH_N prints what
// bench/concurrency/main.lua prints.  Goroutines share one core, as jobs do.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// By the name of the case: runs it, checks what came out, gives how many operations
// that were, and a text of further figures.
var programs = map[string]func(n int) (int, string){}

func counted(run func(n int) int) func(int) (int, string) {
	return func(n int) (int, string) { return run(n), "" }
}

func check(holds bool, message string) {
	if !holds {
		fmt.Fprintln(os.Stderr, message)
		os.Exit(1)
	}
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage) == nil, "no getrusage")
	nanoseconds := usage.Utime.Nano() + usage.Stime.Nano()
	return float64(nanoseconds) / 1e9
}

func peakKiB() string {
	file, err := os.Open("/proc/self/status")
	check(err == nil, "no /proc/self/status")
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); fields[0] == "VmHWM:" {
			return fields[1]
		}
	}
	return "0"
}

func main() {
	check(len(os.Args) == 3, "usage: main CASE N")
	runtime.GOMAXPROCS(1)
	run, isKnown := programs[os.Args[1]]
	check(isKnown, "no such case")
	n, err := strconv.Atoi(os.Args[2])
	check(err == nil, "N must be a number")
	start := cpuSeconds()
	count, further := run(n)
	fmt.Printf("%d %.6f %s %s\n", count, cpuSeconds()-start, peakKiB(), further)
}
