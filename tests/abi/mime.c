/* The MIME API: what it refuses, and what the server sees of a tree.
 * covers: curl_mime_init, curl_mime_addpart, curl_mime_name, curl_mime_data, curl_mime_filename, curl_mime_type,
 * covers: curl_mime_encoder, curl_mime_filedata, curl_mime_data_cb, curl_mime_subparts, curl_mime_headers, curl_mime_free,
 * covers: CURLOPT_MIMEPOST, CURLOPT_MIME_OPTIONS */
#include "check.h"

static int freed;
struct source { const char *at; size_t left; };

static size_t give(char *to, size_t size, size_t count, void *user)
{
  struct source *source = user;
  size_t length = size * count < source->left ? size * count : source->left;
  if(length > 2)
    length = 2; /* in small pieces */
  memcpy(to, source->at, length);
  source->at += length;
  source->left -= length;
  return length;
}
static int again(void *user, curl_off_t offset, int origin)
{
  struct source *source = user;
  (void)origin;
  source->at = "from a callback" + offset;
  source->left = 15 - offset;
  return CURL_SEEKFUNC_OK;
}
static void gone(void *user) { (void)user; freed++; }

/* The body that the server got, with the boundary replaced by B. */
static char *sent(CURL *easy)
{
  struct text body = {0};
  curl_easy_setopt(easy, CURLOPT_URL, server("/body"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
  SAME(curl_easy_perform(easy), CURLE_OK);
  char boundary[100] = "";
  if(!body.at)
    return strdup("");
  for(int pass = 0; pass < 2; pass++) { /* the outer and one inner boundary */
    char *start = strstr(body.at, "------------------------");
    if(!start)
      break;
    size_t length = 2 + 24 + 22;
    if(pass)
      length -= 2;
    memcpy(boundary, start, length);
    boundary[length] = 0;
    if(!pass)
      memmove(boundary, boundary + 2, length - 1);
    for(char *at; (at = strstr(body.at, boundary));) {
      *at = 'B' + pass;
      memmove(at + 1, at + strlen(boundary), strlen(at + strlen(boundary)) + 1);
    }
  }
  return body.at;
}

int main(void)
{
  CURL *easy = curl_easy_init(), *other = curl_easy_init();
  curl_mime *mime = curl_mime_init(easy), *inner = curl_mime_init(easy), *foreign = curl_mime_init(other);
  curl_mimepart *part = curl_mime_addpart(mime), *deep = curl_mime_addpart(inner);
  SAME(curl_mime_encoder(part, "no such"), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_mime_encoder(part, "base64"), CURLE_OK);
  SAME(curl_mime_encoder(part, NULL), CURLE_OK);
  SAME(curl_mime_filedata(part, "/no/such/file"), CURLE_READ_ERROR);
  SAME(curl_mime_filedata(part, NULL), CURLE_OK);
  SAME(curl_mime_filename(part, NULL), CURLE_OK);
  SAME(curl_mime_subparts(part, mime), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_mime_subparts(part, foreign), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_mime_subparts(part, inner), CURLE_OK);
  SAME(curl_mime_subparts(part, inner), CURLE_OK);
  SAME(curl_mime_subparts(deep, mime), CURLE_BAD_FUNCTION_ARGUMENT);
  SAME(curl_mime_subparts(curl_mime_addpart(mime), inner), CURLE_BAD_FUNCTION_ARGUMENT);
  curl_mime_free(mime); /* inner with it */
  SAME(curl_mime_name(deep, "x"), CURLE_BAD_FUNCTION_ARGUMENT);
  curl_mime_free(foreign);

  mime = curl_mime_init(easy);
  part = curl_mime_addpart(mime);
  curl_mime_name(part, "quo\"te");
  curl_mime_data(part, "one", CURL_ZERO_TERMINATED);
  SAME(curl_easy_setopt(easy, CURLOPT_MIMEPOST, mime), CURLE_OK);
  char *body = sent(easy);
  SAME_TEXT(body, "--B\r\nContent-Disposition: form-data; name=\"quo%22te\"\r\n\r\none\r\n--B--\r\n");
  free(body);
  curl_easy_setopt(easy, CURLOPT_MIME_OPTIONS, (long)CURLMIMEOPT_FORMESCAPE);
  body = sent(easy);
  SAME_TEXT(body, "--B\r\nContent-Disposition: form-data; name=\"quo\\\"te\"\r\n\r\none\r\n--B--\r\n");
  free(body);

  /* Changed in place: a callback with a type, an encoder and headers; and a nested one. */
  struct source source = {"from a callback", 15};
  curl_mime_name(part, "cb");
  curl_mime_filename(part, "a.txt");
  curl_mime_data_cb(part, 15, give, again, gone, &source);
  curl_mime_encoder(part, "base64");
  curl_mime_headers(part, curl_slist_append(NULL, "X-Own: yes"), 1);
  part = curl_mime_addpart(mime);
  inner = curl_mime_init(easy);
  deep = curl_mime_addpart(inner);
  curl_mime_data(deep, "\0z", 2);
  curl_mime_type(deep, "application/x-z");
  SAME(curl_mime_subparts(part, inner), CURLE_OK);
  for(int pass = 0; pass < 2; pass++) { /* the second one seeks */
    body = sent(easy);
    CHECK(strstr(body, "--B\r\nContent-Disposition: form-data; name=\"cb\"; filename=\"a.txt\"\r\n"
                       "Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\nX-Own: yes\r\n\r\n"
                       "ZnJvbSBhIGNhbGxiYWNr\r\n--B\r\n"));
    CHECK(strstr(body, "Content-Type: multipart/mixed; boundary=C\r\n\r\n--C\r\nContent-Type: application/x-z\r\n\r\n"));
    free(body);
  }
  SAME(freed, 0);
  curl_mime_free(mime);
  SAME(freed, 1);
  body = sent(easy); /* the tree is gone: a POST without a body */
  SAME_TEXT(body, "");
  free(body);
  /* A name that a backslash cannot keep in its line is not sent, and an encoder that is none takes away the one before. */
  for(int i = 0; i < 4; i++) {
    mime = curl_mime_init(easy);
    part = curl_mime_addpart(mime);
    curl_mime_data(part, "x", 1);
    (i & 1 ? curl_mime_filename : curl_mime_name)(part, i & 2 ? "a\nb" : "a\r\nX: y");
    SAME(curl_mime_encoder(part, "base64"), CURLE_OK);
    SAME(curl_mime_encoder(part, "no such"), CURLE_BAD_FUNCTION_ARGUMENT);
    curl_easy_setopt(easy, CURLOPT_MIMEPOST, mime);
    curl_easy_setopt(easy, CURLOPT_MIME_OPTIONS, (long)CURLMIMEOPT_FORMESCAPE);
    SAME(curl_easy_perform(easy), CURLE_BAD_FUNCTION_ARGUMENT);
    curl_easy_setopt(easy, CURLOPT_MIME_OPTIONS, 0L);
    body = sent(easy);
    CHECK(strstr(body, i & 2 ? "=\"a%0Ab\"\r\n" : "=\"a%0D%0AX: y\"\r\n") && strstr(body, "\r\n\r\nx\r\n--"));
    free(body);
    curl_mime_free(mime);
  }
  curl_easy_cleanup(easy);
  curl_easy_cleanup(other);
  return FAILURES;
}
