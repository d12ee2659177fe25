//! Scripted peers, embedded servers, a simulated link and launchers of real servers, for tests and demos.
