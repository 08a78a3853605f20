// SPDX-License-Identifier: MIT

// Programs about select and timers.
package main

import "time"

const far = time.Hour

func channelsOf(count, room int) []chan int {
	list := make([]chan int, count)
	for i := range list {
		list[i] = make(chan int, room)
	}
	return list
}

func select2(c []chan int) int {
	select {
	case v := <-c[0]:
		return v
	case v := <-c[1]:
		return v
	}
}

func select8(c []chan int) int {
	select {
	case v := <-c[0]:
		return v
	case v := <-c[1]:
		return v
	case v := <-c[2]:
		return v
	case v := <-c[3]:
		return v
	case v := <-c[4]:
		return v
	case v := <-c[5]:
		return v
	case v := <-c[6]:
		return v
	case v := <-c[7]:
		return v
	}
}

// One goroutine gives to the last channel, another waits for one of all.
func selectOften(list []chan int, choose func([]chan int) int, n int) int {
	sum, done := 0, make(chan bool)
	go func() {
		for i := 0; i < n; i++ {
			sum += choose(list)
		}
		done <- true
	}()
	for i := 1; i <= n; i++ {
		list[len(list)-1] <- i
	}
	<-done
	check(sum == n*(n+1)/2, "wrong sum")
	return n
}

func waitingSelect(count int, choose func([]chan int) int) func(int) int {
	return func(n int) int { return selectOften(channelsOf(count, 0), choose, n) }
}

func readySelect(count int, choose func([]chan int) int) func(int) int {
	return func(n int) int {
		list, sum := channelsOf(count, 1), 0
		for i := 1; i <= n; i++ {
			list[count-1] <- i
			sum += choose(list)
		}
		check(sum == n*(n+1)/2, "wrong sum")
		return n
	}
}

func armOthers(count int) []*time.Timer {
	others := make([]*time.Timer, count)
	for i := range others {
		others[i] = time.NewTimer(far + time.Duration(i%1000)*time.Second)
	}
	return others
}

// A timer that always loses, while others are armed.
func lostTimer(others int) func(int) int {
	return func(n int) int {
		armed := armOthers(others)
		choose := func(c []chan int) int {
			timer := time.NewTimer(far)
			defer timer.Stop()
			select {
			case v := <-c[0]:
				return v
			case <-timer.C:
				return 0
			}
		}
		selectOften(channelsOf(1, 0), choose, n)
		check(len(armed) == others, "wrong count")
		return n
	}
}

func timerAlone(n int) int {
	for i := 0; i < n; i++ {
		check(time.NewTimer(far).Stop(), "it ran out")
	}
	return n
}

func init() {
	programs["B6-2-wait"] = counted(waitingSelect(2, select2))
	programs["B6-8-wait"] = counted(waitingSelect(8, select8))
	programs["B6-2-ready"] = counted(readySelect(2, select2))
	programs["B6-8-ready"] = counted(readySelect(8, select8))
	programs["B7-0"] = counted(lostTimer(0))
	programs["B7-100k"] = counted(lostTimer(100000))
	programs["B7-alone"] = counted(timerAlone)
}
