//! Nothing: the package exists for the sources of its dependency.
