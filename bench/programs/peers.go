// peers get|parallel URL COUNT: as many GETs with Go's net/http, one after the other or 50 at once. Prints microseconds of CPU
// and of wall time per request and bytes per request.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func cpu() float64 {
	var used syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e3
}

func main() {
	task, url := os.Args[1], os.Args[2]
	count, _ := strconv.Atoi(os.Args[3])
	parallel := 1
	if task == "parallel" {
		parallel = 50
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 50}}
	var received, begun atomic.Int64
	get := func() {
		reply, err := client.Get(url)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		n, _ := io.Copy(io.Discard, reply.Body)
		reply.Body.Close()
		received.Add(n)
	}
	get()
	received.Store(0)
	before, start := cpu(), time.Now()
	var group sync.WaitGroup
	for range parallel {
		group.Add(1)
		go func() {
			defer group.Done()
			for begun.Add(1) <= int64(count) {
				get()
			}
		}()
	}
	group.Wait()
	n := float64(count)
	fmt.Printf("%.3f %.3f %.0f\n", (cpu()-before)/n, float64(time.Since(start).Microseconds())/n, float64(received.Load())/n)
}
