// tusd, the server of the tus project: it stores uploads by tus 1.0 and by the draft of the HTTP working group. Arguments: the
// file that gets the port, and the folder for uploads.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/tus/tusd/v2/pkg/filelocker"
	"github.com/tus/tusd/v2/pkg/filestore"
	"github.com/tus/tusd/v2/pkg/handler"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	folder := os.Args[2]
	composer := handler.NewStoreComposer()
	filestore.New(folder).UseIn(composer)
	filelocker.New(folder).UseIn(composer)
	server, err := handler.NewHandler(handler.Config{
		BasePath:                   "/files/",
		StoreComposer:              composer,
		EnableExperimentalProtocol: true,
	})
	must(err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	must(err)
	// Renamed, so that nobody reads half of it.
	must(os.WriteFile(os.Args[1]+".new", []byte(port), 0o600))
	must(os.Rename(os.Args[1]+".new", os.Args[1]))
	http.Handle("/files/", http.StripPrefix("/files/", server))
	http.HandleFunc("/files", func(answer http.ResponseWriter, request *http.Request) {
		http.StripPrefix(strings.TrimSuffix(request.URL.Path, "/"), server).ServeHTTP(answer, request)
	})
	must(http.Serve(listener, nil))
}
