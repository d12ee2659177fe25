// version: which libcurl the loader found.
#include <cstdio>
#include <curl/curl.h>

int main() { std::puts(curl_version()); }
