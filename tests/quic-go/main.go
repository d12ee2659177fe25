// An HTTP/3 server by quic-go: files of a folder, and to uploads what was uploaded; /sink takes them and says nothing. At
// SIGTERM it closes its connections. Arguments: the file for the port, certificate, key, folder, port (0: any). With the
// word client before others it asks instead.
package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

func serve(reply http.ResponseWriter, request *http.Request) {
	if request.Method == http.MethodGet || request.Method == http.MethodHead {
		http.FileServer(http.Dir(os.Args[4])).ServeHTTP(reply, request)
		return
	}
	if request.URL.Path == "/sink" {
		io.Copy(io.Discard, request.Body)
		return
	}
	if request.ContentLength >= 0 {
		reply.Header().Set("Content-Length", fmt.Sprint(request.ContentLength))
	}
	io.Copy(reply, request.Body)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	if os.Args[1] == "client" {
		client(os.Args[2:])
		return
	}
	pair, err := tls.LoadX509KeyPair(os.Args[2], os.Args[3])
	must(err)
	socket, err := net.ListenPacket("udp", "127.0.0.1:"+os.Args[5])
	must(err)
	config := http3.ConfigureTLSConfig(&tls.Config{Certificates: []tls.Certificate{pair}})
	server := http3.Server{
		Handler:    http.HandlerFunc(serve),
		TLSConfig:  config,
		QuicConfig: &quic.Config{Allow0RTT: true},
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		<-signals
		server.Close()
		os.Exit(0)
	}()
	port := socket.LocalAddr().(*net.UDPAddr).Port
	must(os.WriteFile(os.Args[1]+".new", []byte(fmt.Sprintln(port)), 0o644))
	must(os.Rename(os.Args[1]+".new", os.Args[1]))
	must(server.Serve(socket))
}
