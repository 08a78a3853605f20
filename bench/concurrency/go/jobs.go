// SPDX-License-Identifier: MIT

// Programs about the life of goroutines, and those in which many want the same thing.
package main

import (
	"fmt"
	"runtime"
	"sync"
)

const (
	batch       = 1000
	waiters     = 100
	subscribers = 10000
	stalled     = 100
	roomEach    = 16
)

func spawnAndEnd(n int) int {
	ended := 0
	for i := 0; i < n/batch; i++ {
		var all sync.WaitGroup
		all.Add(batch)
		for k := 0; k < batch; k++ {
			go func() {
				ended++
				all.Done()
			}()
		}
		all.Wait()
	}
	check(ended == n, "not all have run")
	return n
}

func spawnAndJoin(n int) int {
	sum := 0
	for i := 0; i < n; i++ {
		result := make(chan int, 1)
		go func() { result <- 1 }()
		sum += <-result
	}
	check(sum == n, "wrong sum")
	return n
}

// A channel of one as the lock: who frees it hands it to the first that waits.
func handOver(n int) int {
	var all sync.WaitGroup
	token, count := make(chan bool), 0
	all.Add(waiters)
	free := make(chan bool)
	for i := 0; i < waiters; i++ {
		go func() {
			for k := 0; k < n/waiters; k++ {
				<-token
				count++
				free <- true
			}
			all.Done()
		}()
	}
	go func() {
		for {
			token <- true
			<-free
		}
	}()
	all.Wait()
	check(count == n, "wrong count")
	return n
}

func follow(from chan int, messages int, sum *int, all *sync.WaitGroup) {
	for i := 0; i < messages; i++ {
		*sum += <-from
	}
	all.Done()
}

// A channel for each subscriber; what does not fit is lost.
func broadcast(n int) int {
	var all sync.WaitGroup
	messages, sum, lost := n/10000, 0, 0
	list := make([]chan int, subscribers)
	all.Add(subscribers - stalled)
	for i := range list {
		list[i] = make(chan int, roomEach)
		if i >= stalled {
			go follow(list[i], messages, &sum, &all)
		}
	}
	for i := 1; i <= messages; i++ {
		for _, to := range list {
			select {
			case to <- i:
			default:
				lost++
			}
		}
		for sum < (subscribers-stalled)*i*(i+1)/2 {
			runtime.Gosched()
		}
	}
	all.Wait()
	delivered := messages * (subscribers - stalled)
	check(sum == delivered*(messages+1)/2, "wrong sum")
	check(lost == stalled*max(0, messages-roomEach), "another number is lost")
	return delivered
}

func max(a, b int) int {
	if a > b {
		return a
	}
	return b
}

func held() uint64 {
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	return memory.HeapInuse + memory.StackInuse
}

func park(n int) (int, string) {
	c, over, sum := make(chan int), make(chan bool), 0
	var ended sync.WaitGroup
	ended.Add(n)
	before := held()
	for i := 0; i < n; i++ {
		go func() {
			defer ended.Done()
			for {
				select {
				case value := <-c:
					sum += value
				case <-over:
					return
				}
			}
		}()
	}
	runtime.Gosched()
	each := float64(held()-before) / float64(n)
	for i := 0; i < n; i++ {
		c <- 1
	}
	start := cpuSeconds()
	close(over)
	ended.Wait()
	cancelling := (cpuSeconds() - start) * 1000
	check(sum == n, "wrong sum")
	return n, fmt.Sprintf("%.0f - - %.2f", each, cancelling)
}

func init() {
	programs["B5-end"] = counted(spawnAndEnd)
	programs["B5-join"] = counted(spawnAndJoin)
	programs["B10-lock"] = counted(handOver)
	programs["B11"] = counted(broadcast)
	programs["B14"] = park
}
