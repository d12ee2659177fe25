// An HTTPS server that knows Encrypted Client Hello, over TCP and over QUIC on the same port: every reply tells the name that the
// real hello asked for, and whether that was encrypted. Arguments: where to tell, certificate, key, public name. It tells three lines: its port, its ECHConfigList, and
// one whose key it has not; both in hexadecimal digits.
package main

import (
	"crypto/ecdh"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/quic-go/quic-go/http3"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// With its length in front, in two octets.
func long(bytes []byte) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(bytes))), bytes...)
}

// An ECHConfig (RFC 9849, section 4) for X25519, HKDF-SHA256 and each AEAD, and its private key.
func echConfig(id byte, name string) ([]byte, []byte) {
	pair, err := ecdh.X25519().GenerateKey(rand.Reader)
	must(err)
	contents := append([]byte{id, 0, 0x20}, long(pair.PublicKey().Bytes())...)
	contents = append(contents, long([]byte{0, 1, 0, 1, 0, 1, 0, 2, 0, 1, 0, 3})...)
	contents = append(contents, 0, byte(len(name)))
	contents = append(contents, name...)
	contents = append(contents, 0, 0)
	return append([]byte{0xfe, 0x0d}, long(contents)...), pair.Bytes()
}

// A port that is free for both.
func listen() (net.Listener, net.PacketConn, error) {
	for attempts := 0; ; attempts++ {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, nil, err
		}
		socket, err := net.ListenPacket("udp", listener.Addr().String())
		if err == nil || attempts == 20 {
			return listener, socket, err
		}
		listener.Close()
	}
}

func main() {
	pair, err := tls.LoadX509KeyPair(os.Args[2], os.Args[3])
	must(err)
	own, key := echConfig(1, os.Args[4])
	foreign, _ := echConfig(2, os.Args[4])
	keys := []tls.EncryptedClientHelloKey{{Config: own, PrivateKey: key, SendAsRetry: true}}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, EncryptedClientHelloKeys: keys}
	listener, socket, err := listen()
	must(err)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	must(err)
	text := fmt.Sprintf("%s\n%x\n%x\n", port, long(own), long(foreign))
	must(os.WriteFile(os.Args[1]+".new", []byte(text), 0o600))
	must(os.Rename(os.Args[1]+".new", os.Args[1]))
	answer := func(reply http.ResponseWriter, request *http.Request) {
		fmt.Fprintf(reply, "name %s, encrypted %t\n", request.TLS.ServerName, request.TLS.ECHAccepted)
	}
	byQuic := http3.Server{Handler: http.HandlerFunc(answer), TLSConfig: http3.ConfigureTLSConfig(config)}
	go func() { must(byQuic.Serve(socket)) }()
	must(http.Serve(tls.NewListener(listener, config), http.HandlerFunc(answer)))
}
