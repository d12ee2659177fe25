/* Uploads a file. After a cut, and when the program is started again, the upload continues.
 * Usage: upload FILE URL resume|tus|ietf|s3 STATE */
#include <curl/curl.h>
#include <curl/warmwire.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct upload {
  CURL *easy;
  FILE *file;
  struct stat stamp;
  const char *state; /* the file that survives the process */
  char kept[4096];   /* the place in it */
};

/* Keeps the place of the part, once the server has accepted the upload. */
static void keep(struct upload *upload)
{
  char *place = NULL;
  if(warmwire_upload_place(upload->easy, &place) == CURLE_OK && place && strcmp(place, upload->kept)) {
    char next[4096];
    snprintf(next, sizeof(next), "%s.new", upload->state);
    FILE *state = fopen(next, "w");
    if(state) {
      fprintf(state, "%lld %lld\n%s\n", (long long)upload->stamp.st_size, (long long)upload->stamp.st_mtime, place);
      fclose(state);
      rename(next, upload->state);
      snprintf(upload->kept, sizeof(upload->kept), "%s", place);
    }
  }
  curl_free(place);
}

/* Reads the place, if it belongs to the same source. */
static const char *recall(struct upload *upload)
{
  long long size = 0, modified = 0;
  FILE *state = fopen(upload->state, "r");
  if(!state)
    return NULL;
  int found = fscanf(state, "%lld %lld %4095s", &size, &modified, upload->kept);
  fclose(state);
  if(found == 3 && size == upload->stamp.st_size && modified == upload->stamp.st_mtime)
    return upload->kept;
  upload->kept[0] = 0;
  return NULL;
}

static size_t read_file(char *data, size_t size, size_t count, void *user)
{
  struct upload *upload = user;
  keep(upload);
  return fread(data, size, count, upload->file);
}

/* The URL of an upload by "ietf" comes in a header while the data is being sent. */
static size_t take_header(char *data, size_t size, size_t count, void *user)
{
  (void)data;
  keep(user);
  return size * count;
}

static int seek_file(void *user, curl_off_t offset, int origin)
{
  struct upload *upload = user;
  return fseeko(upload->file, offset, origin) ? CURL_SEEKFUNC_FAIL : CURL_SEEKFUNC_OK;
}

int main(int argc, char **argv)
{
  if(argc != 5)
    return 2;
  struct upload upload = {.file = fopen(argv[1], "rb"), .state = argv[4]};
  if(!upload.file || fstat(fileno(upload.file), &upload.stamp))
    return 2;
  long mode = !strcmp(argv[3], "tus")    ? WARMWIRE_UPLOAD_TUS
              : !strcmp(argv[3], "ietf") ? WARMWIRE_UPLOAD_IETF
              : !strcmp(argv[3], "s3")   ? WARMWIRE_UPLOAD_S3
                                         : WARMWIRE_UPLOAD_RESUME;
  CURL *easy = upload.easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, argv[2]);
  curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)upload.stamp.st_size);
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, read_file);
  curl_easy_setopt(easy, CURLOPT_READDATA, &upload);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &upload);
  curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, seek_file);
  curl_easy_setopt(easy, CURLOPT_SEEKDATA, &upload);
  curl_easy_setopt(easy, CURLOPT_SSH_PRIVATE_KEYFILE, getenv("UPLOAD_KEY")); /* for SFTP */
  curl_easy_setopt(easy, CURLOPT_AWS_SIGV4, getenv("UPLOAD_SIGNATURE"));     /* for S3, like aws:amz:us-east-1:s3 */
  curl_easy_setopt(easy, CURLOPT_USERPWD, getenv("UPLOAD_LOGIN"));           /* for S3, ACCESS-KEY:SECRET-KEY */
  if(mode == WARMWIRE_UPLOAD_IETF)
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, getenv("UPLOAD_METHOD")); /* NULL: PUT */
  if(getenv("UPLOAD_RATE"))
    curl_easy_setopt(easy, CURLOPT_MAX_SEND_SPEED_LARGE, (curl_off_t)atol(getenv("UPLOAD_RATE")));
  warmwire_upload(easy, mode | WARMWIRE_UPLOAD_VERIFY, recall(&upload));

  CURLcode result = CURLE_OK;
  for(int attempt = 0; attempt < 100; attempt++) {
    result = curl_easy_perform(easy);
    if(result == CURLE_OK) {
      long compared = 0;
      result = warmwire_upload_verify(easy, argv[1], &compared);
      printf("checksum: %s\n", result != CURLE_OK ? "differs" : compared ? "compared" : "none");
      remove(upload.state);
      break;
    }
    keep(&upload);
    fprintf(stderr, "%s\n", curl_easy_strerror(result));
    usleep(20000);
  }
  curl_easy_cleanup(easy);
  fclose(upload.file);
  return (int)result;
}
