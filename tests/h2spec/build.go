//go:build tools

// Package h2spec names the program that `tests/install.sh h2spec` builds, and pins what it is made of: h2specd, the client side
// of h2spec.
package h2spec

import _ "github.com/summerwind/h2spec/cmd/h2specd"
