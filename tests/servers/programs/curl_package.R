# R's curl package: memory, disk, streams, forms, multi; prints facts. First argument: the server's base URL.
library(curl)
base <- commandArgs(TRUE)[1]
fact <- function(name, ...) cat(name, "=", paste(..., sep = ","), "\n", sep = "")
failed <- function(expression) tryCatch({ expression; "none" }, error = function(e) conditionMessage(e))

fact("ours", as.integer(grepl("8.22", curl_version()$version, fixed = TRUE)))
got <- curl_fetch_memory(paste0(base, "/bytes/5000"))
fact("memory", length(got$content), got$status_code)
kept <- new_handle()
sizes <- vapply(1:20, function(i) length(curl_fetch_memory(paste0(base, "/bytes/1000"), handle = kept)$content), 1L)
fact("kept", sum(sizes))
secure <- curl_fetch_memory(Sys.getenv("SECURE"), handle = new_handle(cainfo = Sys.getenv("CA")))
fact("secure", length(secure$content))
file <- tempfile()
curl_download(paste0(base, "/bytes/335114"), file, quiet = TRUE)
fact("download", file.size(file))
fact("text", readLines(curl(paste0(base, "/redirect/2"))))
connection <- curl(paste0(base, "/chunked/20000/1000"), open = "rb")
total <- 0
while (length(piece <- readBin(connection, raw(), 3000))) total <- total + length(piece)
close(connection)
fact("stream", total)
post <- new_handle(postfields = "a=1&b=two")
fact("post", rawToChar(curl_fetch_memory(paste0(base, "/body"), handle = post)$content))
form <- handle_setform(new_handle(), field = "value", file = form_file(file, "text/plain"))
fact("form", as.integer(length(curl_fetch_memory(paste0(base, "/body"), handle = form)$content) > 335114))
upload <- curl_upload
fact("upload", strsplit(rawToChar(upload(file, paste0(base, "/sum"), verbose = FALSE)$content), " ")[[1]][1])
jar <- new_handle(cookiefile = "")
invisible(curl_fetch_memory(paste0(base, "/cookies/set/name/value"), handle = jar))
fact("cookie", handle_cookies(jar)$value)

good <- 0
bad <- 0
pool <- new_pool(total_con = 20, host_con = 6)
for (i in 1:60) curl_fetch_multi(paste0(base, "/delay/5/bytes/", 1000 + i), pool = pool,
  done = function(response) good <<- good + length(response$content), fail = function(message) bad <<- bad + 1)
curl_fetch_multi("http://127.0.0.1:1/", pool = pool, fail = function(message) bad <<- bad + 1)
state <- multi_run(pool = pool)
fact("multi", state$success, state$error, good, bad)
fact("refused", as.integer(grepl("connect", failed(curl_fetch_memory("http://127.0.0.1:1/")))))
slow <- new_handle(timeout_ms = 300)
fact("timeout", as.integer(grepl("imed out|imeout", failed(curl_fetch_memory(paste0(base, "/delay/5000/bytes/1"), handle = slow)))))
# An R error inside a callback jumps over libcurl's frames.
thrown <- failed(curl_fetch_stream(paste0(base, "/bytes/100000"), function(bytes) stop("from the callback")))
fact("thrown", as.integer(grepl("from the callback|[Ff]ail", thrown)))
fact("after", length(curl_fetch_memory(paste0(base, "/bytes/77"))$content))
fact("end", 1)
