//! Executor, reactor, timers and clock of one multi handle; knows nothing of curl.
