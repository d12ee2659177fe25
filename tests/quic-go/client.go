package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/quic-go/quic-go/http3"
)

// What gives so many bytes.
type zeros struct{}

func (zeros) Read(into []byte) (int, error) { return len(into), nil }

// client URL COUNT PARALLEL [UPLOAD]: so many GETs, or PUTs of UPLOAD bytes, so many at once, on one connection. Prints what
// bench/programs/many.c prints: microseconds of CPU and of wall time per request, bytes per request, and the largest memory in KB.
func client(arguments []string) {
	url := arguments[0]
	count, err := strconv.Atoi(arguments[1])
	must(err)
	parallel, err := strconv.Atoi(arguments[2])
	must(err)
	upload := int64(-1)
	if len(arguments) > 3 {
		upload, err = strconv.ParseInt(arguments[3], 10, 64)
		must(err)
	}
	authority, err := os.ReadFile(os.Getenv("CA"))
	must(err)
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority)
	asker := http.Client{Transport: &http3.RoundTripper{TLSClientConfig: &tls.Config{RootCAs: trusted}}}
	one := func() int64 {
		method, body := http.MethodGet, io.Reader(nil)
		if upload >= 0 {
			method, body = http.MethodPut, io.LimitReader(zeros{}, upload)
		}
		request, err := http.NewRequest(method, url, body)
		must(err)
		if upload >= 0 {
			request.ContentLength = upload
		}
		reply, err := asker.Do(request)
		must(err)
		got, err := io.Copy(io.Discard, reply.Body)
		must(err)
		reply.Body.Close()
		return got
	}
	one()
	began, before := time.Now(), cpu()
	work := make(chan struct{}, count)
	for i := 0; i < count; i++ {
		work <- struct{}{}
	}
	close(work)
	var all sync.WaitGroup
	var lock sync.Mutex
	var bytes int64
	for i := 0; i < parallel; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for range work {
				got := one()
				lock.Lock()
				bytes += got
				lock.Unlock()
			}
		}()
	}
	all.Wait()
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	each := float64(count)
	wall := float64(time.Since(began).Microseconds())
	fmt.Printf("%.3f %.3f %d %d\n", (cpu()-before)/each, wall/each, bytes/int64(count), usage.Maxrss)
}

// Microseconds that this process has computed.
func cpu() float64 {
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e3
}
