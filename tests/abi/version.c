/* What programs look at before they trust a libcurl.
 * covers: curl_version, curl_version_info, curl_global_sslset, curl_global_trace, curl_global_init, curl_global_cleanup */
#include "check.h"

static int has(const char *const *list, const char *name)
{
  for(; *list; list++)
    if(!strcmp(*list, name))
      return 1;
  return 0;
}

int main(void)
{
  const curl_ssl_backend **backends = NULL;
  SAME(curl_global_sslset(CURLSSLBACKEND_NONE, NULL, &backends), CURLSSLSET_UNKNOWN_BACKEND);
  SAME(backends[0]->id, CURLSSLBACKEND_OPENSSL);
  SAME_TEXT(backends[0]->name, "openssl");
  SAME_TEXT(backends[1]->name, "rustls");
  CHECK(!backends[2]);
  SAME(curl_global_sslset(CURLSSLBACKEND_OPENSSL, NULL, NULL), CURLSSLSET_OK);
  SAME(curl_global_sslset((curl_sslbackend)0, "OpenSSL", NULL), CURLSSLSET_OK);
  SAME(curl_global_sslset(CURLSSLBACKEND_GNUTLS, NULL, NULL), CURLSSLSET_UNKNOWN_BACKEND);
  SAME(curl_global_init(CURL_GLOBAL_DEFAULT), CURLE_OK);
  SAME(curl_global_init(CURL_GLOBAL_DEFAULT), CURLE_OK);

  curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
  SAME(info->age, CURLVERSION_NOW);
  SAME_TEXT(info->version, "8.22.0");
  SAME(info->version_num, LIBCURL_VERSION_NUM);
  CHECK(!strncmp(info->ssl_version, "OpenSSL/3", 9));
  CHECK(strstr(info->ssl_version, "rustls") && strstr(info->ssl_version, "Warmwire/"));
  CHECK(info->host && info->libz_version && info->brotli_version && info->zstd_version);
  CHECK(has(info->protocols, "http") && has(info->protocols, "https") && has(info->protocols, "file"));
  CHECK(has(info->feature_names, "SSL") && has(info->feature_names, "threadsafe"));
  CHECK(info->features & CURL_VERSION_SSL && info->features & CURL_VERSION_LIBZ);
  SAME(!!(info->features & CURL_VERSION_HTTP2), has(info->feature_names, "HTTP2"));
  /* HTTPS records are asked for, beside getaddrinfo on its threads. */
  CHECK(has(info->feature_names, "ECH") && has(info->feature_names, "HTTPSRR") && has(info->feature_names, "asyn-rr"));
#ifdef _WIN32
  CHECK(!info->cainfo && !info->capath); /* the system's store */
#else
  CHECK(info->cainfo && info->capath);
#endif
  /* Who speaks SSH is said where libssh2 would be; a program that finds nothing there takes SFTP for missing. */
  CHECK(has(info->protocols, "sftp") && has(info->protocols, "scp"));
  /* What a bit promises has a text: GDAL tests nghttp2_version, others print it. */
  CHECK(has(info->feature_names, "HTTPSIG"));
  CHECK(!(info->features & CURL_VERSION_HTTP2) || (info->nghttp2_version && info->nghttp2_ver_num));
  CHECK(!(info->features & CURL_VERSION_HTTP3) || info->quic_version);
  CHECK(!(info->features & CURL_VERSION_IDN) || info->libidn);
  CHECK(!(info->features & CURL_VERSION_LIBZ) || info->libz_version);
  CHECK(!(info->features & CURL_VERSION_BROTLI) || (info->brotli_version && info->brotli_ver_num));
  CHECK(!(info->features & CURL_VERSION_ZSTD) || (info->zstd_version && info->zstd_ver_num));
  CHECK(!(info->features & CURL_VERSION_SSL) || info->ssl_version);
  CHECK(!(info->features & CURL_VERSION_GSASL) || info->gsasl_version);
  CHECK(info->libssh_version && !strncmp(info->libssh_version, "Warmwire/", 9));

  CHECK(!strncmp(curl_version(), "libcurl/8.22.0 OpenSSL/3", 24));
  CHECK(strstr(curl_version(), "Warmwire/"));
  SAME(curl_global_trace("all"), CURLE_OK);
  SAME(curl_global_trace("-nonsense, ids"), CURLE_OK);
  SAME(curl_global_trace(NULL), CURLE_OK);
  curl_global_cleanup();
  curl_global_cleanup();
  curl_global_cleanup();
  return FAILURES;
}
