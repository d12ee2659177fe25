module warmwire.test/ech

go 1.24
