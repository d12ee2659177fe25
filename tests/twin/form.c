/* The old form API: what it refuses, and the bytes that it makes. */
#define CURL_DISABLE_DEPRECATION
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *made;
static size_t length;

static size_t append(void *user, const char *bytes, size_t count)
{
  (void)user;
  made = realloc(made, length + count + 1);
  memcpy(made + length, bytes, count);
  length += count;
  made[length] = 0;
  return count;
}

/* Line by line, numbered, with boundaries named in the order in which they appear. */
static void show(void)
{
  char boundaries[8][80];
  int known = 0, number = 0;
  for(char *line = strtok(made, "\r\n"); line; line = strtok(NULL, "\r\n")) {
    char *at = strstr(line, "------------------------");
    if(at) {
      char id[80];
      size_t size = strspn(at, "-"), rest = strcspn(at + size, "-");
      snprintf(id, sizeof id, "%.*s", (int)rest, at + size);
      int index = 0;
      while(index < known && strcmp(boundaries[index], id))
        index++;
      if(index == known)
        strcpy(boundaries[known++], id);
      printf("line %d: %.*s boundary %d%s\n", ++number, (int)(at - line), line, index, at + size + rest);
    }
    else
      printf("line %d: %s\n", ++number, line);
  }
}

int main(void)
{
  struct curl_httppost *form = NULL, *last = NULL;
  char text[] = "form-text.txt", other[] = "form-other.bin";
  FILE *file = fopen(text, "w");
  fputs("FILE", file);
  fclose(file);
  file = fopen(other, "w");
  fputs("OTHER", file);
  fclose(file);
  struct curl_slist *headers = curl_slist_append(NULL, "X-A: b");
  struct curl_forms array[] = {{CURLFORM_COPYNAME, "arr"}, {CURLFORM_COPYCONTENTS, "val"}, {CURLFORM_CONTENTTYPE, "a/b"}, {CURLFORM_END, NULL}};
  struct curl_forms nested[] = {{CURLFORM_ARRAY, (const char *)array}, {CURLFORM_END, NULL}};
#define ADD(...) printf("add %d: %d\n", __LINE__, curl_formadd(&form, &last, __VA_ARGS__, CURLFORM_END))
  ADD(CURLFORM_COPYNAME, "na\"me\\", CURLFORM_COPYCONTENTS, "con");
  ADD(CURLFORM_COPYNAME, "file", CURLFORM_FILE, text);
  ADD(CURLFORM_COPYNAME, "files", CURLFORM_FILE, text, CURLFORM_FILE, other);
  ADD(CURLFORM_COPYNAME, "named", CURLFORM_FILE, other, CURLFORM_FILENAME, "x.gif", CURLFORM_CONTENTTYPE, "image/x");
  ADD(CURLFORM_COPYNAME, "fc", CURLFORM_FILECONTENT, text, CURLFORM_CONTENTTYPE, "text/html");
  ADD(CURLFORM_COPYNAME, "buf", CURLFORM_BUFFER, "b.png", CURLFORM_BUFFERPTR, "abc", CURLFORM_BUFFERLENGTH, 3L);
  ADD(CURLFORM_COPYNAME, "buf2", CURLFORM_BUFFER, "b.unknown", CURLFORM_BUFFERPTR, "abc", CURLFORM_BUFFERLENGTH, 3L);
  ADD(CURLFORM_PTRNAME, "ptrname", CURLFORM_PTRCONTENTS, "pointed", CURLFORM_CONTENTSLENGTH, 5L);
  ADD(CURLFORM_PTRNAME, "namelong", CURLFORM_NAMELENGTH, 4L, CURLFORM_PTRCONTENTS, "x", CURLFORM_CONTENTLEN, (curl_off_t)1);
  ADD(CURLFORM_ARRAY, array);
  ADD(CURLFORM_COPYNAME, "hd", CURLFORM_COPYCONTENTS, "longer", CURLFORM_CONTENTSLENGTH, 3L, CURLFORM_CONTENTHEADER, headers);
  ADD(CURLFORM_COPYNAME, "x", CURLFORM_COPYNAME, "y");
  ADD(CURLFORM_COPYNAME, "x", CURLFORM_COPYCONTENTS, "1", CURLFORM_COPYCONTENTS, "2");
  ADD(CURLFORM_COPYNAME, NULL);
  ADD(CURLFORM_COPYNAME, "x");
  ADD(CURLFORM_COPYCONTENTS, "x");
  ADD(CURLFORM_COPYNAME, "x", CURLFORM_FILE, NULL);
  ADD(CURLFORM_COPYNAME, "x", CURLFORM_BUFFER, "b");
  ADD(CURLFORM_COPYNAME, "x", 77, "y");
  ADD(CURLFORM_ARRAY, nested);
  ADD(CURLFORM_COPYNAME, "x", CURLFORM_CONTENTTYPE, "a", CURLFORM_CONTENTTYPE, "b", CURLFORM_COPYCONTENTS, "c");
  printf("empty: %d\n", curl_formadd(&form, &last, CURLFORM_END));
  printf("get: %d\n", curl_formget(form, NULL, append));
  show();
  curl_formfree(form);
  form = last = NULL;
  length = 0;
  ADD(CURLFORM_COPYNAME, "x", CURLFORM_FILE, "no/such/file");
  printf("get a missing file: %d %zu\n", curl_formget(form, NULL, append), length);
  curl_formfree(form);
  curl_formfree(NULL);
  curl_slist_free_all(headers);
  free(made);
  return 0;
}
