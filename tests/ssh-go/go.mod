module warmwire.test/ssh

go 1.24

require golang.org/x/crypto v0.40.0

require golang.org/x/sys v0.34.0 // indirect
