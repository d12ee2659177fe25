// versitygw, a gateway from S3 to files: it checks signatures, and an object is a file. Arguments: the file that gets the port,
// the folder of buckets, and one for facts about objects. Its user is "access" with the key "secret", its region us-east-1.
package main

import (
	"fmt"
	"net"
	"os"

	"github.com/versity/versitygw/auth"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/s3api"
	"github.com/versity/versitygw/s3api/middlewares"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// freeAddress returns an address that nobody listens on: the gateway binds by itself.
func freeAddress() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	defer listener.Close()
	return listener.Addr().String()
}

func main() {
	facts, err := meta.NewSideCar(os.Args[3])
	must(err)
	files, err := posix.New(os.Args[2], facts, posix.PosixOpts{SideCarDir: os.Args[3]})
	must(err)
	root := middlewares.RootUserConfig{Access: "access", Secret: "secret"}
	users := auth.NewIAMServiceSingle(auth.Account{Access: root.Access, Secret: root.Secret, Role: auth.RoleAdmin})
	address := freeAddress()
	announce := func() {
		_, port, err := net.SplitHostPort(address)
		must(err)
		// Renamed, so that nobody reads half of it.
		must(os.WriteFile(os.Args[1]+".new", []byte(port), 0o600))
		must(os.Rename(os.Args[1]+".new", os.Args[1]))
	}
	server, err := s3api.New(files, root, "us-east-1", users, nil, nil, nil, nil,
		s3api.WithQuiet(), s3api.WithKeepAlive(), s3api.WithOnListen(announce), s3api.WithMpMaxParts(10000),
		s3api.WithConcurrencyLimiter(1000, 1000))
	must(err)
	must(server.ServeMultiPort([]string{address}))
}
