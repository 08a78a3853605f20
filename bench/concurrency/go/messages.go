// SPDX-License-Identifier: MIT

// Programs whose goroutines talk over channels.
package main

const (
	primes        = 1000
	lastPrime     = 7919
	sieveMessages = 517383
)

func pingPong(n int) int {
	ping, pong, sum := make(chan int), make(chan int), 0
	go func() {
		for i := 0; i < n/2; i++ {
			pong <- <-ping + 1
		}
	}()
	for i := 1; i <= n/2; i++ {
		ping <- i
		sum += <-pong
	}
	check(sum == n/2*(n/2+3)/2, "wrong sum")
	return n
}

func fanIn(n int) int {
	c, each, sum := make(chan int), n/100, 0
	for i := 0; i < 100; i++ {
		go func() {
			for k := 1; k <= each; k++ {
				c <- k
			}
		}()
	}
	for i := 0; i < n; i++ {
		sum += <-c
	}
	check(sum == 100*each*(each+1)/2, "wrong sum")
	return n
}

func pass(number int, from, to chan int, done chan int) {
	for {
		left := <-from
		if left == 0 {
			done <- number
			return
		}
		to <- left - 1
	}
}

func ringOf(size int) func(int) int {
	return func(n int) int {
		ring, done := make([]chan int, size), make(chan int)
		for i := range ring {
			ring[i] = make(chan int)
		}
		for i := range ring {
			go pass(i+1, ring[i], ring[(i+1)%size], done)
		}
		ring[0] <- n
		check(<-done == n%size+1, "wrong goroutine")
		return n
	}
}

func leafSum(to chan int, number, size int) {
	if size == 1 {
		to <- number
		return
	}
	from, sum := make(chan int), 0
	for i := 0; i < 10; i++ {
		go leafSum(from, number+i*size/10, size/10)
	}
	for i := 0; i < 10; i++ {
		sum += <-from
	}
	to <- sum
}

func skynet(n int) int {
	result := make(chan int)
	go leafSum(result, 0, n)
	check(<-result == n*(n-1)/2, "wrong sum")
	return n
}

type creature struct {
	colour, count int
	reply         chan int
}

func (me *creature) live(place chan *creature, met *int, n int, over chan bool) {
	for {
		select {
		case place <- me:
			me.count++
			me.colour = <-me.reply
		case other := <-place:
			me.count++
			*met++
			other.reply <- me.colour
			if *met == n {
				over <- true
				return
			}
			me.colour = 3 - me.colour
		}
	}
}

func chameneos(n int) int {
	place, over, met := make(chan *creature), make(chan bool), 0
	creatures := make([]*creature, 4)
	for i := range creatures {
		creatures[i] = &creature{colour: i%2 + 1, reply: make(chan int)}
		go creatures[i].live(place, &met, n, over)
	}
	<-over
	sum := 0
	for _, one := range creatures {
		sum += one.count
	}
	check(sum >= 2*n && sum <= 2*n+1, "wrong count")
	return n
}

func filter(from, to chan int, prime int) {
	for {
		if number := <-from; number%prime != 0 {
			to <- number
		}
	}
}

func countUp(to chan int) {
	for number := 2; ; number++ {
		to <- number
	}
}

func sieve(int) int {
	from, prime := make(chan int), 0
	go countUp(from)
	for i := 0; i < primes; i++ {
		prime = <-from
		to := make(chan int)
		go filter(from, to, prime)
		from = to
	}
	check(prime == lastPrime, "wrong prime")
	return sieveMessages
}

func pipeline(n int) int {
	first, sum := make(chan int, 64), 0
	last := first
	for i := 0; i < 4; i++ {
		from, to := last, make(chan int, 64)
		go func() {
			for k := 0; k < n; k++ {
				to <- <-from
			}
		}()
		last = to
	}
	go func() {
		for i := 1; i <= n; i++ {
			first <- i
		}
	}()
	for i := 0; i < n; i++ {
		sum += <-last
	}
	check(sum == n*(n+1)/2, "wrong sum")
	return n
}

func init() {
	programs["B1"] = counted(pingPong)
	programs["B2"] = counted(fanIn)
	programs["B3-503"] = counted(ringOf(503))
	programs["B3-5003"] = counted(ringOf(5003))
	programs["B4"] = counted(skynet)
	programs["B9"] = counted(chameneos)
	programs["B12"] = counted(sieve)
	programs["B13"] = counted(pipeline)
}
