//! The evaluator of PAC files, which the engine calls: a JavaScript engine, with the feature `pac`.

/// Registers the evaluator. Later calls have no effect.
#[cfg(feature = "pac")]
pub(crate) fn register() {
    engine::use_pac(|query, look_up| pac::find_proxies(&query.script, &query.url, &query.host, look_up));
}

/// Without the feature, a transfer by a PAC file fails.
#[cfg(not(feature = "pac"))]
pub(crate) fn register() {}
