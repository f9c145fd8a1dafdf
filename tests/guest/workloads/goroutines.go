// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause

// goroutines ROUNDS FILE - goroutines that wait for each other, panic, recurse until their stacks
// move, are preempted and collect garbage. probe() is called again and again, and FILE says for each
// time in which function of the goroutine's it began, and how deep the call is: 1 is in that
// function. A line each. What a goroutine begins with, and main.main() returns to, is one less deep.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

type note struct {
	root  string
	depth int
}

var (
	lock  sync.Mutex
	notes []note
	sink  int
)

//go:noinline
func probe(root string, depth int) {
	lock.Lock()
	notes = append(notes, note{root, depth})
	lock.Unlock()
}

// ---- channels ----

//go:noinline
func produce(c chan<- int, n, depth int) {
	if depth < 4 {
		produce(c, n, depth+1)
		probe("main.producer", depth+1)
		return
	}
	for i := 0; i < n; i++ {
		c <- i
		probe("main.producer", depth+1)
	}
}

//go:noinline
func producer(c chan<- int, n int) {
	produce(c, n, 1)
	probe("main.producer", 1)
	close(c)
}

//go:noinline
func take(c <-chan int, depth int) bool {
	v, ok := <-c
	sink += v
	probe("main.consumer", depth+1)
	return ok
}

//go:noinline
func consumer(c <-chan int, done *sync.WaitGroup) {
	for take(c, 1) {
		probe("main.consumer", 1)
	}
	done.Done()
}

// Two wait in here, each called by another function. Which of them goes on is known when it returns.
//
//go:noinline
func left(c chan int) int {
	return <-c
}

//go:noinline
func right(c chan int, depth int) int {
	n := left(c)

	probe("main.player", depth+1)
	return n
}

//go:noinline
func player(rounds int, in, out chan int, deeper bool, done *sync.WaitGroup) {
	for i := 0; i < rounds; i++ {
		if deeper {
			sink += right(in, 1)
		} else {
			sink += left(in)
		}
		probe("main.player", 1)
		out <- i
	}
	done.Done()
}

// ---- panics ----

//go:noinline
func panics(n int) {
	if n == 0 {
		panic("deep")
	}
	panics(n - 1)
}

//go:noinline
func recovers(n int) {
	defer func() {
		recover()
		runtime.Gosched()
	}()
	panics(n)
}

//go:noinline
func panicker(rounds int, done *sync.WaitGroup) {
	for i := 0; i < rounds; i++ {
		recovers(i % 5)
		probe("main.panicker", 1)
		for j := 0; j < 3; j++ {
			defer func() { sink++ }()
		}
		runtime.Gosched()
		probe("main.panicker", 1)
	}
	done.Done()
}

// ---- stacks that grow ----

//go:noinline
func recurses(root string, n, depth int) int {
	var room [64]int

	room[n%64] = n
	if n > 0 {
		room[0] += recurses(root, n-1, depth+1)
	} else {
		runtime.Gosched()
		probe(root, depth+1)
	}
	if n%100 == 0 {
		probe(root, depth+1)
	}
	return room[n%64]
}

//go:noinline
func climber(done chan<- bool) {
	recurses("main.climber", 300, 1)
	done <- true
}

//go:noinline
func recurser(rounds int, done *sync.WaitGroup) {
	for i := 0; i < rounds; i++ {
		part := make(chan bool)
		go climber(part)
		<-part
		probe("main.recurser", 1)
	}
	done.Done()
}

// ---- time, garbage, preemption ----

type node struct {
	left, right *node
}

//go:noinline
func tree(n int) *node {
	if n == 0 {
		return &node{}
	}
	return &node{tree(n - 1), tree(n - 1)}
}

//go:noinline
func collector(rounds int, done *sync.WaitGroup) {
	for i := 0; i < rounds; i++ {
		tree(10)
		runtime.GC()
		probe("main.collector", 1)
	}
	done.Done()
}

//go:noinline
func spin(n int) int {
	sum := 0

	for i := 0; i < n; i++ {
		sum += i ^ sum
	}
	return sum
}

//go:noinline
func spinner(rounds int, done *sync.WaitGroup) {
	for i := 0; i < rounds; i++ {
		sink += spin(3000000)
		probe("main.spinner", 1)
	}
	done.Done()
}

//go:noinline
func sleeper(rounds int, done *sync.WaitGroup) {
	ticks := time.NewTicker(time.Millisecond)

	for i := 0; i < rounds; i++ {
		<-ticks.C
		probe("main.sleeper", 1)
		select {
		case <-time.After(time.Millisecond):
			probe("main.sleeper", 1)
		}
	}
	ticks.Stop()
	done.Done()
}

func main() {
	rounds, _ := strconv.Atoi(os.Args[1])
	var done sync.WaitGroup

	probe("main.main", 1)
	c := make(chan int)
	for i := 0; i < 3; i++ {
		done.Add(1)
		go consumer(c, &done)
	}
	go producer(c, rounds*10)
	ping, pong := make(chan int, 1), make(chan int, 1)
	done.Add(7)
	go player(rounds, ping, pong, false, &done)
	go player(rounds, pong, ping, true, &done)
	ping <- 0
	go panicker(rounds, &done)
	go recurser(1+rounds/10, &done)
	go collector(1+rounds/20, &done)
	go spinner(1+rounds/10, &done)
	go sleeper(rounds, &done)
	done.Wait()
	probe("main.main", 1)
	file, _ := os.Create(os.Args[2])
	for _, n := range notes {
		fmt.Fprintln(file, n.root, n.depth)
	}
	file.Close()
}
