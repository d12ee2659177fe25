// An SSH server on Go's x/crypto/ssh, which agrees on keys in ways that Debian's OpenSSH lacks. Whoever has the key is let in,
// and may ask for `scp -f` of one file and `scp -t` of any. Arguments: where to tell the port, host key, the user's public key,
// the one way to exchange keys, after how many octets they are renewed, and the file.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The side of scp that sends a file, and its times where they are asked for.
func give(channel ssh.Channel, file string, times bool) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	answers := bufio.NewReader(channel)
	yes := func() error {
		answer, err := answers.ReadByte()
		if err == nil && answer != 0 {
			err = errors.New("the client says no")
		}
		return err
	}
	if err := yes(); err != nil {
		return err
	}
	if times {
		fmt.Fprint(channel, "T1000000000 0 1000000000 0\n")
		if err := yes(); err != nil {
			return err
		}
	}
	fmt.Fprintf(channel, "C0644 %d file\n", len(content))
	if err := yes(); err != nil {
		return err
	}
	channel.Write(append(content, 0))
	return yes()
}

// The side of scp that takes one, which must be what there is.
func take(channel ssh.Channel, file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	channel.Write([]byte{0})
	incoming := bufio.NewReader(channel)
	line, err := incoming.ReadString('\n')
	if err != nil {
		return err
	}
	words := strings.Fields(line)
	if len(words) != 3 {
		return fmt.Errorf("a line that is none: %q", line)
	}
	size, err := strconv.Atoi(words[1])
	if err != nil {
		return err
	}
	channel.Write([]byte{0})
	came := make([]byte, size+1)
	if _, err := io.ReadFull(incoming, came); err != nil {
		return err
	}
	if !bytes.Equal(came[:size], content) {
		channel.Write([]byte("\x01another file came\n"))
		return errors.New("another file came")
	}
	_, err = channel.Write([]byte{0})
	return err
}

func session(channel ssh.Channel, requests <-chan *ssh.Request, file string) {
	defer channel.Close()
	for request := range requests {
		var command struct{ Text string }
		known := request.Type == "exec" && ssh.Unmarshal(request.Payload, &command) == nil
		request.Reply(known, nil)
		if !known {
			continue
		}
		var status struct{ Code uint32 }
		var err error
		if strings.Contains(command.Text, " -t ") {
			err = take(channel, file)
		} else {
			err = give(channel, file, strings.Contains(command.Text, " -pf "))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			status.Code = 1
		}
		channel.SendRequest("exit-status", false, ssh.Marshal(&status))
		return
	}
}

func serve(connection net.Conn, config *ssh.ServerConfig, file string) {
	server, channels, requests, err := ssh.NewServerConn(connection, config)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	fmt.Fprintln(os.Stderr, "logged in, keys by", server.Conn.(ssh.AlgorithmsConnMetadata).Algorithms().KeyExchange)
	go ssh.DiscardRequests(requests)
	for asked := range channels {
		channel, requests, err := asked.Accept()
		must(err)
		go session(channel, requests, file)
	}
}

func main() {
	pem, err := os.ReadFile(os.Args[2])
	must(err)
	host, err := ssh.ParsePrivateKey(pem)
	must(err)
	line, err := os.ReadFile(os.Args[3])
	must(err)
	user, _, _, _, err := ssh.ParseAuthorizedKey(line)
	must(err)
	renewed, err := strconv.ParseUint(os.Args[5], 10, 64)
	must(err)
	config := &ssh.ServerConfig{
		Config: ssh.Config{KeyExchanges: []string{os.Args[4]}, RekeyThreshold: renewed},
		PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if !bytes.Equal(key.Marshal(), user.Marshal()) {
				return nil, errors.New("another key")
			}
			return nil, nil
		},
	}
	config.AddHostKey(host)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	must(err)
	must(os.WriteFile(os.Args[1]+".new", []byte(port), 0o600))
	must(os.Rename(os.Args[1]+".new", os.Args[1]))
	for {
		connection, err := listener.Accept()
		must(err)
		go serve(connection, config, os.Args[6])
	}
}
