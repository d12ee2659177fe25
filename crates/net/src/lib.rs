//! Resolver, connecting, filters, exchanges, connections and their pool; knows no option and no transfer.
