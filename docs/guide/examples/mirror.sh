# Copies a site with links that work offline, and later brings the copy up to date.
warmwire -s --mirror-site --convert-links --output-dir copy "$1/index.html"
warmwire -s --mirror-site --convert-links --output-dir copy --sync-delete "$1/index.html"
