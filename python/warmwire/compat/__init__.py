"""The interfaces of other packages on Warmwire's engine, for programs that were written for these."""
